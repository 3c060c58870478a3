package schedule

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

// Failover is how work leaves clusters (Karmada section A.14).
type Failover struct {
	Enabled bool // otherwise what is under way ends, and nothing begins
	Rules   evict.Rules
	// Record is of Result, by the last plan.
	Record Record
	// Evidence is what is known of health.
	Evidence evict.Evidence
	// Recorded returns the binding that the plan which is made again recorded of a template,
	// nil for none: it says what evidence told then. It is nil for a plan of its own.
	Recorded func(object.Ref) *karmada.ResourceBinding
}

// Record is what the next plan has to know of how work leaves clusters, besides bindings.
type Record struct {
	Pace  time.Time // see evict.Pace
	Moved time.Time // when something began or ended last
	// Frozen says that something waited because too few clusters were ready, and DelayedUntil, when they
	// are again, until when it waits nevertheless.
	Frozen       bool
	DelayedUntil time.Time
}

// Moves is how a template leaves clusters.
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

	begun     bool
	only      bool     // what waits for a place has no copy elsewhere, or fails where it is
	remaining []Target // the previous clusters, less those of Begun
}

// Leaves reports whether the template leaves a cluster, or left it just now.
func (m *Moves) Leaves(cluster string) bool {
	is := func(t evict.Task) bool { return t.FromCluster == cluster }
	return m != nil && (slices.ContainsFunc(m.Tasks, is) || slices.ContainsFunc(m.Over, is))
}

// IsLeaving reports whether the template is leaving a cluster, and has not left it yet.
func (m *Moves) IsLeaving(cluster string) bool {
	return m != nil && slices.ContainsFunc(m.Tasks, func(t evict.Task) bool { return t.FromCluster == cluster })
}

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

// Gaining lists the clusters that get replicas, or the template, by its moves.
func (d *Decision) Gaining() (names []string) {
	for _, c := range d.Scheduled {
		if !slices.Contains(d.Moves.remaining, c) {
			names = append(names, c.Name)
		}
	}
	return names
}

// Follows reports whether what needs the template leaves a cluster.
func (m *Moves) Follows(cluster string) bool { return m != nil && slices.Contains(m.With, cluster) }

// why says why the template leaves a cluster.
func (m *Moves) why(cluster string) string {
	for _, t := range slices.Concat(m.Tasks, m.Over) {
		if t.FromCluster == cluster {
			return t.Message
		}
	}
	return ""
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

// bindMoves records in a binding how its template leaves clusters.
func (d *decider) bindMoves(m *item, b *karmada.ResourceBinding) {
	if m.Moves == nil {
		return
	}
	b.Spec.GracefulEvictionTasks = m.Moves.Tasks
	state.RecordWaits(b, d.before(m), m.Moves.Waits, metav1.NewTime(d.in.Now))
}
