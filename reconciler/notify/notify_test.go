package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/notify"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// seen are facts: how each cluster stands, as "eu=Held us=Healthy", and which clusters web leaves.
func seen(key, standings string, leaves ...string) *facts.Facts {
	f := &facts.Facts{Key: key}
	for pair := range strings.FieldsSeq(standings) {
		name, standing, _ := strings.Cut(pair, "=")
		f.Fleet.Clusters = append(f.Fleet.Clusters, reports.Cluster{
			ClusterHealth: status.ClusterHealth{Cluster: name, State: standing, Message: "because " + standing}, Registered: &karmada.Cluster{},
		})
	}
	web := &facts.Template{Ref: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "web"}}
	for i, cluster := range leaves {
		at := metav1.NewTime(time.Unix(int64(i), 0))
		task := karmada.GracefulEvictionTask{FromCluster: cluster, Message: "it is tainted", CreationTimestamp: &at}
		if name, ok := strings.CutSuffix(cluster, " at no time"); ok {
			task.FromCluster, task.CreationTimestamp = name, nil
		}
		web.Leaving = append(web.Leaving, task)
	}
	f.Bindings = func() facts.Bindings { return facts.Bindings{Templates: []*facts.Template{web}} }
	return f
}

// told is what is told when facts come after others; nil for none.
func told(before, now *facts.Facts) []notify.Event {
	var s notify.Seen
	if before != nil {
		s, _ = s.Next(before)
	}
	_, all := s.Next(now)
	return all
}

// TestWhatNobodyCanTellChangesNothing: while a cluster is behind, suspended or silent, what was said of it last holds, however long, and
// what it is afterwards is held against that.
func TestWhatNobodyCanTellChangesNothing(t *testing.T) {
	for steps, want := range map[string]string{
		"Failing Behind Healthy":              "- - recovered",
		"Failing Behind Unknown Drifting":     "- - - recovered",
		"Held Unknown Healthy":                "- - recovered",
		"Unhealthy Suspended Failing":         "- - -",
		"Failing Untold Held":                 "- - held",
		"Failing Behind Unreachable Healthy":  "- - - recovered",
		"Healthy Behind Healthy":              "- - -",
		"Healthy Unknown NoCredential":        "- - failing",
		"Behind Healthy":                      "- -",
		"Behind Error":                        "- failing",
		"Failing Healthy Failing Empty":       "- recovered failing recovered",
		"Healthy Held Failing Held Suspended": "- held failing held -",
	} {
		var s notify.Seen
		var got []string
		for n, state := range strings.Fields(steps) {
			var events []notify.Event
			s, events = s.Next(seen(strconv.Itoa(n), "eu="+state+" us=Healthy"))
			kind := "-"
			for _, e := range events {
				kind = e.Kind
			}
			got = append(got, kind)
		}
		if is := strings.Join(got, " "); is != want {
			t.Errorf("%s: told is %s, want %s", steps, is, want)
		}
	}
}

// TestTimeChangesNothing: that what was said grows old changes nothing, and what holds is held against what comes after.
func TestTimeChangesNothing(t *testing.T) {
	var s notify.Seen
	for n, step := range []struct {
		facts *facts.Facts
		want  int
	}{{seen("1", "eu=Failing"), 0}, {seen("1", "eu=Unknown"), 0}, {seen("2", "eu=Failing"), 0}, {seen("2", "eu=Healthy"), 0}, {seen("3", "eu=Healthy"), 1}} {
		var events []notify.Event
		if s, events = s.Next(step.facts); len(events) != step.want {
			t.Errorf("step %d: told is %v", n, events)
		}
	}
}

func TestEvents(t *testing.T) {
	for _, tt := range []struct {
		name        string
		before, now *facts.Facts
		want        string
	}{
		{"at first nothing", nil, seen("2", "eu=Held us=Failing", "eu"), ""},
		{"nothing moved", seen("1", "eu=Held"), seen("1", "eu=Failing"), ""},
		{"the same in other words", seen("1", "eu=Unreachable"), seen("2", "eu=Failing"), ""},
		{"held", seen("1", "eu=Healthy us=Healthy"), seen("2", "eu=Held us=Healthy"), "eu is held: Held. because Held"},
		{"failing", seen("1", "eu=Healthy"), seen("2", "eu=Unhealthy"), "eu fails: Unhealthy. because Unhealthy"},
		{"held, and then failing", seen("1", "eu=Held"), seen("2", "eu=Failing"), "eu fails: Failing. because Failing"},
		{"well again", seen("1", "eu=Failing us=Held"), seen("2", "eu=Healthy us=Drifting"), "eu is well again\nus is well again"},
		{"under way", seen("1", "eu=Healthy"), seen("2", "eu=Behind"), ""},
		{"a new cluster that fails", seen("1", ""), seen("2", "eu=Error"), "eu fails: Error. because Error"},
		{"a cluster that is gone", seen("1", "eu=Failing"), seen("2", ""), ""},
		{"moved", seen("1", "eu=Healthy us=Healthy"), seen("2", "eu=Healthy us=Healthy", "eu"), "eu loses ConfigMap/shop/web: it is tainted"},
		{"still moving", seen("1", "eu=Healthy", "eu"), seen("2", "eu=Healthy", "eu"), ""},
		{"moves on", seen("1", "eu=Healthy", "eu"), seen("2", "eu=Healthy", "eu", "us"), "us loses ConfigMap/shop/web: it is tainted"},
		{"moved back, and away once more", seen("1", "eu=Healthy", "eu"), seen("2", "eu=Healthy", "us", "eu"), "us loses ConfigMap/shop/web: it is tainted\neu loses ConfigMap/shop/web: it is tainted"},
		{"moved, by who does not say when", seen("1", "eu=Healthy"), seen("2", "eu=Healthy", "eu at no time", "eu at no time"), "eu loses ConfigMap/shop/web: it is tainted"},
		{"moved back", seen("1", "eu=Healthy", "eu"), seen("2", "eu=Healthy"), ""},
	} {
		var got []string
		for _, e := range told(tt.before, tt.now) {
			got = append(got, e.String())
		}
		if d := cmp.Diff(tt.want, strings.Join(got, "\n")); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// inbox is somebody who is told.
type inbox struct {
	server *httptest.Server
	status int
	got    []string
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	b := &inbox{status: http.StatusOK}
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %v", r.Method, r.Header, err)
		}
		b.got = append(b.got, string(data))
		if b.status == http.StatusFound {
			http.Redirect(w, r, "/elsewhere", b.status)
			return
		}
		w.WriteHeader(b.status)
	}))
	t.Cleanup(b.server.Close)
	return b
}

// watched is a fleet of which somebody is told.
type watched struct {
	t        *testing.T
	repo     *twin.Repo
	now      time.Time
	notifier *notify.Notifier
	before   notify.Seen
	log      strings.Builder
}

func newWatched(t *testing.T, clusters int, receivers ...*notify.Receiver) *watched {
	t.Helper()
	w := &watched{t: t, repo: twin.New("fleet"), now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	source := twin.Tree{
		"conf.yaml":   twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf, namespace: shop}\n")),
		"policy.yaml": twin.File([]byte("apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}\n")),
	}
	for i := range clusters {
		source[fmt.Sprintf("c%03d.yaml", i)] = twin.File(fmt.Appendf(nil, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: c%03d}\nspec: {syncMode: Push}\n", i))
	}
	w.repo.Write("main", "first", source.Folder())
	now := func() time.Time { return w.now }
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: w.repo, Target: w.repo, Now: now}
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	w.notifier = &notify.Notifier{
		Reader: &facts.Reader{Reconciler: r, Rev: "main"}, Receivers: receivers, Source: "fleet", URL: "https://waybill.example.com", Interval: time.Minute, Now: now,
		Log: slog.New(slog.NewTextHandler(&w.log, nil)), Client: http.DefaultClient,
	}
	for i := range clusters {
		w.say(fmt.Sprintf("c%03d", i), "")
	}
	w.turn()
	return w
}

// say has a cluster say that it is applied to, or why not.
func (w *watched) say(cluster, why string) {
	w.t.Helper()
	h, _, err := w.repo.Branch(w.t.Context(), "waybill/cluster/"+cluster)
	if err != nil {
		w.t.Fatal(err)
	}
	c := status.Cluster{Summary: status.Summary{Name: cluster, Commit: h.Commit, Verdict: status.Verdict{Reason: status.Applied}}}
	if why != "" {
		c.Verdict = status.Verdict{Reason: status.Errored, Message: why}
	}
	w.repo.Now = w.now
	w.repo.Write(status.Prefix+cluster, "status", status.Summarize(c))
}

// turn lets some time pass, and looks.
func (w *watched) turn() {
	w.now = w.now.Add(time.Minute)
	w.before = w.notifier.Turn(w.t.Context(), w.before)
}

func TestReceiversAreToldOnceOfWhatChanges(t *testing.T) {
	hook, slack := newInbox(t), newInbox(t)
	w := newWatched(t, 2, &notify.Receiver{Name: "webhook", URL: hook.server.URL + "/secret-path"}, &notify.Receiver{Name: "slack", URL: slack.server.URL, Slack: true})
	w.turn()
	if len(hook.got)+len(slack.got) > 0 {
		t.Fatal("they are told of nothing", hook.got, slack.got)
	}
	w.say("c000", "<!channel> see <https://evil.example.com|this> & more")
	w.turn()
	w.turn()
	if len(hook.got) != 1 || len(slack.got) != 1 {
		t.Fatalf("they are told %d and %d times", len(hook.got), len(slack.got))
	}
	var b notify.Batch
	if err := json.Unmarshal([]byte(hook.got[0]), &b); err != nil || b.Kind != "Notification" || len(b.Events) != 1 || b.Events[0].Kind != notify.Failing || b.Events[0].Cluster != "c000" || b.URL == "" {
		t.Errorf("%v %s", err, hook.got[0])
	}
	var said struct{ Text string }
	if err := json.Unmarshal([]byte(slack.got[0]), &said); err != nil || said.Text != "• c000 fails: Error. &lt;!channel&gt; see &lt;https://evil.example.com|this&gt; &amp; more\n<https://waybill.example.com>\n" {
		t.Errorf("%v %q", err, said.Text)
	}
	w.say("c000", "")
	w.turn()
	if len(hook.got) != 2 || !strings.Contains(hook.got[1], `"recovered"`) {
		t.Error(hook.got)
	}
}

func TestWhatIsNotTakenIsToldAgain(t *testing.T) {
	for _, status := range []int{http.StatusInternalServerError, http.StatusTooManyRequests, http.StatusFound, http.StatusNotFound} {
		hook, other := newInbox(t), newInbox(t)
		w := newWatched(t, 1, &notify.Receiver{Name: "webhook", URL: hook.server.URL + "/secret-path"}, &notify.Receiver{Name: "other", URL: other.server.URL})
		hook.status = status
		w.say("c000", "away")
		w.turn()
		w.say("c000", "")
		w.turn()
		tries := len(hook.got)
		hook.status = http.StatusOK
		for range 5 {
			w.turn()
		}
		last := hook.got[len(hook.got)-1]
		if tries == 0 || tries > 2 || len(hook.got) != tries+1 || !strings.Contains(last, `"failing"`) || !strings.Contains(last, `"recovered"`) || len(other.got) != 2 {
			t.Errorf("%d: %d tries, then %q; the other one %d", status, tries, hook.got, len(other.got))
		}
		if said := w.log.String(); !strings.Contains(said, "not notified") || strings.Contains(said, "secret-path") {
			t.Errorf("%d: %s", status, said)
		}
	}
}

// TestAReceiverThatIsBack is tried again soon when it fails once more, however long it was away before.
func TestAReceiverThatIsBack(t *testing.T) {
	hook := newInbox(t)
	w := newWatched(t, 1, &notify.Receiver{Name: "webhook", URL: hook.server.URL})
	hook.status = http.StatusInternalServerError
	w.say("c000", "away")
	for range 20 {
		w.turn()
	}
	hook.status = http.StatusOK
	for range 10 {
		w.turn()
	}
	told := len(hook.got)
	hook.status = http.StatusInternalServerError
	w.say("c000", "")
	w.turn()
	hook.status = http.StatusOK
	w.turn()
	if got := hook.got[told:]; len(got) != 2 || !strings.Contains(got[1], `"recovered"`) {
		t.Errorf("after %d tries it is told %q", told, got)
	}
}

func TestAReceiverThatIsAwayCostsNoMemoryAndSaysNoURL(t *testing.T) {
	const clusters = 120
	hook := newInbox(t)
	url := hook.server.URL
	r := &notify.Receiver{Name: "webhook", URL: "http://127.0.0.1:1/secret-path"}
	w := newWatched(t, clusters, r)
	for turn := range 10 {
		for i := range clusters {
			w.say(fmt.Sprintf("c%03d", i), []string{"away", ""}[turn%2])
		}
		w.turn()
	}
	r.URL = url
	for range 30 {
		w.turn()
	}
	var b notify.Batch
	if len(hook.got) != 1 {
		t.Fatalf("it is told %d times", len(hook.got))
	}
	if err := json.Unmarshal([]byte(hook.got[0]), &b); err != nil || len(b.Events) != 50 || b.More != 10*clusters-50 {
		t.Errorf("%v: %d events and %d more", err, len(b.Events), b.More)
	}
	if n := slices.IndexFunc(b.Events, func(e notify.Event) bool { return e.Kind != notify.Failing }); n >= 0 {
		t.Errorf("%s is told, and so many others need somebody", b.Events[n])
	}
	if strings.Contains(w.log.String(), "secret-path") {
		t.Error(w.log.String())
	}
	w.say("c000", "away")
	w.turn()
	var next notify.Batch
	if len(hook.got) != 2 {
		t.Fatalf("of what happens later it is told %d times", len(hook.got)-1)
	}
	if err := json.Unmarshal([]byte(hook.got[1]), &next); err != nil || len(next.Events) != 1 || next.More != 0 {
		t.Errorf("later, %v: %d events and %d more", err, len(next.Events), next.More)
	}
}

// TestHowOftenAReceiverIsTried: after one interval, then two, and so on, up to ten minutes.
func TestHowOftenAReceiverIsTried(t *testing.T) {
	hook := newInbox(t)
	hook.status = http.StatusInternalServerError
	w := newWatched(t, 1, &notify.Receiver{Name: "webhook", URL: hook.server.URL})
	w.say("c000", "away")
	var tried []int
	for minute := range 45 {
		before := len(hook.got)
		w.turn()
		if len(hook.got) > before {
			tried = append(tried, minute)
		}
	}
	if d := cmp.Diff([]int{0, 1, 3, 7, 15, 25, 35}, tried); d != "" {
		t.Errorf("it is tried in the minutes %v: %s", tried, d)
	}
}

// TestWhoIsCutOffWaitsForNothing: a receiver that was being asked when the controller ended is no receiver that fails.
func TestWhoIsCutOffWaitsForNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			_, _ = io.Copy(io.Discard, r.Body)
			cancel()
			<-r.Context().Done()
		}
	}))
	t.Cleanup(hook.Close)
	w := newWatched(t, 1, &notify.Receiver{Name: "webhook", URL: hook.URL})
	w.say("c000", "away")
	w.before = w.notifier.Turn(ctx, w.before)
	if said := w.log.String(); said != "" {
		t.Errorf("it says %s", said)
	}
	if w.before = w.notifier.Turn(t.Context(), w.before); asked != 2 {
		t.Errorf("it is asked %d times", asked)
	}
}

// blind is a repository that cannot be seen for a while.
type blind struct {
	*twin.Repo

	isBlind bool
}

// Heads implements published.Repository.
func (b *blind) Heads(ctx context.Context) (map[string]files.ID, error) {
	if b.isBlind {
		return nil, errors.New("the connection is broken")
	}
	return b.Repo.Heads(ctx)
}

// TestWhatCannotBeSeenIsToldLater: who cannot see the fleet tells nothing of it but what waits, says so, and tells what is not as it was
// when it was seen last.
func TestWhatCannotBeSeenIsToldLater(t *testing.T) {
	hook := newInbox(t)
	w := newWatched(t, 2, &notify.Receiver{Name: "webhook", URL: hook.server.URL})
	to := &blind{Repo: w.repo}
	w.notifier.Reader.Reconciler.Source, w.notifier.Reader.Reconciler.Target = to, to
	hook.status = http.StatusInternalServerError
	w.say("c001", "away")
	w.turn() // it is not told
	hook.status = http.StatusOK
	to.isBlind = true
	w.say("c000", "away")
	w.turn()
	if said := w.log.String(); !strings.Contains(said, "cannot see what to notify of") || len(hook.got) != 2 || strings.Contains(hook.got[1], "c000") {
		t.Errorf("it tells %q, and says %s", hook.got, said)
	}
	to.isBlind = false
	w.turn()
	if len(hook.got) != 3 || !strings.Contains(hook.got[2], "c000") {
		t.Errorf("later it tells %q", hook.got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.log.Reset()
	to.isBlind = true
	if w.notifier.Turn(ctx, w.before); w.log.String() != "" {
		t.Errorf("who ends says %s", w.log.String())
	}
}

// TestRunTellsWhatChangesSinceItBegan, until it ends.
func TestRunTellsWhatChangesSinceItBegan(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	told := make(chan string, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		told <- string(data)
	}))
	t.Cleanup(hook.Close)
	w := newWatched(t, 2, &notify.Receiver{Name: "webhook", URL: hook.URL})
	w.say("c000", "away")
	looked := make(chan struct{})
	w.notifier.Interval = time.Millisecond
	w.notifier.Now = func() time.Time {
		select {
		case looked <- struct{}{}:
		default:
		}
		return w.now
	}
	ended := make(chan error)
	go func() { ended <- w.notifier.Run(ctx) }()
	select {
	case <-looked:
	case <-ctx.Done():
		t.Fatal("it does not look")
	}
	w.say("c001", "away")
	select {
	case said := <-told:
		if strings.Contains(said, "c000") || !strings.Contains(said, "c001") {
			t.Errorf("it tells %s", said)
		}
	case <-ctx.Done():
		t.Fatal("it tells nothing")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestAReceiverWithoutAURL is not asked, and what it has for one is not said.
func TestAReceiverWithoutAURL(t *testing.T) {
	w := newWatched(t, 1, &notify.Receiver{Name: "webhook", URL: "http://\x7f/secret-path"})
	w.say("c000", "away")
	w.turn()
	if said := w.log.String(); !strings.Contains(said, "not notified") || strings.Contains(said, "secret-path") {
		t.Errorf("it says %s", said)
	}
}

// TestWhatSlackShows: a line an event, which is not too long and not cut within a letter, and how many there are besides.
func TestWhatSlackShows(t *testing.T) {
	hook := newInbox(t)
	w := newWatched(t, 52, &notify.Receiver{Name: "slack", URL: hook.server.URL, Slack: true})
	w.notifier.URL = ""
	for i := range 52 {
		w.say(fmt.Sprintf("c%03d", i), strings.Repeat("ü", 200))
	}
	w.turn()
	var said struct{ Text string }
	if len(hook.got) != 1 || json.Unmarshal([]byte(hook.got[0]), &said) != nil {
		t.Fatalf("told is %q", hook.got)
	}
	lines := strings.Split(strings.TrimSuffix(said.Text, "\n"), "\n")
	if len(lines) != 51 || lines[50] != "and 2 more" || !strings.HasPrefix(lines[0], "• c000 fails: Error. ü") || !strings.HasSuffix(lines[0], "ü...") || len(lines[0]) > 310 {
		t.Errorf("it shows %d lines: %q ... %q", len(lines), lines[0], lines[len(lines)-1])
	}
}

func TestParseURL(t *testing.T) {
	for text, ok := range map[string]bool{
		"https://hooks.example.com/services/T/B/x\n": true, "http://127.0.0.1:8080/x": true, "": false, "hooks.example.com/x": false, "file:///etc/passwd": false, "https://a/x\nhttps://b/x": false,
		"https:///passwd": false, "ftp://hooks.example.com/passwd": false, "https://hooks.example.com/a passwd": false,
	} {
		if _, err := notify.ParseURL([]byte(text)); (err == nil) != ok || err != nil && strings.Contains(err.Error(), "passwd") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
