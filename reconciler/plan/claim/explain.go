package claim

import (
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/render/object"
)

// Loser is a policy that selects a template and lost it to another.
type Loser struct {
	Policy string `json:"policy"`
	Why    string `json:"why"`
}

// Answer is who answers an operation on a template.
type Answer struct {
	Operation karmada.InterpreterOperation `json:"operation"`
	By        string                       `json:"by"`
}

// Losers lists the policies that select a template, or the release that renders it, and
// lost it to the first result; that is the zero value where none selects it.
func (r *Result) Losers(ref object.Ref) (winner match.Candidate, losers []Loser) {
	m := r.decider.byRef[ref]
	subject := m.Template.Subject
	if part := m.Template.Part; part != nil {
		if release := r.decider.byRef[part.Release.Ref()]; release != nil {
			subject = release.Template.Subject
		}
	}
	candidates := r.decider.in.Law.Claims.Candidates(subject)
	if len(candidates) == 0 {
		return match.Candidate{}, nil
	}
	for _, c := range candidates[1:] {
		losers = append(losers, Loser{c.Policy.String(), match.Why(c, candidates[0])})
	}
	return candidates[0], losers
}

// Answers lists who answers the operations that a plan asks for: a customization, the
// scripts for kinds of other projects, or the built-in kinds.
func (r *Result) Answers(ref object.Ref) []Answer {
	var all []Answer
	content := r.decider.byRef[ref].Template.Content
	for _, op := range []karmada.InterpreterOperation{
		karmada.InterpreterOperationInterpretReplica, karmada.InterpreterOperationInterpretComponent,
		karmada.InterpreterOperationReviseReplica, karmada.InterpreterOperationInterpretDependency,
	} {
		if by := r.decider.in.Law.Interpreter.Answered(content, op); by != "" {
			all = append(all, Answer{op, by})
		}
	}
	return all
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
