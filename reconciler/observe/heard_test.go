package observe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
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

// hearing is a listener that runs by a clock that does not wait, in a bubble of synctest: whatever is asked of it is asked while it sleeps.
type hearing struct {
	*testing.T
	*Agents

	target   *branches
	told     *refs
	said     *lines
	recorded atomic.Int32 // times
}

// branches is a repository that may be away, and of which is told when it is fetched.
type branches struct {
	*twin.Repo

	mu      sync.Mutex
	fails   error
	fetched func()
}

// answers has whoever fetches get an error from now on; nil: none.
func (b *branches) answers(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fails = err
}

// Fetch implements published.Repository.
func (b *branches) Fetch(context.Context, ...string) error {
	b.mu.Lock()
	fetched, fails := b.fetched, b.fails
	b.mu.Unlock()
	if fetched != nil {
		fetched()
	}
	return fails
}

// registers writes which clusters are registered to the state branch, beside what else is there.
func registers(t *testing.T, repo *twin.Repo, all ...*karmada.Cluster) {
	t.Helper()
	head, _, err := repo.Branch(t.Context(), state.Branch)
	if err != nil {
		t.Fatal(err)
	}
	tree := twin.Tree{}
	if head.Tree != nil {
		tree = twin.Of(head.Tree)
	}
	maps.DeleteFunc(tree, func(name string, _ files.Entry) bool { return strings.HasPrefix(name, "clusters/") })
	for _, c := range all {
		tree["clusters/"+c.Name+".yaml"] = twin.File(fmt.Appendf(nil, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s, annotations: {%s: %q}}\nspec: {syncMode: %s, id: %q}\n",
			c.Name, heartbeat.AgentKey, c.Annotations[heartbeat.AgentKey], c.Spec.SyncMode, c.Spec.ID))
	}
	repo.Write(state.Branch, "clusters", tree.Folder())
}

func newHearing(t *testing.T, origin string, registered ...*karmada.Cluster) *hearing {
	t.Helper()
	time.Sleep(time.Until(noon)) // the clock of the bubble begins when no sequence number was a time
	h := &hearing{T: t, target: &branches{Repo: twin.New("published")}, told: &refs{Repo: twin.New("told"), beats: map[string]git.Head{}}, said: newLines()}
	registers(t, h.target.Repo, registered...)
	h.Agents = &Agents{
		Recorder: Recorder{Target: h.target, Now: time.Now}, Status: h.told, Origin: origin, Log: slog.New(h.said),
		Recorded: func() { h.recorded.Add(1) }, Receiver: &receive.Receiver{Now: time.Now},
	}
	return h
}

// runs has it listen until the function that it returns is called.
func (h *hearing) runs(session string) (stop func()) {
	ctx, cancel := context.WithCancel(h.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Agents.Run(ctx, session) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			h.Error(err)
		}
	}
}

// passes lets some time go by.
func (*hearing) passes(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// beats has the agent of a cluster beat now, by Git.
func (h *hearing) beats(cluster string, by signing.Key) { h.beatsAs(cluster, by, time.Now()) }

// beatsAs is beats with the sequence number of a time.
func (h *hearing) beatsAs(cluster string, by signing.Key, at time.Time) {
	h.Helper()
	b := heartbeat.Beat{Cluster: cluster, UID: "5f0c", Agent: "agent-0", Sequence: uint64(at.UnixMilli())}
	signature, err := by.SignCommit([]byte(b.Text()))
	if err != nil {
		h.Fatal(err)
	}
	h.told.beat(heartbeat.Refs+cluster, git.Head{Message: b.Text(), Signed: []byte(b.Text()), Signature: signature})
}

// observes has an agent write what it observes.
func (h *hearing) observes(cluster string, by signing.Key, s *karmada.ClusterStatus) {
	h.Helper()
	root, err := state.Observe(files.NewFolder(nil), map[string]*karmada.ClusterStatus{cluster: s})
	if err != nil {
		h.Fatal(err)
	}
	h.told.Sign = by.SignCommit
	h.told.Write(observation.Prefix+cluster, fmt.Sprintf("observed\n\n%s: %d\n", observation.TrailerSequence, time.Now().UnixMilli()), root)
}

// recordedOf is what the state branch says of a cluster: whether its heartbeats come, whether it is ready, and its version.
func (h *hearing) recordedOf(cluster string) string {
	h.Helper()
	head, _, err := h.target.Branch(h.Context(), state.Branch)
	if err != nil {
		h.Fatal(err)
	}
	var s *karmada.ClusterStatus
	if head.Tree != nil {
		s = state.Observed(head.Tree)[cluster]
	}
	if s == nil {
		return "nothing"
	}
	word := func(kind string) string {
		if c := meta.FindStatusCondition(s.Conditions, kind); c != nil {
			return string(c.Status)
		}
		return "-"
	}
	return strings.TrimSpace(fmt.Sprintf("beats %s, ready %s %s", word(observation.ConditionHeartbeat), word(karmada.ConditionReady), s.KubernetesVersion))
}

// TestALeaseFromTheFirstBeatToTheNextProcess: a cluster counts as silent when its agent beats no more, nothing is recorded before, and what
// is recorded by then counts for the next one who listens.
func TestALeaseFromTheFirstBeatToTheNextProcess(t *testing.T) {
	eu, us := newKey(t), newKey(t)
	synctest.Test(t, func(t *testing.T) {
		pushed := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "pushed"}, Spec: karmada.ClusterSpec{SyncMode: karmada.Push}}
		h := newHearing(t, "", pulled("eu", eu), pulled("us", us), pushed)
		h.beats("eu", eu)
		first := h.told.beats[heartbeat.Refs+"eu"]
		h.observes("eu", eu, &karmada.ClusterStatus{KubernetesVersion: "v1.35.0", Conditions: []metav1.Condition{{Type: karmada.ConditionReady, Status: metav1.ConditionTrue, Reason: "ClusterReady"}}})
		stop := h.runs("one")
		h.passes(6 * time.Second)
		for range 12 {
			h.beats("eu", eu)
			h.passes(10 * time.Second)
		}
		if got := h.recordedOf("eu") + "; us " + h.recordedOf("us") + "; pushed " + h.recordedOf("pushed"); got != "beats True, ready True v1.35.0; us nothing; pushed nothing" || h.recorded.Load() != 1 {
			t.Errorf("while it beats, %s is recorded, in %d commits", got, h.recorded.Load())
		}
		if head, _, err := h.target.Branch(t.Context(), state.Branch); err != nil || !strings.Contains(head.Message, "eu: Ready is True (ClusterReady), waybill.dev/Heartbeat is True") {
			t.Errorf("the commit says %q", head.Message)
		}
		if said := h.said.taken(); !slices.Equal(said, []string{"observation recorded"}) {
			t.Errorf("it says %q", said)
		}
		if n := len(h.told.read); n != 13 {
			t.Errorf("of 13 beats %d are read", n)
		}

		// it beats no more
		h.passes(25 * time.Second)
		if h.recorded.Load() != 1 {
			t.Error("the lease ends early")
		}
		h.passes(20 * time.Second)
		if got := h.recordedOf("eu"); got != "beats False, ready Unknown v1.35.0" || h.recorded.Load() != 2 {
			t.Errorf("when it is silent, %s is recorded, in %d commits", got, h.recorded.Load())
		}
		stop()

		// the next one waits for it, and takes no beat of before
		h.told.beat(heartbeat.Refs+"eu", first)
		stop = h.runs("two")
		h.passes(30 * time.Second)
		if got := h.recordedOf("eu"); got != "beats True, ready True v1.35.0" {
			t.Errorf("one who begins records %s", got)
		}
		if !slices.Contains(h.said.taken(), "heartbeat ignored") {
			t.Error("a beat of before is taken")
		}
		h.passes(40 * time.Second)
		if got := h.recordedOf("eu"); got != "beats False, ready Unknown v1.35.0" {
			t.Errorf("one who waited long enough records %s", got)
		}
		h.beats("eu", eu)
		h.passes(10 * time.Second)
		h.beats("eu", eu)
		h.passes(10 * time.Second)
		if got := h.recordedOf("eu"); got != "beats True, ready True v1.35.0" {
			t.Errorf("when it beats again, %s is recorded", got)
		}
		stop()
		if h.Receiver.Clusters() != 0 {
			t.Error("beats by HTTP are taken although nobody listens")
		}
	})
}

// TestWhoCannotLookJudgesNobody: neither a status repository nor a state branch that cannot be read or written to lets a lease run out, and
// what could not be recorded is when it can be.
func TestWhoCannotLookJudgesNobody(t *testing.T) {
	eu := newKey(t)
	synctest.Test(t, func(t *testing.T) {
		h := newHearing(t, "", pulled("eu", eu))
		h.beats("eu", eu)
		h.target.Refuse(state.Branch)
		defer h.runs("one")()
		h.passes(12 * time.Second)
		h.beats("eu", eu)
		if h.recorded.Load() != 0 || !slices.Contains(h.said.taken(), "agents not heard") {
			t.Errorf("%d commits, where none can be made", h.recorded.Load())
		}
		h.target.Refuse()
		h.passes(10 * time.Second)
		if got := h.recordedOf("eu"); got != "beats True, ready -" || h.recorded.Load() != 1 {
			t.Errorf("%s is recorded, in %d commits", got, h.recorded.Load())
		}
		h.told.answers(errors.New("connection refused"))
		h.passes(5 * time.Minute)
		h.told.answers(nil)
		h.passes(11 * time.Second)
		if got := h.recordedOf("eu"); got != "beats True, ready -" || h.recorded.Load() != 1 || !slices.Contains(h.said.taken(), "agents not heard") {
			t.Errorf("who could not look records %s, in %d commits", got, h.recorded.Load())
		}
		h.beats("eu", eu)
		h.passes(10 * time.Second)
		h.target.answers(errors.New("connection refused"))
		h.passes(5 * time.Minute)
		h.target.answers(nil)
		h.passes(6 * time.Second)
		if got := h.recordedOf("eu"); got != "beats True, ready -" || h.recorded.Load() != 1 || !slices.Contains(h.said.taken(), "agents not heard") {
			t.Errorf("who could not read which clusters there are records %s, in %d commits", got, h.recorded.Load())
		}
		h.passes(40 * time.Second)
		if got := h.recordedOf("eu"); got != "beats False, ready Unknown" {
			t.Errorf("who looks again records %s", got)
		}
	})
}

// TestWhatMovesBeforeItIsRecorded: clusters are judged by what is registered when that is written down, and what somebody else wrote
// down is not written again.
func TestWhatMovesBeforeItIsRecorded(t *testing.T) {
	eu, us := newKey(t), newKey(t)
	for _, tt := range []struct {
		name  string
		moves func(h *hearing)
		want  string
	}{
		{"nothing", func(*hearing) {}, "eu beats True, ready -; us beats True, ready -; 1"},
		{"one goes", func(h *hearing) { registers(h.T, h.target.Repo, pulled("eu", eu)) }, "eu beats True, ready -; us nothing; 1"},
		{"somebody else records the same", func(h *hearing) {
			next, _ := observation.Reported(nil, nil, heartbeat.Running, time.Now())
			head, _, err := h.target.Branch(h.Context(), state.Branch)
			if err != nil {
				h.Fatal(err)
			}
			root, err := state.Observe(head.Tree, map[string]*karmada.ClusterStatus{"eu": next, "us": next})
			if err != nil {
				h.Fatal(err)
			}
			h.target.Write(state.Branch, "by somebody else", root)
		}, "eu beats True, ready -; us beats True, ready -; 0"},
		{"the state branch goes", func(h *hearing) { h.target.Delete(state.Branch) }, "eu nothing; us nothing; 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHearing(t, "", pulled("eu", eu), pulled("us", us))
				h.beats("eu", eu)
				h.beats("us", us)
				times := 0
				h.target.fetched = func() {
					if times++; times == 2 { // the first time it is read, the second time to be written to
						tt.moves(h)
					}
				}
				stop := h.runs("one")
				h.passes(time.Second)
				stop()
				if got := fmt.Sprintf("eu %s; us %s; %d", h.recordedOf("eu"), h.recordedOf("us"), h.recorded.Load()); got != tt.want {
					t.Errorf("recorded is %s; want %s", got, tt.want)
				}
			})
		})
	}
}

// TestAnAgentThatTellsSomethingElseAllTheTime is recorded ten times, and then each five minutes.
func TestAnAgentThatTellsSomethingElseAllTheTime(t *testing.T) {
	eu := newKey(t)
	synctest.Test(t, func(t *testing.T) {
		h := newHearing(t, "", pulled("eu", eu))
		defer h.runs("one")()
		h.passes(time.Second)
		for n := range 60 {
			h.observes("eu", eu, &karmada.ClusterStatus{KubernetesVersion: fmt.Sprintf("v1.%d.0", n)})
			h.passes(10 * time.Second)
		}
		if h.recorded.Load() != 11 {
			t.Errorf("in ten minutes it is recorded %d times", h.recorded.Load())
		}
	})
}

// TestClustersThatComeGoAndGetKeys while somebody listens: what the state branch says now is gone by.
func TestClustersThatComeGoAndGetKeys(t *testing.T) {
	eu, us, next := newKey(t), newKey(t), newKey(t)
	synctest.Test(t, func(t *testing.T) {
		h := newHearing(t, "", pulled("eu", eu))
		h.beats("eu", eu)
		h.beats("us", us)
		defer h.runs("one")()
		h.passes(6 * time.Second)
		wrong := pulled("bad", eu)
		wrong.Annotations[heartbeat.AgentKey] = "none"
		registers(t, h.target.Repo, pulled("eu", eu), pulled("us", us), wrong)
		h.passes(6 * time.Second)
		if got := h.recordedOf("us"); got != "beats True, ready -" {
			t.Errorf("of a cluster that came %s is recorded", got)
		}
		if said := h.said.taken(); !slices.Contains(said, "agent not heard") {
			t.Errorf("of a key that is none it says %q", said)
		}
		registers(t, h.target.Repo, pulled("eu", next))
		h.passes(6 * time.Second)
		h.beats("us", us)
		h.beats("eu", eu) // by the key of before
		h.passes(20 * time.Second)
		before := h.recorded.Load()
		h.passes(50 * time.Second)
		if got := h.recordedOf("eu") + ", us " + h.recordedOf("us"); got != "beats False, ready Unknown, us beats True, ready -" || h.recorded.Load() != before+1 {
			t.Errorf("after a key was replaced and a cluster went, %s is recorded", got)
		}
	})
}

// TestAgentsThatAreCutOffTogether are recorded in one commit: else work would leave the first for the second.
func TestAgentsThatAreCutOffTogether(t *testing.T) {
	eu, us := newKey(t), newKey(t)
	synctest.Test(t, func(t *testing.T) {
		h := newHearing(t, "", pulled("eu", eu), pulled("us", us))
		defer h.runs("one")()
		h.passes(time.Second)
		for range 3 {
			h.beats("eu", eu)
			h.passes(8 * time.Second)
			h.beats("us", us)
			h.passes(2 * time.Second)
		}
		before := h.recorded.Load()
		h.passes(time.Minute)
		if got := h.recordedOf("eu") + ", us " + h.recordedOf("us"); got != "beats False, ready Unknown, us beats False, ready Unknown" || h.recorded.Load() != before+1 {
			t.Errorf("%s is recorded, in %d commits", got, h.recorded.Load()-before)
		}
	})
}

// TestRoomThatAgentsTellWaits: nothing but room is recorded each five minutes, and what else changes at once.
func TestRoomThatAgentsTellWaits(t *testing.T) {
	eu := newKey(t)
	synctest.Test(t, func(t *testing.T) {
		h := newHearing(t, "", pulled("eu", eu))
		defer h.runs("one")()
		h.passes(time.Second)
		nodes := 0
		tells := func(version string) {
			nodes++
			h.observes("eu", eu, &karmada.ClusterStatus{KubernetesVersion: version, ResourceSummary: &karmada.ResourceSummary{AllocatableModelings: []karmada.AllocatableModeling{{Count: nodes}}}})
			h.passes(6 * time.Second)
		}
		for _, step := range []struct {
			after   time.Duration
			version string
			want    int32 // commits
		}{
			{0, "v1.35.0", 1}, {0, "v1.35.0", 2}, {0, "v1.35.0", 2}, {time.Minute, "v1.36.0", 3}, {time.Minute, "v1.36.0", 3}, {3 * time.Minute, "v1.36.0", 4},
		} {
			h.passes(step.after)
			if tells(step.version); h.recorded.Load() != step.want {
				t.Errorf("when %d nodes are told by %s, there are %d commits; want %d", nodes, step.version, h.recorded.Load(), step.want)
			}
		}
	})
}

// TestHeartbeatsAtAPublicHost: few clusters may beat there, seldom; by HTTP all may, as often as anywhere.
func TestHeartbeatsAtAPublicHost(t *testing.T) {
	keys := map[string]signing.Key{}
	var some []*karmada.Cluster
	for _, name := range []string{"a", "b", "c", "d"} {
		keys[name] = newKey(t)
		some = append(some, pulled(name, keys[name]))
	}
	synctest.Test(t, func(t *testing.T) {
		h := newHearing(t, "https://github.com", some[:3]...)
		h.beats("a", keys["a"])
		defer h.runs("one")()
		h.passes(time.Second)
		if got := h.recordedOf("a"); got != "beats True, ready -" {
			t.Errorf("of one of three %s is recorded", got)
		}
		h.passes(2 * time.Minute)
		if got := h.recordedOf("a"); got != "beats True, ready -" {
			t.Errorf("after two minutes %s is recorded", got)
		}
		registers(t, h.target.Repo, some...)
		h.passes(31 * time.Second)
		h.beats("b", keys["b"])
		h.passes(2 * time.Minute)
		if got, said := h.recordedOf("b"), h.said.taken(); got != "nothing" || len(slices.DeleteFunc(said, func(s string) bool { return s != "heartbeats by Git are not heard" })) != 1 {
			t.Errorf("of one of four %s is recorded, and said %q", got, said)
		}

		beat := heartbeat.Beat{Cluster: "c", UID: "5f0c", Agent: "agent-0", Sequence: uint64(time.Now().UnixMilli()), Session: "one"}
		sealed, err := beat.Seal(keys["c"])
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := h.Receiver.Receive("c", sealed); err != nil || !answer.Taken {
			t.Fatal(answer, err)
		}
		h.passes(31 * time.Second)
		if got := h.recordedOf("c"); got != "beats True, ready -" {
			t.Errorf("of one that beats by HTTP %s is recorded", got)
		}
		h.passes(time.Minute)
		if got := h.recordedOf("c"); got != "beats False, ready Unknown" {
			t.Errorf("of one that beats by HTTP no more %s is recorded", got)
		}
		h.said.taken()
		registers(t, h.target.Repo, some[:3]...)
		h.passes(time.Minute)
		if got, said := h.recordedOf("b"), h.said.taken(); got != "beats True, ready -" || slices.Contains(said, "heartbeats by Git are not heard") {
			t.Errorf("of one of three again %s is recorded, and said %q", got, said)
		}
	})
}
