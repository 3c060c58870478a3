package pages

import (
	"net/url"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/progress"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
)

// How much of what goes out in stages is shown on one page.
const (
	unitsAtOnce   = 100
	membersAtOnce = 100
)

// rolloutsPath is the page of all units.
const rolloutsPath = "/rollouts"

// Rollouts is the page of what goes out in stages.
type Rollouts struct {
	Counts []Count
	Text   string
	Phase  string
	Sort   string
	Heads  []list.Head
	Rows   []RolloutRow
	Pager  list.Pager
	Total  int
	// Unreadable are units of which nothing is known, with why.
	Unreadable []string
}

// RolloutRow is a unit.
type RolloutRow struct {
	Unit, URL string
	Strategy  string
	Mark      Mark
	Stage     string
	Clusters  string // how they are, in words
	Behind    int
	Message   string
	Then      string
	Next      Moment
	Since     Moment
}

// phases are all of them, those that need somebody first.
var phases = []Kind[rollouts.Phase]{
	phase(rollouts.Stopped, "✕", "bad"),
	phase(rollouts.Returning, "✕", "bad"),
	phase(rollouts.Approving, "?", "warn"),
	phase(rollouts.Waiting, "‖", "warn"),
	phase(rollouts.Updating, "↓", "warn"),
	phase(rollouts.Soaking, "↓", "warn"),
	phase(rollouts.Finishing, "↓", "warn"),
	phase(rollouts.Done, "✓", "good"),
}

func phase(p rollouts.Phase, sign, tone string) Kind[rollouts.Phase] {
	return Kind[rollouts.Phase]{p, Mark{string(p), sign, tone}}
}

// phaseRank is the place of a phase of a run among all of them; before all for one that is not known.
func phaseRank(p rollouts.Phase) int {
	return slices.IndexFunc(phases, func(k Kind[rollouts.Phase]) bool { return k.Kind == p })
}

// phaseMark shows a phase of a run, or of a stage.
func phaseMark(p rollouts.Phase) Mark {
	if at := phaseRank(p); at >= 0 {
		return phases[at].Mark
	}
	return phase(p, "↓", "warn").Mark
}

// RolloutURL is the page of a unit.
func RolloutURL(u rollouts.Unit) string {
	return rolloutsPath + "/" + url.PathEscape(u.Folder()) + "/" + url.PathEscape(u.Name)
}

// OfRollouts shows the units that are asked for: those that need somebody first.
func OfRollouts(f *facts.Facts, q url.Values, now time.Time) Rollouts {
	p := Rollouts{Text: q.Get("q"), Phase: q.Get("phase")}
	all := facts.Rollouts{}
	if f.Rollouts != nil {
		all = f.Rollouts()
	}
	p.Total = len(all.Units)
	counts := map[rollouts.Phase]int{}
	var chosen []progress.Progress
	for n := range all.Units {
		is := progress.Of(&all.Units[n])
		if !Matches(p.Text, is.Unit.String(), is.Strategy, is.Message) {
			continue
		}
		counts[is.Phase]++
		if p.Phase == "" || string(is.Phase) == p.Phase {
			chosen = append(chosen, is)
		}
	}
	p.Counts = Choices(rolloutsPath, "phase", q, phases, counts)
	slices.SortStableFunc(chosen, func(a, b progress.Progress) int {
		return phaseRank(a.Phase) - phaseRank(b.Phase)
	})
	p.Sort, p.Heads = q.Get(list.SortParam), list.Sort(chosen, unitColumns(), rolloutsPath, q)
	var from, to int
	p.Pager, from, to = list.Parts{What: "units", Path: rolloutsPath, Param: list.PageParam, Size: unitsAtOnce}.Page(q, len(chosen))
	for n := range chosen[from:to] {
		p.Rows = append(p.Rows, rolloutRow(&chosen[from+n], now))
	}
	for u, why := range all.Unreadable {
		p.Unreadable = append(p.Unreadable, u.String()+": "+why.Error())
	}
	slices.Sort(p.Unreadable)
	return p
}

func rolloutRow(p *progress.Progress, now time.Time) RolloutRow {
	return RolloutRow{
		Unit: p.Unit.String(), URL: RolloutURL(p.Unit), Strategy: p.Strategy, Mark: phaseMark(p.Phase), Stage: p.Stage,
		Clusters: p.Clusters(), Behind: p.Behind(),
		Message: p.Message, Then: p.Then, Next: ahead(p.Next, now), Since: MomentOf(p.Since, now),
	}
}

// unitColumns are those of the list of units.
func unitColumns() []list.Column[progress.Progress] {
	type p = progress.Progress
	return []list.Column[p]{
		list.ByText("Unit", "name", func(x p) string { return x.Unit.String() }),
		list.ByRank("Phase", "phase", func(x p) int { return phaseRank(x.Phase) }),
		list.ByText("Stage", "stage", func(x p) string { return x.Stage }),
		list.ByText("Clusters", "clusters", func(x p) string { return x.Clusters() }),
		list.ByNumber("Behind", "behind", func(x p) int { return x.Behind() }),
		list.By("Next", "next", func(a, b p) int { return a.Next.Compare(b.Next) }),
		list.By("Began", "began", func(a, b p) int { return a.Since.Compare(b.Since) }),
	}
}
