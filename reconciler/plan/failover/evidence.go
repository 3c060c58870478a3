package failover

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

// Evidence is what is known of health: what clusters say of it now (Live), or what a plan recorded of
// what they said when it was made (Recorded), so that it can be made again.
type Evidence interface {
	// Fails returns when work leaves a cluster because it fails there, by what its policy says.
	Fails(r object.Ref, cluster string, says *karmada.ApplicationFailoverBehavior, under []evict.Task) evict.Due
	// Begins returns the task of work that is due to leave a cluster, or why that waits.
	Begins(r object.Ref, due evict.Due, from evict.From, says *karmada.FailoverBehavior) (evict.Task, state.Waits)
	// Ends says what becomes of a task.
	Ends(r object.Ref, t *evict.Task, copies Copies) evict.End
	// IsSilent reports an object of which clusters were asked, and none says anything.
	IsSilent(r object.Ref) bool
}

// Copies are the new copies of work that leaves a cluster.
type Copies struct {
	IsPlaced bool // clusters could be found for all of it
	Clusters []karmada.TargetCluster
	// Before is the binding of the last plan; nil for none.
	Before *karmada.ResourceBinding
}

// Live is what clusters say now.
type Live struct {
	Seen  evict.Evidence // nil where nobody was asked
	Rules evict.Rules
	Now   time.Time
}

// Fails implements Evidence.
func (l *Live) Fails(r object.Ref, cluster string, says *karmada.ApplicationFailoverBehavior, under []evict.Task) evict.Due {
	return evict.ByHealth(l.Seen[r][cluster], says, under)
}

// Begins implements Evidence. What is to be preserved of the status has to be known.
func (l *Live) Begins(r object.Ref, due evict.Due, from evict.From, says *karmada.FailoverBehavior) (evict.Task, state.Waits) {
	from.Seen = l.Seen[r][from.Cluster.Name]
	t := due.Task(from, says, l.Now)
	if due.Preserves(says) != nil && t.PreservedLabelState == nil {
		return t, state.WaitsForStatus
	}
	return t, ""
}

// Ends implements Evidence.
func (l *Live) Ends(r object.Ref, t *evict.Task, copies Copies) evict.End {
	seen := l.Seen[r]
	c := evict.Copies{Placed: copies.IsPlaced, Old: evict.Copy{Gone: seen[t.FromCluster].Gone}}
	for _, target := range copies.Clusters {
		s, told := seen[target.Name]
		c.New = append(c.New, evict.Copy{Told: told, Healthy: s.Done && s.Current && isPublished(copies.Before, target)})
	}
	return l.Rules.Ends(t, c, l.Now)
}

// IsSilent implements Evidence.
func (l *Live) IsSilent(r object.Ref) bool {
	seen, asked := l.Seen[r]
	return asked && len(seen) == 0
}

// isPublished reports that a cluster has work with as many replicas as it should have, by its binding
// of the last plan, or nil.
func isPublished(before *karmada.ResourceBinding, target karmada.TargetCluster) bool {
	isThere := func(s karmada.AggregatedStatusItem) bool { return s.ClusterName == target.Name }
	return before != nil && slices.Contains(before.Spec.Clusters, target) && !slices.ContainsFunc(before.Status.AggregatedStatus, isThere)
}

// Recorded is what a plan recorded that is made again.
type Recorded struct {
	Bindings map[object.Ref]*karmada.ResourceBinding
	Now      time.Time
}

// Fails implements Evidence: a task that began then says that the work failed, and so does what it
// waits for, which is asked only of what fails.
func (rec *Recorded) Fails(r object.Ref, cluster string, says *karmada.ApplicationFailoverBehavior, under []evict.Task) evict.Due {
	b := rec.Bindings[r]
	if b == nil {
		return evict.Due{}
	}
	began := slices.ContainsFunc(b.Spec.GracefulEvictionTasks, func(t evict.Task) bool {
		return t.FromCluster == cluster && t.Producer == evict.ApplicationFailover && t.CreationTimestamp.Time.Equal(rec.Now)
	})
	why := state.WaitsOf(b)
	if !began && why != state.WaitsForFleet && why != state.WaitsForPlace && why != state.WaitsForStatus {
		return evict.Due{}
	}
	return evict.ByHealth(evict.Seen{Health: karmada.ResourceUnhealthy}, says, under)
}

// Begins implements Evidence: the task is the one that is recorded.
func (rec *Recorded) Begins(r object.Ref, due evict.Due, from evict.From, says *karmada.FailoverBehavior) (evict.Task, state.Waits) {
	t, b := due.Task(from, says, rec.Now), rec.Bindings[r]
	if b == nil {
		return t, ""
	}
	if recorded := recordedTask(b, &t); recorded != nil {
		return *recorded, ""
	}
	if why := state.WaitsOf(b); why == state.WaitsForStatus || due.Fails() {
		return t, why
	}
	return t, ""
}

// Ends implements Evidence: a task that is not recorded any more was over.
func (rec *Recorded) Ends(r object.Ref, t *evict.Task, _ Copies) evict.End {
	b := rec.Bindings[r]
	if b == nil || recordedTask(b, t) == nil {
		return evict.End{Over: true}
	}
	return evict.End{Last: state.WaitsOf(b) == state.WaitsForCopy, Gap: state.WaitsForGone(b)}
}

// IsSilent implements Evidence: who was silent is not recorded.
func (*Recorded) IsSilent(object.Ref) bool { return false }

// recordedTask returns a task as a binding records it; nil if it does not.
func recordedTask(b *karmada.ResourceBinding, t *evict.Task) *evict.Task {
	i := slices.IndexFunc(b.Spec.GracefulEvictionTasks, func(o evict.Task) bool {
		return o.FromCluster == t.FromCluster && o.CreationTimestamp.Equal(t.CreationTimestamp)
	})
	if i < 0 {
		return nil
	}
	return &b.Spec.GracefulEvictionTasks[i]
}
