// Package move decides how objects leave clusters for others because it was so decided: by another policy, by other
// labels of a cluster, or because what failed over comes home. (What leaves a cluster because it fails is decided by
// package failover.)
//
// A move has two steps: the new copies come, and then the old one goes. When it may go is decided by the one rule by
// which it may in a failover, evict.Rules.Ends. Where a cluster of the object says how its copies are, that is when
// the new ones are healthy, at the latest after a timeout, and the last healthy copy stays; where none does, when some
// time has passed since the new copies were published. What one policy sends leaves a cluster together, since a
// workload without its settings is no copy. What must not run twice, and what is told to, goes at once.
package move

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/object"
)

// Rules are what a config says.
type Rules struct {
	Wait    time.Duration // how long an old copy stays where no cluster says how its copies are
	Timeout time.Duration // how long at most where one does; 0: nobody is asked
}

// Copy is an object in a cluster that it leaves for others.
type Copy struct {
	Ref     object.Ref
	Cluster string
	// Group is equal for what leaves the cluster together; empty for what leaves alone.
	Group string
	// Direct says why nothing is waited for; empty if something is.
	Direct Direct
	// Since is when the last of the new copies was published; now for those that this plan publishes.
	Since time.Time
	// Began reports that an earlier plan began the move, which goes on by the rules.
	Began bool
	New   []New // of the clusters that the object goes to
}

// New is a copy in a cluster that the object goes to.
type New struct {
	Cluster string
	// IsPublished reports that the cluster's branch has it as it should be.
	IsPublished bool
}

// Way is how a copy leaves a cluster.
type Way string

// The ways.
const (
	ByHealth Way = "health" // when the new copies are healthy
	ByTime   Way = "time"   // when some time has passed since they were published
	AtOnce   Way = "direct" // in the publication in which they come
)

// Verdict is what becomes of a copy.
type Verdict struct {
	Way Way
	// Stays says why it stays for now; empty if it goes.
	Stays reason.Reason
	// Until is when time alone has it go, or may; zero for never.
	Until time.Time
}

// Decide says what becomes of copies, in their order, and when that may be another answer.
func (r Rules) Decide(copies []Copy, seen evict.Evidence, now time.Time) ([]Verdict, recheck.Recheck) {
	all, again := make([]Verdict, len(copies)), recheck.Recheck{}
	for i := range copies {
		all[i] = r.decide(&copies[i], seen[copies[i].Ref], now)
	}
	together(copies, all)
	for i, v := range all {
		if v.Way == AtOnce && !copies[i].Began {
			continue // as if there were no rules
		}
		again.Timed = true
		if v.Stays != "" {
			again.Awaits = again.Awaits || v.Way == ByHealth
			again = again.By(v.Until, now)
		}
	}
	return all, again
}

// decide says what becomes of a copy for its own sake.
func (r Rules) decide(c *Copy, seen map[string]evict.Seen, now time.Time) Verdict {
	way, limit := r.way(c, seen)
	switch way {
	case AtOnce:
		return Verdict{Way: AtOnce}
	case ByTime:
		seen = nil // nobody is asked
	case ByHealth:
	}
	rules := evict.Rules{Timeout: limit, KeepLast: !isUnwell(seen[c.Cluster])}
	since := metav1.NewTime(c.Since)
	t := evict.Task{FromCluster: c.Cluster, CreationTimestamp: &since, PurgeMode: karmada.PurgeModeGracefully}
	copies := evict.Copies{Placed: true}
	for _, n := range c.New {
		s, told := seen[n.Cluster]
		isThere := n.IsPublished && s.Current && s.UpToDate
		copies.New = append(copies.New, evict.Copy{Told: told, Healthy: isThere && s.Done})
	}
	v := Verdict{Way: way}
	switch end := rules.Ends(&t, copies, now); {
	case end.Last:
		v.Stays = reason.LastCopy
	case !end.Over && way == ByHealth:
		v.Stays, v.Until = reason.Moving, end.Next
	case !end.Over:
		v.Stays, v.Until = reason.GivenTime, end.Next
	}
	return v
}

// way is how a copy leaves, and how long it may take.
func (r Rules) way(c *Copy, seen map[string]evict.Seen) (Way, time.Duration) {
	switch {
	case c.Direct != "":
		return AtOnce, 0
	case r.Timeout > 0 && c.isReported(seen):
		return ByHealth, r.Timeout
	case r.Wait > 0:
		return ByTime, r.Wait
	}
	return AtOnce, 0
}

// isReported reports that a cluster of the object says how its copy is.
func (c *Copy) isReported(seen map[string]evict.Seen) bool {
	_, told := seen[c.Cluster]
	for _, n := range c.New {
		if _, is := seen[n.Cluster]; is {
			told = true
		}
	}
	return told
}

// isUnwell reports that the old copy is known not to be healthy, so that it is not the last one that is.
func isUnwell(old evict.Seen) bool { return old.Current && !old.Done }

// together has what is done stay with what leaves the same cluster with it and is not, and definitions and namespaces
// with all that stays there.
func together(copies []Copy, all []Verdict) {
	type group struct{ cluster, name string }
	staying, somewhere := map[group]bool{}, map[string]bool{}
	for i, c := range copies {
		if all[i].Stays != "" {
			staying[group{c.Cluster, c.Group}], somewhere[c.Cluster] = true, true
		}
	}
	for i, c := range copies {
		if all[i].Stays != "" || all[i].Way == AtOnce {
			continue
		}
		if c.Group != "" && staying[group{c.Cluster, c.Group}] || somewhere[c.Cluster] && isFoundation(c.Ref) {
			all[i].Stays = reason.Needed
		}
	}
}

// isFoundation reports what other objects of a cluster go with when it is deleted.
func isFoundation(r object.Ref) bool {
	return r.Group == "apiextensions.k8s.io" && r.Kind == "CustomResourceDefinition" || r.Group == "" && r.Kind == "Namespace"
}
