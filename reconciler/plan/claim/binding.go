package claim

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/state"
)

// bind returns the binding of a template: that of the state, with what it records of
// clusters, if it says the same.
func (d *decider) bind(m *matter) *karmada.ResourceBinding {
	old := d.before(m)
	if old == nil {
		return d.binding(m)
	}
	from := repetition{placing: d.placing(m), old: old}
	// What else a binding follows from, such as the replicas of variants, is left out of a
	// repetition, and so such a template has none.
	plain := from.placing != (placing{}) && m.Template.Part == nil && len(m.RequiredBy) == 0 && m.rebalanced == "" && m.Outcome == Placed && len(d.in.Law.Set.Quotas) == 0
	if plain {
		if _, repeats := d.in.Memo.same.Get(from); repeats {
			return old
		}
	}
	rb := d.binding(m)
	if !state.SameDecision(old, rb) {
		return rb
	}
	if plain {
		d.in.Memo.same.Put(from, struct{}{})
	}
	return old
}

// binding makes the ResourceBinding that Karmada would have made of the decision.
func (d *decider) binding(m *matter) *karmada.ResourceBinding {
	b := state.NewBinding(m.Template.Object.APIVersion(), m.Ref())
	b.Annotations[state.SourceAnnotation] = m.Template.Object.Pos().File
	b.Spec.Replicas, b.Spec.ReplicaRequirements, b.Spec.Components = m.Size.Replicas, m.Size.Requirements, m.Size.Components
	b.Spec.Clusters, b.Spec.RequiredBy = m.Own, m.RequiredBy
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
		b.Annotations[state.TemplateAnnotation] = m.Template.Digest()
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
	return b
}

// rebalanced names the WorkloadRebalancers that were acted on. A division afresh that fails
// is tried again, as Karmada does.
func (d *decider) rebalanced(m *matter) string {
	if !m.fresh || m.Reason == string(place.Success) {
		return m.rebalanced
	}
	return d.before(m).Annotations[state.RebalancedAnnotation]
}
