package pages

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
)

// Changes is the page of the last publications.
type Changes struct {
	Rows []ChangeRow
	More bool
}

// ChangeRow is a publication.
type ChangeRow struct {
	Change  Link
	Source  string
	When    Moment
	Moves   string // what moved by itself
	Allowed string // who allowed removals that would have been held
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

// OfChanges shows publications.
func OfChanges(all []facts.Change, most int, now time.Time) Changes {
	p := Changes{More: len(all) == most}
	for i, c := range all {
		p.Rows = append(p.Rows, ChangeRow{
			Change: Link{c.Subject, ChangeURL(c.Commit.String())}, Source: short(c.Source), When: moment(c.When, now),
			Moves: c.Body, Allowed: allowed(&c), Current: i == 0,
		})
	}
	return p
}

// Change is the page of a publication.
type Change struct {
	Subject   string
	Source    string
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

// Decision is a template about which something else was decided.
type Decision struct {
	Template Link
	Says     []string
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
		Subject: e.Change.Subject, Source: e.Change.Source, State: e.Change.Commit.String(),
		When: moment(e.Change.When, now), Moves: e.Change.Body, Allowed: allowed(&e.Change),
		Within: within, All: ChangeURL(e.Change.Commit.String()), MoreThan: e.MoreObjects, Cut: e.Cut,
	}
	if a := e.Author; a != nil {
		p.Author, p.Message = a.Name, strings.TrimSpace(a.Message)
		p.When = moment(a.When, now)
	}
	for _, d := range e.Decisions {
		p.Decisions = append(p.Decisions, Decision{Template: templateLink(f, d), Says: says(d.Was, d.Is)})
	}
	if e.MoreDecisions > 0 {
		p.MoreWords = plural(e.MoreDecisions, "more template")
	}
	for _, c := range e.Clusters {
		only := Link{Text: "only this", URL: p.All + "?cluster=" + strings.TrimPrefix(ClusterURL(c.Cluster), "/clusters/")}
		p.Clusters = append(p.Clusters, Touched{
			Cluster: Link{c.Cluster, ClusterURL(c.Cluster)}, Only: only, Commit: short(c.Commit.String()),
			Added: c.Added, Changed: c.Changed, Removed: c.Removed,
		})
	}
	for i := range e.Objects {
		p.Objects = append(p.Objects, objectOf(&e.Objects[i]))
	}
	return p
}

// templateLink leads to a template, if it is still there.
func templateLink(f *facts.Facts, d facts.Decided) Link {
	kind := d.Ref.Kind
	if d.Ref.Group != "" {
		kind += "." + d.Ref.Group
	}
	l := Link{Text: d.Ref.String()}
	if len(f.Find(kind, d.Ref.Namespace, d.Ref.Name)) > 0 {
		l.URL = TemplateURL(d.Ref)
	}
	return l
}

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
	o.Clusters = first(c.Clusters, 6)
	if len(c.Clusters) > 1 {
		o.Clusters = plural(len(c.Clusters), "cluster") + ": " + o.Clusters
	}
	shown, routine := fields.Shown(c.Fields)
	for _, f := range shown {
		o.Fields = append(o.Fields, fieldOf(f))
	}
	if routine > 0 {
		o.Fields = append(o.Fields, Field{Note: plural(routine, "label or checksum") + " that follow from this"})
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
