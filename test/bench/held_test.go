package bench

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/tree"
)

// divided returns a source whose templates are divided over the clusters of an affinity.
func divided(b *testing.B, affinity string) render.Source {
	b.Helper()
	s := New(shapes[1].shape)
	for name, text := range s.Texts {
		text = strings.Replace(text, "replicas: 3", "replicas: 2000", 1)
		text = strings.Replace(text, "placement: {clusterAffinity: {}}",
			"placement: {clusterAffinity: "+affinity+", replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}", 1)
		s.Texts[name] = text
	}
	src, err := render.Load(b.Context(), s, render.With{})
	if err != nil {
		b.Fatal(err)
	}
	return src
}

// BenchmarkHeld plans 1,000 divided templates that are to go to a cluster more, of 1,000,
// whose branch somebody edited, so that it is held: each of them stays everywhere as it is.
func BenchmarkHeld(b *testing.B) {
	first := plan.Build(plan.Input{Source: divided(b, "{exclude: [c0001]}"), Medium: plan.Branch})
	st, err := state.Decode(first.State, nil)
	if err != nil {
		b.Fatal(err)
	}
	published := map[string]tree.Published{}
	for _, c := range first.Clusters {
		published[c.Name] = tree.Published{Built: c.Tree, Edited: c.Name == "c0001"}
	}
	src := divided(b, "{}")
	free := plan.Build(plan.Input{Source: src, Medium: plan.Branch, State: st, Published: published, Allow: guard.Allowance{Named: guard.AllowAll}})
	if free.Stats.Placed <= first.Stats.Placed {
		b.Fatalf("%d would be placed if nothing were held, and %d were: nothing was to move", free.Stats.Placed, first.Stats.Placed)
	}
	for b.Loop() {
		p := plan.Build(plan.Input{Source: src, Medium: plan.Branch, State: st, Published: published})
		held := 0
		for i, c := range p.Clusters {
			switch {
			case c.Held != nil:
				held++
			case c.Tree.ID() != first.Clusters[i].Tree.ID():
				b.Fatalf("%s does not stay as it was", c.Name)
			}
		}
		if held != 1 {
			b.Fatalf("%d clusters are held, want 1", held)
		}
	}
}
