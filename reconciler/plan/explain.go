package plan

import (
	"slices"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/render/object"
)

// Explanation is everything that decided where one template goes and what it is there.
type Explanation struct {
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
	Clusters   []Written                 `json:"clusters"`
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

// Explain tells how the plan decided about one template, and what of it is carried out;
// false if the source has no such template.
func (p *Plan) Explain(r object.Ref) (Explanation, bool) {
	t := p.made.table
	t.in.Expanded.Law.Interpreter.Renew() // to be asked again, whatever the plan has spent
	d := t.decided.Find(r)
	if d == nil {
		return Explanation{}, false
	}
	e := Explanation{
		Object: r, Where: d.Template.Object.Pos().String(), Outcome: d.Outcome.String(), Message: d.Message,
		RequiredBy: d.RequiredBy, Replicas: d.Size.Replicas, Answers: t.in.Expanded.Law.Interpreter.Answers(d.Template.Content), Placement: t.decided.Placement(r),
	}
	if d.Template.Part != nil {
		e.Release = d.Template.Part.Release.Ref().String()
	}
	winner, losers := t.decided.Losers(r)
	if e.Losers = losers; winner != nil {
		e.Policy, e.PolicyPos = winner.String(), winner.Object.Pos().String()
	}
	left := p.Left(r)
	for _, target := range d.Targets {
		w := Written{Cluster: target.Name, Replicas: target.Replicas}
		var err error
		if w.Changes, err = manifest.Explain(t.in.Expanded.Law, d, target); err != nil {
			w.Error = err.Error()
		}
		e.Clusters = append(e.Clusters, w)
	}
	for name := range left {
		if !slices.ContainsFunc(e.Clusters, func(w Written) bool { return w.Cluster == name }) {
			e.Clusters = append(e.Clusters, Written{Cluster: name})
		}
	}
	slices.SortFunc(e.Clusters, func(a, b Written) int { return slices.Compare([]string{a.Cluster}, []string{b.Cluster}) })
	for i, w := range e.Clusters {
		if l, ok := left[w.Cluster]; ok {
			e.Clusters[i].Left, e.Clusters[i].Why = "missed", string(l.Reason)
			if l.Kept {
				e.Clusters[i].Left = "kept"
			}
		}
	}
	return e, true
}

// Find returns the refs of the templates that a user may mean.
func (p *Plan) Find(matches func(object.Ref) bool) (refs []object.Ref) {
	for i := range p.Decisions {
		if r := p.Decisions[i].Ref(); matches(r) {
			refs = append(refs, r)
		}
	}
	return refs
}
