package bench

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/test/twin"
)

// planner plans a source again and again, as a controller does.
type planner struct {
	src       *Source
	with      render.With
	renders   *counter
	renderer  *renderer.Renderer
	memo      *plan.Memo
	state     state.State
	published map[string]tree.Published
}

func newPlanner(src *Source) *planner {
	p := &planner{src: src, renders: &counter{Runner: &worker.Local{Handler: engines.Run}}, memo: plan.NewMemo(), published: map[string]tree.Published{}}
	p.renderer = renderer.New(p.renders, nil)
	p.with = render.With{Cache: cache.Memory(), Engine: p.renderer}
	return p
}

func (p *planner) plan(tb testing.TB) plan.Plan {
	tb.Helper()
	src, err := render.Load(tb.Context(), p.src, p.with)
	if err != nil {
		tb.Fatal(err)
	}
	in := plan.Input{Source: src, Medium: plan.Branch, Memo: p.memo, State: p.state, Published: p.published}
	if err := plan.Expand(&in, func(jobs []engine.Job) ([]engine.Rendered, error) {
		return p.renderer.Render(tb.Context(), p.src, jobs)
	}); err != nil {
		tb.Fatal(err)
	}
	out := plan.Build(in)
	if diag.HasErrors(out.Diags) {
		tb.Fatal(out.Diags)
	}
	return out
}

// first plans for the first time, and takes what comes of it for published.
func (p *planner) first(tb testing.TB) plan.Plan {
	tb.Helper()
	out := p.plan(tb)
	var err error
	if p.state, err = state.Decode(out.State, nil); err != nil {
		tb.Fatal(err)
	}
	for _, c := range out.Clusters {
		p.published[c.Name] = tree.Published{Built: c.Tree}
	}
	return out
}

// again plans once more. It fails if anything is rendered for it, or if anything is decided
// or laid out that the first plan did not come to, or that it did not remember.
func (p *planner) again(tb testing.TB, first *plan.Plan) {
	tb.Helper()
	rendered := p.renders.tasks
	out := p.plan(tb)
	if n := p.renders.tasks - rendered; n > 0 {
		tb.Fatalf("the second plan renders %d times", n)
	}
	if out.Stats.Placed != first.Stats.Placed || out.Stats.Templates != first.Stats.Templates {
		tb.Fatalf("the second plan places %d objects of %d templates; want %d of %d", out.Stats.Placed, out.Stats.Templates, first.Stats.Placed, first.Stats.Templates)
	}
	for i, c := range out.Clusters {
		if c.Tree.ID() != first.Clusters[i].Tree.ID() {
			tb.Fatalf("the second plan has another tree for %s", c.Name)
		}
	}
	for path, e := range out.Clusters[0].Tree.All() {
		if was, _ := first.Clusters[0].Tree.Lookup(path); strings.HasPrefix(path, tree.ManifestDir) && was.Blob != e.Blob {
			tb.Fatalf("the second plan writes %s out anew", path)
		}
	}
	for _, d := range out.Decisions {
		if d.Binding != nil && d.Binding != p.state.Bindings[d.Ref()] {
			tb.Fatalf("the second plan has another binding for %s", d.Ref())
		}
	}
	if out.State.ID() != first.State.ID() {
		tb.Fatal("the second plan would write another state")
	}
}

// written generates a source that writes out what the one of Charts renders to, with other
// values in each region.
func written(tb testing.TB, clusters, regions int) *Source {
	tb.Helper()
	src := &Source{Texts: twin.Texts{}}
	src.fleet(Shape{Clusters: clusters, Regions: regions})
	var all, rules strings.Builder
	for _, d := range newPlanner(Charts(clusters, regions)).plan(tb).Decisions {
		if d.Template.Part != nil {
			all.WriteString("---\n" + string(d.Template.Object.YAML()))
		}
	}
	for i := range regions {
		fmt.Fprintf(&rules, "  - targetCluster: {labelSelector: {matchLabels: {region: r%d}}}\n    overriders:\n      plaintext: [{operator: replace, path: /spec/template/spec/containers/0/env/0/value, value: r%d}]\n", i, i)
	}
	src.Texts["apps/all.yaml"] = all.String()
	src.Texts["policies/all.yaml"] = writtenPolicy + rules.String()
	return src.list()
}

const writtenPolicy = `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: all}
spec:
  resourceSelectors:
  - {apiVersion: v1, kind: Service}
  - {apiVersion: apps/v1, kind: Deployment}
  placement: {clusterAffinity: {}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: {name: regional}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  overrideRules:
`

// pair is a source that renders its objects from a release with so many sets of values, and
// one that writes out what they render to.
type pair struct {
	values            int
	most              uint64 // quarters of what a second plan of written takes
	written, released *Source
}

// pairs are the sources of which second plans are compared: 20 objects for clusters in as
// many regions as there are sets of values.
func pairs(tb testing.TB, clusters int) []pair {
	tb.Helper()
	var all []pair
	for values, most := range map[int]uint64{1: 5, 10: 7} {
		all = append(all, pair{values, most, written(tb, clusters, values), Charts(clusters, values)})
	}
	return all
}

// BenchmarkAgain plans a source for the second time, in which nothing changed: one that
// writes its objects out, and one that renders them from a release.
func BenchmarkAgain(b *testing.B) {
	for _, sources := range pairs(b, 1000) {
		for _, c := range []struct {
			name  string
			src   *Source
			tasks int
		}{{"written", sources.written, 0}, {"released", sources.released, sources.values}} {
			b.Run(fmt.Sprintf("%s/%d", c.name, sources.values), func(b *testing.B) {
				p := newPlanner(c.src)
				first := p.first(b)
				if p.renders.tasks != c.tasks {
					b.Fatalf("the first plan renders %d times; want %d", p.renders.tasks, c.tasks)
				}
				b.ReportAllocs()
				for b.Loop() {
					p.again(b, &first)
				}
			})
		}
	}
}

// A second plan of releases takes little more memory than one of the objects that they
// render to: a release that has ten sets of values has ten times the objects to look at.
// Defaulting, deciding or writing them out anew would take more.
func TestASecondPlanOfReleasesIsAsCheap(t *testing.T) {
	const clusters = 300
	cost := func(src *Source) uint64 {
		p := newPlanner(src)
		first := p.first(t)
		if first.Stats.Placed != clusters*20 {
			t.Fatalf("%d objects are placed; want %d", first.Stats.Placed, clusters*20)
		}
		p.again(t, &first)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p.again(t, &first)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, p := range pairs(t, clusters) {
		if written, released := cost(p.written), cost(p.released); released > written*p.most/4 {
			t.Errorf("%d sets of values: the second plan of a release takes %d bytes, that of what it renders to %d", p.values, released, written)
		}
	}
}
