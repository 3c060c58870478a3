package state

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// What a binding records of a decision in annotations: as Karmada writes them, and, below
// waybill.dev, what the next decision has to know besides.
const (
	policyNamespaceAnnotation = "propagationpolicy.karmada.io/namespace"
	policyNameAnnotation      = "propagationpolicy.karmada.io/name"
	clusterPolicyAnnotation   = "clusterpropagationpolicy.karmada.io/name"
	exposureNamespace         = "multiclusterservice.karmada.io/namespace"
	exposureName              = "multiclusterservice.karmada.io/name"
	placementAnnotation       = "policy.karmada.io/applied-placement"
	// SourceAnnotation names the template's file.
	SourceAnnotation = "waybill.dev/source"
	// TemplateAnnotation records the template's content for a Lazy policy.
	TemplateAnnotation = "waybill.dev/template"
	// RebalancedAnnotation records the WorkloadRebalancers that were acted on.
	RebalancedAnnotation = "waybill.dev/rebalanced-by"
	// ScalesAnnotation names what is scaled by what is made of a FederatedHPA.
	ScalesAnnotation = "waybill.dev/scales"
)

// scheduled is the type of the condition that says how a template was placed.
const scheduled = "Scheduled"

// success is the reason of that condition where it could be placed. A decision that repeats the last one repeats its reason.
const success = "Success"

// NewBinding returns the binding of a template about which nothing is decided yet.
func NewBinding(apiVersion string, r object.Ref) *karmada.ResourceBinding {
	b := &karmada.ResourceBinding{}
	b.APIVersion, b.Kind = "work.karmada.io/v1alpha2", "ResourceBinding"
	if r.Namespace == "" {
		b.Kind = "ClusterResourceBinding"
	}
	b.Name, b.Namespace = BindingName(r), r.Namespace
	b.Annotations = map[string]string{}
	b.Spec.Resource = karmada.ObjectReference{APIVersion: apiVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
	return b
}

// Placement is a placement as a binding records it.
func Placement(p *karmada.Placement) string {
	data, err := json.Marshal(p)
	if err != nil {
		panic("state: a placement that was decoded from JSON does not encode: " + err.Error())
	}
	return string(data)
}

// RecordPolicy records which policy claims a template, and what it says; the placement is
// that of Placement.
func RecordPolicy(b *karmada.ResourceBinding, p *policies.Propagation, placement string) {
	switch r := p.Object.Ref(); {
	case p.Owns():
		b.Annotations[exposureNamespace], b.Annotations[exposureName] = r.Namespace, r.Name
	case p.Namespaced():
		b.Annotations[policyNamespaceAnnotation], b.Annotations[policyNameAnnotation] = r.Namespace, r.Name
	default:
		b.Annotations[clusterPolicyAnnotation] = r.Name
	}
	b.Annotations[placementAnnotation] = placement
	spec := p.Spec
	b.Spec.Placement = &spec.Placement
	b.Spec.PropagateDeps = spec.PropagateDeps
	b.Spec.SchedulerName = spec.SchedulerName
	b.Spec.Failover = spec.Failover
	b.Spec.PreserveResourcesOnDeletion = spec.PreserveResourcesOnDeletion
	if b.Spec.ConflictResolution == "" {
		b.Spec.ConflictResolution = spec.ConflictResolution
	}
	if spec.Suspension != nil {
		b.Spec.Suspension = &karmada.BindingSuspension{Suspension: *spec.Suspension}
	}
}

// PolicyOf returns the name of the policy that a binding records, as policies.Name prints
// it; empty where a dependency is all that brought it.
func PolicyOf(b *karmada.ResourceBinding) string {
	if name := b.Annotations[policyNameAnnotation]; name != "" {
		return "PropagationPolicy " + b.Annotations[policyNamespaceAnnotation] + "/" + name
	}
	if name := b.Annotations[clusterPolicyAnnotation]; name != "" {
		return "ClusterPropagationPolicy " + name
	}
	if name := b.Annotations[exposureName]; name != "" {
		return "MultiClusterService " + b.Annotations[exposureNamespace] + "/" + name
	}
	return ""
}

// IsOwned reports a binding that records a MultiClusterService, which sends its Service in place of any policy.
func IsOwned(b *karmada.ResourceBinding) bool { return b.Annotations[exposureName] != "" }

// PolicyRef returns the namespace, empty for none, and the name of the policy that a binding records; false where a
// dependency or a MultiClusterService is all that brought it.
func PolicyRef(b *karmada.ResourceBinding) (namespace, name string, ok bool) {
	if name := b.Annotations[policyNameAnnotation]; name != "" {
		return b.Annotations[policyNamespaceAnnotation], name, true
	}
	name = b.Annotations[clusterPolicyAnnotation]
	return "", name, name != ""
}

// RecordScheduled records how a template was placed. The time of the condition is that at
// which its status last changed, by the binding before, which may be nil.
func RecordScheduled(b, before *karmada.ResourceBinding, c metav1.Condition) {
	c.Type, c.LastTransitionTime = scheduled, metav1.NewTime(c.LastTransitionTime.UTC().Truncate(time.Second))
	if was, ok := Scheduled(before); ok && was.Status == c.Status {
		c.LastTransitionTime = metav1.NewTime(was.LastTransitionTime.UTC())
	}
	b.Status.Conditions = []metav1.Condition{c}
}

// Scheduled returns what a binding, or nil, records of how its template was placed; false
// for nothing.
func Scheduled(b *karmada.ResourceBinding) (c metav1.Condition, ok bool) {
	if b == nil {
		return c, false
	}
	i := slices.IndexFunc(b.Status.Conditions, func(c metav1.Condition) bool { return c.Type == scheduled })
	if i < 0 {
		return c, false
	}
	return b.Status.Conditions[i], true
}

// PlacedBy reports whether a binding, or nil, records that its template was placed by a
// placement, as Placement prints it.
func PlacedBy(b *karmada.ResourceBinding, placement string) bool {
	return Placed(b) && DecidedBy(b, placement)
}

// DecidedBy reports whether a binding records that a placement, as Placement prints it, decided where its template goes, also where it
// fits no cluster.
func DecidedBy(b *karmada.ResourceBinding, placement string) bool {
	return b.Annotations[placementAnnotation] == placement
}

// AsPlacedBy returns a binding that says that its template was placed by a placement, as Placement prints it.
func AsPlacedBy(b karmada.ResourceBinding, placement string) *karmada.ResourceBinding {
	annotations := maps.Clone(b.Annotations)
	annotations[placementAnnotation] = placement
	b.Annotations = annotations
	if !Placed(&b) {
		RecordScheduled(&b, nil, metav1.Condition{Status: metav1.ConditionTrue, Reason: success})
	}
	return &b
}

// PlacedAlike reports that two bindings, or nil, record that their templates were placed by one placement, with as many replicas in each
// cluster.
func PlacedAlike(a, b *karmada.ResourceBinding) bool {
	return Placed(a) && PlacedBy(b, a.Annotations[placementAnnotation]) && a.Spec.Replicas == b.Spec.Replicas &&
		(a == b || slices.Equal(a.Spec.Clusters, b.Spec.Clusters))
}

// Placed reports whether a binding, or nil, records that its template was placed.
func Placed(b *karmada.ResourceBinding) bool {
	c, ok := Scheduled(b)
	return ok && c.Status == metav1.ConditionTrue
}

// Sends reports whether a binding, or nil, sends its template to a cluster, itself or
// through what needs it, or did before and could not take it back yet.
func Sends(b *karmada.ResourceBinding, cluster string) bool {
	if b == nil {
		return false
	}
	is := func(c karmada.TargetCluster) bool { return c.Name == cluster }
	return slices.ContainsFunc(b.Spec.Clusters, is) ||
		slices.ContainsFunc(b.Status.AggregatedStatus, func(s karmada.AggregatedStatusItem) bool { return s.ClusterName == cluster && s.Applied }) ||
		slices.ContainsFunc(b.Spec.RequiredBy, func(s karmada.BindingSnapshot) bool { return slices.ContainsFunc(s.Clusters, is) })
}
