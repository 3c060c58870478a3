package pages

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Template is the page of a template.
type Template struct {
	Object   string
	Policy   string
	Source   Link // its file
	Replicas string
	Divided  bool
	Gone     bool
	Placed   Mark
	Message  string
	NeededBy []string
	Errors   []FileError // in its file, such as that a release cannot be rendered
	// Rollout leads to the unit with which it goes out in stages, whose phase is RolloutMark; empty where it does not.
	Rollout     Link
	RolloutMark Mark
	Leaving     []Leave
	Targets     Targets
	Events      []Event
	More        bool   // there may be earlier ones
	Why         string // address of the explanation; empty for one that is gone
}

// FileError is an error in a file of the source.
type FileError struct {
	At, Message string
	Since       Moment
}

// errorsIn are the errors of the source that are in a file.
func errorsIn(f *facts.Facts, file string, now time.Time) (all []FileError) {
	if f.SourceErrors == nil || file == "" {
		return nil
	}
	for _, e := range f.SourceErrors().Errors {
		if e.File == file {
			all = append(all, FileError{At: diag.Pos{File: e.File, Line: e.Line}.String(), Message: e.Message, Since: MomentOf(e.Since, now)})
		}
	}
	return all
}

// Leave is a cluster that a template leaves.
type Leave struct {
	Cluster, Reason string
	Since           Moment
}

// OfTemplate shows a template.
func OfTemplate(f *facts.Facts, t *facts.Template, past facts.Past, q url.Values, at Asked) Template {
	here := TemplateURL(t.Ref)
	p := Template{
		Object: t.Ref.String(), Policy: t.Policy, Gone: t.Gone, Divided: t.Divided, NeededBy: t.NeededBy,
		More: past.More, Why: here + "/why",
		Placed: Mark{"Placed", "✓", "good"}, Message: t.Scheduled.Message,
		Source: Link{t.Source, f.Site.File(f.Fleet.Seen.Commit, t.Source, 0)},
	}
	if !t.Placed() {
		p.Placed = Mark{"Not placed", "✕", "bad"}
	}
	if t.Gone {
		p.Placed, p.Message, p.Why, p.Source.URL = Mark{"Gone", "–", "muted"}, "", "", ""
	}
	p.Errors = errorsIn(f, t.Source, at.Now)
	if t.Replicas > 0 {
		p.Replicas = strconv.Itoa(int(t.Replicas))
	}
	for _, l := range t.Leaving {
		leave := Leave{Cluster: l.FromCluster, Reason: cmp.Or(l.Message, l.Reason)}
		if l.CreationTimestamp != nil {
			leave.Since = MomentOf(l.CreationTimestamp.Time, at.Now)
		}
		p.Leaving = append(p.Leaving, leave)
	}
	if r := f.Rollout(t.Unit); r != nil {
		p.Rollout, p.RolloutMark = Link{r.Unit.String(), RolloutURL(r.Unit)}, PhaseMark(r.Status.Phase)
	}
	p.Targets = targetsOf(f, t, q, at)
	p.Events = timelineOf(f, t, &past, at)
	return p
}

// Asked is what a page needs besides the facts.
type Asked struct {
	Now  time.Time
	Said Objects
}

// whyUnwell says why something is to be done about an object; empty if nothing is.
func whyUnwell(o *status.Object) string {
	if o.Well() {
		return ""
	}
	why := cmp.Or(o.Applied.Message, o.Health.Message, o.Health.Reason)
	if said := o.Health.PodWords(); said != "" && o.Applied.Message == "" {
		why = strings.TrimSuffix(said+"; "+why, "; ")
	}
	if o.Applied.Message == "" && o.Health.By != "" {
		why += " (by " + o.Health.By + ")"
	}
	if why == "" && o.Applied.Corrected > 0 {
		why = "somebody changes it, and it was put right " + words.Count(o.Applied.Corrected, "time")
	}
	return why
}

// since is since when an object is as it is.
func since(o *status.Object, now time.Time) Moment {
	if o.Applied.Phase == status.PhaseApplied && o.Health.State != karmada.ResourceHealthy {
		return MomentOf(o.Health.Since, now)
	}
	return MomentOf(o.Applied.Since, now)
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
