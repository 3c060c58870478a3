package bench

import (
	"fmt"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
)

// shapes are the sizes of the scale targets (design section 8).
var shapes = []struct {
	name  string
	shape Shape
}{
	{"200x1000", Shape{Clusters: 200, Templates: 1000, Regions: 10, Overridden: 20}},
	{"1000x1000", Shape{Clusters: 1000, Templates: 1000, Regions: 10, Overridden: 20}},
	{"1000x4000", Shape{Clusters: 1000, Templates: 4000, Regions: 10, Overridden: 20}},
	{"21x1000", Shape{Clusters: 21, Templates: 1000, Regions: 10, Overridden: 20}},
	{"21x1000-unique", Shape{Clusters: 21, Templates: 1000, Regions: 10, Overridden: 100, Unique: true}},
	{"21x1000-virtual", Shape{Clusters: 21, Templates: 1000, Regions: 10, Overridden: 20, Virtual: true}},
	{"1000x1000-unique", Shape{Clusters: 1000, Templates: 1000, Regions: 10, Overridden: 20, Unique: true}},
}

func BenchmarkLoad(b *testing.B) {
	src := New(shapes[1].shape)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := render.Load(b.Context(), src, render.With{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			src, err := render.Load(b.Context(), New(s.shape), render.With{Cache: cache.Memory()})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				p := plan.Build(plan.Input{Source: src, Medium: plan.Branch})
				if diag.HasErrors(p.Diags) {
					b.Fatal(p.Diags)
				}
				b.ReportMetric(float64(p.Stats.Placed), "placed")
				b.ReportMetric(float64(p.Stats.Distinct), "distinct")
			}
		})
	}
}

func TestGeneratedSourcesArePlannedWhole(t *testing.T) {
	src, err := render.Load(t.Context(), New(Shape{Clusters: 7, Templates: 50, Regions: 3, Overridden: 20}), render.With{})
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Build(plan.Input{Source: src, Medium: plan.Branch})
	if got, want := fmt.Sprint(p.Stats.Placed, p.Stats.Distinct, p.Diags), fmt.Sprint(7*50, 40+10*3, []diag.Diagnostic(nil)); got != want {
		t.Errorf("placed, distinct and diagnostics are %s, want %s", got, want)
	}
}
