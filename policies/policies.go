// Package policies is the index of what steers placement in one source: it splits
// the policies and clusters from the templates, decodes them strictly, defaults
// and validates them, and says with file and line what is wrong.
//
// A policy with an error is left out and listed as broken, so that the plan can go
// on with the version of it that was last in force. The packages beneath decide with what
// is here: match, place, override, interpret, quota, scale and hpa. Law
// holds them together, ready to be asked.
package policies

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/karmada/validate"
	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// Propagation is a PropagationPolicy or ClusterPropagationPolicy in force.
type Propagation struct {
	Object    *object.Object
	Spec      *karmada.PropagationSpec
	Selectors Selectors
	// Waits is the override policy that the policy depends on and that is not there;
	// empty if it waits for none. What it claims is then applied by nobody.
	Waits string
}

// Namespaced reports a PropagationPolicy.
func (p *Propagation) Namespaced() bool { return p.Object.Ref().Namespace != "" }

// Owns reports that it stands for a MultiClusterService, which sends a Service in place of any policy.
func (p *Propagation) Owns() bool { return p.Object.Ref().Kind == "MultiClusterService" }

// String returns the kind and name, as in "PropagationPolicy shop/web".
func (p *Propagation) String() string { return Name(p.Object) }

// Divides reports whether the policy shares the replicas of a template out.
func (p *Propagation) Divides() bool {
	s := p.Spec.Placement.ReplicaScheduling
	return s != nil && s.ReplicaSchedulingType != karmada.ReplicaSchedulingTypeDuplicated
}

// DividesByRoom reports whether the policy shares the replicas of a template out by the room that
// clusters have: by dynamic weights, or aggregated (Karmada section A.12).
func (p *Propagation) DividesByRoom() bool {
	s := p.Spec.Placement.ReplicaScheduling
	return p.Divides() && (s.ReplicaDivisionPreference == karmada.ReplicaDivisionPreferenceAggregated ||
		s.WeightPreference != nil && s.WeightPreference.DynamicWeight != "")
}

// Suspends reports whether the policy holds dispatching to a cluster (Karmada section A.16).
func (p *Propagation) Suspends(cluster string) bool {
	s := p.Spec.Suspension
	return s != nil && (s.Dispatching != nil && *s.Dispatching ||
		s.DispatchingOnClusters != nil && slices.Contains(s.DispatchingOnClusters.ClusterNames, cluster))
}

// Preserves reports whether what the policy sends stays in a cluster when it is no longer
// sent there.
func (p *Propagation) Preserves() bool {
	return p.Spec.PreserveResourcesOnDeletion != nil && *p.Spec.PreserveResourcesOnDeletion
}

// Overwrites reports whether what the policy sends takes over what a cluster has already
// (Karmada section D.3).
func (p *Propagation) Overwrites() bool {
	return p.Spec.ConflictResolution == karmada.ConflictOverwrite
}

// Override is an OverridePolicy or ClusterOverridePolicy in force.
type Override struct {
	Object    *object.Object
	Spec      *karmada.OverrideSpec
	Selectors Selectors
}

// Namespaced reports an OverridePolicy.
func (p *Override) Namespaced() bool { return p.Object.Ref().Namespace != "" }

// String returns the kind and name, as in "OverridePolicy shop/web".
func (p *Override) String() string { return Name(p.Object) }

// Name returns the kind and name of a policy as people say them.
func Name(o *object.Object) string {
	r := o.Ref()
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// Cluster is a registered member cluster.
type Cluster struct {
	Object *object.Object
	Spec   karmada.Cluster
	// Observed is what was observed of it; nil for nothing. It is not in Spec.
	Observed *karmada.ClusterStatus
}

// IsObserved reports whether a condition of the cluster is known by observation: its registration does not
// say it.
func (c *Cluster) IsObserved(conditionType string) bool {
	return c.Observed != nil && meta.FindStatusCondition(c.Spec.Status.Conditions, conditionType) == nil &&
		meta.FindStatusCondition(c.Observed.Conditions, conditionType) != nil
}

// IsLost reports that the cluster was observed not to be ready, and not yet to be ready again.
func (c *Cluster) IsLost() bool {
	return c.IsObserved(karmada.ConditionReady) && !meta.IsStatusConditionTrue(c.Observed.Conditions, karmada.ConditionReady)
}

// Located is a steering object of any other kind, and where it stands.
type Located[T any] struct {
	Object *object.Object
	Value  *T
}

// Set is everything in a source that steers. Its slices are in the order of names.
type Set struct {
	Propagation []*Propagation
	Override    []*Override
	Clusters    []Cluster
	Taints      []Located[karmada.ClusterTaintPolicy]
	Quotas      []Located[karmada.FederatedResourceQuota]
	Rebalancers []Located[karmada.WorkloadRebalancer]
	Scalers     []Located[karmada.CronFederatedHPA]
	Autoscalers []Located[karmada.FederatedHPA]
	Remedies    []Located[karmada.Remedy]
	// Exposures are the MultiClusterServices of type CrossCluster.
	Exposures []Located[karmada.MultiClusterService]
	Ingresses []Located[karmada.MultiClusterIngress]
	// Strategies are those of roll-outs, and BadStrategies what is called so and has a mistake. They are in no
	// other list.
	Strategies    []Located[kubefleet.Strategy]
	BadStrategies []object.Ref
	// Customizations teach kinds in Lua, and Interpreter is what all kinds mean by them.
	Customizations []Located[karmada.ResourceInterpreterCustomization]
	Interpreter    *interpret.Interpreter
	// Broken lists the policies and clusters that have an error.
	Broken   []render.Broken
	Failover Failover
}

// Failover is what the taints of clusters go by besides the policies, where work fails over.
type Failover struct {
	Enabled bool
	Marks   fleet.Marks // that are remembered
	Now     time.Time
}

// Settings are what the config of a source says of its policies.
type Settings struct {
	// Failover takes ClusterTaintPolicies that drive work out of clusters, which are a mistake
	// otherwise (Karmada section C.4).
	Failover bool
}

// Claims reports what decides which policy claims an object: a policy, or an override
// policy, on which a policy may depend.
func Claims(o *object.Object) bool { return o.Ref().Group == "policy.karmada.io" }

// Cache remembers what objects decoded to. It changes speed only. Nil remembers nothing.
type Cache interface {
	Decoded(o *object.Object) (Decoded, bool)
	Keep(o *object.Object, d Decoded)
}

// Decoded is what an object of the policy groups decodes to, defaulted, and what is wrong
// with it. Nothing modifies it.
type Decoded struct {
	value any // nil if it does not decode
	wrong []diag.Diagnostic
}

// Load splits objects into what steers and the templates.
func Load(objs []*object.Object, c Cache) (set Set, templates []*object.Object, diags []diag.Diagnostic) {
	return Settings{}.Load(objs, c)
}

// Load splits objects into what steers and the templates.
func (s Settings) Load(objs []*object.Object, c Cache) (set Set, templates []*object.Object, diags []diag.Diagnostic) {
	set.Failover.Enabled = s.Failover
	for _, o := range objs {
		if !render.IsPolicy(o.Ref()) {
			templates = append(templates, o)
			continue
		}
		diags = append(diags, set.add(o, c)...)
	}
	slices.SortFunc(set.Propagation, func(a, b *Propagation) int { return a.Object.Ref().Compare(b.Object.Ref()) })
	slices.SortFunc(set.Override, func(a, b *Override) int { return a.Object.Ref().Compare(b.Object.Ref()) })
	sortByRef(set.Taints)
	sortByRef(set.Quotas)
	sortByRef(set.Rebalancers)
	sortByRef(set.Scalers)
	sortByRef(set.Autoscalers)
	sortByRef(set.Remedies)
	sortByRef(set.Exposures)
	sortByRef(set.Ingresses)
	sortByRef(set.Customizations)
	sortByRef(set.Strategies)
	slices.SortFunc(set.BadStrategies, object.Ref.Compare)
	slices.SortFunc(set.Clusters, func(a, b Cluster) int { return cmp.Compare(a.Spec.Name, b.Spec.Name) })
	return set, templates, slices.Concat(diags, set.dependentOverrides(), set.learn(), set.customizedTwice(), set.staged())
}

// Observe adds what was observed of clusters, by name.
func (s *Set) Observe(seen map[string]*karmada.ClusterStatus) {
	for i := range s.Clusters {
		s.Clusters[i].Observed = seen[s.Clusters[i].Spec.Name]
	}
}

func sortByRef[T any](ls []Located[T]) {
	slices.SortFunc(ls, func(a, b Located[T]) int { return a.Object.Ref().Compare(b.Object.Ref()) })
}

// add decodes one object and files it.
func (s *Set) add(o *object.Object, c Cache) []diag.Diagnostic {
	r := o.Ref()
	if r.Group == kubefleet.Group {
		return s.addRollout(o, c)
	}
	if !karmada.Known(o.APIVersion(), r.Kind) {
		s.Broken = append(s.Broken, render.Broken{Ref: r})
		return []diag.Diagnostic{{
			Code: diag.UnknownKind, Severity: diag.Error, Pos: o.Origin(),
			Message: fmt.Sprintf("%s %s is no kind that Karmada or Waybill has", o.APIVersion(), r.Kind),
			Hint:    "check apiVersion and kind; policies are policy.karmada.io/v1alpha1, clusters cluster.karmada.io/v1alpha1",
		}}
	}
	d := remembered(c, o, decode)
	wrong := d.wrong
	if p, ok := d.value.(*karmada.ClusterTaintPolicy); ok && !s.Failover.Enabled {
		wrong = slices.Concat(wrong, Mistakes(o, validate.DrivesOut(p)))
	}
	if d.value == nil || diag.HasErrors(wrong) {
		s.Broken = append(s.Broken, render.Broken{Ref: r})
		return wrong
	}
	return slices.Concat(wrong, s.file(o, d.value))
}

// remembered returns what an object decodes to, by a cache that may be nil.
func remembered(c Cache, o *object.Object, decode func(*object.Object) Decoded) Decoded {
	if c == nil {
		return decode(o)
	}
	d, known := c.Decoded(o)
	if !known {
		d = decode(o)
		c.Keep(o, d)
	}
	return d
}

// decode decodes, validates and defaults an object.
func decode(o *object.Object) Decoded {
	content := o.Content()
	if o.Ref().Group != "cluster.karmada.io" { // Clusters have no schema in Karmada: its API is an aggregated one
		content, _ = withoutNulls(content).(map[string]any)
	}
	data, err := json.Marshal(content)
	if err != nil {
		panic("policies: a decoded manifest is no JSON: " + err.Error())
	}
	x, wrong := karmada.Decode(o.APIVersion(), o.Ref().Kind, data)
	if x != nil {
		wrong = append(wrong, validate.Object(x)...)
		karmada.Default(x)
	}
	return Decoded{value: x, wrong: Mistakes(o, wrong)}
}

// withoutNulls drops the keys of maps that have no value, as an API server does by the
// schema of a kind. What overriders put at a path, which is below "value", has none.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, e := range v {
			switch {
			case e == nil:
			case key == "value" && (v["path"] != nil || v["subPath"] != nil):
				out[key] = e
			default:
				out[key] = withoutNulls(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = withoutNulls(e)
		}
		return out
	}
	return v
}

// file puts a decoded object where it acts.
func (s *Set) file(o *object.Object, x any) []diag.Diagnostic {
	switch x := x.(type) {
	case *karmada.PropagationPolicy:
		s.Propagation = append(s.Propagation, &Propagation{Object: o, Spec: &x.Spec, Selectors: Compile(x.Spec.ResourceSelectors, x.Annotations)})
		return append(notKarmadas(o, x.Spec.ResourceSelectors), ofIngresses(o, x.Spec.ResourceSelectors)...)
	case *karmada.OverridePolicy:
		s.Override = append(s.Override, &Override{Object: o, Spec: &x.Spec, Selectors: Compile(x.Spec.ResourceSelectors, x.Annotations)})
		return notKarmadas(o, x.Spec.ResourceSelectors)
	case *karmada.Cluster:
		s.Clusters = append(s.Clusters, Cluster{Object: o, Spec: *x})
	case *karmada.ClusterTaintPolicy:
		s.Taints = append(s.Taints, Located[karmada.ClusterTaintPolicy]{o, x})
	case *karmada.FederatedResourceQuota:
		s.Quotas = append(s.Quotas, Located[karmada.FederatedResourceQuota]{o, x})
	case *karmada.WorkloadRebalancer:
		s.Rebalancers = append(s.Rebalancers, Located[karmada.WorkloadRebalancer]{o, x})
	case *karmada.CronFederatedHPA:
		s.Scalers = append(s.Scalers, Located[karmada.CronFederatedHPA]{o, x})
	case *karmada.FederatedHPA:
		s.Autoscalers = append(s.Autoscalers, Located[karmada.FederatedHPA]{o, x})
	case *karmada.Remedy:
		s.Remedies = append(s.Remedies, Located[karmada.Remedy]{o, x})
	case *karmada.MultiClusterService:
		if !x.Spec.IsCrossCluster() {
			return inert(o)
		}
		s.Exposures = append(s.Exposures, Located[karmada.MultiClusterService]{o, x})
	case *karmada.MultiClusterIngress:
		s.Ingresses = append(s.Ingresses, Located[karmada.MultiClusterIngress]{o, x})
	case *karmada.ResourceInterpreterCustomization:
		s.Customizations = append(s.Customizations, Located[karmada.ResourceInterpreterCustomization]{o, x})
	default:
		return inert(o)
	}
	return nil
}

// notKarmadas says of selectors by place that Karmada has none.
func notKarmadas(o *object.Object, selectors []karmada.ResourceSelector) []diag.Diagnostic {
	i := slices.IndexFunc(selectors, karmada.ResourceSelector.Wild)
	at := []any{"spec", "resourceSelectors", i}
	message := `the kind "*" is Waybill's own: Karmada selects nothing by it`
	if i < 0 {
		if o.Annotations()[karmada.PathsAnnotation] == "" {
			return nil
		}
		at, message = []any{"metadata", "annotations", karmada.PathsAnnotation}, karmada.PathsAnnotation+" is Waybill's own: Karmada selects wherever an object stands"
	}
	return []diag.Diagnostic{{Code: diag.NotKarmadas, Severity: diag.Notice, Pos: o.FieldPos(at), Message: Name(o) + ": " + message}}
}

// ofIngresses says of a policy that names MultiClusterIngresses that Karmada places none.
func ofIngresses(o *object.Object, selectors []karmada.ResourceSelector) []diag.Diagnostic {
	i := slices.IndexFunc(selectors, func(s karmada.ResourceSelector) bool {
		group, _ := object.GroupVersion(s.APIVersion)
		return group == "networking.karmada.io" && s.Kind == "MultiClusterIngress"
	})
	if i < 0 {
		return nil
	}
	return []diag.Diagnostic{{
		Code: diag.NotKarmadas, Severity: diag.Notice, Pos: o.FieldPos([]any{"spec", "resourceSelectors", i}),
		Message: Name(o) + ": that MultiClusterIngresses go to clusters, as Ingresses, is Waybill's own: Karmada propagates nothing of its own groups",
	}}
}

// inert says of a kind that decodes but does not act that it does not.
func inert(o *object.Object) []diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.KindNotActing, Severity: diag.Error, Pos: o.Origin(),
		Message: Name(o) + " is read and valid, but this version does not act on it",
		Hint:    "remove it, or name its file in " + render.IgnoreFile + "; docs/karmada-compatibility.md lists what acts",
	}
	switch o.Ref().Kind {
	case "ResourceBinding", "ClusterResourceBinding", "Work":
		d.Severity, d.Code = diag.Warning, diag.NotAPolicy
		d.Message = Name(o) + " is what Karmada computes, not what people write; it is passed over"
		d.Hint = "the bindings that Waybill computes are on the state branch"
	case "MultiClusterService":
		d.Severity, d.Pos = diag.Warning, o.FieldPos([]any{"spec", "types"})
		d.Message = Name(o) + " is not of type CrossCluster: nothing is delivered because of it, and the Service stays with its policy"
		d.Hint = "write types: [CrossCluster]; a load balancer over clusters is not Waybill's"
	case "ResourceInterpreterWebhookConfiguration":
		d.Severity = diag.Warning
		d.Message = Name(o) + " needs a control plane that watches clusters; it is passed over"
		d.Hint = "see docs/karmada-compatibility.md"
	}
	return []diag.Diagnostic{d}
}

// dependentOverrides finds the policies that name an override policy which is not
// there: Karmada claims templates for them, and applies none until it is (section A.1).
func (s *Set) dependentOverrides() []diag.Diagnostic {
	type name struct{ namespace, name string }
	have := map[name]bool{}
	for _, o := range s.Override {
		have[name{o.Object.Ref().Namespace, o.Object.Ref().Name}] = true
	}
	var diags []diag.Diagnostic
	for _, p := range s.Propagation {
		for i, n := range p.Spec.DependentOverrides {
			if have[name{p.Object.Ref().Namespace, n}] {
				continue
			}
			p.Waits = n
			diags = append(diags, diag.Diagnostic{
				Code: diag.MissingOverride, Severity: diag.Error, Pos: p.Object.FieldPos([]any{"spec", "dependentOverrides", i}),
				Message: fmt.Sprintf("%s depends on the override policy %q, which is not in the source", p, n),
				Hint:    "add it, or remove the name; until then what the policy selects is placed by no other, and what it placed stays as it was last published",
			})
		}
	}
	return diags
}

// Mistakes turns what is wrong with the fields of an object into diagnostics with file and line.
func Mistakes(o *object.Object, wrong []karmada.FieldError) []diag.Diagnostic {
	diags := make([]diag.Diagnostic, 0, len(wrong))
	for _, w := range wrong {
		severity := diag.Error
		if w.Warning {
			severity = diag.Warning
		}
		message := w.Message
		if p := object.FieldPath(w.Path); p != "" {
			message = p + ": " + message
		}
		diags = append(diags, diag.Diagnostic{
			Code: w.Code, Severity: severity, Pos: o.FieldPos(w.Path),
			Message: Name(o) + ": " + message, Hint: w.Hint,
		})
	}
	return diags
}
