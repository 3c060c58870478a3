package units

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/progress"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
)

// Unit is the page of a unit that goes out in stages.
type Unit struct {
	Row          Row
	Run          string
	Base, Target pages.Link
	Commands     []string
	Bar          []Segment
	Leaving      int
	Text         string
	Sort         string
	Heads        []list.Head
	Members      []MemberRow
	Pager        list.Pager
	Commanded    []Given
}

// Segment is a stage of the bar that shows how far a run is.
type Segment struct {
	Name     string
	Mark     pages.Mark
	Finished int // clusters for which nothing is waited
	Of       int
	Says     string // how they are, in words
	Here     bool   // the run is in it
}

// MemberRow is which version a cluster shows.
type MemberRow struct {
	Cluster  pages.Link
	Stage    string
	Mark     pages.Mark
	Shows    pages.Link
	Message  string
	Evidence string // what its state follows from
	Since    pages.Moment
}

// Given is what somebody commanded.
type Given struct {
	Says, Ref string
	Mark      pages.Mark
	At        pages.Moment
}

// Of shows a unit.
func Of(f *facts.Facts, r *rollouts.Rollout, q url.Values, now time.Time) Unit {
	is := progress.Of(r)
	p := Unit{
		Row: rowOf(&is, now), Run: is.Run, Base: pages.Version(is.Base), Target: pages.Version(is.Target),
		Commands: is.Commands, Leaving: is.Leaving, Text: q.Get("q"),
	}
	for n := range is.Stages {
		s := &is.Stages[n]
		p.Bar = append(p.Bar, segment(s, &is))
	}
	p.members(f, r, q, now)
	for _, c := range slices.Backward(r.Status.Commands) {
		p.Commanded = append(p.Commanded, givenOf(&c, now))
	}
	return p
}

func segment(s *progress.Stage, in *progress.Progress) Segment {
	seg := Segment{
		Name: s.Name, Mark: pages.PhaseMark(s.Phase), Finished: s.Counts.Finished(), Of: s.Counts.Of, Says: s.Counts.String(),
		Here: s.Name == in.Stage,
	}
	switch {
	case seg.Here && in.Phase == rollouts.Stopped:
		seg.Mark = pages.PhaseMark(rollouts.Stopped)
	case s.IsSkipped:
		seg.Mark = pages.Mark{Word: "Skipped", Sign: "–", Tone: "muted"}
	case s.Phase == rollouts.Waiting && !seg.Here:
		seg.Mark = pages.Mark{Word: "Its turn has not come", Sign: "–", Tone: "muted"}
	}
	return seg
}

// members adds the clusters: by their stages and names, where the address asks for no other order.
func (p *Unit) members(f *facts.Facts, r *rollouts.Rollout, q url.Values, now time.Time) {
	var chosen []progress.Cluster
	for _, c := range progress.Clusters(r) {
		if pages.Matches(p.Text, c.Name, c.Stage, string(c.State)) {
			chosen = append(chosen, c)
		}
	}
	p.Sort, p.Heads = q.Get(list.SortParam), list.Sort(chosen, memberColumns(), pages.RolloutURL(r.Unit), q)
	var from, to int
	p.Pager, from, to = list.Parts{What: "clusters", Path: pages.RolloutURL(r.Unit), Param: list.PageParam, Size: membersAtOnce}.Page(q, len(chosen))
	for n := range chosen[from:to] {
		p.Members = append(p.Members, memberRow(f, &chosen[from+n], now))
	}
}

// memberColumns are those of the list of clusters of a unit.
func memberColumns() []list.Column[progress.Cluster] {
	type c = progress.Cluster
	return []list.Column[c]{
		list.ByText("Cluster", "name", func(x c) string { return x.Name }),
		list.ByText("Stage", "stage", func(x c) string { return x.Stage }),
		list.ByText("State", "state", func(x c) string { return string(x.State) }),
		list.ByText("Shows", "shows", func(x c) string { return x.Shows }),
		list.ByText("Evidence", "evidence", func(x c) string { return x.Evidence }),
		list.By("Since", "since", func(a, b c) int { return a.Since.Compare(b.Since.Time) }),
	}
}

func memberRow(f *facts.Facts, c *progress.Cluster, now time.Time) MemberRow {
	row := MemberRow{
		Cluster: pages.Link{Text: c.Name}, Stage: c.Stage, Mark: stateMark(c.State),
		Shows: pages.Version(c.Shows), Evidence: c.Evidence, Since: pages.MomentOf(c.Since.Time, now),
	}
	if c.Since.IsZero() {
		row.Since = pages.Moment{}
	}
	if f.Cluster(c.Name) != nil {
		row.Cluster.URL = pages.ClusterURL(c.Name)
	}
	notes := []string{c.Message}
	if c.Waits != "" {
		notes = []string{c.Waits}
	}
	if c.WasUnhealthy {
		notes = append(notes, "it was not healthy before, so that its failure does not count")
	}
	if c.Forgiven {
		notes = append(notes, "its failure does not count, since the run was resumed")
	}
	if d := c.Deadline.Time; c.State == rollouts.Released && !d.IsZero() {
		notes = append(notes, "it has to be healthy "+ahead(d, now).Ago)
	}
	row.Message = strings.Join(slices.DeleteFunc(notes, func(s string) bool { return s == "" }), "; ")
	return row
}

// stateMark shows how far a cluster is.
func stateMark(s rollouts.State) pages.Mark {
	switch s {
	case rollouts.Healthy:
		return pages.Mark{Word: string(s), Sign: "✓", Tone: "good"}
	case rollouts.Failed, rollouts.Failing:
		return pages.Mark{Word: string(s), Sign: "✕", Tone: "bad"}
	case rollouts.Released:
		return pages.Mark{Word: string(s), Sign: "↓", Tone: "warn"}
	case rollouts.Late:
		return pages.Mark{Word: string(s), Sign: "?", Tone: "warn"}
	case rollouts.Suspended:
		return pages.Mark{Word: string(s), Sign: "‖", Tone: "warn"}
	case rollouts.Pending, rollouts.Unchanged, rollouts.Skipped, rollouts.Leaving:
	}
	return pages.Mark{Word: string(s), Sign: "–", Tone: "muted"}
}

func givenOf(c *rollouts.Command, now time.Time) Given {
	o := Given{
		Says: strings.Join(strings.Fields(string(c.Verb)+" "+c.Stage+" "+c.Cluster), " "), Ref: c.Ref,
		At: pages.MomentOf(c.At.Time, now), Mark: pages.Mark{Word: "Done", Sign: "✓", Tone: "good"},
	}
	if c.By != "" {
		o.Says += " by " + c.By
	}
	if c.Refused {
		o.Mark = pages.Mark{Word: "Did nothing: it was for another run, or came too early or late", Sign: "✕", Tone: "bad"}
	}
	return o
}

// ahead is a time that is to come, and in how long.
func ahead(at, now time.Time) pages.Moment {
	switch {
	case at.IsZero():
		return pages.Moment{}
	case !at.After(now):
		return pages.Moment{At: at.UTC().Format(time.RFC3339), Ago: "now"}
	}
	return pages.Moment{At: at.UTC().Format(time.RFC3339), Ago: "in " + duration.HumanDuration(at.Sub(now))}
}
