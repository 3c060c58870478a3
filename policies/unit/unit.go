// Package unit says what moves together in roll-outs, and by which strategy: all that one policy claims is a unit,
// or what the policies claim that name one group. It takes the policies, the strategies and what waybill.yaml
// says, and returns units. What a policy claims, and how far a change has come, it does not know.
//
// # Binding
//
// The first of these binds a policy: its annotation waybill.dev/rollout, the first rule of spec.rollout.rules
// whose selector matches its labels, spec.rollout.default. An annotation of a PropagationPolicy names a
// StagedUpdateStrategy of its namespace, or else a ClusterStagedUpdateStrategy; all others name one of these. The
// name "none" binds to nothing, and nothing after it counts. What is bound to nothing moves everywhere at once; where windows
// hold that back, it has a strategy that says so.
//
// # What does not fit
//
// A unit stays as it is (Stays) where its strategy is not in the source or has a mistake, where its group has no
// name that can be one, and where the policies of a group are bound to different strategies. Nothing is then said of
// how it moves, so that nobody escapes a strategy by breaking it.
package unit

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// The annotations of policies.
const (
	// RolloutAnnotation names the strategy of what a policy claims.
	RolloutAnnotation = "waybill.dev/rollout"
	// GroupAnnotation names the unit that a policy shares with others.
	GroupAnnotation = "waybill.dev/rollout-group"
)

// What stands in the place of a namespace in the name of a unit that has none.
const (
	ClusterScope = "_cluster" // of a ClusterPropagationPolicy
	GroupScope   = "_group"   // of a group
)

// Name names a unit.
type Name struct {
	Scope string // the namespace of a PropagationPolicy, ClusterScope or GroupScope
	Name  string
}

// String returns SCOPE/NAME, as in team/web and _cluster/base.
func (n Name) String() string { return n.Scope + "/" + n.Name }

// Unit is what moves together.
type Unit struct {
	Name     Name
	Policies []object.Ref // whose claims it is, in their order
	// Strategy is how it moves; nil if it has none, or if it Stays. Of a unit that is bound to none, and that windows hold back,
	// it is one of the name render.NoStrategy: all clusters at once.
	Strategy *kubefleet.Strategy
	// Stays says why the unit stays as it is, because nobody can tell how it is to move; empty if it does not.
	Stays string
}

// Of returns the units of a source in the order of their names, and what is wrong with how they are bound.
func Of(set *policies.Set, config render.Rollout) ([]Unit, []diag.Diagnostic) {
	b := newBinder(set, config)
	units := map[Name]*Unit{}
	bound := map[Name]binding{}
	for _, p := range set.Propagation { // in the order of their names
		name, groupProblem := b.name(p.Object)
		of := b.bind(p.Object)
		u, known := units[name]
		if !known {
			u = &Unit{Name: name, Stays: cmp.Or(groupProblem, of.stays)}
			if u.Stays == "" {
				u.Strategy = of.strategy
			}
			units[name], bound[name] = u, of
		}
		u.Policies = append(u.Policies, p.Object.Ref())
		if of.name != bound[name].name {
			b.differs(p, u, bound[name].name, of.name)
		}
	}
	all := make([]Unit, 0, len(units))
	for _, u := range units {
		if u.Strategy == nil && u.Stays == "" && HoldUnstaged(config.Windows) {
			u.Strategy = unstaged()
		}
		all = append(all, *u)
	}
	slices.SortFunc(all, func(x, y Unit) int {
		return cmp.Or(cmp.Compare(x.Name.Scope, y.Name.Scope), cmp.Compare(x.Name.Name, y.Name.Name))
	})
	return all, b.diags
}

// name returns the name of the unit of a policy, and what is wrong with the group that it names. A policy whose group
// has no name that can be one is a unit of its own.
func (b *binder) name(o *object.Object) (n Name, problem string) {
	own := Name{cmp.Or(o.Ref().Namespace, ClusterScope), o.Ref().Name}
	group, ok := o.Annotations()[GroupAnnotation]
	if !ok {
		return own, ""
	}
	if wrong := validation.IsDNS1123Subdomain(group); len(wrong) > 0 {
		b.diags = append(b.diags, diag.Diagnostic{
			Code: diag.RolloutGroup, Severity: diag.Error, Pos: o.FieldPos([]any{"metadata", "annotations", GroupAnnotation}),
			Message: fmt.Sprintf("%s: %s is %q, which is no name: %s", policies.Name(o), GroupAnnotation, group, wrong[0]),
			Hint:    "write small letters, digits and dashes; until then what it claims stays as it is",
		})
		return own, fmt.Sprintf("its group %q has no name", group)
	}
	return Name{GroupScope, group}, ""
}

// differs notes that policies of a group are bound to different strategies.
func (b *binder) differs(p *policies.Propagation, u *Unit, first, other string) {
	said := func(name string) string {
		if name == "" {
			return "none"
		}
		return strconv.Quote(name)
	}
	u.Strategy, u.Stays = nil, "its policies are bound to different strategies"
	b.diags = append(b.diags, diag.Diagnostic{
		Code: diag.RolloutGroup, Severity: diag.Error, Pos: p.Object.FieldPos([]any{"metadata", "annotations", GroupAnnotation}),
		Message: fmt.Sprintf("%s is bound to the strategy %s, and other policies of the group %s to %s", p, said(other), u.Name.Name, said(first)),
		Hint:    "bind all policies of the group to one strategy; until then what they claim stays as it is",
	})
}
