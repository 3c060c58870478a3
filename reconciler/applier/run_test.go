package applier_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/writer"
	"github.com/waybill-dev/waybill/test/twin"
)

// following is a follower of clusters for which there is no credential, in a bubble: what it does comes of time alone.
type following struct {
	*testing.T

	applier.Follower

	source, branches *twin.Repo
	wakes            chan struct{}
	mu               sync.Mutex
	happened         []string // since the last look
	end              func()
}

// newFollowing starts a follower when something was published of some clusters.
func newFollowing(t *testing.T, change func(*following), names ...string) *following {
	t.Helper()
	f := &following{T: t, source: twin.New("source"), branches: twin.New("branches"), wakes: make(chan struct{})}
	note := func(format string, a ...any) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.happened = append(f.happened, fmt.Sprintf(format, a...))
	}
	f.Follower = applier.Follower{
		Applier: applier.Applier{Published: &published.Reader{Branches: published.At(f.branches)}, Now: time.Now, Access: clusters.Access{Folder: t.TempDir()}},
		Resync:  time.Hour, Log: slog.New(slog.DiscardHandler), Random: func() float64 { return 1 },
		Report: func(res applier.Result) { note("round of %s", res.Cluster) },
		Forget: func(cluster string) { note("%s is left", cluster) },
		Observe: func(followed, registered []*karmada.Cluster, _ *deschedule.Watch) {
			note("%d of %d", len(followed), len(registered))
		},
	}
	if change != nil {
		change(f)
	}
	f.publish(names...)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Follower.Run(ctx, f.wakes) }()
	f.end = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	return f
}

// publish publishes that some clusters are registered; name:Pull is one that has an agent.
func (f *following) publish(names ...string) {
	f.Helper()
	source := twin.Tree{}
	for _, n := range names {
		name, mode, _ := strings.Cut(n, ":")
		source[name+".yaml"] = twin.File(fmt.Appendf(nil, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s}\nspec: {syncMode: %s}\n", name, map[bool]string{true: "Push", false: mode}[mode == ""]))
	}
	f.source.Write("main", "next", source.Folder())
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: f.source, Target: f.branches, Version: "test", Now: time.Now}
	if _, err := r.Publish(f.Context(), "main"); err != nil {
		f.Fatal(err)
	}
}

// wake has the follower look, and is what comes of it.
func (f *following) wake() string {
	f.wakes <- struct{}{}
	return f.next()
}

// next is what happened since the last look, in the order of words: clusters are served at the same time.
func (f *following) next() string {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.Sort(f.happened)
	said := strings.Join(f.happened, ", ")
	f.happened = nil
	return said
}

// TestWhoeverFollowsGoesByWhatIsPublished: when it is woken, and something changed for a cluster, or time alone has it look again; it leaves
// clusters that are not registered any more, or have an agent now.
func TestWhoeverFollowsGoesByWhatIsPublished(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFollowing(t, nil, "eu", "us")
		for _, tt := range []struct {
			name    string
			publish []string // nil: nothing
			pass    time.Duration
			want    string
		}{
			{name: "the first look", want: "2 of 2, round of eu, round of us"},
			{name: "nothing new", want: "2 of 2"},
			{name: "a cluster joins", publish: []string{"asia", "eu", "us"}, want: "3 of 3, round of asia"},
			{name: "one has an agent now", publish: []string{"asia", "eu", "us:Pull"}, want: "2 of 3, us is left"},
			{name: "one leaves", publish: []string{"eu", "us:Pull"}, want: "1 of 2, asia is left"},
			{name: "a minute passes, and there is no credential still", pass: time.Minute, want: "1 of 2, round of eu"},
			{name: "one comes back", publish: []string{"eu", "us"}, want: "2 of 2, round of us"},
		} {
			if tt.publish != nil {
				f.publish(tt.publish...)
			}
			time.Sleep(tt.pass)
			if got := f.wake(); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
			}
		}
		f.end()
		if time.Sleep(time.Hour); f.next() != "" {
			t.Errorf("when it has ended there is %s", f.next())
		}
	})
}

// verdict is what a status branch says of eu.
func verdict(t *testing.T, statuses *twin.Repo) status.Verdict {
	t.Helper()
	h, ok, err := statuses.Branch(t.Context(), status.Prefix+"eu")
	if err != nil || !ok {
		t.Fatalf("there is no status: %v", err)
	}
	s, err := status.Read(h.Tree)
	if err != nil {
		t.Fatal(err)
	}
	return s.Verdict
}

// TestWhatIsPublishedIsRefusedAsAWhole: the state was set back. Nothing is done, it is tried again ever less often, and the status of each
// cluster says so, for whoever publishes reads there what counted last. What cannot be read for another reason is no news of clusters.
func TestWhatIsPublishedIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		breaks func(f *following, before *twin.Repo)
		reason string // in the status
		says   string
	}{
		"it was set back":  {func(f *following, before *twin.Repo) { f.branches.SetBack(before) }, status.Errored, "does not come after"},
		"there is nothing": {func(f *following, _ *twin.Repo) { f.branches.Delete(state.Branch) }, status.NoCredential, "there is no file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				statuses := twin.New("statuses")
				f := newFollowing(t, func(f *following) {
					f.Status = writer.New(statuses, time.Now, f.Log)
					f.Status.Clusters = []string{"eu"}
				}, "eu")
				writing, cancel := context.WithCancel(t.Context())
				defer cancel()
				go func() { _ = f.Status.Run(writing) }() // it ends without an error
				before := f.branches.Clone()
				f.publish("eu", "us")
				f.wake()
				now := f.branches.Clone()
				tt.breaks(f, before)
				if got := f.wake(); got != "" {
					t.Errorf("then there is %s", got)
				}
				if time.Sleep(31 * time.Second); f.next() != "" { // after 1, 2, 4, 8 and 16 seconds
					t.Error("it is gone by what is refused")
				}
				if said := verdict(t, statuses); said.Reason != tt.reason || !strings.Contains(said.Message, tt.says) {
					t.Errorf("the status of eu is %+v", said)
				}
				f.branches.SetBack(now)
				if time.Sleep(19 * time.Second); f.next() != "" {
					t.Error("it is tried again at once, however often it failed")
				}
				if time.Sleep(time.Second); !strings.HasPrefix(f.next(), "2 of 2") {
					t.Error("when it is as it was, nobody looks")
				}
				f.end()
			})
		})
	}
}

// TestNothingMoreIsWrittenOfAClusterThatIsLeft: what was to be written of it is not, for somebody else may write it by now.
func TestNothingMoreIsWrittenOfAClusterThatIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		statuses := twin.New("statuses")
		f := newFollowing(t, func(f *following) { f.Status = writer.New(statuses, time.Now, f.Log) }, "eu", "us")
		writing, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = f.Status.Run(writing) }() // it ends without an error
		f.wake()
		f.publish("eu")
		if got, want := f.wake(), "1 of 1, us is left"; got != want {
			t.Errorf("then %s, want %s", got, want)
		}
		time.Sleep(time.Minute)
		heads, err := statuses.Heads(t.Context())
		if _, isWritten := heads[status.Prefix+"eu"]; err != nil || !isWritten || len(heads) != 1 {
			t.Errorf("written are %v; %v", heads, err)
		}
		f.end()
	})
}

// share has a follower have some clusters only, until they have to be left.
type share struct {
	mine map[string]bool
	end  map[string]context.CancelFunc

	mu   sync.Mutex
	left []string
}

// Take implements applier.Share.
func (s *share) Take(ctx context.Context, cluster string) (context.Context, func(), bool) {
	if !s.mine[cluster] {
		return nil, nil, false
	}
	ctx, s.end[cluster] = context.WithCancel(ctx)
	return ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.left = append(s.left, cluster)
	}, true
}

// TestAReplicaFollowsItsShare, and no other clusters: one that it has to leave is left when its round has ended, and taken again when it may
// be. Each is left in the end.
func TestAReplicaFollowsItsShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &share{mine: map[string]bool{"eu": true}, end: map[string]context.CancelFunc{}}
		f := newFollowing(t, func(f *following) { f.Share = s }, "eu", "us")
		step := func(name, want, left string) {
			if got := f.wake(); got != want || strings.Join(s.left, " ") != left {
				t.Errorf("%s: %s, and left are %q; want %s, %q", name, got, s.left, want, left)
			}
		}
		step("the first look", "1 of 2, round of eu", "")
		step("nothing new", "1 of 2", "")
		s.mine = map[string]bool{"us": true}
		s.end["eu"]()
		step("the other one", "1 of 2, eu is left, round of us", "eu")
		s.mine = map[string]bool{"eu": true, "us": true}
		step("both", "2 of 2, round of eu", "eu")
		s.end["us"]()
		step("one had to be left, and may be taken again", "2 of 2, round of us", "eu us")
		f.end()
		if slices.Sort(s.left); !slices.Equal(s.left, []string{"eu", "eu", "us", "us"}) {
			t.Errorf("in the end left are %q", s.left)
		}
	})
}

// TestANewerCommitEndsARound between two stages: what it keeps is not deleted by the one before, of which nobody is told.
func TestANewerCommitEndsARound(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	others := strings.Fields("d e f g h i j k l m n o p q r s t u v w x y z") // so many that one may leave
	publish := func(names ...string) { s.publish("", append(names, others...)...) }
	publish("a")
	wakes, looked, rounds := make(chan struct{}), make(chan struct{}), make(chan applier.Result)
	f := applier.Follower{
		Applier: s.applier, Resync: time.Hour, Log: slog.New(slog.DiscardHandler), Random: func() float64 { return 0 },
		Report:  func(res applier.Result) { rounds <- res },
		Observe: func(_, _ []*karmada.Cluster, _ *deschedule.Watch) { looked <- struct{}{} },
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx, wakes) }()
	wake := func() {
		wakes <- struct{}{}
		<-looked
	}
	wake()
	if res := <-rounds; res.Err != nil || s.server.Get(configMap("a")) == nil {
		t.Fatalf("the first round comes to %v", res.Err)
	}
	s.server.Before(func(r *http.Request) int {
		if r.Method == http.MethodPatch && r.URL.Path == configMap("b") {
			publish("a", "b", "c")
			wake()
		}
		return 0
	})
	publish("b")
	wake()
	res := <-rounds
	if res.Err != nil || res.Objects != len(others)+3 || s.server.Get(configMap("b")) == nil || s.server.Get(configMap("c")) == nil {
		t.Errorf("the next one that is told of has %d objects: %v", res.Objects, res.Err)
	}
	if slices.Contains(s.server.Writes(), "DELETE "+configMap("a")) {
		t.Errorf("what the newest commit has is deleted: %v", s.server.Writes())
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestWhoeverAppliesAtTheSameTimeIsGivenWayTo: a round that somebody else's came into begins again, from what is published by then, and not
// for ever.
func TestWhoeverAppliesAtTheSameTimeIsGivenWayTo(t *testing.T) {
	t.Parallel()
	for races, fails := range map[int]bool{0: false, 1: false, 2: false, 100: true} {
		s := newSite(t)
		s.publish("", "a")
		in, eu := s.publish("", "a", "b")
		tries := 0
		s.server.Before(func(r *http.Request) int {
			if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/secrets") {
				return 0
			}
			if tries++; tries > races {
				return 0
			}
			if tries <= 2 {
				s.publish("", "a", "b", fmt.Sprint("c", tries))
			}
			return http.StatusConflict
		})
		res := s.applier.Apply(t.Context(), in, eu)
		if (res.Err != nil) != fails || fails != errors.Is(res.Err, apply.ErrRace) {
			t.Errorf("after %d races: %v", races, res.Err)
		}
		if tries > 20 { // three rounds, each of which tries to say what it touched
			t.Errorf("it is tried %d times", tries)
		}
		newest := configMap(fmt.Sprint("c", races))
		if !fails && races > 0 && s.server.Get(newest) == nil {
			t.Errorf("after %d races what was published last is not there: %v", races, s.server.Writes())
		}
	}
}
