package pages

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// How much of the matrix is shown on one page. A fleet of more clusters than columns is shown in groups, where it has any.
const (
	rowsAtOnce    = 50
	columnsAtOnce = 40
)

// matrixPath is the page of the matrix.
const matrixPath = "/matrix"

// Objects returns what is said of the objects of a namespace in a cluster; nil for nothing.
type Objects func(m *reports.Cluster, namespace string) map[object.Ref]*status.Object

// Matrix is the page of which template runs where.
type Matrix struct {
	Text, In string
	// Of is a label and its value, as region=eu: only clusters with it have columns. It is empty for all.
	Of   string
	Kind string
	// Off and Unwell show only what is not as decided, what is not healthy, or both.
	Off, Unwell bool
	Kinds       []string
	Grouping    Grouping
	Ungrouped   string // address that shows each cluster; empty where each is shown
	All         string // address without Of
	Sort        string
	Template    list.Head // of the columns before those of clusters
	Where       list.Head
	Clusters    []Column
	Rows        []MatrixRow
	Pager       list.Pager // of templates
	Columns     list.Pager // of clusters, or of groups of them
	Unreadable  []string
}

// Column is a cluster, or a group of clusters.
type Column struct {
	Name, URL string
	Mark      Mark
	N         int // clusters of a group; 0 for one cluster

	of []*reports.Cluster
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

// Cell is a template in a cluster, or in those of a group. It is empty where it does not go.
type Cell struct {
	Mark  Mark
	Shown string // replicas, or in how many clusters of a group it is so
	Title string // all of it in words; empty where all is well
}

// OfMatrix shows the templates and the clusters that are asked for: workloads before what they need, and of both what is not well first.
func OfMatrix(f *facts.Facts, l *problems.List, q url.Values, said Objects) Matrix {
	p := Matrix{
		Text: q.Get("q"), In: q.Get("in"), Of: q.Get(ofParam), All: list.With(matrixPath, q, ofParam, "", "columns", ""), Kind: q.Get("kind"),
		Sort: q.Get(list.SortParam), Off: q.Get("off") != "", Unwell: q.Get("unwell") != "",
	}
	unwell := unwellOf(l)
	if f.Bindings != nil {
		p.Unreadable = f.Bindings().Unreadable
	}
	chosen := p.chosen(f, unwell)
	slices.SortStableFunc(chosen, func(a, b *facts.Template) int {
		return cmp.Or(
			workloadRank(a)-workloadRank(b), unwell[b.Ref]-unwell[a.Ref], whole(a)-whole(b), object.KindRank(a.Ref.Kind)-object.KindRank(b.Ref.Kind),
		)
	})
	heads := list.Sort(chosen, []list.Column[*facts.Template]{
		list.ByText("Template", "name", func(t *facts.Template) string { return t.Ref.Name + t.Ref.String() }),
		list.ByNumber("Clusters", "where", func(t *facts.Template) int { return len(t.Targets) }),
	}, matrixPath, q)
	p.Template, p.Where = heads[0], heads[1]
	var from, to int
	p.Pager, from, to = list.Parts{What: "templates", Path: matrixPath, Param: list.PageParam, Size: rowsAtOnce}.Page(q, len(chosen))
	chosen = chosen[from:to]
	columns := p.columns(f, columnsOf(f, chosen, p.In, p.Of), q)
	for _, t := range chosen {
		row := matrixRow(t)
		for i := range columns {
			row.Cells = append(row.Cells, columns[i].cell(t, said))
		}
		p.Rows = append(p.Rows, row)
	}
	p.Clusters = columns
	return p
}

// chosen are the templates that are asked for.
func (p *Matrix) chosen(f *facts.Facts, unwell map[object.Ref]int) (chosen []*facts.Template) {
	kinds := map[string]bool{}
	for _, t := range f.Templates() {
		kinds[t.Ref.Kind] = true
		isAsked := !p.Off && !p.Unwell || p.Off && problem(t) != "" || p.Unwell && unwell[t.Ref] > 0
		if p.Kind != "" && t.Ref.Kind != p.Kind || !isAsked || !Matches(p.Text, t.Ref.String(), t.Policy, t.Source) {
			continue
		}
		chosen = append(chosen, t)
	}
	p.Kinds = slices.Sorted(maps.Keys(kinds))
	return chosen
}

// columns are the columns of clusters, a page of them: of groups where these are asked for, or the clusters are many.
func (p *Matrix) columns(f *facts.Facts, clusters []*reports.Cluster, q url.Values) (columns []Column) {
	p.Grouping = grouping(f, q)
	if len(clusters) > columnsAtOnce && len(p.Grouping.Choices) > 0 {
		p.Grouping.Nothing = noGroup
		if p.Grouping.By == "" && q.Get(groupParam) != noGroup {
			p.Grouping.By = p.Grouping.Choices[0]
		}
	}
	what := "clusters"
	if p.Grouping.By == "" {
		slices.SortStableFunc(clusters, func(a, b *reports.Cluster) int { return urgency(a) - urgency(b) })
		for _, m := range clusters {
			columns = append(columns, Column{Name: m.Cluster, URL: ClusterURL(m.Cluster), Mark: standingMark(m.State), of: []*reports.Cluster{m}})
		}
	} else {
		what = "groups"
		p.Ungrouped = list.With(matrixPath, q, groupParam, noGroup, "columns", "")
		columns = p.groups(clusters, q)
	}
	var from, to int
	p.Columns, from, to = list.Parts{What: what, Path: matrixPath, Param: "columns", Size: columnsAtOnce}.Page(q, len(columns))
	return columns[from:to]
}

// groups are the columns of groups of clusters. Each leads to its clusters.
func (p *Matrix) groups(clusters []*reports.Cluster, q url.Values) (columns []Column) {
	p.Grouping.inGroups(clusters)
	for i := 0; i < len(clusters); {
		n, value := i+1, p.Grouping.of(clusters[i])
		for n < len(clusters) && p.Grouping.of(clusters[n]) == value {
			n++
		}
		c := Column{Name: p.Grouping.name(value), N: n - i, of: clusters[i:n]}
		c.URL = list.With(matrixPath, q, groupParam, noGroup, ofParam, p.Grouping.By+"="+value, "columns", "")
		columns, i = append(columns, c), n
	}
	return columns
}

// cell is a template in the clusters of a column.
func (c *Column) cell(t *facts.Template, said Objects) Cell {
	if c.N == 0 {
		return cellOf(t, c.of[0], said)
	}
	var worst Mark
	count, isWorst := 0, 0
	for _, m := range c.of {
		target, ok := t.Target(m.Cluster)
		if !ok {
			continue
		}
		count++
		switch mark := healthMark(target, said(m, t.Ref.Namespace)[t.Ref]); {
		case mark == worst:
			isWorst++
		case worst.Word == "" || toneRank(mark) < toneRank(worst):
			worst, isWorst = mark, 1
		}
	}
	if count == 0 {
		return Cell{}
	}
	cell := Cell{Mark: worst, Shown: strconv.Itoa(isWorst)}
	if isWorst < count {
		cell.Shown += "/" + strconv.Itoa(count)
	}
	cell.Title = t.Ref.Name + ", " + c.Name + ": " + worst.Word + " in " + strconv.Itoa(isWorst) + " of " + words.Count(count, "cluster")
	return cell
}

// workloadRank orders templates: workloads are first.
func workloadRank(t *facts.Template) int {
	if object.IsWorkload(t.Ref.Kind) {
		return 0
	}
	return 1
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

// columnsOf are the clusters that match a text, have a label with a value, if one is given, and have any of some templates.
func columnsOf(f *facts.Facts, of []*facts.Template, text, label string) []*reports.Cluster {
	key, value, isLabel := strings.Cut(label, "=")
	used := map[string]bool{}
	for _, t := range of {
		for i := range t.Targets {
			used[t.Targets[i].Cluster] = true
		}
	}
	var columns []*reports.Cluster
	for i := range f.Fleet.Clusters {
		m := &f.Fleet.Clusters[i]
		if isLabel && (Grouping{By: key}).of(m) != value {
			continue
		}
		if used[m.Cluster] && Matches(text, m.Cluster, m.Registered.Spec.Region, labelText(m)) {
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
	n := seats(t, target)
	if n > 0 {
		c.Shown = strconv.Itoa(int(n))
	}
	if c.Mark.Tone == "good" { // its row and its column say the rest
		return c
	}
	c.Title = t.Ref.String() + " in " + m.Cluster + ": " + c.Mark.Word
	if n > 0 {
		c.Title += ", " + words.Count(int(n), "replica")
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
