package planner

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/lock"
)

// Charts lists the charts of repositories that a source asks for, whatever its lock
// file says, sorted: those of its releases, of the kustomizations that list charts,
// and the dependencies of its own charts. It asks no repository. What is wrong with the
// source, and what is suspended, may name more: the diagnostics say so.
func (p *Planner) Charts(ctx context.Context, s sources.Snapshot) ([]ChartUse, []diag.Diagnostic, error) {
	c := &collector{Engine: p.Engine, by: p, refs: map[lock.Ref]bool{}}
	asking := *p
	asking.Engine, asking.Memo = c, nil // what is not locked here is nobody's next plan
	src, err := asking.Load(ctx, s, render.With{})
	if err != nil {
		return nil, nil, fmt.Errorf("reading the source: %w", err)
	}
	obs := asking.Observe(s, src, plan.Folder)
	obs.Source.Lock = lock.Lock{}
	made, err := asking.Build(ctx, &obs)
	if err != nil {
		return nil, nil, err
	}
	unread := slices.DeleteFunc(slices.Clone(made.Diags), func(d diag.Diagnostic) bool { return d.Severity != diag.Error && d.Code != diag.ReleaseSuspended })
	for _, ref := range obs.Source.Charts {
		c.refs[ref] = true
	}
	refs := slices.SortedFunc(maps.Keys(c.refs), func(a, b lock.Ref) int { return strings.Compare(a.String(), b.String()) })
	return users(refs, made.Expanded.Lacks), unread, nil
}

// ChartUse is a chart of a repository, and which releases name it.
type ChartUse struct {
	lock.Ref

	By []Cited // none where nothing but another chart or a kustomization does
	// Verifications are what those that name it ask of who signed it, each once: all of it has to hold.
	Verifications []*flux.Verification
}

// Cited is what a source says somewhere.
type Cited struct {
	Pos  diag.Pos
	What string
}

// users finds which releases name charts, by what could not be rendered for want of each.
func users(refs []lock.Ref, lacks []expand.Lack) []ChartUse {
	uses := make([]ChartUse, 0, len(refs))
	for _, ref := range refs {
		use := ChartUse{Ref: ref}
		for _, l := range lacks {
			if l.Chart == ref {
				use.By = append(use.By, Cited{l.Pos, l.By})
				if v := l.Verification; v != nil && !slices.ContainsFunc(use.Verifications, func(o *flux.Verification) bool { return o.By == v.By }) {
					use.Verifications = append(use.Verifications, v)
				}
			}
		}
		slices.SortFunc(use.By, func(a, b Cited) int {
			return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.What, b.What))
		})
		use.By = slices.Compact(use.By)
		uses = append(uses, use)
	}
	return uses
}

// collector is an engine that notes the charts of repositories instead of rendering
// them.
type collector struct {
	render.Engine

	by   *Planner // which renders the rest
	refs map[lock.Ref]bool
}

// Render implements render.Engine.
func (c *collector) Render(ctx context.Context, s sources.Snapshot, jobs []engine.Job) ([]engine.Rendered, error) {
	results := make([]engine.Rendered, len(jobs))
	var rest []engine.Job
	var of []int
	for i, j := range jobs {
		if chart := j.Chart(); chart != nil && chart.Path == "" {
			c.refs[chart.Ref] = true
			results[i].Lacks = []lock.Ref{chart.Ref}
			continue
		}
		rest, of = append(rest, j), append(of, i)
	}
	rendered, err := c.by.Renderer(ctx, s)(rest)
	if err != nil {
		return nil, fmt.Errorf("looking for releases: %w", err)
	}
	for n, r := range rendered {
		results[of[n]] = r
	}
	return results, nil
}
