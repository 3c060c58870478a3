package pages

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
)

// targetsAtOnce is how many clusters of a template are shown on one page.
const targetsAtOnce = 100

// Template is the page of a template.
type Template struct {
	Object   string
	Policy   string
	Source   string
	Replicas string
	Divided  bool
	Placed   Mark
	Message  string
	NeededBy []string
	// Rollout leads to the unit with which it goes out in stages, whose phase is RolloutMark; empty where it does not.
	Rollout     Link
	RolloutMark Mark
	Leaving     []Leave
	Text        string
	Targets     []TargetRow
	Pager       Pager
	Steps       []Step
	More        bool   // there may be earlier ones
	Why         string // address of the explanation
}

// Leave is a cluster that a template leaves.
type Leave struct {
	Cluster, Reason string
	Since           Moment
}

// TargetRow is a template in a cluster.
type TargetRow struct {
	Cluster  Link
	Standing Mark // of the cluster
	Replicas string
	Mark     Mark
	Message  string
	Applied  string // commit of the cluster's branch
	Since    Moment
}

// Step is a change of the decision, in words.
type Step struct {
	Change Link
	When   Moment
	Says   []string
}

// Past is how a template came to be where it is.
type Past struct {
	Steps []facts.Step
	More  bool
}

// OfTemplate shows a template.
func OfTemplate(f *facts.Facts, t *facts.Template, past Past, q url.Values, at Asked) Template {
	here := TemplateURL(t.Ref)
	p := Template{
		Object: t.Ref.String(), Policy: t.Policy, Source: t.Source, Divided: t.Divided, NeededBy: t.NeededBy,
		Text: q.Get("q"), More: past.More, Why: here + "/why",
		Placed: Mark{"Placed", "✓", "good"}, Message: t.Scheduled.Message,
	}
	if !t.Placed() {
		p.Placed = Mark{"Not placed", "✕", "bad"}
	}
	if t.Replicas > 0 {
		p.Replicas = strconv.Itoa(int(t.Replicas))
	}
	for _, l := range t.Leaving {
		leave := Leave{Cluster: l.FromCluster, Reason: cmp.Or(l.Message, l.Reason)}
		if l.CreationTimestamp != nil {
			leave.Since = moment(l.CreationTimestamp.Time, at.Now)
		}
		p.Leaving = append(p.Leaving, leave)
	}
	if r := f.Rollout(t.Unit); r != nil {
		p.Rollout, p.RolloutMark = Link{r.Unit.String(), RolloutURL(r.Unit)}, phaseMark(r.Status.Phase)
	}
	p.targets(f, t, q, at)
	for _, s := range past.Steps {
		p.Steps = append(p.Steps, stepOf(s, at.Now))
	}
	return p
}

// Asked is what a page needs besides the facts.
type Asked struct {
	Now  time.Time
	Said Objects
}

// targets adds the clusters, those in which something is wrong first.
func (p *Template) targets(f *facts.Facts, t *facts.Template, q url.Values, at Asked) {
	var chosen []facts.Target
	for _, target := range t.Targets {
		if matches(p.Text, target.Cluster) {
			chosen = append(chosen, target)
		}
	}
	slices.SortStableFunc(chosen, func(a, b facts.Target) int { return cmp.Compare(rank(f, a), rank(f, b)) })
	var from, to int
	p.Pager, from, to = pager(list{"clusters", TemplateURL(t.Ref), "page", targetsAtOnce}, q, len(chosen))
	for _, target := range chosen[from:to] {
		p.Targets = append(p.Targets, targetRow(f, t, target, at))
	}
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

// whyUnwell says why something is to be done about an object; empty if nothing is.
func whyUnwell(o *status.Object) string {
	if o.Well() {
		return ""
	}
	why := cmp.Or(o.Applied.Message, o.Health.Message, o.Health.Reason)
	if o.Applied.Message == "" && o.Health.By != "" {
		why += " (by " + o.Health.By + ")"
	}
	if why == "" && o.Applied.Corrected > 0 {
		why = "somebody changes it, and it was put right " + plural(o.Applied.Corrected, "time")
	}
	return why
}

// since is since when an object is as it is.
func since(o *status.Object, now time.Time) Moment {
	if o.Applied.Phase == status.PhaseApplied && o.Health.State != karmada.ResourceHealthy {
		return moment(o.Health.Since, now)
	}
	return moment(o.Applied.Since, now)
}

func stepOf(s facts.Step, now time.Time) Step {
	return Step{
		Change: Link{short(s.Change.Source) + " " + s.Change.Subject, ChangeURL(s.Change.Commit.String())},
		When:   moment(s.Change.When, now), Says: says(s.Was, s.Is),
	}
}

// says puts the difference of two decisions into words. Either may be nil.
func says(was, is *facts.Template) []string {
	switch {
	case was == nil && is == nil:
		return nil
	case is == nil:
		return []string{"it is gone"}
	case was == nil:
		was = &facts.Template{}
	}
	var all, added, removed, left []string
	scaled := map[string][]string{} // by from and to
	for _, t := range is.Targets {
		before, had := was.Target(t.Cluster)
		switch a, b := seats(was, before), seats(is, t); {
		case !had:
			added = append(added, t.Cluster+counted(b))
		case a != b:
			span := strconv.Itoa(int(a)) + " → " + strconv.Itoa(int(b))
			scaled[span] = append(scaled[span], t.Cluster)
		}
		if t.Left != before.Left && t.Left != "" {
			left = append(left, t.Cluster+" ("+t.Left+")")
		}
	}
	for _, t := range was.Targets {
		if _, has := is.Target(t.Cluster); !has {
			removed = append(removed, t.Cluster+counted(seats(was, t)))
		}
	}
	for _, part := range []struct {
		does string
		who  []string
	}{{"added to ", added}, {"removed from ", removed}, {"not carried out in ", left}} {
		if len(part.who) > 0 {
			all = append(all, part.does+first(part.who, 8))
		}
	}
	for _, span := range slices.Sorted(maps.Keys(scaled)) {
		all = append(all, "replicas "+span+" in "+first(scaled[span], 8))
	}
	if was.Policy != is.Policy {
		all = append(all, "placed by "+cmp.Or(is.Policy, "no policy"))
	}
	if was.Scheduled.Message != is.Scheduled.Message && !is.Placed() {
		all = append(all, is.Scheduled.Message)
	}
	if len(all) == 0 {
		all = append(all, "placed the same, for other reasons")
	}
	return all
}

func counted(n int32) string {
	if n == 0 {
		return ""
	}
	return " (" + strconv.Itoa(int(n)) + ")"
}

// first lists names, at most so many.
func first(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(len(names)-most) + " more"
}

// Why is the page that explains where a template goes.
type Why struct {
	Object string
	URL    string // of the template
	Text   string
	Error  string
}

// OfWhy shows an explanation, as waybill explain prints it.
func OfWhy(r object.Ref, text, err string) Why {
	return Why{Object: r.String(), URL: TemplateURL(r), Text: text, Error: err}
}

// isOf reports a template that goes to a cluster.
func isOf(t *facts.Template, m *reports.Cluster) bool {
	_, ok := t.Target(m.Cluster)
	return ok
}
