// Package units makes the pages of what goes out in stages: of all units, and of one.
package units

import (
	"net/url"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/progress"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
)

// How much of what goes out in stages is shown on one page.
const (
	unitsAtOnce   = 100
	membersAtOnce = 100
)

// All is the page of what goes out in stages.
type All struct {
	Counts []pages.Count
	Text   string
	Phase  string
	Sort   string
	Heads  []list.Head
	Rows   []Row
	Pager  list.Pager
	Total  int
	// Unreadable are units of which nothing is known, with why.
	Unreadable []string
}

// Row is a unit.
type Row struct {
	Unit, URL string
	Strategy  string
	Mark      pages.Mark
	Stage     string
	Clusters  string // how they are, in words
	Behind    int
	Message   string
	Then      string
	Next      pages.Moment
	Since     pages.Moment
}

// OfAll shows the units that are asked for: those that need somebody first.
func OfAll(f *facts.Facts, q url.Values, now time.Time) All {
	p := All{Text: q.Get("q"), Phase: q.Get("phase")}
	all := facts.Rollouts{}
	if f.Rollouts != nil {
		all = f.Rollouts()
	}
	p.Total = len(all.Units)
	counts := map[rollouts.Phase]int{}
	var chosen []progress.Progress
	for n := range all.Units {
		is := progress.Of(&all.Units[n])
		if !pages.Matches(p.Text, is.Unit.String(), is.Strategy, is.Message) {
			continue
		}
		counts[is.Phase]++
		if p.Phase == "" || string(is.Phase) == p.Phase {
			chosen = append(chosen, is)
		}
	}
	p.Counts = pages.Choices(pages.RolloutsPath, "phase", q, pages.Phases, counts)
	slices.SortStableFunc(chosen, func(a, b progress.Progress) int {
		return pages.PhaseRank(a.Phase) - pages.PhaseRank(b.Phase)
	})
	p.Sort, p.Heads = q.Get(list.SortParam), list.Sort(chosen, unitColumns(), pages.RolloutsPath, q)
	var from, to int
	p.Pager, from, to = list.Parts{What: "units", Path: pages.RolloutsPath, Param: list.PageParam, Size: unitsAtOnce}.Page(q, len(chosen))
	for n := range chosen[from:to] {
		p.Rows = append(p.Rows, rowOf(&chosen[from+n], now))
	}
	for u, why := range all.Unreadable {
		p.Unreadable = append(p.Unreadable, u.String()+": "+why.Error())
	}
	slices.Sort(p.Unreadable)
	return p
}

func rowOf(p *progress.Progress, now time.Time) Row {
	return Row{
		Unit: p.Unit.String(), URL: pages.RolloutURL(p.Unit), Strategy: p.Strategy, Mark: pages.PhaseMark(p.Phase), Stage: p.Stage,
		Clusters: p.Clusters(), Behind: p.Behind(),
		Message: p.Message, Then: p.Then, Next: ahead(p.Next, now), Since: pages.MomentOf(p.Since, now),
	}
}

// unitColumns are those of the list of units.
func unitColumns() []list.Column[progress.Progress] {
	type p = progress.Progress
	return []list.Column[p]{
		list.ByText("Unit", "name", func(x p) string { return x.Unit.String() }),
		list.ByRank("Phase", "phase", func(x p) int { return pages.PhaseRank(x.Phase) }),
		list.ByText("Stage", "stage", func(x p) string { return x.Stage }),
		list.ByText("Clusters", "clusters", func(x p) string { return x.Clusters() }),
		list.ByNumber("Behind", "behind", func(x p) int { return x.Behind() }),
		list.By("Next", "next", func(a, b p) int { return a.Next.Compare(b.Next) }),
		list.By("Began", "began", func(a, b p) int { return a.Since.Compare(b.Since) }),
	}
}
