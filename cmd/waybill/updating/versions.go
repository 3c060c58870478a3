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

// Versions says what new versions of images and charts there are. It writes nothing.
type Versions struct {
	Planner  *planner.Planner
	Registry propose.Registry
	Catalog  func() *chart.Catalog
	Source   sources.Snapshot
	// Memory is the repository that has the memory; nil for none.
	Memory published.Repository
	Now    time.Time
}

// Look looks, and returns what is wrong with policies and markers beside what there is.
func (i *Versions) Look(ctx context.Context) (propose.Found, []diag.Diagnostic, error) {
	read, err := i.Planner.Load(ctx, i.Source, render.With{})
	if err != nil {
		return propose.Found{}, nil, err
	}
	memory, err := Remembered(ctx, i.Memory)
	if err != nil {
		return propose.Found{}, nil, err
	}
	source, err := propose.Subscribed(ctx, i.Source, &read, charts(i.Planner))
	if err != nil {
		return propose.Found{}, nil, err
	}
	looker := propose.Looker{Registry: i.Registry, Catalog: i.Catalog(), Memory: memory, Now: i.Now}
	found, err := looker.Look(ctx, i.Source, source, read.Config.Updates)
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

// Remembered is what a repository, which may be nil, remembers of updates.
func Remembered(ctx context.Context, at published.Repository) (*updates.Memory, error) {
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

// WriteChanges prints each line that would change, as it is and as it would be.
func WriteChanges(w io.Writer, found *propose.Found, s sources.Snapshot) error {
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

// Write prints what there is.
func Write(w io.Writer, found *propose.Found, now time.Time, as report.Format) error {
	return report.Updates(found.Verdicts, now).Write(w, as)
}
