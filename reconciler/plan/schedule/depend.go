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

// pullDependencies sends along what a template needs (Karmada section A.6).
func (d *decider) pullDependencies(m *item) {
	deps, err := d.in.Policies.Interpreter.About(m.Template.Object).Dependencies(m.Template.Content)
	if err != nil {
		d.report(diag.Diagnostic{
			Code: diag.Dependencies, Severity: diag.Error, Pos: m.Template.Object.Origin(),
			Message: fmt.Sprintf("what %s depends on cannot be told: %v", m.Ref(), err),
			Hint:    "what it pulled along before goes along with it",
		})
	}
	snapshot := karmada.BindingSnapshot{Namespace: m.Ref().Namespace, Name: state.BindingName(m.Ref()), Clusters: m.Scheduled}
	isOurs := func(s karmada.BindingSnapshot) bool {
		return s.Namespace == snapshot.Namespace && s.Name == snapshot.Name
	}
	var needed []*item
	for _, dep := range deps {
		needed = append(needed, d.find(dep)...)
	}
	if err != nil {
		needed = d.pulledBefore(m.Ref())
	}
	for _, dep := range needed {
		if dep == m {
			continue
		}
		if !slices.ContainsFunc(dep.RequiredBy, isOurs) {
			dep.RequiredBy = append(dep.RequiredBy, snapshot)
		}
		dep.Sent.Overwrite = dep.Sent.Overwrite || m.Policy.Overwrites()
		dep.Sent.Preserve = dep.Sent.Preserve || m.Policy.Preserves()
	}
}

// pulledBefore returns what a template pulled along by the last decisions.
func (d *decider) pulledBefore(r object.Ref) []*item {
	if d.pulled == nil {
		d.pulled = map[bindingID][]*item{}
		for _, dep := range d.items {
			if old := d.before(dep); old != nil {
				for _, s := range old.Spec.RequiredBy {
					id := bindingID{s.Namespace, s.Name}
					d.pulled[id] = append(d.pulled[id], dep)
				}
			}
		}
	}
	return d.pulled[bindingID{r.Namespace, state.BindingName(r)}]
}

// PulledBefore returns what a template pulled along by the last decisions: it needs them
// as long as it stays as it was.
func (r *Result) PulledBefore(ref object.Ref) []object.Ref {
	var refs []object.Ref
	for _, m := range r.decider.pulledBefore(ref) {
		refs = append(refs, m.Ref())
	}
	return refs
}

// find returns the templates that a dependency names; those that are not in the source are
// no error, as in Karmada.
func (d *decider) find(dep interpret.Dependency) (found []*item) {
	among := d.items
	if r, named := dep.Names(); named {
		if d.byRef[r] == nil {
			return nil
		}
		among = []*item{d.byRef[r]}
	}
	isIt := dep.Finder()
	for _, m := range among {
		if isIt(m.Template.Object, m.Template.Subject.Labels) && !match.ClustersOwn(m.Ref()) {
			found = append(found, m)
		}
	}
	return found
}
