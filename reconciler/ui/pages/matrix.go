package pages

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
)

// How much of the matrix is shown on one page.
const (
	rowsAtOnce    = 50
	columnsAtOnce = 20
)

// Objects returns what is said of the objects of a namespace in a cluster; nil for nothing.
type Objects func(m *reports.Cluster, namespace string) map[object.Ref]*status.Object

// Matrix is the page of which template runs where.
type Matrix struct {
	Text, In string
	Kind     string
	// Off and Unwell show only what is not as decided, what is not healthy, or both.
	Off, Unwell bool
	Kinds       []string
	Clusters    []Column
	Rows        []MatrixRow
	Pager       Pager // of templates
	Columns     Pager // of clusters
	Unreadable  []string
}

// Column is a cluster.
type Column struct {
	Name, URL string
	Mark      Mark
}

// MatrixRow is a template.
type MatrixRow struct {
	Kind, Namespace, Name, URL string
	Policy                     string
	Where                      int // in how many clusters
	Replicas                   string
	Problem                    string
	Cells                      []Cell
}

// Cell is a template in a cluster. It is empty where it does not go.
type Cell struct {
	Mark  Mark
	Shown string // replicas
	Title string // all of it in words
}

// OfMatrix shows the templates and the clusters that are asked for.
func OfMatrix(f *facts.Facts, l *problems.List, q url.Values, said Objects) Matrix {
	p := Matrix{Text: q.Get("q"), In: q.Get("in"), Kind: q.Get("kind"), Off: q.Get("off") != "", Unwell: q.Get("unwell") != ""}
	unwell := unwellOf(l)
	if f.Bindings != nil {
		p.Unreadable = f.Bindings().Unreadable
	}
	kinds := map[string]bool{}
	var chosen []*facts.Template
	for _, t := range f.Templates() {
		kinds[t.Ref.Kind] = true
		isAsked := !p.Off && !p.Unwell || p.Off && problem(t) != "" || p.Unwell && unwell[t.Ref] > 0
		if p.Kind != "" && t.Ref.Kind != p.Kind || !isAsked || !matches(p.Text, t.Ref.String(), t.Policy, t.Source) {
			continue
		}
		chosen = append(chosen, t)
	}
	slices.SortStableFunc(chosen, func(a, b *facts.Template) int {
		return cmp.Or(unwell[b.Ref]-unwell[a.Ref], whole(a)-whole(b), kindRank(a.Ref.Kind)-kindRank(b.Ref.Kind))
	})
	p.Kinds = slices.Sorted(maps.Keys(kinds))
	var from, to int
	p.Pager, from, to = pager(list{"templates", "/matrix", "page", rowsAtOnce}, q, len(chosen))
	chosen = chosen[from:to]
	columns := columnsOf(f, chosen, p.In)
	p.Columns, from, to = pager(list{"clusters", "/matrix", "columns", columnsAtOnce}, q, len(columns))
	columns = columns[from:to]
	for _, m := range columns {
		p.Clusters = append(p.Clusters, Column{Name: m.Cluster, URL: ClusterURL(m.Cluster), Mark: standingMark(m.State)})
	}
	for _, t := range chosen {
		row := matrixRow(t)
		for _, m := range columns {
			row.Cells = append(row.Cells, cellOf(t, m, said))
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// whole orders templates: those that are not where they should be are first.
func whole(t *facts.Template) int {
	if problem(t) != "" {
		return 0
	}
	return 1
}

// unwellOf counts in how many clusters objects are not applied, not healthy, or changed again and again.
func unwellOf(l *problems.List) map[object.Ref]int {
	in := map[object.Ref]int{}
	for i := range l.Problems {
		p := &l.Problems[i]
		if r, ok := p.Object(); ok && p.Kind != problems.NotPlaced {
			in[r] += len(p.Clusters)
		}
	}
	return in
}

// columnsOf are the clusters that match a text and have any of some templates.
func columnsOf(f *facts.Facts, of []*facts.Template, text string) []*reports.Cluster {
	used := map[string]bool{}
	for _, t := range of {
		for i := range t.Targets {
			used[t.Targets[i].Cluster] = true
		}
	}
	var columns []*reports.Cluster
	for i := range f.Fleet.Clusters {
		m := &f.Fleet.Clusters[i]
		if used[m.Cluster] && matches(text, m.Cluster, m.Registered.Spec.Region, labelText(m)) {
			columns = append(columns, m)
		}
	}
	return columns
}

func matrixRow(t *facts.Template) MatrixRow {
	row := MatrixRow{
		Kind: t.Ref.Kind, Namespace: t.Ref.Namespace, Name: t.Ref.Name, URL: TemplateURL(t.Ref),
		Policy: t.Policy, Where: len(t.Targets), Problem: problem(t),
	}
	if t.Replicas > 0 {
		row.Replicas = strconv.Itoa(int(t.Replicas))
	}
	return row
}

// problem says why a template is not where it should be; empty if it is.
func problem(t *facts.Template) string {
	if !t.Placed() {
		return t.Scheduled.Message
	}
	for i := range t.Targets {
		if why := t.Targets[i].Left; why != "" {
			return t.Targets[i].Cluster + ": " + why
		}
	}
	return ""
}

func cellOf(t *facts.Template, m *reports.Cluster, said Objects) Cell {
	target, ok := t.Target(m.Cluster)
	if !ok {
		return Cell{}
	}
	c := Cell{Mark: healthMark(target, said(m, t.Ref.Namespace)[t.Ref])}
	c.Title = t.Ref.String() + " in " + m.Cluster + ": " + c.Mark.Word
	if n := seats(t, target); n > 0 {
		c.Shown = strconv.Itoa(int(n))
		c.Title += ", " + plural(int(n), "replica")
	}
	if target.Left != "" {
		c.Title += "; " + target.Left
	}
	return c
}

// seats is how many replicas a template has in a cluster; 0 for a kind without.
func seats(t *facts.Template, in facts.Target) int32 {
	if in.Replicas == 0 && !t.Divided && !in.Undecided {
		return t.Replicas
	}
	return in.Replicas
}

// healthMark says how an object is in a cluster, in the word that matters most.
func healthMark(target facts.Target, o *status.Object) Mark {
	switch {
	case target.Left != "" && target.Kept:
		return Mark{"Kept as published", "‖", "warn"}
	case target.Left != "":
		return Mark{"Missing", "✕", "bad"}
	case o == nil:
		return Mark{"Published, not told", "–", "muted"}
	case o.Applied.Phase == status.PhaseFailed:
		return Mark{"Failed", "✕", "bad"}
	case o.Applied.Phase == status.PhasePending:
		return Mark{"Pending", "…", "warn"}
	case o.Applied.Phase == status.PhaseLeaving:
		return Mark{"Leaving", "→", "warn"}
	case o.Health.State == karmada.ResourceUnhealthy:
		return Mark{"Unhealthy", "✕", "bad"}
	case o.Health.State != karmada.ResourceHealthy:
		return Mark{"Applied, health unknown", "?", "warn"}
	case o.Applied.Corrected > 0:
		return Mark{"Drifting", "≈", "warn"}
	}
	return Mark{"Healthy", "✓", "good"}
}
