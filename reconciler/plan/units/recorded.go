package units

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
)

// WithRecorded are units with those of which a run is recorded and the source has nothing any more: their versions say what they
// had; and with what was recorded to stay with a unit and is of none any more, because neither the source nor what was decided last has it:
// as long as some run is open it stays with that one, lest an older version of the unit that claimed it has clusters get it. They are in
// the order of their names.
func WithRecorded(found []Unit, recorded []rollouts.Rollout) []Unit {
	is, taken := map[rollouts.Unit]bool{}, map[object.Ref]bool{}
	for i := range found {
		is[found[i].Unit] = true
		for _, r := range found[i].Refs {
			taken[r] = true
		}
	}
	for i := range recorded {
		if !is[recorded[i].Unit] {
			found = append(found, Unit{Unit: recorded[i].Unit})
		}
	}
	slices.SortFunc(found, func(a, b Unit) int { return a.Compare(b.Unit) })
	if !slices.ContainsFunc(recorded, func(r rollouts.Rollout) bool { return r.Status.Phase != rollouts.Done }) {
		return found
	}
	for i := range recorded {
		n, _ := slices.BinarySearchFunc(found, recorded[i].Unit, func(u Unit, name rollouts.Unit) int { return u.Compare(name) })
		u := &found[n]
		for _, r := range recorded[i].Stays {
			if !taken[r] {
				u.Refs, u.Stays = append(u.Refs, r), append(u.Stays, r)
			}
		}
		slices.SortFunc(u.Refs, object.Ref.Compare)
		slices.SortFunc(u.Stays, object.Ref.Compare)
	}
	return found
}

// Staying says of objects that go out with a unit still that they stay with it, although another one claims them now; nil if nothing goes
// out. They stay until the runs of both are over: the other one may go to an older version of them.
// Before is what is recorded of units, and of names the unit of each policy.
func Staying(
	bindings map[object.Ref]*karmada.ResourceBinding, before map[rollouts.Unit]*rollouts.Rollout, of map[object.Ref]rollouts.Unit,
) func(r object.Ref, claims rollouts.Unit) (rollouts.Unit, bool) {
	isOpen := func(u rollouts.Unit) bool {
		was := before[u]
		return was != nil && was.Status.Phase != rollouts.Done
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(before)), isOpen) {
		return nil
	}
	groups := map[rollouts.Unit]rollouts.Unit{}
	for policy, u := range of {
		groups[rollouts.Unit{Namespace: policy.Namespace, Name: policy.Name}] = u
	}
	stays := map[object.Ref]rollouts.Unit{}
	for u, was := range before {
		for _, r := range was.Stays {
			stays[r] = u
		}
	}
	return func(r object.Ref, claims rollouts.Unit) (rollouts.Unit, bool) {
		if u, ok := stays[r]; ok && (isOpen(u) || isOpen(claims)) {
			return u, true
		}
		b := bindings[r]
		if b == nil {
			return rollouts.Unit{}, false
		}
		namespace, name, ok := state.PolicyRef(b)
		own := rollouts.Unit{Namespace: namespace, Name: name}
		for _, u := range []rollouts.Unit{groups[own], own} {
			if ok && isOpen(u) {
				return u, true
			}
		}
		return rollouts.Unit{}, false
	}
}
