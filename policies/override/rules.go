package override

import (
	"cmp"
	"fmt"
	"slices"

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
func New(ps []*policies.Override) (*Index, error) {
	ix := &Index{}
	for _, p := range ps {
		c := compiled{policy: p}
		for i, r := range p.Spec.Rules() {
			m, err := fleet.Compile(r.TargetCluster)
			if err != nil {
				return nil, fmt.Errorf("compiling %s rule %d: %w", p, i, err)
			}
			c.rules = append(c.rules, &Rule{Policy: p, Index: i, Clusters: m, Overriders: &r.Overriders})
		}
		ix.policies = append(ix.policies, c)
	}
	return ix, nil
}

// Rules returns the rules that apply to t in some cluster, in the order in which
// they apply (Karmada section B.2): cluster-wide policies first, then those of t's
// namespace; among each the loosest selector first, so that the closest wins; then
// by name; then in the order of the file.
func (ix *Index) Rules(t policies.Subject) []*Rule {
	type candidate struct {
		compiled
		implicit policies.Implicit
	}
	var cs []candidate
	for _, c := range ix.policies {
		if c.policy.Namespaced() && c.policy.Object.Ref().Namespace != t.Ref.Namespace {
			continue
		}
		implicit := policies.MatchAll
		if len(c.policy.Selectors) > 0 {
			implicit = c.policy.Selectors.Match(t)
		}
		if implicit != policies.NoMatch {
			cs = append(cs, candidate{c, implicit})
		}
	}
	slices.SortStableFunc(cs, func(a, b candidate) int {
		return cmp.Or(
			scope(a.policy)-scope(b.policy),
			cmp.Compare(a.implicit, b.implicit),
			cmp.Compare(a.policy.Object.Ref().Name, b.policy.Object.Ref().Name))
	})
	var rules []*Rule
	for _, c := range cs {
		rules = append(rules, c.rules...)
	}
	return rules
}

func scope(p *policies.Override) int {
	if p.Namespaced() {
		return 1
	}
	return 0
}
