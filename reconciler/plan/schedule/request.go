package schedule

import (
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan/deschedule"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/render/object"
)

// ask is what is asked about an item that changes as it moves.
type ask struct {
	previous []Target
	evicting []string // the clusters that it leaves
	full     []string // the clusters that get no more replicas than they have
}

// ask is what is asked about an item with moves and shifts.
func (p *placer) ask(it *item, out *placement) ask {
	a := ask{previous: out.previous(it)}
	if p.evictor != nil {
		leaver := p.leaver(it)
		evicting, again := p.evictor.Evicting(&leaver, out.moves, a.previous)
		a.evicting, p.progress.Recheck = evicting, p.progress.Recheck.And(again)
	}
	if out.shift != nil {
		a.full = out.shift.Full
	}
	return a
}

// request is what an item asks of its policy's scheduler.
func (p *placer) request(it *item, a ask) place.Request {
	return place.Request{
		APIVersion: it.template.Object.APIVersion(), Kind: it.ref().Kind,
		Replicas: it.size.Replicas, Most: it.most(), Requirements: it.size.Requirements, Components: len(it.size.Components),
		Previous: a.previous, Group: it.group(), Fresh: it.rebalance.fresh, AlsoServed: p.alsoServed(it), Only: p.only(it, a.previous),
		Evicting: a.evicting, Full: a.full, Onward: p.evictor.StaysInGroup() && !it.rebalance.fresh,
	}
}

// leaver is an item as failover sees it.
func (p *placer) leaver(it *item) failover.Item {
	l := failover.Item{
		Ref: it.ref(), Policy: it.policy, Before: it.before, IsDelivered: it.template.IsDelivered(), IsDivided: it.isDivided(),
	}
	if part := it.template.Part; part != nil {
		l.IsPart = true
		if i, ok := p.at[part.Release.Ref()]; ok {
			l.Release = p.placed[i].moves
		}
	}
	return l
}

// shifting is an item as the descheduler sees it.
func shifting(it *item, out *placement) *deschedule.Item {
	return &deschedule.Item{
		Ref: it.ref(), Pos: it.template.Object.Origin(), Replicas: it.size.Replicas, Before: it.before,
		IsFresh: it.rebalance.fresh, IsMoving: out.moves != nil,
	}
}

// alsoServed tells the clusters that get the definition of an item's kind by this plan;
// nil where the source has none. A release is rendered, and never sent.
func (p *placer) alsoServed(it *item) func(string) bool {
	if it.template.IsRelease() {
		return func(string) bool { return true }
	}
	crd, ok := p.definitions[object.GroupKind{Group: it.ref().Group, Kind: it.ref().Kind}]
	if !ok || &p.items[crd] == it {
		return nil
	}
	return func(cluster string) bool {
		return slices.ContainsFunc(p.placed[crd].clusters, func(c Target) bool { return c.Name == cluster })
	}
}

// only returns the clusters that may have an item: where its release has it, or had it
// and cannot be rendered now; nil for all.
func (p *placer) only(it *item, previous []Target) func(string) bool {
	part := it.template.Part
	if part == nil {
		return nil
	}
	find := p.in.Policies.Finder()
	return func(cluster string) bool {
		if i, ok := find(cluster); ok && it.template.In(i) != nil {
			return true
		}
		return part.Failed[cluster] && slices.ContainsFunc(previous, func(c Target) bool { return c.Name == cluster })
	}
}

// placing is all that a decision about an item follows from; the zero value for a
// decision that is not worth remembering.
func (p *placer) placing(it *item, out *placement, a ask) placing {
	t := it.template
	if it.policy == nil || out.shift != nil || t.Part != nil && len(t.Part.Failed) > 0 || !t.IsRelease() && p.alsoServed(it) != nil {
		return placing{}
	}
	from := placing{
		evicting: strings.Join(a.evicting, " "), onward: p.evictor.StaysInGroup(),
		object: t.Object, scaled: t.Scaled, most: it.most(), policy: it.policy.Object,
		fleet: p.in.Policies.FleetDigest, interpreter: p.in.Policies.InterpreterDigest, fresh: it.rebalance.fresh, group: it.group(),
	}
	if len(a.previous) > 0 {
		from.first, from.clusters = &a.previous[0], len(a.previous)
	}
	if t.Part != nil {
		only := make([]byte, len(p.in.Policies.Fleet.Clusters()))
		for i := range only {
			if t.In(i) != nil {
				only[i] = 1
			}
		}
		from.only = string(only)
	}
	return from
}
