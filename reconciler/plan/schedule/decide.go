// Package claim decides where every template goes: which policy claims it, which clusters
// it gets, with how many replicas, and what it pulls along.
//
// A template is claimed (match), counted (interpret, schedules), scheduled by the placement
// of its policy (place), held to the quotas of its namespace, and followed by what it
// depends on. What was decided about it before is what its binding says; division is steady
// from there, as Karmada's is. The package says what should be. Whether that can be carried
// out is settled later, by package rollout: a decision with Blocked set says that it should
// stay as it was published, and why.
package schedule

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
)

// Decide decides about every template.
func Decide(in Input) Result {
	d := newDecider(&in)
	for _, t := range in.Templates {
		d.open(t)
	}
	d.scale()
	for _, m := range d.items {
		if m.Size.Err == nil { // it could be scaled
			m.Size = d.size(m.Template.Variant)
		}
	}
	d.rebalance()
	for _, m := range d.items {
		if m.Template.Part == nil {
			d.claim(m)
		} else {
			m.Policy = m.Template.Part.Policy
		}
	}
	d.scheduleAll()
	d.enforceQuotas()
	d.endMoves()
	for _, m := range d.items {
		if m.Policy != nil && m.Policy.Spec.PropagateDeps && len(m.Scheduled) > 0 {
			d.pullDependencies(m)
		}
	}
	d.result.Decisions = make([]Decision, 0, len(d.items))
	for _, m := range d.items {
		d.conclude(m)
		d.result.Decisions = append(d.result.Decisions, m.Decision)
	}
	d.result.decider = d
	return d.result
}

// size returns what a variant of a template asks for. Nobody may modify it.
func (d *decider) size(v template.Variant) interpret.Size {
	return d.in.Memo.sizes.Or(sizing{v.Object, d.in.Policies.InterpreterDigest, v.Scaled}, func() interpret.Size {
		return d.in.Policies.Interpreter.Size(v.Object, v.Content)
	})
}

// Release says which policy claims a release, and where it goes, before anything is known
// of what it renders to; nil if none does. What there is to say is said by Decide, which
// decides alike.
func Release(in Input, t *template.Template) (*policies.Propagation, []Target) {
	d := newDecider(&in)
	m := d.open(t)
	if d.claim(m); m.Policy == nil {
		return nil, nil
	}
	d.schedule(m)
	return m.Policy, m.Scheduled
}

// open begins with a template.
func (d *decider) open(t *template.Template) *item {
	m := &item{Decision: Decision{Template: t}}
	d.items = append(d.items, m)
	d.byRef[t.Ref()] = m
	if defined, ok := t.Object.Defines(); ok {
		d.definitions[defined.GroupKind] = m
	}
	return m
}

// claim finds the policy of a template.
func (d *decider) claim(m *item) {
	p := d.in.Policies.Claims.Policy(m.Template.Subject)
	if p == nil {
		d.nearMiss(m)
		return
	}
	if why := d.in.Policies.Skips.Why(m.Template.Object.APIVersion(), m.Ref(), m.Template.Subject.Labels); why != "" {
		m.Outcome, m.Message = Skipped, why
		d.report(diag.Diagnostic{
			Code: diag.NeverPropagated, Severity: diag.Notice, Pos: m.Template.Object.Origin(),
			Message: fmt.Sprintf("%s selects %s, which is not propagated: %s", p, m.Ref(), why),
		})
		return
	}
	if p.Waits != "" && len(d.previous(m)) == 0 {
		m.Message = fmt.Sprintf("%s waits for the override policy %s", p, p.Waits)
		return
	}
	m.Policy = p
	d.changedClaim(m)
}

func (d *decider) nearMiss(m *item) {
	p, apiVersion := d.in.Policies.Claims.NearMiss(m.Template.Subject)
	if p == nil {
		return
	}
	o := m.Template.Object
	d.report(diag.Diagnostic{
		Code: diag.VersionMismatch, Severity: diag.Warning, Pos: o.Origin(),
		Message: fmt.Sprintf("%s selects %s of %s, but the object is written as %s, so that nothing selects it", p, o.Ref().Kind, apiVersion, o.APIVersion()),
		Hint:    "write the same apiVersion in both places",
	})
}

// changedClaim says that another policy claims a template than before. Karmada would have
// kept the first one.
func (d *decider) changedClaim(m *item) {
	old := d.before(m)
	if old == nil {
		return
	}
	was := state.PolicyOf(old)
	if was == "" || was == policies.Name(m.Policy.Object) {
		return
	}
	d.report(diag.Diagnostic{
		Code: diag.ClaimMoved, Severity: diag.Notice, Pos: m.Policy.Object.Origin(),
		Message: fmt.Sprintf("%s now claims %s, which %s claimed before", m.Policy, m.Ref(), was),
		Hint:    "in Karmada this needs preemption; here claims are judged afresh at each commit",
	})
}

// conclude merges a template's own clusters with those that need it, own clusters first,
// and makes its binding.
func (d *decider) conclude(m *item) {
	m.Targets = slices.Clip(m.Scheduled) // so that append makes another list
	if len(m.RequiredBy) > 0 {
		have := make(map[string]bool, len(m.Targets))
		for _, c := range m.Targets {
			have[c.Name] = true
		}
		for _, s := range m.RequiredBy {
			for _, c := range s.Clusters {
				if !have[c.Name] {
					have[c.Name] = true
					m.Targets = append(m.Targets, c)
				}
			}
		}
	}
	if !slices.IsSortedFunc(m.Targets, byName) {
		m.Targets = slices.SortedFunc(slices.Values(m.Targets), byName)
	}
	if m.Policy == nil && len(m.RequiredBy) == 0 {
		return
	}
	if m.Outcome != Kept {
		m.Outcome = Placed
	}
	m.Binding = d.bind(m)
}
