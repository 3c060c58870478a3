package expand

import (
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
)

// Inner is a release that another one renders, which a policy selects.
type Inner struct {
	Release *object.Object
	Of      object.Ref // the release that a policy selects
}

// Subject is what selectors see of it: what is rendered stands nowhere.
func (i Inner) Subject() policies.Subject {
	s := policies.SubjectOf(i.Release)
	s.File = ""
	return s
}

// innerRules are the clusters of the rules of override policies that may select releases which
// others render.
type innerRules []fleet.Matcher

// innerRules returns the rules that may be for releases within others: not those that name one
// which stands for itself.
func (x *expander) innerRules(l *index.Policies) innerRules {
	if x.nested.rules != nil {
		return *x.nested.rules
	}
	rules := innerRules{}
	for _, p := range l.Set.Override {
		if len(p.Spec.ResourceSelectors) > 0 && !slices.ContainsFunc(p.Spec.ResourceSelectors, x.mayBeInner) {
			continue
		}
		for _, r := range p.Spec.Rules() {
			rules = append(rules, fleet.Compile(r.TargetCluster))
		}
	}
	x.nested.rules = &rules
	return rules
}

func (x *expander) mayBeInner(s karmada.ResourceSelector) bool {
	group, _ := object.GroupVersion(s.APIVersion)
	return flux.IsReleaseKind(group, s.Kind) && (s.Name == "" || !x.nested.standing[object.Ref{Group: group, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}])
}

// matching says which of the rules are for a cluster: a byte a rule.
func (rules innerRules) matching(c *fleet.Cluster) string {
	key := make([]byte, len(rules))
	for i, r := range rules {
		if r.Matches(c) {
			key[i] = 1
		}
	}
	return string(key)
}

// within overrides, for a cluster, the releases that one renders which a policy selects.
func (x *expander) within(l *index.Policies, outer *template.Template, overridden *object.Object, c *fleet.Cluster) func(*object.Object) (*object.Object, *diag.Diagnostic) {
	at, _ := l.Position(c.Name)
	return func(o *object.Object) (*object.Object, *diag.Diagnostic) {
		if o == overridden {
			return o, nil
		}
		x.nested.inners[o.Ref()] = Inner{o, outer.Ref()}
		inner := template.New(o, &x.in.Memo.Template)
		inner.Subject = Inner{Release: o}.Subject()
		rules := l.Overrides.Rules(inner.Subject).List
		if len(rules) == 0 {
			return o, nil
		}
		return x.in.Override(l, inner, l.Matching(rules)[at])
	}
}

// overridden returns a release as it is in the cluster of a scope; nil where that cannot be told,
// which is reported.
func (x *expander) overridden(release *object.Object, s *scope) *object.Object {
	if s.within == nil {
		return release
	}
	o, bad := s.within(release)
	if bad != nil {
		exemplify(bad, s.name())
		x.report(x.about.note(release.Ref(), *bad)...)
		x.releases.fail(s.id(release), s.name())
		return nil
	}
	return o
}
