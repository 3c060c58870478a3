package claim

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

// bind returns the binding of a template: that of the state, with what it records of
// clusters, if it says the same.
func (d *decider) bind(m *matter) *karmada.ResourceBinding {
	old := d.before(m)
	if old == nil {
		return d.binding(m)
	}
	from := repetition{placing: d.placing(m), old: old}
	// What else a binding follows from is left out of a repetition, and so such a
	// template has none.
	plain := from.placing != (placing{}) && len(m.RequiredBy) == 0 && m.rebalanced == "" && m.Outcome == Placed && len(d.in.Law.Set.Quotas) == 0
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
	r := m.Ref()
	rb := &karmada.ResourceBinding{}
	rb.APIVersion, rb.Kind = "work.karmada.io/v1alpha2", "ResourceBinding"
	if r.Namespace == "" {
		rb.Kind = "ClusterResourceBinding"
	}
	rb.Name, rb.Namespace = state.BindingName(r), r.Namespace
	rb.Annotations = map[string]string{sourceAnnotation: m.Template.Object.Pos().File}
	rb.Spec = karmada.ResourceBindingSpec{
		Resource: karmada.ObjectReference{APIVersion: m.Template.Object.APIVersion(), Kind: r.Kind, Namespace: r.Namespace, Name: r.Name},
		Replicas: m.Size.Replicas, ReplicaRequirements: m.Size.Requirements, Components: m.Size.Components,
		Clusters: m.Own, RequiredBy: m.RequiredBy,
	}
	if m.Sent.Overwrite {
		rb.Spec.ConflictResolution = karmada.ConflictOverwrite
	}
	if m.Policy != nil {
		d.describePolicy(m, rb)
	} else if m.Sent.Preserve {
		rb.Spec.PreserveResourcesOnDeletion = &m.Sent.Preserve
	}
	return rb
}

// describePolicy records the policy in force and the outcome of scheduling.
func (d *decider) describePolicy(m *matter, rb *karmada.ResourceBinding) {
	spec, p := m.Policy.Spec, m.Policy.Object.Ref()
	if m.Policy.Namespaced() {
		rb.Annotations[policyNamespaceAnnotation], rb.Annotations[policyNameAnnotation] = p.Namespace, p.Name
	} else {
		rb.Annotations[clusterPolicyAnnotation] = p.Name
	}
	rb.Annotations[placementAnnotation] = d.placementOf(m.Policy)
	if isLazy(m) {
		rb.Annotations[templateAnnotation] = m.Template.Digest()
	}
	if done := d.rebalanced(m); done != "" {
		rb.Annotations[rebalancedAnnotation] = done
	}
	rb.Spec.RescheduleTriggeredAt = d.triggered(m)
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
	rb.Status.SchedulerObservedAffinityName = m.Group
	rb.Status.Conditions = []metav1.Condition{d.scheduled(m)}
}

// rebalanced names the WorkloadRebalancers that were acted on. A division afresh that fails
// is tried again, as Karmada does.
func (d *decider) rebalanced(m *matter) string {
	if !m.fresh || m.Reason == string(place.Success) {
		return m.rebalanced
	}
	return d.before(m).Annotations[rebalancedAnnotation]
}

// scheduled is the condition Scheduled. Its time is that of the source commit in which it
// last changed.
func (d *decider) scheduled(m *matter) metav1.Condition {
	c := metav1.Condition{
		Type: "Scheduled", Status: metav1.ConditionTrue, Reason: m.Reason, Message: m.Message,
		LastTransitionTime: metav1.NewTime(d.in.When.UTC().Truncate(time.Second)),
	}
	if c.Reason != "Success" {
		c.Status = metav1.ConditionFalse
	}
	if old := d.before(m); old != nil {
		for _, o := range old.Status.Conditions {
			if o.Type == c.Type && o.Status == c.Status {
				c.LastTransitionTime = metav1.NewTime(o.LastTransitionTime.UTC())
			}
		}
	}
	return c
}

// claimOf returns the name of the policy that a binding records, as policies.Name prints
// it; "" where a dependency is all that brought it.
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
func (d *decider) placementOf(p *policies.Propagation) string {
	if known, ok := d.placements[p]; ok {
		return known
	}
	data, err := json.Marshal(p.Spec.Placement)
	if err != nil {
		panic("claim: a placement that was decoded from JSON does not encode: " + err.Error())
	}
	d.placements[p] = string(data)
	return d.placements[p]
}
