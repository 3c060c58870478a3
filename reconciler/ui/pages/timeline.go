package pages

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/sources/words"
)

// fieldsNamed is how many fields of a manifest are named in a line of the timeline.
const fieldsNamed = 5

// Event is something that happened to a template.
type Event struct {
	When    Moment
	Marks   []Mark
	Change  Link // the publication; the text is the subject of its source commit
	Commit  Link // the source commit, at the forge if that is known
	Author  string
	Says    []string
	Allowed string // who allowed removals that would have been held
}

// happening is an event, and when it was.
type happening struct {
	Event

	at time.Time
	// isDecided says that something else was decided by it.
	isDecided bool
}

// timelineOf is what happened to a template, the newest first: what was decided, what of its manifest changed, how its run went
// on, and how it is in its clusters since when.
func timelineOf(f *facts.Facts, t *facts.Template, past *facts.Past, at Asked) (all []Event) {
	byChange := map[string]*happening{}
	var found []*happening
	of := func(c *facts.Change, a *facts.Author) *happening {
		key := c.Source + c.Commit.String()
		if h := byChange[key]; h != nil {
			return h
		}
		h := &happening{at: c.At(), Event: Event{When: MomentOf(c.At(), at.Now), Change: Link{Text: c.Subject}, Allowed: allowed(c)}}
		h.Commit = Link{short(c.Source), f.Site.Commit(c.Source)}
		h.Change.URL = ChangeURL(c.Source)
		if !c.Commit.IsZero() {
			h.Change.URL = ChangeURL(c.Commit.String())
		}
		if a != nil {
			h.Author = a.Name
		}
		byChange[key], found = h, append(found, h)
		return h
	}
	for i := range past.Steps {
		s := &past.Steps[i]
		h := of(&s.Change, s.Author)
		for _, d := range differences(s.Was, s.Is) {
			h.say(d.mark, d.text)
			h.isDecided = true
		}
		for _, text := range whatWaited(past.Steps[i:]) {
			h.say(Mark{"Released", "▸", "good"}, text)
		}
		for _, d := range wentOn(s.RunWas, s.RunIs) {
			h.say(d.mark, d.text)
		}
	}
	for i := range past.Edits {
		e := &past.Edits[i]
		h := of(&e.Change, e.Author)
		h.edited(e)
	}
	found = append(found, healthOf(f, t, past, at)...)
	slices.SortStableFunc(found, func(a, b *happening) int { return b.at.Compare(a.at) })
	for _, h := range found {
		if len(h.Says) > 0 {
			all = append(all, h.Event)
		}
	}
	return all
}

// say adds a line, with its mark where the event has none that says so.
func (h *happening) say(m Mark, text string) {
	if m.Word != "" && !slices.Contains(h.Marks, m) {
		h.Marks = append(h.Marks, m)
	}
	h.Says = append(h.Says, text)
}

// whatWaited says of what a publication carries out that had waited since an earlier one, whose that was. The steps begin with
// that publication.
func whatWaited(steps []facts.Step) (all []string) {
	s := &steps[0]
	if s.Was == nil {
		return nil
	}
	type origin struct{ commit, says string }
	in := map[origin][]string{}
	var order []origin
	for _, was := range s.Was.Targets {
		if was.Left == "" || s.Is != nil && isLeft(s.Is, was.Cluster) {
			continue
		}
		n := slices.IndexFunc(steps[1:], func(e facts.Step) bool {
			return e.Is != nil && isLeft(e.Is, was.Cluster) && (e.Was == nil || !isLeft(e.Was, was.Cluster))
		})
		if n < 0 {
			continue
		}
		began := &steps[1+n]
		who := ""
		if began.Author != nil {
			who = " by " + began.Author.Name
		}
		at := began.Change.At().UTC().Format(time.RFC3339)
		o := origin{began.Change.Source, "“" + began.Change.Subject + "”" + who + " (" + short(began.Change.Source) + ", " + at + ")"}
		if in[o] == nil {
			order = append(order, o)
		}
		in[o] = append(in[o], was.Cluster)
	}
	for _, o := range order {
		all = append(all, "carried out in "+words.First(in[o], 8)+": what "+o.says+" decided and had waited")
	}
	return all
}

func isLeft(t *facts.Template, cluster string) bool {
	target, ok := t.Target(cluster)
	return ok && target.Left != ""
}

// edited says in which fields a manifest became another one, and where. What is said of the decision already is left out.
func (h *happening) edited(e *facts.Edit) {
	where := words.Count(len(e.Clusters), "cluster")
	if len(e.Clusters) <= clustersNamed {
		where = strings.Join(e.Clusters, ", ")
	}
	switch {
	case e.Verb != "changed" && h.isDecided:
		return
	case e.Verb == "added":
		h.say(Mark{"Delivered", "+", "good"}, "delivered to "+where)
		return
	case e.Verb == "removed":
		h.say(Mark{"Removed", "−", "bad"}, "removed from "+where)
		return
	}
	shown, routine := fields.Shown(e.Fields)
	var texts []string
	mark := Mark{"Changed", "~", "warn"}
	for _, f := range shown {
		isImage := strings.HasSuffix(f.Path, ".image")
		if f.Path == "spec.replicas" && h.isDecided {
			continue
		}
		text := fieldWords(f)
		if isImage {
			mark = Mark{"Image", "~", "warn"}
			texts = slices.Insert(texts, 0, text)
			continue
		}
		texts = append(texts, text)
	}
	if more := len(texts) - fieldsNamed; more > 0 {
		texts = append(texts[:fieldsNamed], words.Count(more, "more field"))
	}
	if len(texts) == 0 {
		if h.isDecided || routine == 0 {
			return
		}
		texts = []string{words.Count(routine, "label or checksum")}
	}
	for _, text := range texts {
		h.say(mark, text+" in "+where)
	}
}

// fieldWords says how a field differs.
func fieldWords(f fields.Field) string {
	is := fieldOf(f)
	path := is.Path
	if strings.HasSuffix(path, ".image") {
		path = "image"
	}
	switch {
	case is.From != "" && is.To != "":
		return path + " " + is.From + " → " + is.To
	case is.To != "":
		return path + " is " + is.To
	case is.From != "":
		return path + " was " + is.From
	case is.Note != "":
		return path + " " + is.Note
	}
	return path + " changes"
}

// healthKey is how a template is in clusters that are alike.
type healthKey struct {
	mark   Mark
	reason string
	source string
}

// healthGroup is clusters in which a template is alike, and since when the first and the last of them are so.
type healthGroup struct {
	clusters []string
	from, to time.Time
	message  string
}

func (s *healthGroup) add(cluster string, since time.Time) {
	s.clusters = append(s.clusters, cluster)
	if since.Before(s.from) {
		s.from = since
	}
	if since.After(s.to) {
		s.to = since
	}
}

// sinceWhen is since when an object is as its mark says; zero where nobody says it.
func sinceWhen(o *status.Object) time.Time {
	isDrifting := o.Applied.Corrected > 0 && o.Health.State == karmada.ResourceHealthy
	if o.Applied.Phase != status.PhaseApplied || isDrifting {
		return o.Applied.Since
	}
	return o.Health.Since
}

// healthOf says how a template is in its clusters, and since when: those that are alike in a line.
func healthOf(f *facts.Facts, t *facts.Template, past *facts.Past, at Asked) (all []*happening) {
	groups := map[healthKey]*healthGroup{}
	var order []healthKey
	for _, target := range t.Targets {
		m := f.Cluster(target.Cluster)
		if m == nil {
			continue
		}
		o := at.Said(m, t.Ref.Namespace)[t.Ref]
		if o == nil {
			continue
		}
		when := sinceWhen(o)
		if when.IsZero() {
			continue
		}
		key := healthKey{healthMark(facts.Target{}, o), reasonOf(o), o.Applied.Source}
		g := groups[key]
		if g == nil {
			g = &healthGroup{from: when, to: when, message: whyUnwell(o)}
			groups[key], order = g, append(order, key)
		}
		g.add(target.Cluster, when)
	}
	for _, key := range order {
		g := groups[key]
		text := strings.ToLower(key.mark.Word) + " in " + strconv.Itoa(len(g.clusters)) + " of " + words.Count(len(t.Targets), "cluster")
		text += ": " + words.First(g.clusters, clustersNamed)
		if why := cmp.Or(g.message, key.reason); why != "" {
			text += "; " + why
		}
		h := &happening{at: g.from, Event: Event{Marks: []Mark{key.mark}, When: MomentOf(g.from, at.Now), Says: []string{text}}}
		if g.to.After(g.from) {
			h.Says = append(h.Says, "the last of them "+MomentOf(g.to, at.Now).Ago)
		}
		if key.source != "" {
			h.Change = Link{"with " + subjectOf(past, key.source), ChangeURL(key.source)}
			h.Commit = Link{short(key.source), f.Site.Commit(key.source)}
		}
		all = append(all, h)
	}
	return all
}

// reasonOf is why an object is not well, as a word; empty if it is.
func reasonOf(o *status.Object) string {
	switch {
	case o.Applied.Phase != status.PhaseApplied:
		return string(o.Applied.Phase)
	case o.Health.State == karmada.ResourceHealthy:
		return ""
	}
	return o.Health.Why()
}

// subjectOf is the subject of a source commit, or the beginning of its id where that is not known.
func subjectOf(past *facts.Past, source string) string {
	for i := range past.Edits {
		if c := &past.Edits[i].Change; c.Source == source && c.Subject != "" {
			return c.Subject
		}
	}
	for i := range past.Steps {
		if c := &past.Steps[i].Change; c.Source == source && c.Subject != "" {
			return c.Subject
		}
	}
	return short(source)
}
