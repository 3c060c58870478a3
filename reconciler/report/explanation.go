package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/explain"
	"github.com/waybill-dev/waybill/reconciler/plan/move"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/services"
	"github.com/waybill-dev/waybill/reconciler/report/backend"
	"github.com/waybill-dev/waybill/reconciler/report/cell"
	"github.com/waybill-dev/waybill/reconciler/report/service"
	"github.com/waybill-dev/waybill/reconciler/report/update"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Explained is what decided where one template goes and what it is there, in words.
type Explained struct {
	Object     object.Ref                `json:"object"`
	Where      string                    `json:"where"` // file and line
	Outcome    string                    `json:"outcome"`
	Message    string                    `json:"message,omitempty"`
	Release    string                    `json:"release,omitempty"` // that renders it
	Policy     string                    `json:"policy,omitempty"`
	PolicyPos  string                    `json:"policyWhere,omitempty"`
	Losers     []match.Loser             `json:"losers,omitempty"`
	Replicas   int32                     `json:"replicas,omitempty"`
	Answers    []interpret.Answer        `json:"answers,omitempty"`
	Placement  *place.Report             `json:"placement,omitempty"`
	RequiredBy []karmada.BindingSnapshot `json:"requiredBy,omitempty"`
	// Autoscaling is how a FederatedHPA scales it, or what is made of one; nil where none does.
	Autoscaling *Autoscaling     `json:"autoscaling,omitempty"`
	Services    []services.About `json:"services,omitempty"` // how clusters exchange it
	Backends    *backend.About   `json:"backends,omitempty"` // that it sends traffic to
	Updates     []update.Update  `json:"updates,omitempty"`  // what is newer of its images and its chart
	// Leaving says which clusters it leaves, and Waits why it does not leave one that it should.
	Leaving []karmada.GracefulEvictionTask `json:"leaving,omitempty"`
	Waits   string                         `json:"waits,omitempty"`
	// Moves say how it leaves clusters for others.
	Moves []Moving `json:"moves,omitempty"`
	// Full are the clusters that get no more of its replicas: some find no node there.
	Full     []string  `json:"full,omitempty"`
	Clusters []Written `json:"clusters"`
	// Staged is how it goes out in stages; nil where it does not.
	Staged *Staged `json:"staged,omitempty"`
}

// Moving is how the template leaves a cluster for others.
type Moving struct {
	From    string   `json:"from"`
	To      []string `json:"to"`
	Way     move.Way `json:"way"`               // health, time or direct
	How     string   `json:"how"`               // in words
	Nowhere string   `json:"nowhere,omitempty"` // for how long it may be in no cluster
}

// Written is what the template is in one cluster.
type Written struct {
	Cluster  string             `json:"cluster"`
	Replicas int32              `json:"replicas,omitempty"`
	Changes  []override.Applied `json:"changes,omitempty"`
	Error    string             `json:"error,omitempty"`
	// Left says that nothing of the decision is carried out there: "kept" as it was
	// published, or "missed" where it was not; Why is the reason.
	Left string `json:"left,omitempty"`
	Why  string `json:"why,omitempty"`
}

// Explain puts what a plan tells of a template into words.
func Explain(e *explain.Explanation) Explained {
	d := e.Decision
	out := Explained{
		Object: d.Ref(), Where: d.Template.Object.Origin().String(), Outcome: outcome(d), Message: d.Message,
		Losers: e.Losers, Replicas: d.Size.Replicas, Answers: e.Answers, Placement: e.Placement, RequiredBy: d.RequiredBy,
		Services: e.Services, Backends: backend.Of(d),
	}
	if d.Template.Part != nil {
		out.Release = d.Template.Part.Release.Ref().String()
	}
	out.Autoscaling = autoscaling(d)
	if e.Winner != nil {
		out.Policy, out.PolicyPos = e.Winner.String(), e.Winner.Object.Origin().String()
	}
	if d.Shift != nil {
		out.Full = d.Shift.Full
	}
	if d.Moves != nil {
		out.Leaving, out.Waits = d.Moves.Tasks, d.Moves.Waits.Message()
	}
	for _, m := range e.Moves {
		out.Moves = append(out.Moves, Moving{m.From, m.To, m.Way, m.How(), m.Nowhere()})
	}
	if e.Rollout != nil {
		out.Staged = staged(e.Rollout)
	}
	for _, c := range e.Clusters {
		w := Written{Cluster: c.Cluster, Replicas: c.Replicas, Changes: c.Changes}
		if c.Err != nil {
			w.Error = c.Err.Error()
		}
		if c.Left != nil {
			w.Left, w.Why = "missed", c.Left.Reason.Message()
			if c.Left.Kept {
				w.Left = "kept"
			}
		}
		out.Clusters = append(out.Clusters, w)
	}
	return out
}

// outcome says what became of a template: what could not be placed is not called placed.
func outcome(d *plan.Decision) string {
	switch {
	case d.Outcome != schedule.Placed || d.Policy == nil || d.Reason == string(place.Success):
		return d.Outcome.String()
	case len(d.Scheduled) == 0:
		return "not placed"
	}
	return "not placed anew, and stays where it is"
}

// Explanation is what explain prints.
func Explanation(e *Explained) Report {
	return Report{value: e, text: func(w io.Writer) error { return explanation(w, e) }}
}

func explanation(w io.Writer, e *Explained) error {
	fmt.Fprintf(w, "%s  (%s)\n", e.Object, e.Where)
	switch {
	case e.Policy != "":
		fmt.Fprintf(w, "policy     %s  (%s)\n", e.Policy, e.PolicyPos)
	default:
		fmt.Fprintf(w, "policy     none selects it\n")
	}
	if e.Release != "" {
		fmt.Fprintf(w, "part of    %s, which the policy selects\n", e.Release)
	}
	for _, l := range e.Losers {
		fmt.Fprintf(w, "  lost     %s: %s\n", l.Policy, l.Why)
	}
	fmt.Fprintf(w, "outcome    %s%s\n", e.Outcome, prefixed(": ", e.Message))
	for _, t := range e.Leaving {
		fmt.Fprintf(w, "leaves     %s since %s (%s): %s\n", t.FromCluster, t.CreationTimestamp.UTC().Format(time.RFC3339), t.PurgeMode, t.Message)
	}
	for _, m := range e.Moves {
		fmt.Fprintf(w, "moves      from %s to %s: %s\n           %s\n", m.From, words.List(m.To), m.How, m.Nowhere)
	}
	if e.Waits != "" {
		fmt.Fprintf(w, "waits      %s\n", e.Waits)
	}
	if len(e.Full) > 0 {
		fmt.Fprintf(w, "full       %s: replicas find no node there, or left for want of one; it gets no more\n", words.List(e.Full))
	}
	for _, a := range e.Answers {
		if a.By != "native" {
			fmt.Fprintf(w, "script     %s of %s\n", a.Operation, a.By)
		}
	}
	for _, r := range e.RequiredBy {
		fmt.Fprintf(w, "needed by  %s/%s in %s\n", r.Namespace, r.Name, words.Count(len(r.Clusters), "cluster"))
	}
	if e.Autoscaling != nil {
		if err := autoscalingReport(w, e); err != nil {
			return err
		}
	}
	if e.Placement != nil {
		if err := placementReport(w, e.Placement); err != nil {
			return err
		}
	}
	service.Write(w, e.Services)
	backend.Write(w, e.Backends)
	overrides(w, e.Clusters)
	leftAlone(w, e.Clusters)
	if e.Staged != nil {
		stagedReport(w, e.Staged)
	}
	return newer(w, e.Updates)
}

// newer prints what is newer of the images and the chart of a template, as get updates does.
func newer(w io.Writer, all []update.Update) error {
	if len(all) == 0 {
		return nil
	}
	var rows [][]string
	for i := range all {
		u := &all[i]
		rows = append(rows, []string{
			u.Image + u.Chart, u.Name, cell.Dash(u.Current), cell.Dash(u.Next), cell.Dash(u.Newest), cell.Dash(u.Message),
		})
	}
	fmt.Fprintln(w)
	return columns(w, []string{"IMAGE OR CHART", "SUBSCRIPTION", "CURRENT", "NEXT", "NEWEST", "WHY NOT"}, rows)
}

// leftAlone prints the clusters in which nothing of the decision is carried out, those with
// the same reason together.
func leftAlone(w io.Writer, clusters []Written) {
	same := map[[2]string][]string{}
	for _, c := range clusters {
		if c.Left != "" {
			key := [2]string{c.Left, c.Why}
			same[key] = append(same[key], c.Cluster)
		}
	}
	words := map[string]string{"kept": "stays as it was published in", "missed": "is not delivered to"}
	for _, key := range slices.SortedFunc(maps.Keys(same), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		fmt.Fprintf(w, "\n%s %s: %s\n", words[key[0]], cell.Short(same[key], 6), key[1])
	}
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// placementReport prints every cluster with its reason or its seats.
func placementReport(w io.Writer, r *place.Report) error {
	fmt.Fprintln(w)
	var rows [][]string
	for _, c := range r.Clusters {
		verdict := "chosen"
		switch {
		case c.Rejected != "":
			verdict = "no: " + c.Rejected
		case !c.Chosen:
			verdict = "fits, not chosen"
		}
		room := "-"
		if c.Rank > 0 && c.Available != math.MaxInt32 {
			room = strconv.FormatInt(c.Available, 10)
		}
		rows = append(rows, []string{c.Name, number(int64(c.Rank)), room, number(c.Weight), number(c.Seats), verdict})
	}
	if err := columns(w, []string{"CLUSTER", "RANK", "ROOM", "WEIGHT", "SEATS", "VERDICT"}, rows); err != nil {
		return err
	}
	for _, g := range r.Groups {
		fmt.Fprintf(w, "group %s: %s, score %d, chosen %t\n", g.Name, words.Count(g.Clusters, "cluster"), g.Score, g.Chosen)
	}
	for i := range r.Divisions {
		if err := divisionReport(w, &r.Divisions[i]); err != nil {
			return err
		}
	}
	if len(r.Tried) > 1 {
		for _, d := range r.Tried {
			fmt.Fprintf(w, "affinity group %s: %s\n", d.Group, d.Message)
		}
	}
	return nil
}

// divisionReport prints how replicas were shared out, seat by seat.
func divisionReport(w io.Writer, d *place.Division) error {
	first := ""
	if d.Each {
		first = " after one for each cluster"
	}
	fmt.Fprintf(w, "\n%d replicas%s, seat by seat: each to the largest weight/(2s+1), s being the seats so far\n", d.Replicas, first)
	var rows [][]string
	for i, s := range d.Rounds {
		next := "-"
		if s.Next != "" {
			next = fmt.Sprintf("%s %d/%d", s.Next, s.NextWeight, s.NextDivisor)
		}
		rows = append(rows, []string{strconv.Itoa(i + 1), s.Cluster, fmt.Sprintf("%d/%d", s.Weight, s.Divisor), next})
	}
	return columns(w, []string{"SEAT", "CLUSTER", "QUOTIENT", "NEXT"}, rows)
}

func number(n int64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatInt(n, 10)
}

// overrides prints what rules change, clusters with the same changes together.
func overrides(w io.Writer, clusters []Written) {
	var order []string
	same := map[string][]string{}
	for _, c := range clusters {
		var b strings.Builder
		for _, a := range c.Changes {
			fmt.Fprintf(&b, "  %s  (%s)\n", a.Rule, a.Where)
			for _, ch := range a.Changes {
				fmt.Fprintf(&b, "    %s %s: %s -> %s\n", ch.Overrider, ch.Path, quoted(ch.Old), quoted(ch.New))
			}
		}
		if c.Error != "" {
			fmt.Fprintf(&b, "  error: %s\n", c.Error)
		}
		text := b.String()
		if text == "" {
			continue
		}
		if same[text] == nil {
			order = append(order, text)
		}
		same[text] = append(same[text], c.Cluster)
	}
	for _, text := range order {
		fmt.Fprintf(w, "\noverrides in %s\n%s", cell.Short(same[text], 6), text)
	}
}

func quoted(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
