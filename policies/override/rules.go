package override

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// Rule is one rule of an override policy, ready to be held against clusters.
type Rule struct {
	Policy     *policies.Override
	Index      int // in the policy's rules
	Clusters   fleet.Matcher
	Overriders *karmada.Overriders
}

// String names the rule, as in "OverridePolicy shop/web rule 0".
func (r *Rule) String() string { return fmt.Sprintf("%s rule %d", r.Policy, r.Index) }

// Index holds the rules of every override policy.
type Index struct {
	policies []compiled
}

type compiled struct {
	policy *policies.Override
	rules  []*Rule
}

// New compiles override policies.
func New(ps []*policies.Override) *Index {
	ix := &Index{}
	for _, p := range ps {
		c := compiled{policy: p}
		for i, r := range p.Spec.Rules() {
			c.rules = append(c.rules, &Rule{Policy: p, Index: i, Clusters: fleet.Compile(r.TargetCluster), Overriders: &r.Overriders})
		}
		ix.policies = append(ix.policies, c)
	}
	return ix
}

// Rules are the rules that may apply to one template.
type Rules struct {
	// List is in the order in which they apply (Karmada section B.2): cluster-wide
	// policies first, then those of the template's namespace; among each the loosest
	// selector first, so that the closest wins; then by name; then in the order of the
	// file.
	List []*Rule
	// Claimed says that a policy claims the template. Karmada then keeps its marks in
	// labels and annotations, so that plaintext finds both (section T.2); what is only
	// pulled along lacks what its manifest lacks.
	Claimed bool
	// Explain says that Apply records what each rule changed.
	Explain bool

	subject policies.Subject
	index   *Index
	// late says that a cluster-wide policy may change the labels by which policies of
	// the namespace select. Karmada lets them select what is left of the object then, so
	// that List has all of them that labels may still decide about.
	late bool
}

// Rules returns the rules that may apply to t.
func (ix *Index) Rules(t policies.Subject) Rules {
	r := Rules{List: ix.matching(t, clusterWide), subject: t, index: ix}
	own := ix.matching(t, ofNamespace)
	if slices.ContainsFunc(r.List, (*Rule).mayRelabel) {
		if open := ix.matching(t, ofNamespaceByAnyLabels); slices.ContainsFunc(open, (*Rule).byLabels) {
			own, r.late = open, true
		}
	}
	r.List = append(r.List, own...)
	return r
}

// matching returns the rules that a way of matching finds, in order.
func (ix *Index) matching(t policies.Subject, match func(*policies.Override, policies.Subject) policies.Implicit) []*Rule {
	type candidate struct {
		compiled
		implicit policies.Implicit
	}
	var cs []candidate
	for _, c := range ix.policies {
		if implicit := match(c.policy, t); implicit != policies.NoMatch {
			cs = append(cs, candidate{c, implicit})
		}
	}
	slices.SortStableFunc(cs, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.implicit, b.implicit), cmp.Compare(a.policy.Object.Ref().Name, b.policy.Object.Ref().Name))
	})
	var rules []*Rule
	for _, c := range cs {
		rules = append(rules, c.rules...)
	}
	return rules
}

func clusterWide(p *policies.Override, t policies.Subject) policies.Implicit {
	if p.Namespaced() {
		return policies.NoMatch
	}
	return selects(p, t)
}

func ofNamespace(p *policies.Override, t policies.Subject) policies.Implicit {
	if !p.Namespaced() || p.Object.Ref().Namespace != t.Ref.Namespace {
		return policies.NoMatch
	}
	return selects(p, t)
}

// ofNamespaceByAnyLabels matches whatever the labels are.
func ofNamespaceByAnyLabels(p *policies.Override, t policies.Subject) policies.Implicit {
	if !p.Namespaced() || p.Object.Ref().Namespace != t.Ref.Namespace {
		return policies.NoMatch
	}
	if p.Selectors.MatchAnyLabels(t) {
		return policies.MatchByLabel
	}
	return selects(p, t)
}

func selects(p *policies.Override, t policies.Subject) policies.Implicit {
	if p.Selectors.IsEmpty() && p.Selectors.Covers(t) {
		return policies.MatchAll
	}
	return p.Selectors.Match(t)
}

// byLabels reports whether labels play a part in what the rule's policy selects.
func (r *Rule) byLabels() bool {
	return slices.ContainsFunc(r.Policy.Spec.ResourceSelectors, func(s karmada.ResourceSelector) bool { return s.LabelSelector != nil })
}

// mayRelabel reports whether the rule may change labels.
func (r *Rule) mayRelabel() bool {
	reaches := func(path string) bool {
		return path == "" || path == "/metadata" || strings.HasPrefix(path, "/metadata/labels")
	}
	o := r.Overriders
	return len(o.LabelsOverrider) > 0 ||
		slices.ContainsFunc(o.Plaintext, func(o karmada.PlaintextOverrider) bool { return reaches(o.Path) }) ||
		slices.ContainsFunc(o.FieldOverrider, func(o karmada.FieldOverrider) bool { return reaches(o.FieldPath) }) ||
		slices.ContainsFunc(o.ImageOverrider, func(o karmada.ImageOverrider) bool { return o.Predicate != nil && reaches(o.Predicate.Path) })
}
