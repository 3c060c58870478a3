package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// template is an object on its way through the plan.
type template struct {
	variant // the only one, or that of the first cluster

	subject policies.Subject
	// part says which release the template is part of; nil for one that stands for
	// itself.
	part *part

	policy   *policies.Propagation
	decision Decision
	// own are the clusters by the template's policy; the decision's targets are
	// these and the ones that other templates pull it to.
	own        []karmada.TargetCluster
	requiredBy []karmada.BindingSnapshot
	overwrite  bool // some binding that needs it, or its policy, says Overwrite
	preserve   bool // some binding that needs it preserves resources on deletion

	replicas     int32
	requirements *karmada.ReplicaRequirements
	components   []karmada.Component // pod templates, of a kind that has several
	interpretErr error

	// rebalanced names the WorkloadRebalancers that name the template; fresh says
	// that the last plan did not know all of them, so that it is divided afresh.
	rebalanced string
	fresh      bool
}

// variant is what a template says. What is part of a release may say another thing
// in another cluster.
type variant struct {
	object *object.Object
	// content is the object with the API server's defaults, as Karmada sees it;
	// added are the defaults, to be taken away again.
	content map[string]any
	added   []interpret.Path
	scaled  string // the replicas that a schedule has put into content
}

func newVariant(o *object.Object) variant {
	v := variant{object: o}
	v.content, v.added = interpret.Default(o.Content())
	return v
}

func (b *builder) newTemplate(o *object.Object) *template {
	return &template{variant: b.in.Memo.variant(o), subject: policies.SubjectOf(o)}
}

// in returns what the template says in a cluster; nil where its release has nothing to
// say of it.
func (t *template) in(cluster string) *variant {
	if t.part == nil {
		return &t.variant
	}
	if n, ok := t.part.of[cluster]; ok {
		return &t.part.variants[n]
	}
	return nil
}

// number tells the variants of a template apart.
func (t *template) number(cluster string) int {
	if t.part == nil {
		return 0
	}
	return t.part.of[cluster]
}

// isRelease reports a release that a policy selects: it stands for its parts and is
// not delivered itself.
func (t *template) isRelease() bool { return flux.IsRelease(t.object) }

// divided reports whether the template's replicas are shared out.
func (t *template) divided() bool {
	if t.policy == nil || t.policy.Spec.Placement.ReplicaScheduling == nil {
		return false
	}
	return t.policy.Spec.Placement.ReplicaScheduling.ReplicaSchedulingType != karmada.ReplicaSchedulingTypeDuplicated
}

// isWorkload reports whether the template's binding has replicas (Karmada section
// A.12).
func (t *template) isWorkload() bool {
	return len(t.components) <= 1 && (t.replicas > 0 || t.requirements != nil)
}

// isLazy reports whether changes of t's policy wait for a change of t.
func (t *template) isLazy() bool {
	return t.policy != nil && t.policy.Spec.ActivationPreference == karmada.LazyActivation
}

// digest tells one content of the template from another.
func (t *template) digest() string {
	if t.part == nil && t.scaled == "" {
		return files.Sum("blob", t.object.YAML()).String()
	}
	all := []byte(t.scaled + "\n")
	if t.part == nil {
		return files.Sum("blob", append(all, t.object.YAML()...)).String()
	}
	for _, cluster := range slices.Sorted(maps.Keys(t.part.of)) {
		all = fmt.Appendf(all, "%s %d\n", cluster, t.part.of[cluster])
	}
	for _, v := range t.part.variants {
		all = append(all, v.object.YAML()...)
	}
	return files.Sum("blob", all).String()
}

// suspended reports whether t's policy holds dispatching to a cluster (Karmada
// section A.16).
func (t *template) suspended(cluster string) bool {
	if t.policy == nil || t.policy.Spec.Suspension == nil {
		return false
	}
	s := t.policy.Spec.Suspension
	return s.Dispatching != nil && *s.Dispatching ||
		s.DispatchingOnClusters != nil && slices.Contains(s.DispatchingOnClusters.ClusterNames, cluster)
}

// conflict returns what happens to an object that a cluster already has: what the
// template's annotation says, else what a policy that sends it says, else abort
// (Karmada section D.3).
func (t *template) conflict() string {
	if a := t.object.Annotations()[conflictAnnotation]; a == "overwrite" || a == "abort" {
		return a
	}
	if t.overwrite || t.policy != nil && t.policy.Spec.ConflictResolution == karmada.ConflictOverwrite {
		return "overwrite"
	}
	return "abort"
}

// preserved reports whether the object stays in a cluster when it is no longer
// sent there.
func (t *template) preserved() bool {
	if t.policy != nil {
		return t.policy.Spec.PreserveResourcesOnDeletion != nil && *t.policy.Spec.PreserveResourcesOnDeletion
	}
	return t.preserve
}

type groupKind struct{ group, kind string }

func (t *template) isDefinition() bool {
	r := t.object.Ref()
	return r.Kind == "CustomResourceDefinition" && r.Group == "apiextensions.k8s.io"
}

// defines returns the kind that a CustomResourceDefinition defines.
func (t *template) defines() groupKind {
	spec, _ := t.object.Content()["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	group, _ := spec["group"].(string)
	kind, _ := names["kind"].(string)
	return groupKind{group, kind}
}
