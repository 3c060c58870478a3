package plan

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// settle leaves where they are the objects of which held clusters would have to take a
// part: what moves to a cluster that is not published would be nowhere, and what is
// divided would run with fewer replicas than it asks for. The clusters that are not held
// are written again with these as they were, which may hold some more. It returns what is
// to be said of it.
func (b *builder) settle() []diag.Diagnostic {
	var names []string
	stays := b.staying
	for { // each time more stays
		held := b.heldNow()
		if len(held) == 0 {
			return nil
		}
		more := b.waiting(held, stays)
		if len(more) == 0 {
			break
		}
		for _, r := range more {
			stays[r] = true
			names = append(names, r.String())
		}
		b.writeAgain(stays)
		for i, c := range b.trees() {
			if b.plan.Clusters[i].Held == nil {
				b.plan.Clusters[i] = c
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []diag.Diagnostic{{
		Code: "waits-for-held", Severity: diag.Warning,
		Message: list(names) + " stay as they are in every cluster: a held cluster would have to take its part of them first",
		Hint:    "release the held clusters",
	}}
}

// heldNow returns the clusters that are not published, whatever is allowed.
func (b *builder) heldNow() map[string]bool {
	held := map[string]bool{}
	for _, c := range b.plan.Clusters {
		if c.Held != nil && (b.in.Allow != AllowAll || b.in.Held[c.Name] != "") {
			held[c.Name] = true
		}
	}
	return held
}

// writeAgain writes all clusters anew, with what stays as it was. What there is to say has
// been said.
func (b *builder) writeAgain(stays map[object.Ref]bool) {
	said := len(b.plan.Diags)
	b.out = newWriter(b)
	for r := range stays {
		b.out.stays[r] = true
	}
	b.write()
	b.plan.Diags = b.plan.Diags[:said]
}

// waiting lists what cannot go on while clusters are held, and does not stay yet:
// templates, and what a held cluster's own directory has and its branch has not. Of a plan
// that is rebuilt it is known, and what other clusters have is not.
func (b *builder) waiting(held map[string]bool, stays map[object.Ref]bool) []object.Ref {
	if b.in.Held != nil {
		return slices.DeleteFunc(b.everything(), func(r object.Ref) bool { return b.in.Staying[r.String()] == "" || stays[r] })
	}
	var refs []object.Ref
	for _, t := range b.templates {
		r := t.object.Ref()
		if stays[r] || b.out.stays[r] {
			continue
		}
		before := b.in.State.Bindings[r]
		if t.waitsFor(held, before) && (len(shares(before)) > 0 || b.isFree(r, held)) {
			refs = append(refs, r)
		}
	}
	return append(refs, b.waitingBound(held, stays)...)
}

// waitingBound lists what held clusters' own directories have and their branches have not,
// and other clusters are to lose.
func (b *builder) waitingBound(held map[string]bool, stays map[object.Ref]bool) []object.Ref {
	var refs []object.Ref
	for _, c := range b.fleet.Clusters() {
		if !held[c.Name] {
			continue
		}
		for _, o := range b.bound[c.Name] {
			if r := o.Ref(); !stays[r] && b.out.published(r)(c.Name) == nil && b.leaves(r, held) {
				refs = append(refs, r)
			}
		}
	}
	return refs
}

// everything lists the templates, and what is bound to clusters, by ref.
func (b *builder) everything() []object.Ref {
	all := map[object.Ref]bool{}
	for _, t := range b.templates {
		all[t.object.Ref()] = true
	}
	for _, objs := range b.bound {
		for _, o := range objs {
			all[o.Ref()] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), object.Ref.Compare)
}

// isFree reports whether a cluster that is not held has an object.
func (b *builder) isFree(r object.Ref, held map[string]bool) bool {
	published := b.out.published(r)
	return slices.ContainsFunc(b.fleet.Clusters(), func(c *fleet.Cluster) bool { return !held[c.Name] && published(c.Name) != nil })
}

// leaves reports whether a cluster that is not held is to lose an object.
func (b *builder) leaves(r object.Ref, held map[string]bool) bool {
	published := b.out.published(r)
	for i, c := range b.fleet.Clusters() {
		if !held[c.Name] && published(c.Name) != nil && !b.out.has(i, r) {
			return true
		}
	}
	return false
}

// waitsFor reports whether a decision about t cannot be carried out while clusters are
// held. What is divided waits if shares of held clusters and of others would change. What
// is not waits if it would move: from clusters that all give it up to
// held ones, or from held ones to clusters that do not have it.
func (t *template) waitsFor(held map[string]bool, before *karmada.ResourceBinding) bool {
	if len(t.decision.Targets) == 0 {
		return false
	}
	var m move
	was := shares(before)
	for _, c := range t.decision.Targets {
		replicas, had := was[c.Name]
		m.add(held[c.Name], had, true, int64(c.Replicas)-int64(replicas))
		delete(was, c.Name)
	}
	for cluster, replicas := range was { // that lose it
		m.add(held[cluster], true, false, -int64(replicas))
	}
	if t.divided() && before != nil {
		return m.heldChanges && m.freeChanges
	}
	return !m.stays && (m.heldGains && !m.freeGains || m.heldLoses && !m.freeLoses)
}

// move sums up what a decision does to clusters that are held, and to those that are free.
type move struct {
	stays                    bool // some cluster has it before and after
	heldGains, freeGains     bool
	heldLoses, freeLoses     bool
	heldChanges, freeChanges bool // replicas
}

func (m *move) add(held, had, has bool, replicas int64) {
	m.stays = m.stays || had && has
	m.heldGains, m.freeGains = m.heldGains || held && !had, m.freeGains || !held && !had
	m.heldLoses, m.freeLoses = m.heldLoses || held && !has, m.freeLoses || !held && !has
	changes := replicas != 0 || had != has
	m.heldChanges, m.freeChanges = m.heldChanges || held && changes, m.freeChanges || !held && changes
}
