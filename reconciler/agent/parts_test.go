package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/endpoints/pull"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/heartbeat/receive"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
	"github.com/waybill-dev/waybill/test/twin"
)

var morning = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)

// heard is a Heart that heard a beat before.
type heard struct {
	Heart

	last uint64
	err  error
}

func (h heard) Last(context.Context, []string) (uint64, error) { return h.last, h.err }

// logged is an agent of clusters, and what it logs.
func logged(clusters ...string) (*Agent, *bytes.Buffer) {
	var said bytes.Buffer
	a := &Agent{Clusters: clusters, Log: slog.New(slog.NewTextHandler(&said, nil)), Random: func() float64 { return 0 }}
	a.Applier.Now, a.Applier.Published = func() time.Time { return morning }, &published.Reader{}
	return a, &said
}

func aKey(t *testing.T) signing.Key {
	t.Helper()
	key, _, err := signing.NewKey(rand.Reader, "agent")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestWhoMayTell: one without heartbeats, and one of which no higher beat was heard than its own; of one whose Lease is lost.
func TestWhoMayTell(t *testing.T) {
	away := errors.New("away")
	for _, tt := range []struct {
		name   string
		heart  Heart
		beaten uint64
		want   string
	}{
		{"nobody beats", nil, 0, ""},
		{"nobody was heard", heard{}, 0, ""},
		{"its own was heard", heard{last: 7}, 7, ""},
		{"one below its own was heard", heard{last: 6}, 7, ""},
		{"one above its own was heard", heard{last: 8}, 7, "a heartbeat with the sequence number 8 was heard before"},
		{"nobody answers", heard{last: 9, err: away}, 0, "away"},
	} {
		a, _ := logged("eu")
		a.Heart = tt.heart
		a.beaten.Store(tt.beaten)
		if err := a.mayTell(t.Context()); (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestWhatABeatIsOf: of the first cluster until it is known which are served, then of these, and of none if none is.
func TestWhatABeatIsOf(t *testing.T) {
	a, _ := logged("eu", "us")
	for _, tt := range []struct{ served, want []string }{{nil, []string{"eu"}}, {[]string{"us", "eu"}, []string{"us", "eu"}}, {[]string{}, nil}} {
		if tt.served != nil {
			a.served.Store(&tt.served)
		}
		var got []string
		for _, b := range a.each(heartbeat.Beat{UID: "u", Sequence: 7}) {
			got = append(got, b.Cluster)
			if b.UID != "u" || b.Sequence != 7 {
				t.Errorf("a beat is %+v", b)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("where %v are served beats are of %v", tt.served, got)
		}
	}
}

// TestWhatIsSaidOfBeats: what fails, once, and that it does no more; nothing at the end.
func TestWhatIsSaidOfBeats(t *testing.T) {
	a, said := logged("eu")
	over, end := context.WithCancel(t.Context())
	end()
	away, gone, last := errors.New("away"), errors.New("gone"), ""
	for i, tt := range []struct {
		over bool
		err  error
		want string
	}{
		{false, nil, ""},
		{false, away, "no heartbeat"},
		{false, away, ""},
		{false, gone, "err=gone"},
		{true, away, ""},
		{false, nil, "heartbeats are heard again"},
		{false, nil, ""},
		{true, gone, ""},
	} {
		said.Reset()
		ctx := t.Context()
		if tt.over {
			ctx = over
		}
		last = a.say(ctx, last, tt.err)
		if got := said.String(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%d: it says %q, want %q", i, got, tt.want)
		}
	}
}

// TestHowManyClustersHaveAgents: those with a key that can be read, which are pulled to.
func TestHowManyClustersHaveAgents(t *testing.T) {
	public := aKey(t).Public()
	cluster := func(key string, mode karmada.ClusterSyncMode) *karmada.Cluster {
		c := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{heartbeat.AgentKey: key}}}
		c.Spec.SyncMode = mode
		return c
	}
	a, _ := logged("eu")
	a.count(&published.Desired{Clusters: []*karmada.Cluster{
		cluster(public.String(), karmada.Pull), cluster("", karmada.Pull), cluster("no key", karmada.Pull), cluster(public.String(), karmada.Push),
	}})
	if n := a.agents.Load(); n != 1 {
		t.Errorf("%d have agents", n)
	}
}

// TestWhichClustersAreServed: those of its clusters that are registered, pulled to, and on the API server of the first one; their branches
// are told whichever are, and the newest are.
func TestWhichClustersAreServed(t *testing.T) {
	cluster := func(name string, mode karmada.ClusterSyncMode, host string) *karmada.Cluster {
		c := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}}}
		if c.Spec.SyncMode = mode; host != "" {
			c.Annotations[karmada.VirtualOfAnnotation] = host
		}
		return c
	}
	in := &published.Desired{Clusters: []*karmada.Cluster{
		cluster("eu", karmada.Pull, ""), cluster("eu-a", karmada.Pull, "eu"), cluster("pushed", karmada.Push, ""), cluster("us", karmada.Pull, ""),
	}}
	in.Clusters[3].Annotations[heartbeat.AgentKey] = aKey(t).Public().String()
	a, said := logged("pushed", "eu-a", "us", "none", "eu")
	branches := make(chan []string, 1)
	branches <- []string{"older"}
	var got []string
	for _, c := range a.own(in, branches) {
		got = append(got, c.Name)
	}
	if want := []string{"eu-a", "eu"}; !slices.Equal(got, want) || !slices.Equal(*a.served.Load(), want) {
		t.Errorf("it serves %v, and says %v; want %v", got, *a.served.Load(), want)
	}
	want := []string{in.Address("pushed").Branch, in.Address("eu-a").Branch, in.Address("us").Branch, in.Address("none").Branch, in.Address("eu").Branch}
	if n := a.agents.Load(); n != 1 {
		t.Errorf("%d clusters have agents", n)
	}
	if told := <-branches; !slices.Equal(told, want) {
		t.Errorf("branches are %v, want %v", told, want)
	}
	for _, line := range []string{"cluster=pushed sync_mode=Push", "cluster=us host=eu", "cluster=none"} {
		if strings.Count(said.String(), line) != 1 {
			t.Errorf("it does not say %s: %s", line, said)
		}
	}
}

// TestWhichBranchesAreLookedAt: those that were told last; and it is woken once, however often something is published.
func TestWhichBranchesAreLookedAt(t *testing.T) {
	a, _ := logged("eu")
	chosen, wakes := make(chan []string, 1), make(chan struct{}, 1)
	p := a.poller(chosen, wakes)
	if got := p.Branches(); got != nil {
		t.Errorf("before any is told they are %v", got)
	}
	for _, want := range []string{"a", "b"} {
		chosen <- []string{want}
		for range 2 {
			if got := p.Branches(); !slices.Equal(got, []string{want}) {
				t.Errorf("they are %v, want %s", got, want)
			}
		}
	}
	p.Wake()
	p.Wake()
	if len(wakes) != 1 {
		t.Errorf("it is woken %d times", len(wakes))
	}
}

// TestWhoseEndpointsAreBrought: those of its clusters, which it writes where agents do, unless another agent is heard; what another key
// signed is none of its.
func TestWhoseEndpointsAreBrought(t *testing.T) {
	a, _ := logged("eu", "us")
	if e := a.exchange(); e.Writer != nil {
		t.Error("it writes endpoints nowhere")
	}
	key := aKey(t)
	public := key.Public()
	a.Key, a.Heart = &public, heard{last: 1}
	a.Books = Books{Agents: git.LooseOf(nil), Published: git.LooseOf(nil), Signed: func(git.Head) error { return nil }}
	e := a.exchange()
	for name, want := range map[string]bool{"eu": true, "us": true, "ap": false} {
		if got := e.Reaches(&karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}); got != want {
			t.Errorf("it reaches %s: %t", name, got)
		}
	}
	w := e.Writer.(*pull.Writer)
	if err := w.May(t.Context()); err == nil {
		t.Error("it writes while another agent is heard")
	}
	signature, err := key.SignCommit([]byte("a book"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Wrote(git.Head{Signed: []byte("a book"), Signature: signature}); err != nil {
		t.Errorf("what it signed is none of its: %v", err)
	}
	if w.Wrote(git.Head{Signed: []byte("another book"), Signature: signature}) == nil || w.Wrote(git.Head{Signed: []byte("a book")}) == nil {
		t.Error("what it did not sign is its")
	}
	if r := a.reader(e); r.Books != e.Books || r.Agents != a.Books.Agents || r.Published != a.Books.Published || r.Signed == nil || r.Log == nil {
		t.Errorf("it reads by %+v", r)
	}
}

// TestHowOftenABeatIsSent: twice where the controller names another session than the beat, and once otherwise; the first one names none.
func TestHowOftenABeatIsSent(t *testing.T) {
	key := aKey(t)
	for _, tt := range []struct {
		name    string
		known   string // session
		answers []receive.Answer
		want    []string // sessions of the beats
		err     string
	}{
		{"it is taken", "", []receive.Answer{{Taken: true, Session: "s1"}}, []string{"none"}, ""},
		{"it learns the session", "", []receive.Answer{{Session: "s1"}, {Taken: true, Session: "s1"}}, []string{"none", "s1"}, ""},
		{"it is refused in its session", "", []receive.Answer{{Session: "s1"}, {Session: "s1", Why: "too old"}}, []string{"none", "s1"}, "does not take the heartbeat: too old"},
		{"there is no session", "", []receive.Answer{{Why: "not served"}}, []string{"none"}, "does not take the heartbeat: not served"},
		{"it is behind", "", []receive.Answer{{Last: 7}}, []string{"none"}, "the sequence number 7 was heard"},
		{"it is ahead", "", []receive.Answer{{Last: 6, Why: "no"}}, []string{"none"}, "does not take the heartbeat: no"},
		{"the session changes twice", "", []receive.Answer{{Session: "s1"}, {Session: "s2", Why: "no"}}, []string{"none", "s1"}, "does not take the heartbeat: no"},
		{"it is refused in the session that it knows", "s1", []receive.Answer{{Session: "s1", Why: "too old"}}, []string{"s1"}, "does not take the heartbeat: too old"},
		{"there is no session any more", "s1", []receive.Answer{{Why: "not served"}}, []string{"s1"}, "does not take the heartbeat: not served"},
	} {
		var got []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sealed, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			b, err := heartbeat.Open(sealed, key.Public())
			if err != nil || r.URL.Path != "/base/heartbeats/eu" || r.Method != http.MethodPost || b.Sequence != 7 {
				t.Errorf("%s: %s %s has %+v, %v", tt.name, r.Method, r.URL.Path, b, err)
			}
			got = append(got, b.Session)
			if len(got) > len(tt.answers) {
				w.WriteHeader(http.StatusTeapot)
				return
			}
			w.WriteHeader(http.StatusConflict)
			if err := json.NewEncoder(w).Encode(tt.answers[len(got)-1]); err != nil {
				t.Error(err)
			}
		}))
		h := &ByHTTP{URL: server.URL + "/base", Key: key, Client: server.Client(), session: tt.known}
		err := h.Beat(t.Context(), []heartbeat.Beat{{Cluster: "eu", UID: "u", Agent: "a", Sequence: 7}})
		server.Close()
		if !slices.Equal(got, tt.want) || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: beats are of the sessions %v, want %v; %v", tt.name, got, tt.want, err)
		}
	}
}

// TestWhyABeatIsNotHeard is said, with the address, wherever it fails.
func TestWhyABeatIsNotHeard(t *testing.T) {
	answers := func(status int, body string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		t.Cleanup(s.Close)
		return s
	}
	closed := answers(http.StatusOK, "")
	closed.Close()
	key := aKey(t)
	for _, tt := range []struct {
		name, url string
		key       signing.Key
		want      string
	}{
		{"nobody listens", closed.URL, key, "connection refused"},
		{"no address", "http://a b", key, "invalid character"},
		{"another scheme", "gopher://there", key, "unsupported protocol scheme"},
		{"no answer of a controller", answers(http.StatusOK, "welcome").URL, key, "its answer is none of a controller: "},
		{"a refusal", answers(http.StatusForbidden, `{"taken": true}`).URL, key, "it answers 403 Forbidden"},
		{"a proxy", answers(http.StatusBadGateway, `{"taken": true}`).URL, key, "it answers 502 Bad Gateway"},
	} {
		h := &ByHTTP{URL: tt.url, Key: tt.key, Client: http.DefaultClient}
		err := h.Beat(t.Context(), []heartbeat.Beat{{Cluster: "eu", UID: "u", Agent: "a", Sequence: 7}})
		if err == nil || !strings.HasPrefix(err.Error(), "sending a heartbeat to "+tt.url+": ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// fetched is a repository that notes which branches are fetched.
type fetched struct {
	*twin.Repo

	branches []string
}

func (f *fetched) Fetch(ctx context.Context, branches ...string) error {
	f.branches = append(f.branches, branches...)
	return f.Repo.Fetch(ctx, branches...)
}

// TestWhatIsReadOfWhatWasObserved: branches that are there, and of these the newest that goes on; a number that is no time of an agent is
// not gone on from.
func TestWhatIsReadOfWhatWasObserved(t *testing.T) {
	repo := &fetched{Repo: twin.New("status")}
	ahead := uint64(morning.Add(48 * time.Hour).UnixMilli())
	repo.Write("waybill/observed/eu", fmt.Sprintf("observed: eu\n\nObserved-Sequence: %d\n", ahead), files.NewFolder(nil))
	r := recorder{repo: repo, clusters: []string{"eu", "us"}, now: func() time.Time { return morning }, last: map[string]uint64{}}
	pages, recorded, err := r.read(t.Context())
	if err != nil || len(pages) != 2 || len(recorded) != 1 || pages["us"].root == nil || pages["us"].branch != "waybill/observed/us" {
		t.Errorf("there are %v, and recorded is %v: %v", pages, recorded, err)
	}
	if !slices.Equal(repo.branches, []string{"waybill/observed/eu"}) {
		t.Errorf("fetched are %v", repo.branches)
	}
	if r.last["eu"] >= ahead {
		t.Errorf("it goes on from %d", r.last["eu"])
	}
	for n := 1; n <= 3; n++ {
		r.repo = twin.FailingAt(n, repo.Repo)
		if _, _, err := r.read(t.Context()); (err == nil) != (n > 2) {
			t.Errorf("the question %d is not answered: %v", n, err)
		}
	}
	asked := false
	r.repo = twin.FailingAt(1, repo.Repo)
	r.set(nil)
	_, err = r.record(t.Context(), func(map[string]*karmada.ClusterStatus, []*karmada.Cluster) (map[string]*karmada.ClusterStatus, string) {
		asked = true
		return nil, ""
	})
	if !errors.Is(err, twin.ErrDown) || asked {
		t.Errorf("it is asked what is new %t, though nobody answers: %v", asked, err)
	}
}

// TestWhyOneOfSeveralChanges is its own line of the words.
func TestWhyOneOfSeveralChanges(t *testing.T) {
	const why = "eu: it is ready\neu-a: it is new\n"
	for cluster, want := range map[string]string{"eu": "eu: it is ready", "eu-a": "eu-a: it is new", "us": why} {
		if got := said(why, cluster); got != want {
			t.Errorf("of %s it says %q", cluster, got)
		}
	}
}
