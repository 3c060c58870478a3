package observe

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/heartbeat/receive"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
	"github.com/waybill-dev/waybill/test/twin"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func newKey(t *testing.T) signing.Key {
	t.Helper()
	key, _, err := signing.NewKey(rand.Reader, "")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// pulled is a cluster that an agent with a key serves.
func pulled(name string, key signing.Key) *karmada.Cluster {
	public := key.Public()
	return &karmada.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{heartbeat.AgentKey: public.String()}}, Spec: karmada.ClusterSpec{SyncMode: karmada.Pull, ID: "5f0c"},
	}
}

// listens is one who listens to the agents of clusters.
func listens(registered ...*karmada.Cluster) *listener {
	l := &listener{
		Agents: &Agents{Recorder: Recorder{Now: func() time.Time { return noon }}, Receiver: &receive.Receiver{Now: func() time.Time { return noon }}, Log: slog.New(slog.DiscardHandler)},
		at:     map[string]files.ID{}, told: map[string]*observation.Told{},
	}
	l.Receiver.Begin("s")
	l.serve(registered)
	return l
}

// heard is the time of the last beat of a cluster that was heard, since noon; -1 for none.
func (l *listener) heard(cluster string) (after time.Duration) {
	l.Receiver.Read(func(b *heartbeat.Book) {
		if after = -1; b.Last(cluster) != (heartbeat.Beat{}) {
			after = time.UnixMilli(int64(b.Last(cluster).Sequence)).Sub(noon)
		}
	})
	return after
}

// beats puts a beat at a ref, signed by a key, some time after noon.
func (l *listener) beats(t *testing.T, ref string, by signing.Key, after time.Duration, edit func(*heartbeat.Beat)) {
	t.Helper()
	b := heartbeat.Beat{Cluster: "eu", UID: "5f0c", Agent: "agent-0", Sequence: uint64(noon.Add(after).UnixMilli())}
	edit(&b)
	signature, err := by.SignCommit([]byte(b.Text()))
	if err != nil {
		t.Fatal(err)
	}
	id := files.Sum("commit", []byte(b.Text()+ref))
	l.hear(&git.RemoteRefs{Refs: map[string]files.ID{ref: id}, Read: map[files.ID]git.Head{id: {Message: b.Text(), Signed: []byte(b.Text()), Signature: signature}}}, noon)
}

// A beat counts for the cluster at whose ref it is, if that cluster's agent signed it, in its name.
func TestWhoseBeatIsHeard(t *testing.T) {
	eu, us := newKey(t), newKey(t)
	as := func(*heartbeat.Beat) {}
	for _, tt := range []struct {
		name string
		ref  string
		by   signing.Key
		edit func(*heartbeat.Beat)
		want bool
	}{
		{"its agent's", heartbeat.Refs + "eu", eu, as, true},
		{"its agent's, at a branch", heartbeat.Branches + "eu", eu, as, true},
		{"another agent's", heartbeat.Refs + "eu", us, as, false},
		{"another agent's, of its own cluster", heartbeat.Refs + "eu", us, func(b *heartbeat.Beat) { b.Cluster = "us" }, false},
		{"its agent's, at the ref of another cluster", heartbeat.Refs + "us", eu, as, false},
		{"its agent's, of another cluster", heartbeat.Refs + "eu", eu, func(b *heartbeat.Beat) { b.Cluster = "us" }, false},
		{"from a cluster with another id", heartbeat.Refs + "eu", eu, func(b *heartbeat.Beat) { b.UID = "0000" }, false},
		{"at any other ref", "refs/heads/eu", eu, as, false},
		{"at a ref below", heartbeat.Refs + "eu/eu", eu, as, false},
	} {
		l := listens(pulled("eu", eu), pulled("us", us))
		l.beats(t, tt.ref, tt.by, 0, tt.edit)
		if got := l.heard("eu"); (got == 0) != tt.want || l.heard("us") != -1 {
			t.Errorf("%s: eu is heard at %s, us at %s", tt.name, got, l.heard("us"))
		}
	}
	l := listens(pulled("eu", eu))
	text := heartbeat.Beat{Cluster: "eu", UID: "5f0c", Agent: "a", Sequence: uint64(noon.UnixMilli())}
	l.hear(&git.RemoteRefs{Refs: map[string]files.ID{heartbeat.Refs + "eu": {1}}, Read: map[files.ID]git.Head{{1}: {Message: text.Text(), Signed: []byte(text.Text())}}}, noon)
	if got := l.heard("eu"); got != -1 {
		t.Errorf("what nobody signed is heard at %s", got)
	}
	l = listens(pulled("eu", eu))
	l.hear(&git.RemoteRefs{Refs: map[string]files.ID{heartbeat.Refs + "eu": {1}}}, noon)
	if len(l.at) > 0 {
		t.Errorf("what could not be read counts as read: %v", l.at)
	}
}

// When a cluster's agent gets another key, what is at its refs is read anew, and counts by that; what is at those of others is not.
func TestWhatIsReadAnewForAnotherKey(t *testing.T) {
	first, second, us := newKey(t), newKey(t), newKey(t)
	l := listens(pulled("eu", first), pulled("us", us))
	l.beats(t, heartbeat.Refs+"eu", first, 0, func(*heartbeat.Beat) {})
	l.at["refs/heads/"+observation.Prefix+"eu"], l.at["refs/heads/"+observation.Prefix+"us"] = files.ID{1}, files.ID{2}
	was := l.told["us"]
	l.serve([]*karmada.Cluster{pulled("eu", second), pulled("us", us)})
	before := first.Public()
	if len(l.at) != 1 || l.at["refs/heads/"+observation.Prefix+"us"].IsZero() || l.told["us"] != was || l.told["eu"].Key() == before.Fingerprint() {
		t.Errorf("what was read is %v", l.at)
	}
	l.beats(t, heartbeat.Refs+"eu", first, time.Second, func(*heartbeat.Beat) {})
	l.beats(t, heartbeat.Refs+"eu", second, time.Minute, func(*heartbeat.Beat) {})
	if got := l.heard("eu"); got != time.Minute {
		t.Errorf("eu is heard at %s", got)
	}
	key := l.told["eu"]
	if l.serve([]*karmada.Cluster{pulled("eu", second), pulled("us", us)}); l.told["eu"] != key {
		t.Error("with the same key it begins anew")
	}
}

// An observation is that of the cluster at whose branch it is, by its agent's key; what does not count is told of, once, and keeps no
// other from being read.
func TestWhoseObservationIsRead(t *testing.T) {
	eu, us := newKey(t), newKey(t)
	repo := &refs{Repo: twin.New("told")}
	l := listens(pulled("eu", eu), pulled("us", us))
	l.Status = repo
	observes := func(branch, name string, by *signing.Key, version string) {
		if repo.Sign = nil; by != nil {
			repo.Sign = by.SignCommit
		}
		root, err := state.Observe(files.NewFolder(nil), map[string]*karmada.ClusterStatus{name: {KubernetesVersion: version}})
		if err != nil {
			t.Fatal(err)
		}
		repo.Write(observation.Prefix+branch, "observed "+version, root)
		repo.Sign = nil
	}
	// says is which version is to be recorded, and whether it is said that the newest does not count
	says := func(cluster string) string {
		s, _ := l.told[cluster].Report(nil, heartbeat.Running, 0, noon)
		refused := false
		for _, c := range s.Conditions {
			refused = refused || c.Type == observation.ConditionObservation && c.Status != metav1.ConditionTrue
		}
		return fmt.Sprint(s.KubernetesVersion, " ", refused)
	}
	look := func() {
		t.Helper()
		heads, err := repo.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]files.ID{}
		for name, id := range heads {
			all["refs/heads/"+name] = id
		}
		if err := l.listen(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
	observes("eu", "eu", &eu, "v1.35.0")
	observes("us", "us", &eu, "v1.35.0")
	look()
	if got := says("eu") + ", " + says("us"); got != "v1.35.0 false,  true" {
		t.Errorf("it is read as %s", got)
	}
	observes("us", "us", &us, "v1.36.0")
	observes("eu", "eu", nil, "v1.37.0")
	look()
	if got := says("eu") + ", " + says("us"); got != "v1.35.0 true, v1.36.0 false" {
		t.Errorf("it is read as %s", got)
	}
	repo.fetched = nil
	if look(); len(repo.fetched) > 0 {
		t.Errorf("what did not move is fetched again: %q", repo.fetched)
	}
	// one whose sequence number cannot be read, and one that is none
	root, err := state.Observe(files.NewFolder(nil), map[string]*karmada.ClusterStatus{"us": {KubernetesVersion: "v1.37.0"}})
	if err != nil {
		t.Fatal(err)
	}
	repo.Sign = us.SignCommit
	repo.Write(observation.Prefix+"us", "observed\n\n"+observation.TrailerSequence+": soon\n", root)
	look()
	if got := says("us"); got != "v1.36.0 true" {
		t.Errorf("with a sequence number that is none it is read as %s", got)
	}
	repo.Write(observation.Prefix+"us", "observed", twin.Tree{"observed/us.yaml": twin.File([]byte("{"))}.Folder())
	look()
	if got := says("us"); got != "v1.36.0 true" {
		t.Errorf("what cannot be decoded is read as %s", got)
	}
	repo.Sign = nil

	// the repository is away: that is no fault of any
	observes("us", "us", &us, "v1.37.0")
	repo.away = errors.New("connection refused")
	heads, err := repo.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]files.ID{"refs/heads/" + observation.Prefix + "us": heads[observation.Prefix+"us"]}
	if err := l.listen(t.Context(), all); !errors.Is(err, repo.away) {
		t.Errorf("it reads what cannot be fetched: %v", err)
	}
	repo.away = nil
	look()
	if got := says("us"); got != "v1.37.0 false" {
		t.Errorf("what could not be fetched is read as %s", got)
	}
	repo.big = observation.Prefix + "eu"
	observes("eu", "eu", &eu, "v1.38.0")
	observes("us", "us", &us, "v1.38.0")
	look()
	if got := says("eu") + ", " + says("us"); !strings.HasPrefix(got, "v1.35.0 true") || !strings.HasSuffix(got, "v1.38.0 false") {
		t.Errorf("where one is too large, it is read as %s", got)
	}
}

// refs is a repository that has refs beside its branches, and of which a branch may be too large to be fetched.
type refs struct {
	*twin.Repo

	mu      sync.Mutex
	big     string
	away    error // what it answers who fetches
	fetched []string
	beats   map[string]git.Head // at these refs
	read    []string            // refs
	fails   error               // what it answers who looks at the refs
}

// beat has a commit stand at a ref.
func (r *refs) beat(ref string, at git.Head) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beats[ref] = at
}

// answers has whoever looks at the refs get an error from now on; nil: none.
func (r *refs) answers(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = err
}

// RemoteRefs implements RefReader.
func (r *refs) RemoteRefs(ctx context.Context, wanted func(ref string, id files.ID) bool) (git.RemoteRefs, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails != nil {
		return git.RemoteRefs{}, r.fails
	}
	heads, err := r.Heads(ctx)
	all := git.RemoteRefs{Refs: map[string]files.ID{}, Read: map[files.ID]git.Head{}}
	for name, id := range heads {
		all.Refs["refs/heads/"+name] = id
	}
	for ref, beat := range r.beats {
		id := files.Sum("commit", []byte(ref+beat.Message))
		if all.Refs[ref] = id; wanted(ref, id) {
			all.Read[id], r.read = beat, append(r.read, ref)
		}
	}
	return all, err
}

// Fetch implements published.Repository.
func (r *refs) Fetch(_ context.Context, branches ...string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fetched = append(r.fetched, branches...)
	if r.away != nil {
		return r.away
	}
	if slices.Contains(branches, r.big) {
		return &git.LimitError{What: "objects"}
	}
	return nil
}

// lines are the messages of a log.
type lines struct {
	slog.Handler

	mu  sync.Mutex
	all []string
}

func newLines() *lines { return &lines{Handler: slog.DiscardHandler} }

// Enabled implements slog.Handler.
func (*lines) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (l *lines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, r.Message)
	return nil
}

// taken are the messages since it was asked last.
func (l *lines) taken() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}
