package updating

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/chart"
)

// looker says what new versions of images and charts there are. It writes nothing.
type looker struct {
	planner  *planner.Planner
	registry propose.Registry
	catalog  func() *chart.Catalog
	source   sources.Snapshot
	// memory is the repository that has the memory; nil for none.
	memory published.Repository
	now    time.Time
}

// look looks, and returns what is wrong with policies and markers beside what there is.
func (i *looker) look(ctx context.Context) (propose.Found, []diag.Diagnostic, error) {
	read, err := i.planner.Load(ctx, i.source, render.With{})
	if err != nil {
		return propose.Found{}, nil, err
	}
	memory, err := remembered(ctx, i.memory)
	if err != nil {
		return propose.Found{}, nil, err
	}
	source, err := propose.Subscribed(ctx, i.source, &read, charts(i.planner))
	if err != nil {
		return propose.Found{}, nil, err
	}
	asks := propose.Looker{Registry: i.registry, Catalog: i.catalog(), Memory: memory, Now: i.now}
	found, err := asks.Look(ctx, i.source, source, read.Config.Updates)
	return found, found.Source.Diags, err
}

// charts lists the charts that a source names.
func charts(p *planner.Planner) propose.Charts {
	return func(ctx context.Context, s sources.Snapshot) (updates.Charts, error) {
		uses, unread, err := p.Charts(ctx, s)
		return updates.Charts{Uses: uses, Unsure: len(unread) > 0}, err
	}
}

// WithMarkers adds to what is wrong with a source what is wrong with the markers of its images.
func WithMarkers(ctx context.Context, p *planner.Planner, s sources.Snapshot, said []diag.Diagnostic) ([]diag.Diagnostic, error) {
	read, err := p.Load(ctx, s, render.With{})
	if err != nil {
		return said, err
	}
	found, err := updates.Read(s, &read, updates.Charts{})
	for _, d := range found.Diags {
		if !slices.Contains(said, d) {
			said = append(said, d)
		}
	}
	return diag.Sort(said), err
}

// remembered is what a repository, which may be nil, remembers of updates.
func remembered(ctx context.Context, at published.Repository) (*updates.Memory, error) {
	if at == nil {
		return updates.NewMemory(), nil
	}
	if _, err := at.Heads(ctx); err != nil {
		return nil, err
	}
	if err := at.Fetch(ctx, updates.MemoryBranch); err != nil {
		return nil, err
	}
	head, _, err := at.Branch(ctx, updates.MemoryBranch)
	if err != nil {
		return nil, err
	}
	return updates.Decode(head.Tree)
}

// writeChanges prints each line that would change, as it is and as it would be.
func writeChanges(w io.Writer, found *propose.Found, s sources.Snapshot) error {
	var all []*updates.Verdict
	for i := range found.Verdicts {
		if v := &found.Verdicts[i]; v.Takes() {
			all = append(all, v)
		}
	}
	edited, err := found.Source.Edit(all)
	if err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(edited)) {
		before, err := s.ReadFile(file)
		if err != nil {
			return err
		}
		was, is := strings.Split(string(before), "\n"), strings.Split(string(edited[file]), "\n")
		for n := range was { // values have no line ends, so that lines stay lines
			if was[n] != is[n] {
				fmt.Fprintf(w, "%s:%d\n-%s\n+%s\n", file, n+1, strings.TrimSuffix(was[n], "\r"), strings.TrimSuffix(is[n], "\r"))
			}
		}
	}
	return nil
}

// write prints what there is.
func write(w io.Writer, found *propose.Found, now time.Time, as report.Format) error {
	return report.Updates(found.Verdicts, now).Write(w, as)
}
