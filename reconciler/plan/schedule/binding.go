package schedule

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
)

// binder makes decisions of what the passes found, with their bindings.
type binder struct {
	in      *Input
	placer  *placer
	recheck recheck.Recheck
	diags   []diag.Diagnostic
}

// conclude makes the decision about an item: its own clusters, merged with those that need it, own
// clusters first, and its binding.
func (b *binder) conclude(i int, p *placement, n *need) Decision {
	it := &b.placer.items[i]
	d := Decision{
		Template: it.template, Policy: it.policy, Outcome: it.claim.outcome,
		Scheduled: p.clusters, Targets: merged(p.clusters, n.requiredBy),
		RequiredBy: n.requiredBy, Group: p.group, Reason: p.reason, Message: cmp.Or(p.message, it.claim.message), Size: it.size,
		Sent: n.sent, Moves: p.moves, Shift: p.shift, Scaler: it.scaler,
	}
	if d.Policy == nil && len(d.RequiredBy) == 0 {
		return d
	}
	if d.Outcome = Placed; p.isKept {
		d.Outcome = Kept
	}
	d.Binding = b.bind(it, &d)
	return d
}

// merged returns the clusters of a list and of bindings, in the order of names; what is in the list
// counts first. Nobody may modify them.
func merged(own []Target, by []karmada.BindingSnapshot) []Target {
	if len(own) == 0 && len(by) == 1 && slices.IsSortedFunc(by[0].Clusters, byName) {
		return by[0].Clusters
	}
	all := slices.Clip(own) // so that append makes another list
	if len(by) > 0 {
		have := make(map[string]bool, len(all))
		for _, c := range all {
			have[c.Name] = true
		}
		for _, s := range by {
			for _, c := range s.Clusters {
				if !have[c.Name] {
					have[c.Name] = true
					all = append(all, c)
				}
			}
		}
	}
	if !slices.IsSortedFunc(all, byName) {
		return slices.SortedFunc(slices.Values(all), byName)
	}
	return all
}

func byName(a, b Target) int { return cmp.Compare(a.Name, b.Name) }

// bind returns the binding of a decision: that of the state, with what it records of
// clusters, if it says the same.
func (b *binder) bind(it *item, d *Decision) *karmada.ResourceBinding {
	if it.before == nil {
		return b.binding(it, d)
	}
	from := b.repetition(it, d)
	if from != (repetition{}) {
		if _, repeats := b.in.Memo.same.Get(from); repeats {
			return it.before
		}
	}
	rb := b.binding(it, d)
	if !state.SameDecision(it.before, rb) {
		return rb
	}
	if from != (repetition{}) {
		b.in.Memo.same.Put(from, struct{}{})
	}
	return it.before
}

// repetition is all that a binding follows from, and the one before; the zero value where
// it follows from more, such as the replicas of variants.
func (b *binder) repetition(it *item, d *Decision) repetition {
	isOfOthers := it.template.Part != nil || len(d.RequiredBy) > 0 || len(b.in.Policies.Set.Quotas) > 0
	if isOfOthers || it.rebalance.by != "" || d.Outcome != Placed || d.Moves != nil || d.Shares != nil {
		return repetition{}
	}
	out := placement{shift: d.Shift}
	from := b.placer.placing(it, &out, b.placer.ask(it, &out))
	if from == (placing{}) {
		return repetition{}
	}
	return repetition{placing: from, old: it.before}
}

// binding makes the ResourceBinding that Karmada would have made of a decision.
func (b *binder) binding(it *item, d *Decision) *karmada.ResourceBinding {
	rb := state.NewBinding(it.template.Object.APIVersion(), it.ref())
	rb.Annotations[state.SourceAnnotation] = it.template.Object.Pos().File
	rb.Spec.Replicas, rb.Spec.ReplicaRequirements, rb.Spec.Components = d.Size.Replicas, d.Size.Requirements, d.Size.Components
	rb.Spec.Clusters, rb.Spec.RequiredBy = d.Scheduled, d.RequiredBy
	if d.Sent.Overwrite {
		rb.Spec.ConflictResolution = karmada.ConflictOverwrite
	}
	if d.Shares != nil {
		rb.Annotations[state.ScalesAnnotation] = d.Scaler.Target.String()
	}
	if d.Policy == nil {
		if d.Sent.Preserve {
			rb.Spec.PreserveResourcesOnDeletion = &d.Sent.Preserve
		}
		return rb
	}
	succeeded := d.Reason == string(place.Success)
	state.RecordPolicy(rb, d.Policy, b.placer.placementOf(d.Policy))
	if it.isLazy() {
		rb.Annotations[state.TemplateAnnotation] = it.template.Digest(b.in.Policies.Fleet)
	}
	done := it.rebalance.by
	if it.rebalance.fresh && !succeeded { // it is tried again, as Karmada does
		done = it.before.Annotations[state.RebalancedAnnotation]
	}
	if done != "" {
		rb.Annotations[state.RebalancedAnnotation] = done
	}
	rb.Spec.RescheduleTriggeredAt = it.rebalance.triggered(it.before, b.in.When)
	rb.Status.SchedulerObservedAffinityName = d.Group
	c := metav1.Condition{Status: metav1.ConditionTrue, Reason: d.Reason, Message: d.Message, LastTransitionTime: metav1.NewTime(b.in.When)}
	if !succeeded {
		c.Status = metav1.ConditionFalse
	}
	state.RecordScheduled(rb, it.before, c)
	d.Moves.Bind(rb, it.before, b.in.Now)
	if s := b.placer.descheduler; s != nil {
		b.recheck = b.recheck.And(s.Bind(rb, shifting(it, &placement{}), d.Shift))
	}
	return rb
}
