package plan

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/state"
)

// The annotations by which a binding names its policy, as Karmada writes them.
const (
	policyNamespaceAnnotation = "propagationpolicy.karmada.io/namespace"
	policyNameAnnotation      = "propagationpolicy.karmada.io/name"
	clusterPolicyAnnotation   = "clusterpropagationpolicy.karmada.io/name"
	placementAnnotation       = "policy.karmada.io/applied-placement"
	sourceAnnotation          = "waybill.dev/source"
	// templateAnnotation records the template's content for a Lazy policy.
	templateAnnotation = "waybill.dev/template"
	// rebalancedAnnotation records the WorkloadRebalancers that were acted on.
	rebalancedAnnotation = "waybill.dev/rebalanced-by"
)

// bind returns the binding of a template: that of the state, if it says the same.
func (b *builder) bind(t *template) *karmada.ResourceBinding {
	old := b.in.State.Bindings[t.object.Ref()]
	if old == nil {
		return b.binding(t)
	}
	from := repetition{placing: b.placing(t), old: old}
	// What else a binding follows from is left out of a repetition, and so such a
	// template has none.
	plain := from.placing != (placing{}) && len(t.requiredBy) == 0 && t.rebalanced == "" && t.decision.Outcome == Placed && len(b.set.Quotas) == 0
	if plain && b.in.Memo.repeats(from) {
		return old
	}
	rb := b.binding(t)
	if !state.Same(old, rb) {
		return rb
	}
	if plain {
		b.in.Memo.repeated(from)
	}
	return old
}

// binding makes the ResourceBinding that Karmada would have made of the decision.
func (b *builder) binding(t *template) *karmada.ResourceBinding {
	r := t.object.Ref()
	rb := &karmada.ResourceBinding{}
	rb.APIVersion, rb.Kind = "work.karmada.io/v1alpha2", "ResourceBinding"
	if r.Namespace == "" {
		rb.Kind = "ClusterResourceBinding"
	}
	rb.Name, rb.Namespace = state.BindingName(r), r.Namespace
	rb.Annotations = map[string]string{sourceAnnotation: t.object.Pos().File}
	rb.Spec = karmada.ResourceBindingSpec{
		Resource: karmada.ObjectReference{APIVersion: t.object.APIVersion(), Kind: r.Kind, Namespace: r.Namespace, Name: r.Name},
		Replicas: t.replicas, ReplicaRequirements: t.requirements, Components: t.components, Clusters: t.own, RequiredBy: t.requiredBy,
	}
	if t.overwrite {
		rb.Spec.ConflictResolution = karmada.ConflictOverwrite
	}
	if t.policy != nil {
		b.describePolicy(t, rb)
	} else if t.preserve {
		rb.Spec.PreserveResourcesOnDeletion = &t.preserve
	}
	return rb
}

// describePolicy records the policy in force and the outcome of scheduling.
func (b *builder) describePolicy(t *template, rb *karmada.ResourceBinding) {
	spec, p := t.policy.Spec, t.policy.Object.Ref()
	if t.policy.Namespaced() {
		rb.Annotations[policyNamespaceAnnotation], rb.Annotations[policyNameAnnotation] = p.Namespace, p.Name
	} else {
		rb.Annotations[clusterPolicyAnnotation] = p.Name
	}
	rb.Annotations[placementAnnotation] = b.placementOf(t.policy)
	if t.isLazy() {
		rb.Annotations[templateAnnotation] = t.digest()
	}
	if done := b.rebalanced(t); done != "" {
		rb.Annotations[rebalancedAnnotation] = done
	}
	rb.Spec.RescheduleTriggeredAt = b.triggered(t)
	rb.Spec.Placement = &spec.Placement
	rb.Spec.PropagateDeps = spec.PropagateDeps
	rb.Spec.SchedulerName = spec.SchedulerName
	rb.Spec.Failover = spec.Failover
	rb.Spec.PreserveResourcesOnDeletion = spec.PreserveResourcesOnDeletion
	if rb.Spec.ConflictResolution == "" {
		rb.Spec.ConflictResolution = spec.ConflictResolution
	}
	if spec.Suspension != nil {
		rb.Spec.Suspension = &karmada.BindingSuspension{Suspension: *spec.Suspension}
	}
	rb.Status.SchedulerObservedAffinityName = t.decision.Group
	rb.Status.Conditions = []metav1.Condition{b.scheduled(t)}
}

// rebalanced names the WorkloadRebalancers that were acted on. A division afresh that
// fails is tried again, as Karmada does.
func (b *builder) rebalanced(t *template) string {
	if !t.fresh || t.decision.Reason == string(place.Success) {
		return t.rebalanced
	}
	return b.in.State.Bindings[t.object.Ref()].Annotations[rebalancedAnnotation]
}

// scheduled is the condition Scheduled. Its time is that of the source commit in
// which it last changed.
func (b *builder) scheduled(t *template) metav1.Condition {
	c := metav1.Condition{
		Type: "Scheduled", Status: metav1.ConditionTrue, Reason: t.decision.Reason, Message: t.decision.Message,
		LastTransitionTime: metav1.NewTime(b.in.Source.Revision.When.UTC().Truncate(time.Second)),
	}
	if c.Reason != "Success" {
		c.Status = metav1.ConditionFalse
	}
	if old := b.in.State.Bindings[t.object.Ref()]; old != nil {
		for _, o := range old.Status.Conditions {
			if o.Type == c.Type && o.Status == c.Status {
				c.LastTransitionTime = metav1.NewTime(o.LastTransitionTime.UTC())
			}
		}
	}
	return c
}

// claimOf returns the name of the policy that a binding records, as policies.Name
// prints it; "" where a dependency is all that brought it.
func claimOf(rb *karmada.ResourceBinding) string {
	if name := rb.Annotations[policyNameAnnotation]; name != "" {
		return "PropagationPolicy " + rb.Annotations[policyNamespaceAnnotation] + "/" + name
	}
	if name := rb.Annotations[clusterPolicyAnnotation]; name != "" {
		return "ClusterPropagationPolicy " + name
	}
	return ""
}

// placementOf prints a policy's placement as Karmada records it on a binding.
func (b *builder) placementOf(p *policies.Propagation) string {
	if known, ok := b.placements[p]; ok {
		return known
	}
	data, err := json.Marshal(p.Spec.Placement)
	if err != nil {
		panic("plan: a placement that was decoded from JSON does not encode: " + err.Error())
	}
	b.placements[p] = string(data)
	return b.placements[p]
}
