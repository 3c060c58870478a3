package schedule

import (
	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/render/object"
)

// Losers returns the policy that selects a template, or the release that renders it, nil
// for none, and those that lost it.
func (r *Result) Losers(ref object.Ref) (winner *policies.Propagation, losers []match.Loser) {
	m := r.decider.byRef[ref]
	subject := m.Template.Subject
	if part := m.Template.Part; part != nil {
		if release := r.decider.byRef[part.Release.Ref()]; release != nil {
			subject = release.Template.Subject
		}
	}
	return r.decider.in.Policies.Claims.Losers(subject)
}

// Placement reports how the clusters of a template came about; nil without a policy, and
// where its placement has an error.
func (r *Result) Placement(ref object.Ref) *place.Report {
	m := r.decider.byRef[ref]
	if m.Policy == nil {
		return nil
	}
	s := r.decider.scheduler(m.Policy)
	if s == nil {
		return nil
	}
	report := s.Explain(r.decider.request(m))
	return &report
}
