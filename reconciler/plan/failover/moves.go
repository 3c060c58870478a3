package failover

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
)

// Moves is how a template leaves clusters. Nobody changes it: each step returns its own.
type Moves struct {
	// Tasks are those that go on, in the order of their beginning; Begun are those that begin
	// now, and Over those that end now, be it that they only begin.
	Tasks, Begun, Over []evict.Task
	// Gap reports that no new copy may be there until an old one is gone.
	Gap bool
	// Last lists the clusters whose copy stays although its time is over.
	Last []string
	// Waits says why it does not leave a cluster that it should leave; empty if it does.
	Waits state.Waits
	// With lists the clusters that what needs the template leaves.
	With []string
	// Remaining are the previous clusters less those of Begun; it is set once Begins says so.
	Remaining []karmada.TargetCluster

	isOnly bool // what waits for a place has no copy elsewhere, or fails where it is
}

// Begins reports that the template leaves a cluster that it did not leave before.
func (m *Moves) Begins() bool { return m != nil && len(m.Begun) > 0 }

// Leaves reports whether the template leaves a cluster, or left it just now.
func (m *Moves) Leaves(cluster string) bool {
	return m != nil && (taskOf(m.Tasks, cluster) != nil || taskOf(m.Over, cluster) != nil)
}

// IsLeaving reports whether the template is leaving a cluster, and has not left it yet.
func (m *Moves) IsLeaving(cluster string) bool { return m != nil && taskOf(m.Tasks, cluster) != nil }

// From lists the clusters that the template leaves, or left just now, and those that what needs it leaves.
func (m *Moves) From() (clusters []string) {
	if m == nil {
		return nil
	}
	for _, t := range slices.Concat(m.Tasks, m.Over) {
		clusters = append(clusters, t.FromCluster)
	}
	for _, c := range m.With {
		if !slices.Contains(clusters, c) {
			clusters = append(clusters, c)
		}
	}
	return clusters
}

// Stays returns the task for which a copy stays in a cluster that the template leaves; nil if
// it does not stay there.
func (m *Moves) Stays(cluster string) *evict.Task {
	if m == nil {
		return nil
	}
	for i := range m.Tasks {
		if t := &m.Tasks[i]; t.FromCluster == cluster && t.PurgeMode != karmada.PurgeModeDirectly {
			return t
		}
	}
	return nil
}

// Follow returns the moves of what a template pulled along, which leaves where that leaves. Both
// may be nil.
func (m *Moves) Follow(leader *Moves) *Moves {
	var follows Moves
	if m != nil {
		follows = *m
	}
	follows.With = slices.Clone(follows.With)
	for _, t := range slices.Concat(leader.Tasks, leader.Over) {
		follows.With = append(follows.With, t.FromCluster)
	}
	return &follows
}

// Bind records in a binding how its template leaves clusters; before is the one before, or nil.
func (m *Moves) Bind(b, before *karmada.ResourceBinding, now time.Time) {
	if m == nil {
		return
	}
	b.Spec.GracefulEvictionTasks = m.Tasks
	state.RecordWaits(b, before, m.Waits, metav1.NewTime(now))
}

// why says why the template leaves a cluster.
func (m *Moves) why(cluster string) string {
	for _, tasks := range [][]evict.Task{m.Tasks, m.Over} {
		if t := taskOf(tasks, cluster); t != nil {
			return t.Message
		}
	}
	return ""
}

// wait returns moves that wait; why they waited first counts.
func (m *Moves) wait(why state.Waits) *Moves {
	var waits Moves
	if m != nil {
		waits = *m
	}
	if waits.Waits == "" {
		waits.Waits = why
	}
	return &waits
}

// taskOf returns the task of a cluster; nil if there is none.
func taskOf(tasks []evict.Task, cluster string) *evict.Task {
	for i := range tasks {
		if tasks[i].FromCluster == cluster {
			return &tasks[i]
		}
	}
	return nil
}
