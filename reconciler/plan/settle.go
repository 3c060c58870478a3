package plan

import (
	"fmt"

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
		Message: fmt.Sprintf("%s stay as they are in every cluster: a held cluster would have to take its part of them first", list(names)),
		Hint:    "release the held clusters",
	})
}

// waitsFor reports whether a decision about t cannot be carried out while clusters are
// held: it is divided, and a held cluster's share would grow; or all that have it are to
// lose it, and only held ones are to get it.
func (t *template) waitsFor(held map[string]bool, before *karmada.ResourceBinding) bool {
	if len(t.decision.Targets) == 0 {
		return false
	}
	grows, survives := false, false
	for _, c := range t.decision.Targets {
		was, had := reach(before, c.Name)
		grows = grows || held[c.Name] && (!had || c.Replicas > was)
		survives = survives || had || !held[c.Name]
	}
	return grows && (t.divided() || !survives)
}
