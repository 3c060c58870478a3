package failover

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/summary"
)

// watched is a fleet whose clusters are looked at, each every ten seconds at a time of its own.
// What is then recorded is what plans see; copies are healthy where they are.
type watched struct {
	*fleet

	trackers []observation.Tracker
	recorded []*karmada.ClusterStatus
	facts    []observation.Facts
	at       []time.Time // of the last look
	isUp     func(cluster int, at time.Duration) bool
	began    time.Time
	moved    []string // each movement
}

func watch(t *testing.T, clusters int, isUp func(int, time.Duration) bool) *watched {
	t.Helper()
	w := &watched{
		fleet:    &fleet{t: t, r: rand.New(rand.NewPCG(1, 0)), now: time.Unix(1_000_000, 0).UTC(), observed: true},
		trackers: make([]observation.Tracker, clusters), recorded: make([]*karmada.ClusterStatus, clusters),
		facts: make([]observation.Facts, clusters), at: make([]time.Time, clusters), isUp: isUp,
	}
	for range clusters {
		w.members = append(w.members, member{ready: true})
	}
	w.began = w.now
	w.load()
	w.publish()
	return w
}

// runs has time pass, and counts what moves.
func (w *watched) runs(until time.Duration) {
	w.t.Helper()
	for ; w.now.Sub(w.began) < until; w.now = w.now.Add(time.Second) {
		looked := false
		for i := range w.members {
			if (w.now.Unix()+int64(i*7))%10 != 0 {
				continue
			}
			looked, w.at[i], w.facts[i] = true, w.now, observation.Facts{Health: observation.Healthy}
			if !w.isUp(i, w.now.Sub(w.began)) {
				w.facts[i].Health = observation.Unreachable
			}
		}
		due := !w.last.Basis.RecheckAt.IsZero() && !w.now.Before(w.last.Basis.RecheckAt)
		if looked && (w.record() || w.leaving()) || due {
			w.load()
			w.in.Evidence = w.well()
			w.publish()
			for _, m := range summary.ByFailover(&w.last) {
				w.moved = append(w.moved, fmt.Sprintf("%3.0f s: %s", w.now.Sub(w.began).Seconds(), m))
			}
		}
	}
}

// leaving reports whether something is leaving a cluster.
func (w *watched) leaving() bool {
	return slices.ContainsFunc(w.last.Decisions, func(d plan.Decision) bool { return d.Moves != nil && len(d.Moves.Tasks) > 0 })
}

// record records what was seen, and reports whether a cluster is ready now that was not, or the
// other way round.
func (w *watched) record() (changed bool) {
	next, turns := map[string]*karmada.ClusterStatus{}, map[string]observation.Turn{}
	for i := range w.members {
		if w.at[i].IsZero() {
			continue
		}
		s, change := w.trackers[i].Next(w.recorded[i], w.facts[i], w.at[i])
		turns[fmt.Sprint("c", i)] = change.Turn
		if len(change.Words) > 0 {
			next[fmt.Sprint("c", i)] = s
		}
	}
	for name := range observation.Together(turns) {
		delete(next, name)
	}
	for i := range w.members {
		if s := next[fmt.Sprint("c", i)]; s != nil {
			isReady := meta.IsStatusConditionTrue(s.Conditions, karmada.ConditionReady)
			changed = changed || isReady != w.members[i].ready
			w.recorded[i], w.members[i].ready = s, isReady
		}
	}
	return changed
}

// well is what clusters say where all copies are healthy.
func (w *watched) well() evict.Evidence {
	all := evict.Evidence{}
	for name := range workloads {
		r := ref(name)
		all[r] = map[string]evict.Seen{}
		for i, m := range w.members {
			cluster := fmt.Sprint("c", i)
			if _, there := w.count(cluster, r); m.ready {
				all[r][cluster] = evict.Seen{Health: karmada.ResourceHealthy, Done: true, Since: w.began, Current: there, Gone: !there}
			}
		}
	}
	return all
}

// leaves counts the movements that begin, by the workload.
func (w *watched) leaves() (counts map[string]int, all int) {
	counts = map[string]int{}
	for _, m := range w.moved {
		if _, what, ok := strings.Cut(m, "Deployment.apps/a/"); ok && strings.Contains(what, " leaves ") {
			name, _, _ := strings.Cut(what, " ")
			counts[name]++
			all++
		}
	}
	return counts, all
}

// TestFlapping has one of six clusters go and come for five minutes. One that is never away, or
// back, for as long as it takes to be seen moves nothing. Of one that is, what is divided leaves
// once, and what is in all clusters never.
func TestFlapping(t *testing.T) {
	for _, c := range []struct {
		every time.Duration
		most  int // how often one workload leaves
	}{{20 * time.Second, 0}, {30 * time.Second, 0}, {45 * time.Second, 3}, {time.Minute, 3}, {2 * time.Minute, 2}} {
		t.Run(c.every.String(), func(t *testing.T) {
			w := watch(t, 6, func(cluster int, at time.Duration) bool { return cluster != 0 || (at/c.every)%2 == 0 })
			w.runs(5 * time.Minute)
			counts, all := w.leaves()
			t.Logf("%d movements: %v", all, counts)
			for name, n := range counts {
				most := c.most
				switch {
				case name == "all" || name == "pinned":
					most = 0
				case strings.Contains(workloads[name], "Divided"):
					most = min(most, 1)
				}
				if n > most {
					t.Errorf("%s leaves %d times, want at most %d:\n%s", name, n, most, strings.Join(w.moved, "\n"))
				}
			}
		})
	}
}

// TestCutOff has all clusters vanish, or so many of a large fleet that whoever looks is the likelier
// cause. That is seen of one cluster after the other, and they come back one after the other, too:
// nothing moves.
func TestCutOff(t *testing.T) {
	for _, c := range []struct {
		clusters, lost int
		apart          time.Duration // they come back
	}{{3, 3, 0}, {6, 6, 0}, {6, 4, 0}, {20, 20, 0}, {1000, 300, 0}, {4, 4, 21 * time.Second}} {
		t.Run(fmt.Sprintf("%d of %d, back %s apart", c.lost, c.clusters, c.apart), func(t *testing.T) {
			w := watch(t, c.clusters, func(cluster int, at time.Duration) bool {
				return cluster >= c.lost || at < time.Minute || at > 3*time.Minute+time.Duration(cluster)*c.apart
			})
			w.runs(6 * time.Minute)
			if len(w.moved) > 0 {
				t.Errorf("it moves:\n%s", strings.Join(w.moved[:min(10, len(w.moved))], "\n"))
			}
			if i := slices.IndexFunc(w.members, func(m member) bool { return !m.ready }); i >= 0 {
				t.Errorf("c%d is not ready", i)
			}
		})
	}
}
