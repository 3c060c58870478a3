package plan

import (
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// settle leaves where they are the templates of which held clusters would have to take a
// part: what moves to a cluster that is not published would be nowhere, and what is
// divided would run with fewer replicas than it asks for. The clusters that are not held
// are written again with these as they were; the state remembers the decisions before.
func (b *builder) settle() {
	held := map[string]bool{}
	for _, c := range b.plan.Clusters {
		if c.Held != nil {
			held[c.Name] = true
		}
	}
	if len(held) == 0 {
		return
	}
	stays := map[object.Ref]bool{}
	var names []string
	for _, t := range b.templates {
		if before := b.in.State.Bindings[t.object.Ref()]; !b.out.stays[t.object.Ref()] && before != nil && t.waitsFor(held, before) {
			stays[t.object.Ref()] = true
			names = append(names, t.object.Ref().String())
		}
	}
	if len(stays) == 0 {
		return
	}
	said := len(b.plan.Diags)
	b.out = newWriter(b)
	b.out.stays = stays
	b.write()
	b.plan.Diags = b.plan.Diags[:said] // it has been said
	for i, c := range b.trees() {
		if b.plan.Clusters[i].Held == nil {
			b.plan.Clusters[i] = c
		}
	}
	b.report(diag.Diagnostic{
		Code: "waits-for-held", Severity: diag.Warning,
		Message: list(names) + " stay as they are in every cluster: a held cluster would have to take its part of them first",
		Hint:    "release the held clusters",
	})
}

// waitsFor reports whether a decision about t cannot be carried out while clusters are
// held. What is divided waits if a held cluster's share would grow, or shrink for
// another's. What is not waits if it would move: from clusters that all give it up to
// held ones, or from held ones to clusters that do not have it.
func (t *template) waitsFor(held map[string]bool, before *karmada.ResourceBinding) bool {
	var m move
	for _, c := range t.decision.Targets {
		was, had := reach(before, c.Name)
		m.add(held[c.Name], had, true, int64(c.Replicas)-int64(was))
	}
	for _, c := range before.Spec.Clusters {
		if !slices.ContainsFunc(t.decision.Targets, func(now target) bool { return now.Name == c.Name }) {
			m.add(held[c.Name], true, false, -int64(c.Replicas))
		}
	}
	switch {
	case len(t.decision.Targets) == 0:
		return false
	case t.divided():
		return m.heldGrows || m.heldShrinks && m.freeGrows
	}
	return !m.stays && (m.heldGains && !m.freeGains || m.heldLoses && !m.freeLoses)
}

// move sums up what a decision does to clusters that are held, and to those that are free.
type move struct {
	stays                             bool // some cluster has it before and after
	heldGains, freeGains              bool
	heldLoses, freeLoses              bool
	heldGrows, heldShrinks, freeGrows bool // replicas
}

func (m *move) add(held, had, has bool, replicas int64) {
	m.stays = m.stays || had && has
	m.heldGains, m.freeGains = m.heldGains || held && !had, m.freeGains || !held && !had
	m.heldLoses, m.freeLoses = m.heldLoses || held && !has, m.freeLoses || !held && !has
	m.heldGrows = m.heldGrows || held && (replicas > 0 || !had)
	m.heldShrinks = m.heldShrinks || held && (replicas < 0 || !has)
	m.freeGrows = m.freeGrows || !held && (replicas > 0 || !had)
}
