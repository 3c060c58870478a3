package schedule

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/state"
)

// bind returns the binding of a template: that of the state, with what it records of
// clusters, if it says the same.
func (d *decider) bind(m *item) *karmada.ResourceBinding {
	old := d.before(m)
	if old == nil {
		return d.binding(m)
	}
	from := d.repetition(m, old)
	if from != (repetition{}) {
		if _, repeats := d.in.Memo.same.Get(from); repeats {
			return old
		}
	}
	rb := d.binding(m)
	if !state.SameDecision(old, rb) {
		return rb
	}
	if from != (repetition{}) {
		d.in.Memo.same.Put(from, struct{}{})
	}
	return old
}

// repetition is all that a binding follows from, and the one before; the zero value where
// it follows from more, such as the replicas of variants.
func (d *decider) repetition(m *item, old *karmada.ResourceBinding) repetition {
	if m.Template.Part != nil || len(m.RequiredBy) > 0 || m.rebalanced != "" || m.Outcome != Placed || len(d.in.Policies.Set.Quotas) > 0 || m.Moves != nil {
		return repetition{}
	}
	p := d.placing(m)
	if p == (placing{}) {
		return repetition{}
	}
	return repetition{placing: p, old: old}
}

// binding makes the ResourceBinding that Karmada would have made of the decision.
func (d *decider) binding(m *item) *karmada.ResourceBinding {
	b := state.NewBinding(m.Template.Object.APIVersion(), m.Ref())
	b.Annotations[state.SourceAnnotation] = m.Template.Object.Pos().File
	b.Spec.Replicas, b.Spec.ReplicaRequirements, b.Spec.Components = m.Size.Replicas, m.Size.Requirements, m.Size.Components
	b.Spec.Clusters, b.Spec.RequiredBy = m.Scheduled, m.RequiredBy
	if m.Sent.Overwrite {
		b.Spec.ConflictResolution = karmada.ConflictOverwrite
	}
	if m.Policy == nil {
		if m.Sent.Preserve {
			b.Spec.PreserveResourcesOnDeletion = &m.Sent.Preserve
		}
		return b
	}
	state.RecordPolicy(b, m.Policy, d.placementOf(m.Policy))
	if isLazy(m) {
		b.Annotations[state.TemplateAnnotation] = m.Template.Digest(d.in.Policies.Fleet)
	}
	if done := d.rebalanced(m); done != "" {
		b.Annotations[state.RebalancedAnnotation] = done
	}
	b.Spec.RescheduleTriggeredAt = d.triggered(m)
	b.Status.SchedulerObservedAffinityName = m.Group
	c := metav1.Condition{Status: metav1.ConditionTrue, Reason: m.Reason, Message: m.Message, LastTransitionTime: metav1.NewTime(d.in.When)}
	if m.Reason != string(place.Success) {
		c.Status = metav1.ConditionFalse
	}
	state.RecordScheduled(b, d.before(m), c)
	d.bindMoves(m, b)
	d.bindShift(m, b)
	return b
}

// rebalanced names the WorkloadRebalancers that were acted on. A division afresh that fails
// is tried again, as Karmada does.
func (d *decider) rebalanced(m *item) string {
	if !m.fresh || m.Reason == string(place.Success) {
		return m.rebalanced
	}
	return d.before(m).Annotations[state.RebalancedAnnotation]
}
