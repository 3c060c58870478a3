package pages

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Changes is the page of the last publications.
type Changes struct {
	Heads []list.Head
	Rows  []ChangeRow
	More  bool
}

// ChangeRow is a publication.
type ChangeRow struct {
	Change  Link
	Source  Link // the source commit, at the forge if that is known
	When    Moment
	Moves   string // what moved by itself
	Allowed string // who allowed removals that would have been held
	Again   string // how it differs from another publication of the same source commit; empty where there is none before
	Current bool
}

// allowed says who allowed the removals of a publication that would have been held; empty where none would.
func allowed(c *facts.Change) string {
	switch {
	case !c.Released:
		return ""
	case len(c.ReleasedBy) == 0:
		return "allowed by who published, or by a trailer"
	}
	return "allowed by " + strings.Join(c.ReleasedBy, ", ")
}

// OfChanges shows publications, the newest first unless the address says otherwise.
func OfChanges(f *facts.Facts, all []facts.Change, most int, q url.Values, now time.Time) Changes {
	p := Changes{More: len(all) == most}
	type numbered struct {
		facts.Change

		n int
	}
	rows := make([]numbered, len(all))
	for i := range all {
		rows[i] = numbered{all[i], i}
	}
	p.Heads = list.Sort(rows, []list.Column[numbered]{
		list.ByText("Change", "subject", func(c numbered) string { return c.Subject }),
		list.ByText("Source commit", "source", func(c numbered) string { return c.Source }),
		list.By("Published", "when", func(a, b numbered) int { return a.At().Compare(b.At()) }),
	}, "/changes", q)
	for i := range rows {
		c := &rows[i]
		p.Rows = append(p.Rows, ChangeRow{
			Change: Link{c.Subject, ChangeURL(c.Commit.String())}, Source: Link{short(c.Source), f.Site.Commit(c.Source)},
			When:  MomentOf(c.At(), now),
			Moves: c.Body, Allowed: allowed(&c.Change), Again: again(all[c.n:], now), Current: c.n == 0,
		})
	}
	return p
}

// again says how the first of some publications differs from one before of the same source commit; empty where there is none.
func again(all []facts.Change, now time.Time) string {
	c := &all[0]
	n := slices.IndexFunc(all[1:], func(o facts.Change) bool { return o.Source == c.Source })
	if n < 0 {
		return ""
	}
	why := "clusters say something else, or the time has come"
	switch {
	case c.Released:
		why = "what was held goes"
	case c.Body != "" && c.Body != all[1+n].Body:
		why = "something moves"
	case !c.Later.IsZero():
		why = "what depends on the time was decided as of " + c.Later.UTC().Format(time.RFC3339)
	}
	return "the same commit again, after " + short(all[1+n].Commit.String()) + " of " + MomentOf(all[1+n].At(), now).Ago + ": " + why
}

// Change is the page of a publication.
type Change struct {
	Subject   string
	Answer    []preview.Part // what it did, in a sentence; empty where that is not known
	Source    Link           // the source commit, at the forge if that is known
	State     string
	Author    string
	Message   string
	When      Moment
	Moves     string
	Allowed   string // who allowed removals that would have been held
	Within    string // only this cluster is shown
	All       string // address of the whole
	Decisions []Decision
	MoreWords string // of decisions
	Clusters  []Touched
	Objects   []Object
	MoreThan  int // objects that are not listed
	Cut       bool
}

// Decision is something that was decided alike of some templates.
type Decision struct {
	Templates []Link // the first of them
	More      string // how many there are besides
	Says      []string
}

// Touched is a cluster whose branch moved.
type Touched struct {
	Cluster, Only           Link
	Commit                  string
	Added, Changed, Removed int
}

// Object is a manifest that changed alike in some clusters.
type Object struct {
	Name, Verb, Sign, Tone string
	Clusters               string
	Fields                 []Field
	Hidden                 bool
}

// Field is a field that changed.
type Field struct {
	Path     string
	From, To string
	Lines    string
	Note     string
}

// OfChange shows what a publication did; within names the only cluster, or is empty.
func OfChange(f *facts.Facts, e facts.Effect, within string, now time.Time) Change {
	p := Change{
		Subject: e.Change.Subject, Source: Link{e.Change.Source, f.Site.Commit(e.Change.Source)}, State: e.Change.Commit.String(),
		When: MomentOf(e.Change.When, now), Moves: e.Change.Body, Allowed: allowed(&e.Change),
		Within: within, All: ChangeURL(e.Change.Commit.String()), MoreThan: e.MoreObjects, Cut: e.Cut,
	}
	if a := e.Author; a != nil {
		p.Author, p.Message = a.Name, strings.TrimSpace(a.Message)
		p.When = MomentOf(a.When, now)
	}
	p.Decisions = alikeDecided(e.Decisions)
	p.Answer = answerOf(&e)
	if e.MoreDecisions > 0 {
		p.MoreWords = words.Count(e.MoreDecisions, "more template")
	}
	for _, c := range e.Clusters {
		only := Link{Text: "only this", URL: p.All + "?cluster=" + strings.TrimPrefix(ClusterURL(c.Cluster), "/clusters/")}
		p.Clusters = append(p.Clusters, Touched{
			Cluster: Link{c.Cluster, ClusterURL(c.Cluster)}, Only: only, Commit: short(c.Commit.String()),
			Added: c.Added, Changed: c.Changed, Removed: c.Removed,
		})
	}
	objects := slices.Clone(e.Objects)
	slices.SortStableFunc(objects, func(a, b facts.Changed) int { return object.KindRank(a.Ref.Kind) - object.KindRank(b.Ref.Kind) })
	for i := range objects {
		p.Objects = append(p.Objects, objectOf(&objects[i]))
	}
	return p
}

// templatesNamed is how many templates are named of which the same was decided.
const templatesNamed = 20

// alikeDecided says once what was decided of several templates, in the order of the first of them.
func alikeDecided(decided []facts.Decided) (all []Decision) {
	at := map[string]int{} // by what is said
	var of [][]Link
	for _, d := range decided {
		lines := says(d.Was, d.Is)
		key := strings.Join(lines, "\n")
		i, known := at[key]
		if !known {
			i = len(all)
			at[key] = i
			all, of = append(all, Decision{Says: lines}), append(of, nil)
		}
		of[i] = append(of[i], templateLink(d))
	}
	for i := range all {
		all[i].Templates = of[i][:min(templatesNamed, len(of[i]))]
		if n := len(of[i]) - templatesNamed; n > 0 {
			all[i].More = words.Count(n, "more template")
		}
	}
	return all
}

// templateLink leads to a template, also to one that is gone.
func templateLink(d facts.Decided) Link { return Link{d.Ref.String(), TemplateURL(d.Ref)} }

func objectOf(c *facts.Changed) Object {
	o := Object{Name: c.Ref.String(), Verb: c.Verb, Sign: "~", Tone: "warn", Hidden: c.Hidden && c.Verb == "changed"}
	if c.Ref.Kind == "" {
		o.Name = c.Path
	}
	switch c.Verb {
	case "added":
		o.Sign, o.Tone = "+", "good"
	case "removed":
		o.Sign, o.Tone = "−", "bad"
	}
	o.Clusters = words.First(c.Clusters, 6)
	if len(c.Clusters) > 1 {
		o.Clusters = words.Count(len(c.Clusters), "cluster") + ": " + o.Clusters
	}
	shown, routine := fields.Shown(c.Fields)
	for _, f := range shown {
		o.Fields = append(o.Fields, fieldOf(f))
	}
	if routine > 0 {
		o.Fields = append(o.Fields, Field{Note: fields.Follow(routine) + " from this"})
	}
	return o
}

func fieldOf(f fields.Field) Field {
	out := Field{Path: f.Path, Lines: f.Lines}
	switch {
	case f.Hidden:
		out.Note = "changes; its value is not shown"
	case f.Lines != "":
	case f.Op == fields.Reorder:
		out.Note = "has the same items in another order"
	case f.Op == fields.Add:
		out.To = value(f.To)
	case f.Op == fields.Remove:
		out.From = value(f.From)
	default:
		out.From, out.To = value(f.From), value(f.To)
	}
	return out
}

// value prints a value, if it is short.
func value(v any) string {
	const most = 300
	data, err := json.Marshal(v)
	if err != nil {
		return "(cannot be printed)"
	}
	text := string(data)
	if s, ok := v.(string); ok && s != "" {
		text = s
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
