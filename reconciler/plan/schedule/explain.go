package schedule

import (
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/render/object"
)

// Explanation is how a decision came about.
type Explanation struct {
	// Winner is the policy that selects the template, or the release that renders it, nil for none;
	// Losers are those that lost it.
	Winner *policies.Propagation
	Losers []match.Loser
	// Placement reports how the clusters came about; nil without a policy, and where its placement
	// has an error.
	Placement *place.Report
}

// Explain explains one of the decisions that were made of an input.
func Explain(in Input, decisions []Decision, ref object.Ref) (e Explanation, found bool) {
	d := Find(decisions, ref)
	if d == nil {
		return e, false
	}
	if d.Shares != nil { // it goes where its template goes
		return Explanation{Winner: d.Policy}, true
	}
	subject := d.Template.Selected()
	if part := d.Template.Part; part != nil {
		if release := Find(decisions, part.Release.Ref()); release != nil {
			subject = release.Template.Subject
		}
	}
	e.Winner, e.Losers = in.Policies.Claims.Losers(subject)
	if d.Policy == nil {
		return e, true
	}
	p, it := resumed(&in, decisions, ref)
	s := p.compiled(d.Policy)
	if s == nil {
		return e, true
	}
	r := s.Explain(p.request(it, p.ask(it, &p.placed[p.at[ref]])))
	e.Placement = &r
	return e, true
}

// resumed is a placer after the decisions that it led to, and the item of one of them.
func resumed(in *Input, decisions []Decision, ref object.Ref) (*placer, *item) {
	marks, _ := rebalances(in)
	decisions = slices.DeleteFunc(slices.Clone(decisions), func(d Decision) bool { return d.Shares != nil }) // no templates
	items := make([]item, len(decisions))
	for i := range decisions {
		d := &decisions[i]
		items[i] = item{
			template: d.Template, size: d.Size, before: in.State.Bindings[d.Ref()], isRecovered: in.isRecovered(d.Template), policy: d.Policy,
			scaler: d.Scaler,
		}
		items[i].rebalance = rebalanceOf(marks[i], &items[i])
	}
	p := newPlacer(in, items)
	for i := range decisions {
		p.placed[i] = placement{clusters: decisions[i].Scheduled, moves: decisions[i].Moves, shift: decisions[i].Shift}
	}
	return p, &items[p.at[ref]]
}
