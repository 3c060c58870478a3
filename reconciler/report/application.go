package report

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/report/cell"
	"github.com/waybill-dev/waybill/render/object"
)

// application is what apply prints of a cluster.
type application struct {
	Cluster   string             `json:"cluster"`
	Commit    string             `json:"commit,omitempty"` // of its branch
	Objects   int                `json:"objects"`          // on the branch
	Unchanged int                `json:"unchanged"`
	Actions   []action           `json:"actions,omitempty"`
	Refused   []action           `json:"refused,omitempty"`
	Held      *apply.Hold        `json:"held,omitempty"`
	Adoption  *apply.Adoption    `json:"adoption,omitempty"`
	Stopped   string             `json:"stopped,omitempty"`
	Suspended string             `json:"suspended,omitempty"`
	Unready   []clusters.Unready `json:"unready,omitempty"`
	Error     string             `json:"error,omitempty"`
}

// action is what was done, or would be done, about an object.
type action struct {
	Object object.Ref `json:"object"`
	Verb   apply.Verb `json:"verb"`
	Error  string     `json:"error,omitempty"`
	Waits  string     `json:"waits,omitempty"`
}

// Stage is how far applying came.
type Stage int

// It was done; it was planned; or it was planned, and what could be taken over is to be shown.
const (
	Done Stage = iota
	Planned
	Adopting
)

// Applications is what apply prints.
func Applications(apps []applier.Result, stage Stage) Report {
	list := make([]application, 0, len(apps))
	for i := range apps {
		list = append(list, applicationOf(&apps[i], stage))
	}
	value := struct {
		Clusters []application `json:"clusters"`
	}{list}
	return Report{value: value, text: func(w io.Writer) error { return applications(w, list, stage) }}
}

func applicationOf(a *applier.Result, stage Stage) application {
	plan := &a.Report.Plan
	out := application{Cluster: a.Cluster, Objects: a.Objects, Unchanged: plan.Same, Held: plan.Hold, Stopped: a.Report.Stopped, Suspended: a.Suspension.Why, Unready: a.Unready}
	if !a.Commit.IsZero() {
		out.Commit = a.Commit.String()
	}
	if len(plan.Adoption.Objects) > 0 {
		out.Adoption = &plan.Adoption
	}
	for _, r := range plan.Refused {
		out.Refused = append(out.Refused, action{Object: r.Ref, Verb: r.Verb, Error: r.Why})
	}
	if a.Err != nil {
		out.Error = a.Err.Error()
	}
	if stage != Done {
		for _, x := range plan.Actions() {
			out.Actions = append(out.Actions, action{Object: x.Ref, Verb: x.Verb})
		}
		return out
	}
	for _, o := range a.Report.Outcomes {
		x := action{Object: o.Ref, Verb: o.Verb, Waits: o.Waits}
		if o.Err != nil {
			x.Error = o.Err.Error()
		}
		out.Actions = append(out.Actions, x)
	}
	return out
}

// verbs are the columns of the table.
var verbs = []apply.Verb{apply.Create, apply.Update, apply.Correct, apply.Recreate, apply.Adopt, apply.Delete, apply.Release}

func applications(w io.Writer, list []application, stage Stage) error {
	head := []string{"CLUSTER", "COMMIT", "OBJECTS", "CREATE", "UPDATE", "CORRECT", "RECREATE", "ADOPT", "DELETE", "RELEASE", "SAME", "FAILED"}
	var rows [][]string
	for _, a := range list {
		if a.Commit == "" && (a.Error != "" || a.Suspended != "") {
			continue
		}
		counts, failed := map[apply.Verb]int{}, len(a.Refused)
		for _, x := range a.Actions {
			if x.Error != "" {
				failed++
			} else {
				counts[x.Verb]++
			}
		}
		row := []string{a.Cluster, cell.Dash(cell.Commit(a.Commit)), strconv.Itoa(a.Objects)}
		for _, v := range verbs {
			row = append(row, strconv.Itoa(counts[v]))
		}
		rows = append(rows, append(row, strconv.Itoa(a.Unchanged), strconv.Itoa(failed)))
	}
	if len(rows) > 0 {
		if err := columns(w, head, rows); err != nil {
			return err
		}
	}
	p := printer{w: w}
	for _, a := range list {
		p.application(a, stage)
	}
	return p.err
}

// application prints what the table does not say.
func (p *printer) application(a application, stage Stage) {
	for _, x := range a.Actions {
		switch {
		case stage != Done:
			p.line("%s: would %s %s", a.Cluster, x.Verb, x.Object)
		case x.Error != "":
			p.line("%s: %s: cannot %s it: %s", a.Cluster, x.Object, x.Verb, x.Error)
		case x.Waits != "":
			p.line("%s: %s: %s", a.Cluster, x.Object, x.Waits)
		}
	}
	for _, x := range a.Refused {
		p.line("%s: %s: %s", a.Cluster, x.Object, x.Error)
	}
	if a.Held != nil {
		p.line("%s: held, and nothing was done: %s; waybill apply --allow-prune %s lets it happen", a.Cluster, a.Held.Reason, a.Cluster)
		for _, r := range a.Held.Removals {
			p.line("%s:   would lose %s", a.Cluster, r)
		}
	}
	if a.Suspended != "" {
		p.line("%s: nothing was applied: %s", a.Cluster, a.Suspended)
	}
	if a.Stopped != "" {
		p.line("%s: %s", a.Cluster, a.Stopped)
	}
	for _, u := range a.Unready {
		if u.Status == health.Suspended {
			p.line("%s: %s: suspended: %s", a.Cluster, u.Object, u.Message)
			continue
		}
		p.line("%s: %s: not ready: %s %s", a.Cluster, u.Object, u.Status, u.Message)
	}
	if stage == Adopting && a.Adoption != nil {
		p.adoption(a.Cluster, a.Adoption)
	}
	if a.Error != "" {
		p.line("%s: error: %s", a.Cluster, a.Error)
	}
}

func (p *printer) adoption(cluster string, a *apply.Adoption) {
	for _, o := range a.Objects {
		p.line("%s: would adopt %s (%s)", cluster, o.Object, strings.Join(slices.Concat(o.Managers, o.Marks), ", "))
	}
	p.line("%s: waybill apply --adopt=%s %s takes these over", cluster, a.Digest, cluster)
}
