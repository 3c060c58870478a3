package observe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/clusters/survey"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/test/twin"
)

// watching is an observer of clusters that say what a test has them say, in a bubble of synctest.
type watching struct {
	*testing.T
	*Observer

	target   *twin.Repo
	said     *lines
	recorded atomic.Int32 // times

	mu      sync.Mutex
	watched map[string]*seeing
	events  []string
}

// seeing is that a cluster is watched.
type seeing struct {
	of     survey.Cluster
	report func(observation.Facts)
	end    chan error
}

func newWatching(t *testing.T, registered ...*karmada.Cluster) *watching {
	t.Helper()
	w := &watching{T: t, target: twin.New("published"), said: newLines(), watched: map[string]*seeing{}}
	registers(t, w.target, registered...)
	folder := t.TempDir()
	for _, c := range registered {
		text := "{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: x, user: x}}], users: [{name: x, user: {}}], clusters: [{name: x, cluster: {server: 'https://" + c.Name + "'}}]}"
		if err := os.WriteFile(filepath.Join(folder, c.Name+".kubeconfig"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.Observer = NewObserver(Recorder{Target: w.target, Now: time.Now}, clusters.Access{Folder: folder}, slog.New(w.said), func() { w.recorded.Add(1) })
	w.Left = func(cluster string) { w.note("left " + cluster) }
	w.survey = func(ctx context.Context, c survey.Cluster, report func(observation.Facts)) error {
		s := &seeing{c, report, make(chan error)}
		w.mu.Lock()
		w.watched[c.Name] = s
		w.mu.Unlock()
		word := "watched " + c.Name
		if c.Watch != nil {
			word += ", counted"
		}
		w.note(word)
		select {
		case <-ctx.Done():
			w.note("ended " + c.Name)
			return nil
		case err := <-s.end:
			return err
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Observer.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
	return w
}

func (w *watching) note(event string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, event)
}

// took is what happened since it was asked last, sorted.
func (w *watching) took() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := slices.Sorted(slices.Values(w.events))
	w.events = nil
	return strings.Join(all, "; ")
}

// passes lets some time go by.
func (*watching) passes(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// sees has what is seen of a cluster be told.
func (w *watching) sees(cluster string, f *observation.Facts) {
	w.mu.Lock()
	s := w.watched[cluster]
	w.mu.Unlock()
	s.report(*f)
}

// pushed is a cluster that is pushed to.
func pushed(name string) *karmada.Cluster {
	return &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: karmada.ClusterSpec{SyncMode: karmada.Push}}
}

// serving is what is seen of a healthy cluster of a version.
func serving(version string) *observation.Facts {
	return &observation.Facts{Health: observation.Healthy, Served: &observation.Served{Version: version}}
}

// versions are those that the state branch has of clusters, by name.
func (w *watching) versions() string {
	w.Helper()
	head, _, err := w.target.Branch(w.Context(), state.Branch)
	if err != nil {
		w.Fatal(err)
	}
	all := state.Observed(head.Tree)
	var words []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		words = append(words, name+" "+all[name].KubernetesVersion)
	}
	return strings.Join(words, ", ")
}

// TestWhichClustersAreWatched goes from one request to the next: who is watched as before goes on, and nobody else.
func TestWhichClustersAreWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eu, us := pushed("eu"), pushed("us")
		w := newWatching(t, eu, us)
		renamed, moved := pushed("us"), pushed("us")
		renamed.Spec.ID = "5f0c"
		moved.Spec.ID, moved.Annotations = "5f0c", map[string]string{karmada.VirtualOfAnnotation: "eu"}
		web, db := &deschedule.Watch{}, &deschedule.Watch{}
		for _, step := range []struct {
			name  string
			list  []*karmada.Cluster
			asked *deschedule.Watch
			want  string
		}{
			{"at first", []*karmada.Cluster{eu, us}, nil, "watched eu; watched us"},
			{"again, as others that are equal", []*karmada.Cluster{pushed("us"), pushed("eu")}, nil, ""},
			{"somebody asks how many replicas wait", []*karmada.Cluster{eu, us}, web, "ended eu; ended us; left eu; left us; watched eu, counted; watched us, counted"},
			{"somebody else asks", []*karmada.Cluster{eu, us}, db, ""},
			{"nobody asks any more", []*karmada.Cluster{eu, us}, nil, "ended eu; ended us; left eu; left us; watched eu; watched us"},
			{"one is another cluster", []*karmada.Cluster{eu, renamed}, nil, "ended us; left us; watched us"},
			{"one becomes a virtual one", []*karmada.Cluster{eu, moved}, nil, "ended us; left us; watched us"},
			{"one goes", []*karmada.Cluster{moved}, nil, "ended eu; left eu"},
			{"and comes back", []*karmada.Cluster{eu, moved}, nil, "watched eu"},
			{"all go", nil, nil, "ended eu; ended us; left eu; left us"},
		} {
			w.Observe(step.list, step.list, step.asked)
			w.passes(time.Second)
			if got := w.took(); got != step.want {
				t.Errorf("%s: %s; want %s", step.name, got, step.want)
			}
			if counts := w.watched["eu"].of.Watch; step.asked != nil && (counts == nil || counts() != step.asked) {
				t.Errorf("%s: nothing is counted, or what was asked for before", step.name)
			}
		}
	})
}

// TestWhatIsSeenIsRecorded: once for all that is seen at about the same time, of clusters that are watched and registered.
func TestWhatIsSeenIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eu, us := pushed("eu"), pushed("us")
		w := newWatching(t, eu, us)
		var seen atomic.Int32
		w.Saw = func(string, observation.Facts) { seen.Add(1) }
		w.Observe([]*karmada.Cluster{eu, us}, []*karmada.Cluster{eu, us}, nil)
		w.passes(time.Second)
		w.sees("eu", serving("v1.35.0"))
		w.passes(time.Second)
		w.sees("us", serving("v1.35.0"))
		if got := w.versions(); got != "" || w.recorded.Load() != 0 {
			t.Errorf("one alone is recorded: %s", got)
		}
		w.passes(time.Second)
		if got := w.versions(); got != "eu v1.35.0, us v1.35.0" || w.recorded.Load() != 1 || seen.Load() != 2 {
			t.Errorf("%s is recorded, in %d commits, of %d looks", got, w.recorded.Load(), seen.Load())
		}
		w.sees("eu", serving("v1.35.0"))
		w.passes(3 * time.Second)
		if w.recorded.Load() != 1 {
			t.Error("what is recorded is recorded again")
		}

		w.Observe([]*karmada.Cluster{eu, us}, []*karmada.Cluster{us, eu}, nil) // it is read anew
		w.passes(time.Second)
		w.sees("eu", serving("v1.35.0"))
		w.passes(3 * time.Second)
		if w.recorded.Load() != 1 {
			t.Error("who plans is told of what nobody recorded")
		}

		// it cannot be written, and is with the next look
		turn := func() { // another version is recorded when it was seen for the threshold
			w.sees("eu", serving("v1.36.0"))
			w.passes(observation.Threshold)
		}
		turn()
		w.target.Refuse(state.Branch)
		w.said.taken()
		turn()
		if said := w.said.taken(); w.recorded.Load() != 1 || !slices.Contains(said, "observation not recorded") {
			t.Errorf("%d commits, where none can be made; it says %q", w.recorded.Load(), said)
		}
		w.target.Refuse()
		turn()
		if got := w.versions(); got != "eu v1.36.0, us v1.35.0" || w.recorded.Load() != 2 {
			t.Errorf("%s is recorded, in %d commits", got, w.recorded.Load())
		}

		// one is registered no more, and the one who observes does not know yet
		registers(t, w.target, eu)
		for range 2 {
			w.sees("us", serving("v1.37.0"))
			w.passes(observation.Threshold)
		}
		if got := w.versions(); !strings.HasSuffix(got, "us v1.35.0") {
			t.Errorf("of one that is not registered %s is recorded", got)
		}
		late := w.watched["us"]
		w.Observe([]*karmada.Cluster{eu}, []*karmada.Cluster{eu}, nil)
		w.passes(time.Second)
		seen.Store(0)
		late.report(*serving("v1.38.0")) // nobody waits for it
		w.passes(3 * time.Second)
		if seen.Load() != 0 {
			t.Error("what is seen of a cluster that is not watched any more is told")
		}
	})
}

// TestWhatSomebodyElseRecorded: it is read anew when that is due, or somebody says which clusters to watch.
func TestWhatSomebodyElseRecorded(t *testing.T) {
	for _, tt := range []struct {
		name  string
		again time.Duration
		asks  bool
		want  string
	}{
		{"nobody says anything", 0, false, "eu v1.0.0"},
		{"it is read anew now and then", time.Minute, false, "eu v1.35.0"},
		{"somebody says what to watch", 0, true, "eu v1.35.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				eu := pushed("eu")
				w := newWatching(t, eu)
				w.Again = tt.again
				w.Observe([]*karmada.Cluster{eu}, []*karmada.Cluster{eu}, nil)
				looks := func() {
					w.passes(time.Second)
					w.sees("eu", serving("v1.35.0"))
					w.passes(observation.Threshold)
				}
				looks()
				head, _, err := w.target.Branch(t.Context(), state.Branch)
				if err != nil {
					t.Fatal(err)
				}
				as := *state.Observed(head.Tree)["eu"]
				as.KubernetesVersion = "v1.0.0"
				root, err := state.Observe(head.Tree, map[string]*karmada.ClusterStatus{"eu": &as})
				if err != nil {
					t.Fatal(err)
				}
				w.target.Write(state.Branch, "as it was", root)
				w.passes(2 * time.Minute)
				if tt.asks {
					w.Observe([]*karmada.Cluster{eu}, []*karmada.Cluster{eu}, nil)
				}
				looks()
				looks()
				if got := w.versions(); got != tt.want {
					t.Errorf("%s is recorded, want %s", got, tt.want)
				}
			})
		})
	}
}

// TestRoomWaitsForWhatWasRecorded: five minutes after nothing but room was recorded it is again; what else is recorded does not put that off.
func TestRoomWaitsForWhatWasRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eu := pushed("eu")
		w := newWatching(t, eu)
		w.Observe([]*karmada.Cluster{eu}, []*karmada.Cluster{eu}, nil)
		w.passes(time.Second)
		pods := int64(1000)
		sees := func(version string) {
			u := observation.Usage{Nodes: map[string]observation.Node{"n": {Allocatable: observation.Amounts{"pods": pods}}}}
			room := u.Room(nil)
			w.sees("eu", &observation.Facts{Health: observation.Healthy, Room: &room, Served: &observation.Served{Version: version}})
			w.passes(3 * time.Second)
		}
		for _, step := range []struct {
			after   time.Duration
			version string
			want    int32 // commits
		}{
			{0, "v1.35.0", 1}, {0, "v1.35.0", 2}, {time.Minute, "v1.35.0", 2}, {0, "v1.36.0", 2}, {time.Minute, "v1.36.0", 3}, {time.Minute, "v1.36.0", 3}, {150 * time.Second, "v1.36.0", 4},
		} {
			w.passes(step.after)
			pods /= 2
			if sees(step.version); w.recorded.Load() != step.want {
				t.Errorf("with room for %d pods there are %d commits; want %d", pods, w.recorded.Load(), step.want)
			}
		}
	})
}

// TestAClusterThatDoesNotAnswer is unreachable, and reached anew, as it is reached then; of one without a credential nothing is said.
func TestAClusterThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eu, strange := pushed("eu"), pushed("strange")
		w := newWatching(t, eu)
		var seen []string
		w.Saw = func(cluster string, f observation.Facts) {
			seen = append(seen, fmt.Sprint(cluster, " ", f.Health == observation.Unreachable))
		}
		w.Observe([]*karmada.Cluster{eu, strange}, []*karmada.Cluster{eu, strange}, nil)
		w.passes(time.Second)
		if said := w.said.taken(); len(said) > 0 {
			t.Errorf("at first it says %q", said)
		}
		w.watched["eu"].end <- errors.New("connection refused")
		w.passes(observation.Period - 2*time.Second)
		if got := w.took(); got != "watched eu" {
			t.Errorf("at first: %s", got)
		}
		w.passes(3 * time.Second)
		if said := w.said.taken(); !slices.Equal(said, []string{"cluster not observed", "observation recorded"}) {
			t.Errorf("of one that does not answer it says %q", said)
		}
		if got := w.took(); got != "watched eu" || !slices.Equal(seen, []string{"eu true"}) {
			t.Errorf("afterwards: %s, seen %q", got, seen)
		}
		w.passes(time.Minute)
		if got := w.took(); got != "" || len(seen) != 1 {
			t.Errorf("one that is watched is watched again: %s, seen %q", got, seen)
		}
		w.watched["eu"].end <- nil // it ends without an error, as who was told to
		w.passes(time.Minute)
		if len(seen) != 1 {
			t.Errorf("seen %q", seen)
		}

		// of one whose credential cannot be read it is said, and nothing is seen
		w.said.taken()
		if err := os.WriteFile(filepath.Join(w.access.Folder, "strange.kubeconfig"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.passes(observation.Period)
		if said := w.said.taken(); !slices.Contains(said, "cluster not observed") || len(seen) != 1 {
			t.Errorf("of a credential that is none it says %q, seen %q", said, seen)
		}
	})
}

// TestClustersAreLookedAtOneAfterTheOther at first, so that not all are asked at once.
func TestClustersAreLookedAtOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := []*karmada.Cluster{pushed("eu"), pushed("us"), pushed("ap")}
		w := newWatching(t, all...)
		w.Observe(all[:1], all, nil)
		w.passes(time.Second)
		w.took()
		w.Observe(all, all, nil)
		for _, want := range []string{"watched us", "watched ap", ""} {
			w.passes(apart / 2)
			if got := w.took(); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			w.passes(apart / 2)
		}
	})
}

// TestWhatIsRecordedIsReadNowAndThen: at first, when it is due, and when somebody says which clusters to watch; not with every look.
func TestWhatIsRecordedIsReadNowAndThen(t *testing.T) {
	for again, want := range map[time.Duration]int32{0: 2, time.Minute: 3} {
		synctest.Test(t, func(t *testing.T) {
			eu := pushed("eu")
			w := newWatching(t, eu)
			var reads atomic.Int32
			record := w.Record
			w.Again, w.Record = again, func(ctx context.Context, next Next) (map[string]*karmada.ClusterStatus, error) {
				reads.Add(1)
				return record(ctx, next)
			}
			w.Observe([]*karmada.Cluster{eu}, []*karmada.Cluster{eu}, nil)
			w.passes(time.Second)
			for range 9 { // the last looks are more than a minute after the first
				w.sees("eu", serving("v1.35.0"))
				w.passes(8 * time.Second)
			}
			w.Observe([]*karmada.Cluster{eu}, []*karmada.Cluster{eu}, nil)
			w.passes(time.Second)
			w.sees("eu", serving("v1.35.0"))
			w.passes(8 * time.Second)
			if got := reads.Load(); got != want || w.recorded.Load() != 1 {
				t.Errorf("each %s: it is read %d times, and recorded %d times; want %d", again, got, w.recorded.Load(), want)
			}
		})
	}
}
