// Package units says what moves together when a change goes out in stages: all templates that one policy
// claims, with what they pull along and what their releases render to; policies of one group are one unit.
//
// The digest of a unit is over all that its bytes follow from in the source: templates, releases with their
// values, charts and files, the policies that claim them, the override policies that match, what teaches kinds, the
// options that change bytes, and the version of what renders. The fleet, the time and replicas that were
// scheduled are not in it: what follows from them acts at once.
package units

import (
	"cmp"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// Unit is what moves together.
type Unit struct {
	rollouts.Unit

	Policies []*policies.Propagation // in the order of their names; none if they are gone
	// Refs are the objects of the unit, in their order: those of the source, and those that it had by the
	// last plan and that are gone from the source.
	Refs []object.Ref
	// Stays are those of them that another policy claims now, which stay with the unit until the runs of both are over.
	Stays []object.Ref
	// Digest is equal for equal sources of its bytes: 32 hexadecimal digits.
	Digest string
	// Unknown reports that part of it cannot be read or rendered, so that its digest says nothing.
	Unknown bool
}

// Input is what units follow from.
type Input struct {
	Expanded  *expand.Result
	Decisions []schedule.Decision                     // in the order of refs
	Bindings  map[object.Ref]*karmada.ResourceBinding // of the last plan
	Config    *render.ConfigSpec
	// Of names the unit of each policy, by the policy's ref (package policies/unit).
	Of map[object.Ref]rollouts.Unit
	// Renderer is the version of what renders.
	Renderer string
	// Stays says which unit an object belongs to although another one claims it now, because one of them is still going
	// out. Nil says so of none.
	Stays func(r object.Ref, claims rollouts.Unit) (rollouts.Unit, bool)
	// Memo remembers digests; nil is an empty one.
	Memo *Memo
}

// Find returns the units of a source in the order of their names.
func Find(in Input) []Unit {
	m := members{in: &in, all: map[rollouts.Unit]*Unit{}, owner: map[object.Ref]rollouts.Unit{}}
	m.claimed()
	m.pulledAlong()
	m.gone()
	if in.Memo == nil {
		in.Memo = &Memo{}
	}
	units := make([]Unit, 0, len(m.all))
	for _, name := range slices.SortedFunc(maps.Keys(m.all), rollouts.Unit.Compare) {
		u := m.all[name]
		slices.SortFunc(u.Refs, object.Ref.Compare)
		slices.SortFunc(u.Stays, object.Ref.Compare)
		units = append(units, *u)
	}
	digests(&in, units)
	return units
}

// members finds out what belongs to which unit.
type members struct {
	in    *Input
	all   map[rollouts.Unit]*Unit
	owner map[object.Ref]rollouts.Unit
}

// add adds an object to a unit, unless it belongs to another one.
func (m *members) add(r object.Ref, name rollouts.Unit) {
	if _, taken := m.owner[r]; taken {
		return
	}
	if m.in.Stays != nil {
		if stays, ok := m.in.Stays(r, name); ok && stays != name {
			name = stays
			u := m.unit(name)
			u.Stays = append(u.Stays, r)
		}
	}
	m.owner[r] = name
	u := m.unit(name)
	u.Refs = append(u.Refs, r)
}

func (m *members) unit(name rollouts.Unit) *Unit {
	if m.all[name] == nil {
		m.all[name] = &Unit{Unit: name}
	}
	return m.all[name]
}

// claimed adds what policies claim. A policy that claims nothing makes a unit, too.
func (m *members) claimed() {
	for _, p := range m.in.Expanded.Policies.Set.Propagation {
		u := m.unit(m.in.Of[p.Object.Ref()])
		u.Policies = append(u.Policies, p)
	}
	for i := range m.in.Decisions {
		if d := &m.in.Decisions[i]; d.Policy != nil {
			m.add(d.Ref(), m.in.Of[d.Policy.Object.Ref()])
			u := m.all[m.owner[d.Ref()]]
			u.Unknown = u.Unknown || d.Outcome == schedule.Kept
		}
	}
	for _, f := range m.in.Expanded.Failures {
		if name, ok := m.owner[f.ID.Release]; ok && f.ID.Cluster == "" {
			m.failed(name, f.Objects)
		}
	}
}

// failed adds what a release of a unit rendered to that cannot be rendered now, also where no cluster has it, so that no binding says so.
func (m *members) failed(name rollouts.Unit, objects []object.Ref) {
	m.all[name].Unknown = true
	for _, r := range objects {
		if schedule.Find(m.in.Decisions, r) == nil {
			m.add(r, name)
		}
	}
}

// pulledAlong adds what units pull along. What several pull along belongs to the first of them by name.
func (m *members) pulledAlong() {
	type binding struct{ namespace, name string }
	owners := map[binding]rollouts.Unit{}
	for i := range m.in.Decisions {
		if d := &m.in.Decisions[i]; d.Policy != nil {
			owners[binding{d.Ref().Namespace, state.BindingName(d.Ref())}] = m.owner[d.Ref()]
		}
	}
	for i := range m.in.Decisions {
		d := &m.in.Decisions[i]
		if d.Policy != nil {
			continue
		}
		var first rollouts.Unit
		for _, by := range d.RequiredBy {
			if u, ok := owners[binding{by.Namespace, by.Name}]; ok && (first == rollouts.Unit{} || u.Compare(first) < 0) {
				first = u
			}
		}
		if first != (rollouts.Unit{}) {
			m.add(d.Ref(), first)
		}
	}
}

// gone adds what units had by the last plan, and nobody sends any longer. Where that is so because a release cannot be rendered, it is not
// known to be gone: of a release that no policy claims, nothing else says which unit has what it rendered to.
func (m *members) gone() {
	unrendered := m.in.Expanded.Unrendered()
	groups := map[rollouts.Unit]rollouts.Unit{} // of policies, by what they would be alone
	for _, p := range m.in.Expanded.Policies.Set.Propagation {
		groups[rollouts.Unit{Namespace: p.Object.Ref().Namespace, Name: p.Object.Ref().Name}] = m.in.Of[p.Object.Ref()]
	}
	for r, b := range m.in.Bindings {
		if _, taken := m.owner[r]; taken {
			continue
		}
		if namespace, policy, ok := state.PolicyRef(b); ok {
			name := rollouts.Unit{Namespace: namespace, Name: policy}
			m.add(r, cmp.Or(groups[name], name))
			u := m.all[m.owner[r]]
			u.Unknown = u.Unknown || unrendered[r]
		}
	}
}
