package pages

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
	"github.com/waybill-dev/waybill/sources/words"
)

// How much of what is broken is shown on one page.
const (
	problemsAtOnce = 200
	clustersNamed  = 3
	losesNamed     = 20
)

// Problems is the page of what is broken.
type Problems struct {
	Published Published
	Checked   Moment
	Since     Moment // since when nothing is broken; zero where that is not known
	Counts    []Count
	Text      string
	Kind      string
	Sort      string
	Heads     []list.Head
	Grouping  Grouping
	Rows      []ProblemRow
	Pager     list.Pager
	Total     int
	More      int // errors of the source besides
	// Unreported are clusters of which nobody reports: how many, and the first of them.
	Unreported int
	Quiet      []Link
}

// ProblemRow is something that is broken.
type ProblemRow struct {
	Mark    Mark
	What    Link
	Where   string // how many clusters, in words; empty for none
	In      []Link // the first of them
	Others  int    // how many there are besides
	Since   Moment
	Reason  string
	Message string
	Groups  string // in which groups these are, in words; empty without
	Commit  Link
	AtForge string // address of the commit at the forge; empty where nobody knows
	Author  string
	Subject string
	Loses   []string
	Besides int // how many it would lose besides
	Next    string
}

// problemMarks are the kinds of problems, the worst first.
var problemMarks = []Kind[problems.Kind]{
	{problems.SourceError, Mark{"Source error", "✕", "bad"}},
	{problems.NotPlaced, Mark{"Not placed", "✕", "bad"}},
	{problems.ClusterFailing, Mark{"Cluster failing", "✕", "bad"}},
	{problems.NotApplied, Mark{"Not applied", "✕", "bad"}},
	{problems.Unhealthy, Mark{"Not healthy", "✕", "bad"}},
	{problems.RolloutStopped, Mark{"Roll-out stopped", "‖", "bad"}},
	{problems.Held, Mark{"Held", "‖", "warn"}},
	{problems.Drifting, Mark{"Drifting", "≈", "warn"}},
	{problems.Silent, Mark{"Silent", "?", "warn"}},
}

// OfProblems shows the problems that are asked for, in their order.
func OfProblems(f *facts.Facts, l *problems.List, q url.Values, now time.Time) Problems {
	p := Problems{
		Published: published(f, now), Checked: MomentOf(l.Checked, now), Since: MomentOf(l.Since, now),
		Text: q.Get("q"), Kind: q.Get("kind"), Total: len(l.Problems), More: l.More,
		Unreported: len(l.Unreported),
	}
	for _, name := range l.Unreported[:min(len(l.Unreported), clustersNamed)] {
		p.Quiet = append(p.Quiet, Link{name, ClusterURL(name)})
	}
	counts := map[problems.Kind]int{}
	var chosen []*problems.Problem
	for i := range l.Problems {
		x := &l.Problems[i]
		if !Matches(p.Text, problemTexts(x)...) {
			continue
		}
		counts[x.Kind]++
		if p.Kind == "" || string(x.Kind) == p.Kind {
			chosen = append(chosen, x)
		}
	}
	p.Counts = Choices("/", "kind", q, problemMarks, counts)
	p.Sort, p.Heads, p.Grouping = q.Get(list.SortParam), list.Sort(chosen, problemColumns(), "/", q), grouping(f, q)
	var from, to int
	p.Pager, from, to = list.Parts{What: "problems", Path: "/", Param: list.PageParam, Size: problemsAtOnce}.Page(q, len(chosen))
	for _, x := range chosen[from:to] {
		p.Rows = append(p.Rows, problemRow(f, p.Grouping, x, now))
	}
	return p
}

// problemColumns are those of the list of problems.
func problemColumns() []list.Column[*problems.Problem] {
	type x = *problems.Problem
	return []list.Column[x]{
		list.ByRank("Problem", "kind", func(p x) int {
			return slices.IndexFunc(problemMarks, func(k Kind[problems.Kind]) bool { return k.Kind == p.Kind })
		}),
		list.ByText("What", "what", func(p x) string { return p.Name }),
		list.ByRank("Where", "where", func(p x) int { return -len(p.Clusters) }), // the most first
		list.By("Since", "since", func(a, b x) int { return a.Since.Compare(b.Since) }),
		list.ByText("Why", "why", func(p x) string { return p.Reason + p.Message }),
		list.ByText("Commit", "author", func(p x) string { return p.Author + p.Commit }),
	}
}

// perGroup counts in which groups clusters are, those with most first; empty without groups.
func perGroup(f *facts.Facts, g Grouping, names []string) string {
	if g.By == "" || len(names) < 2 {
		return ""
	}
	count := map[string]int{}
	for _, name := range names {
		if m := f.Cluster(name); m != nil {
			count[cmp.Or(g.of(m), "without "+g.By)]++
		}
	}
	values := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	for i, value := range values {
		values[i] = value + " " + strconv.Itoa(count[value])
	}
	return words.First(values, 8)
}

// problemTexts are those by which a problem is found.
func problemTexts(x *problems.Problem) []string {
	return slices.Concat(x.Clusters, []string{x.Name, x.Reason, x.Message, x.Commit, x.Author, x.Subject})
}

func problemRow(f *facts.Facts, g Grouping, x *problems.Problem, now time.Time) ProblemRow {
	r := ProblemRow{
		What: Link{Text: x.Name}, Where: whereOf(x), Since: MomentOf(x.Since, now), Reason: x.Reason, Message: x.Message,
		Author: x.Author, Subject: x.Subject, Next: x.Next, Loses: x.Loses[:min(len(x.Loses), losesNamed)],
	}
	r.Besides = len(x.Loses) - len(r.Loses)
	for _, k := range problemMarks {
		if k.Kind == x.Kind {
			r.Mark = k.Mark
		}
	}
	if x.Line > 0 {
		r.What.Text += ":" + strconv.Itoa(x.Line)
	}
	if ref, ok := x.Object(); ok {
		r.What = Link{ref.Called(), TemplateURL(ref)}
	}
	if u, ok := rollouts.ParseUnit(x.Name); ok && x.Kind == problems.RolloutStopped {
		r.What.URL = RolloutURL(u)
	}
	if r.What.URL == "" && len(x.Clusters) == 1 {
		r.What.URL = ClusterURL(x.Clusters[0])
	}
	for _, name := range x.Clusters[:min(len(x.Clusters), clustersNamed)] {
		r.In = append(r.In, Link{name, ClusterURL(name)})
	}
	r.Others = len(x.Clusters) - len(r.In)
	if x.Commit != "" {
		r.Commit, r.AtForge = Link{short(x.Commit), ChangeURL(x.Commit)}, f.Site.Commit(x.Commit)
	}
	if x.File != "" && r.What.URL == "" {
		r.What.URL = f.Site.File(cmp.Or(f.Fleet.Seen.Commit, x.Commit), x.File, x.Line)
	}
	r.Groups = perGroup(f, g, x.Clusters)
	return r
}

// whereOf says in how many clusters it is so.
func whereOf(x *problems.Problem) string {
	switch n := len(x.Clusters); {
	case n == 0:
		return ""
	case x.Of > 0:
		return strconv.Itoa(n) + " of " + words.Count(max(n, x.Of), "cluster")
	default:
		return words.Count(n, "cluster")
	}
}
