// Package match says which propagation policy claims a template, and what none may
// claim (Karmada sections A.3 and A.4). It promises that the answer depends on the template and the set of
// policies alone: claims are judged afresh each time, as if everything had been
// created at once, so a policy never keeps a template by having been there first.
//
// Inside one namespace a PropagationPolicy beats every ClusterPropagationPolicy;
// then the higher spec.priority wins, then the closer selector (name over labels
// over kind over any kind), then the alphabetically smaller name.
package match

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// Index finds the policy that claims a template without asking every policy. It
// is immutable and safe for concurrent use.
type Index struct {
	byKind map[kind][]*policies.Propagation
	all    []*policies.Propagation
	owned  map[object.Ref]*policies.Propagation
}

type kind struct{ apiVersion, kind string }

// New indexes policies.
func New(ps []*policies.Propagation) *Index {
	ix := &Index{byKind: map[kind][]*policies.Propagation{}, all: ps}
	for _, p := range ps {
		for apiVersion, k := range p.Selectors.Kinds {
			key := kind{apiVersion, k}
			if list := ix.byKind[key]; len(list) == 0 || list[len(list)-1] != p {
				ix.byKind[key] = append(list, p)
			}
		}
	}
	return ix
}

// WithOwners returns an index in which objects have an owner that sends them, in place of any policy: their MultiClusterServices
// (section E.3), as policies.
func (ix *Index) WithOwners(owned map[object.Ref]*policies.Propagation) *Index {
	with := *ix
	with.owned = owned
	return &with
}

// Owner is what sends t in place of any policy; nil for nothing.
func (ix *Index) Owner(t policies.Subject) *policies.Propagation { return ix.owned[t.Ref] }

// Candidate is a policy that matches a template, and how closely.
type Candidate struct {
	Policy   *policies.Propagation
	Implicit policies.Implicit
}

// Policy returns the policy that claims t; nil if none does.
func (ix *Index) Policy(t policies.Subject) *policies.Propagation {
	if owner := ix.Owner(t); owner != nil {
		return owner
	}
	var best Candidate
	for c := range ix.matching(t) {
		if best.Policy == nil || compare(c, best) < 0 {
			best = c
		}
	}
	return best.Policy
}

// Candidates returns every policy that matches t, the winner first: before all others an owner.
func (ix *Index) Candidates(t policies.Subject) []Candidate {
	all := slices.SortedFunc(ix.matching(t), compare)
	if owner := ix.Owner(t); owner != nil {
		return slices.Insert(all, 0, Candidate{Policy: owner, Implicit: policies.MatchByName})
	}
	return all
}

// matching yields every policy that matches t, once.
func (ix *Index) matching(t policies.Subject) iter.Seq[Candidate] {
	return func(yield func(Candidate) bool) {
		named := ix.byKind[kind{t.APIVersion, t.Ref.Kind}]
		for _, p := range named {
			if c := (Candidate{p, p.Selectors.Match(t)}); c.applies(t) && !yield(c) {
				return
			}
		}
		for _, p := range ix.byKind[kind{karmada.Wildcard, karmada.Wildcard}] {
			if c := (Candidate{p, p.Selectors.Match(t)}); c.applies(t) && !slices.Contains(named, p) && !yield(c) {
				return
			}
		}
	}
}

func (c Candidate) applies(t policies.Subject) bool {
	return c.Implicit != policies.NoMatch && (!c.Policy.Namespaced() || c.Policy.Object.Ref().Namespace == t.Ref.Namespace)
}

// compare orders candidates, the winner first.
func compare(a, b Candidate) int {
	if a.Policy.Namespaced() != b.Policy.Namespaced() {
		if a.Policy.Namespaced() {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(b.Policy.Spec.ExplicitPriority(), a.Policy.Spec.ExplicitPriority()),
		cmp.Compare(b.Implicit, a.Implicit),
		cmp.Compare(a.Policy.Object.Ref().Name, b.Policy.Object.Ref().Name))
}

// Loser is a policy that matches a template and lost it to another.
type Loser struct {
	Policy string `json:"policy"`
	Why    string `json:"why"`
}

// Losers returns the policy that claims t, nil for none, and those that lost it.
func (ix *Index) Losers(t policies.Subject) (winner *policies.Propagation, losers []Loser) {
	candidates := ix.Candidates(t)
	if len(candidates) == 0 {
		return nil, nil
	}
	for _, c := range candidates[1:] {
		losers = append(losers, Loser{c.Policy.String(), Why(c, candidates[0])})
	}
	return candidates[0].Policy, losers
}

// Why says why a policy that matches lost to the winner.
func Why(loser, winner Candidate) string {
	switch {
	case winner.Policy.Owns():
		return winner.Policy.String() + " sends it in place of any policy"
	case loser.Policy.Namespaced() != winner.Policy.Namespaced():
		return "a PropagationPolicy beats every ClusterPropagationPolicy"
	case loser.Policy.Spec.ExplicitPriority() != winner.Policy.Spec.ExplicitPriority():
		return fmt.Sprintf("its priority is %d, the winner's %d", loser.Policy.Spec.ExplicitPriority(), winner.Policy.Spec.ExplicitPriority())
	case loser.Implicit != winner.Implicit:
		return fmt.Sprintf("it matches by %s, the winner by %s", loser.Implicit, winner.Implicit)
	}
	return "its name comes after the winner's"
}

// NearMiss returns a policy that would match t if the version in its selector's
// apiVersion were t's.
func (ix *Index) NearMiss(t policies.Subject) (p *policies.Propagation, apiVersion string) {
	for _, p := range ix.all {
		if p.Namespaced() && p.Object.Ref().Namespace != t.Ref.Namespace {
			continue
		}
		if v, ok := p.Selectors.NearMiss(t); ok {
			return p, v
		}
	}
	return nil, ""
}
