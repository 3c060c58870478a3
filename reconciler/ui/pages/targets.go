package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
	"github.com/waybill-dev/waybill/sources/words"
)

// How many clusters of a template are shown on one page, and from how many on those that are alike are one line.
const (
	targetsAtOnce = 100
	alikeFrom     = 6
)

// Targets are the clusters of a template.
type Targets struct {
	Text     string
	Sort     string
	Heads    []list.Head
	Grouping Grouping
	Rows     []TargetRow
	Pager    list.Pager
	// Each is the address that has a line for each cluster; empty where each has one.
	Each string
}

// TargetRow is a template in a cluster, or in some that are alike.
type TargetRow struct {
	Cluster  Link
	Standing Mark // of the cluster
	Replicas string
	Mark     Mark
	Message  string
	Applied  string // commit of the cluster's branch
	Since    Moment
	// Group is what the group is called that begins with this row; empty where none does.
	Group string
	// Alike are the clusters, where they are some.
	Alike []Link

	group string
}

// targetsOf are the clusters of a template: those in which something is wrong first, and those that are alike in a line.
func targetsOf(f *facts.Facts, t *facts.Template, q url.Values, at Asked) Targets {
	p := Targets{Text: q.Get("q"), Sort: q.Get(list.SortParam), Grouping: grouping(f, q)}
	path := TemplateURL(t.Ref)
	var rows []TargetRow
	count := map[string]int{}
	for _, target := range chosenTargets(f, t, p.Text) {
		row := targetRow(f, t, target, at)
		if m := f.Cluster(target.Cluster); m != nil && p.Grouping.By != "" {
			row.group = p.Grouping.of(m)
		}
		count[row.group]++
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b TargetRow) int { return toneRank(a.Mark) - toneRank(b.Mark) })
	p.Heads = list.Sort(rows, targetColumns(), path, q)
	slices.SortStableFunc(rows, func(a, b TargetRow) int { return cmp.Compare(a.group, b.group) })
	what := "clusters"
	if folded := alike(rows); len(folded) < len(rows) && q.Get("each") == "" {
		rows, what, p.Each = folded, "lines", list.With(path, q, "each", "1", list.PageParam, "")
	}
	var from, to int
	p.Pager, from, to = list.Parts{What: what, Path: path, Param: list.PageParam, Size: targetsAtOnce}.Page(q, len(rows))
	p.Rows = rows[from:to]
	for i := range p.Rows {
		if r := &p.Rows[i]; p.Grouping.By != "" && (i == 0 || p.Rows[i-1].group != r.group) {
			r.Group = p.Grouping.name(r.group) + ": " + words.Count(count[r.group], "cluster")
		}
	}
	return p
}

// chosenTargets are the clusters with a text in their names, those with which something is wrong first.
func chosenTargets(f *facts.Facts, t *facts.Template, text string) (chosen []facts.Target) {
	for _, target := range t.Targets {
		if Matches(text, target.Cluster) {
			chosen = append(chosen, target)
		}
	}
	slices.SortStableFunc(chosen, func(a, b facts.Target) int { return cmp.Compare(rank(f, a), rank(f, b)) })
	return chosen
}

// rank orders the clusters of a template.
func rank(f *facts.Facts, t facts.Target) int {
	if t.Left != "" {
		return -1
	}
	if m := f.Cluster(t.Cluster); m != nil {
		return urgency(m)
	}
	return -1
}

// toneRank orders marks: what is bad comes first.
func toneRank(m Mark) int { return slices.Index([]string{"bad", "warn", "muted", "good"}, m.Tone) }

// targetColumns are those of the list of clusters.
func targetColumns() []list.Column[TargetRow] {
	return []list.Column[TargetRow]{
		list.ByText("Cluster", "name", func(r TargetRow) string { return r.Cluster.Text }),
		list.ByText("Here", "health", func(r TargetRow) string { return strconv.Itoa(toneRank(r.Mark)) + r.Mark.Word + r.Message }),
		list.ByNumber("Replicas", "replicas", func(r TargetRow) int {
			n, err := strconv.Atoi(r.Replicas)
			if err != nil {
				return 0
			}
			return n
		}),
		list.ByText("Applied commit", "applied", func(r TargetRow) string { return r.Applied }),
		list.ByText("Since", "since", func(r TargetRow) string { return r.Since.At }),
		list.ByText("The cluster", "status", func(r TargetRow) string { return r.Standing.Word }),
	}
}

// alike returns rows in which those that follow each other and say the same are one, where these are many.
func alike(rows []TargetRow) (all []TargetRow) {
	same := func(a, b *TargetRow) bool {
		return a.group == b.group && a.Mark == b.Mark && a.Replicas == b.Replicas && a.Message == b.Message && a.Standing == b.Standing
	}
	for i := 0; i < len(rows); {
		n := i + 1
		for n < len(rows) && same(&rows[i], &rows[n]) {
			n++
		}
		if n-i < alikeFrom {
			all, i = append(all, rows[i:n]...), n
			continue
		}
		row := rows[i]
		row.Alike, row.Applied = make([]Link, 0, n-i), ""
		for ; i < n; i++ {
			row.Alike = append(row.Alike, rows[i].Cluster)
			if at := rows[i].Since; at.At != "" && at.At < row.Since.At {
				row.Since = at
			}
		}
		row.Cluster = Link{Text: words.Count(len(row.Alike), "cluster")}
		all = append(all, row)
	}
	return all
}

func targetRow(f *facts.Facts, t *facts.Template, target facts.Target, at Asked) TargetRow {
	row := TargetRow{Cluster: Link{Text: target.Cluster}, Message: target.Left}
	if n := seats(t, target); n > 0 {
		row.Replicas = strconv.Itoa(int(n))
	}
	m := f.Cluster(target.Cluster)
	if m == nil {
		row.Mark, row.Standing = healthMark(target, nil), Mark{"Not registered", "–", "muted"}
		return row
	}
	row.Cluster.URL, row.Standing = ClusterURL(target.Cluster), standingMark(m.State)
	o := at.Said(m, t.Ref.Namespace)[t.Ref]
	row.Mark = healthMark(target, o)
	if o == nil {
		return row
	}
	if !o.Applied.Commit.IsZero() {
		row.Applied = short(o.Applied.Commit.String())
	}
	row.Message = cmp.Or(row.Message, whyUnwell(o))
	row.Since = since(o, at.Now)
	return row
}
