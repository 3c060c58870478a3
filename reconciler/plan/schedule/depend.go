package schedule

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// need is what others that need an item make of it.
type need struct {
	requiredBy []karmada.BindingSnapshot
	sent       Sent
}

// pullDependencies sends along what items need (Karmada section A.6).
func pullDependencies(in *Input, p *placer, placed []placement, pulled func() Pulled) ([]need, []diag.Diagnostic) {
	needs, diags := make([]need, len(p.items)), []diag.Diagnostic(nil)
	for i := range p.items {
		it := &p.items[i]
		if it.policy == nil || !it.policy.Spec.PropagateDeps || len(placed[i].clusters) == 0 {
			continue
		}
		snapshot := karmada.BindingSnapshot{Namespace: it.ref().Namespace, Name: state.BindingName(it.ref()), Clusters: placed[i].clusters}
		deps, err := in.Policies.Interpreter.About(it.template.Object).Dependencies(it.template.Content)
		var needed []int
		for _, dep := range deps {
			needed = append(needed, p.find(dep)...)
		}
		if err != nil {
			diags = append(diags, diag.Diagnostic{
				Code: diag.Dependencies, Severity: diag.Error, Pos: it.template.Object.Origin(),
				Message: fmt.Sprintf("what %s depends on cannot be told: %v", it.ref(), err),
				Hint:    "what it pulled along before goes along with it",
			})
			needed = nil
			for _, r := range pulled().Of(it.ref()) {
				needed = append(needed, p.at[r])
			}
		}
		for _, n := range needed {
			if n != i {
				needs[n] = needs[n].by(snapshot, it)
			}
		}
	}
	return needs, diags
}

// by is a need with that of an item, whose binding a snapshot is of.
func (n need) by(s karmada.BindingSnapshot, it *item) need {
	isIt := func(o karmada.BindingSnapshot) bool { return o.Namespace == s.Namespace && o.Name == s.Name }
	if !slices.ContainsFunc(n.requiredBy, isIt) {
		n.requiredBy = append(n.requiredBy, s)
	}
	n.sent.Overwrite = n.sent.Overwrite || it.policy.Overwrites()
	n.sent.Preserve = n.sent.Preserve || it.policy.Preserves()
	return n
}

// find returns the items that a dependency names; those that are not in the source are no error, as in
// Karmada.
func (p *placer) find(dep interpret.Dependency) (found []int) {
	isIt := dep.Finder()
	try := func(i int) {
		if it := &p.items[i]; isIt(it.template.Object, it.template.Subject.Labels) && !match.ClustersOwn(it.ref()) {
			found = append(found, i)
		}
	}
	r, named := dep.Names()
	if named {
		if i, ok := p.at[r]; ok {
			try(i)
		}
		return found
	}
	for _, i := range p.kind(r) {
		try(i)
	}
	return found
}

// kind lists the items of a ref's kind.
func (p *placer) kind(r object.Ref) []int {
	if p.ofKind == nil {
		p.ofKind = map[object.GroupKind][]int{}
		for i := range p.items {
			k := object.GroupKind{Group: p.items[i].ref().Group, Kind: p.items[i].ref().Kind}
			p.ofKind[k] = append(p.ofKind[k], i)
		}
	}
	return p.ofKind[object.GroupKind{Group: r.Group, Kind: r.Kind}]
}

// Pulled is what templates pulled along by the last decisions.
type Pulled map[bindingID][]object.Ref

// bindingID names a binding.
type bindingID struct{ namespace, name string }

// PulledBefore returns what was pulled along by the last decisions, whose bindings are those of a state,
// of the templates that there are still.
func PulledBefore(decisions []Decision, st *state.State) Pulled {
	all := Pulled{}
	for i := range decisions {
		all.add(decisions[i].Ref(), st)
	}
	return all
}

// pulledLazily returns what items pulled along, which is found out once somebody asks.
func pulledLazily(in *Input, items []item) func() Pulled {
	var all Pulled
	return func() Pulled {
		if all == nil {
			all = Pulled{}
			for i := range items {
				all.add(items[i].ref(), in.State)
			}
		}
		return all
	}
}

func (p Pulled) add(r object.Ref, st *state.State) {
	if b := st.Bindings[r]; b != nil {
		for _, s := range b.Spec.RequiredBy {
			id := bindingID{s.Namespace, s.Name}
			p[id] = append(p[id], r)
		}
	}
}

// Of returns what a template pulled along.
func (p Pulled) Of(r object.Ref) []object.Ref {
	return p[bindingID{r.Namespace, state.BindingName(r)}]
}
