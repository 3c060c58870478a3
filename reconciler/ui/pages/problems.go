package pages

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
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
	Counts    []Count
	Text      string
	Kind      string
	Rows      []ProblemRow
	Pager     Pager
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
	Commit  Link
	Author  string
	Subject string
	Loses   []string
	Besides int // how many it would lose besides
	Next    string
}

// problemMarks are the kinds of problems, the worst first.
var problemMarks = []struct {
	kind problems.Kind
	mark Mark
}{
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
		Published: published(f, now), Checked: moment(l.Checked, now), Text: q.Get("q"), Kind: q.Get("kind"), Total: len(l.Problems), More: l.More,
		Unreported: len(l.Unreported),
	}
	for _, name := range l.Unreported[:min(len(l.Unreported), clustersNamed)] {
		p.Quiet = append(p.Quiet, Link{name, ClusterURL(name)})
	}
	counts := map[problems.Kind]int{}
	var chosen []*problems.Problem
	for i := range l.Problems {
		x := &l.Problems[i]
		if !matches(p.Text, problemTexts(x)...) {
			continue
		}
		counts[x.Kind]++
		if p.Kind == "" || string(x.Kind) == p.Kind {
			chosen = append(chosen, x)
		}
	}
	for _, k := range problemMarks {
		if n := counts[k.kind]; n > 0 {
			to, isOn := string(k.kind), p.Kind == string(k.kind)
			if isOn {
				to = ""
			}
			p.Counts = append(p.Counts, Count{Mark: k.mark, N: n, URL: with("/", q, "kind", to, "page", ""), On: isOn})
		}
	}
	var from, to int
	p.Pager, from, to = pager(list{"problems", "/", "page", problemsAtOnce}, q, len(chosen))
	for _, x := range chosen[from:to] {
		p.Rows = append(p.Rows, problemRow(x, now))
	}
	return p
}

// problemTexts are those by which a problem is found.
func problemTexts(x *problems.Problem) []string {
	return slices.Concat(x.Clusters, []string{x.Name, x.Reason, x.Message, x.Commit, x.Author, x.Subject})
}

func problemRow(x *problems.Problem, now time.Time) ProblemRow {
	r := ProblemRow{
		What: Link{Text: x.Name}, Where: whereOf(x), Since: moment(x.Since, now), Reason: x.Reason, Message: x.Message,
		Author: x.Author, Subject: x.Subject, Next: x.Next, Loses: x.Loses[:min(len(x.Loses), losesNamed)],
	}
	r.Besides = len(x.Loses) - len(r.Loses)
	for _, k := range problemMarks {
		if k.kind == x.Kind {
			r.Mark = k.mark
		}
	}
	if x.Line > 0 {
		r.What.Text += ":" + strconv.Itoa(x.Line)
	}
	if ref, ok := x.Object(); ok {
		r.What = Link{called(ref), TemplateURL(ref)}
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
		r.Commit = Link{short(x.Commit), ChangeURL(x.Commit)}
	}
	return r
}

// called is what people call an object.
func called(r object.Ref) string {
	if r.Namespace == "" {
		return r.Name + " (" + r.Kind + ")"
	}
	return r.Name + " (" + r.Kind + " in " + r.Namespace + ")"
}

// whereOf says in how many clusters it is so.
func whereOf(x *problems.Problem) string {
	switch n := len(x.Clusters); {
	case n == 0:
		return ""
	case x.Of > 0:
		return strconv.Itoa(n) + " of " + plural(max(n, x.Of), "cluster")
	default:
		return plural(n, "cluster")
	}
}
