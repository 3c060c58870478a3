// Package claim decides where every template goes: which policy claims it, which clusters
// it gets, with how many replicas, and what it pulls along.
//
// A template is claimed (match), counted (interpret, schedules), scheduled by the placement
// of its policy (place), held to the quotas of its namespace, and followed by what it
// depends on. What was decided about it before is what its binding says; division is steady
// from there, as Karmada's is. The package says what should be. Whether that can be carried
// out is settled later, by package rollout: a decision with Blocked set says that it should
// stay as it was published, and why.
package claim

import (
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/law"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan/template"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// Target is a cluster, with the replicas there.
type Target = karmada.TargetCluster

// Outcome is what became of a template.
type Outcome int

// The outcomes.
const (
	// Unclaimed: no policy selects the template and nothing depends on it.
	Unclaimed Outcome = iota
	// Skipped: Karmada never propagates such an object.
	Skipped
	// Placed: the template goes to Targets.
	Placed
	// Kept: something is wrong, so that the template stays as it was published.
	Kept
)

// String names an outcome.
func (o Outcome) String() string {
	return [...]string{"unclaimed", "skipped", "placed", "kept"}[o]
}

// Decision is where one template goes, and why.
type Decision struct {
	Template *template.Template
	Policy   *policies.Propagation // nil if none claims it
	Outcome  Outcome
	// Own are the clusters by the template's policy; Targets are these and the ones that
	// RequiredBy, the bindings that pull it along, bring it to. Both are in the order of
	// names, and templates that are placed alike share them: nobody may modify them.
	Own, Targets []Target
	RequiredBy   []karmada.BindingSnapshot
	// Group is the affinity group in force; empty where the policy has none.
	Group string
	// Reason and Message are Karmada's condition of the binding, or why the template is
	// skipped or kept.
	Reason, Message string
	Size            interpret.Size
	// Sent is how what is there in a cluster, or no longer sent, is treated.
	Sent    Sent
	Binding *karmada.ResourceBinding // nil if there is none
}

// Sent is what the bindings that send a template say about conflicts and deletion.
type Sent struct{ Overwrite, Preserve bool }

// Ref is what the decision is about.
func (d *Decision) Ref() object.Ref { return d.Template.Ref() }

// Divided reports whether the template's replicas are shared out.
func (d *Decision) Divided() bool {
	return d.Policy != nil && d.Policy.Divides()
}

// Suspended reports whether the policy holds dispatching to a cluster (Karmada section
// A.16).
func (d *Decision) Suspended(cluster string) bool {
	return d.Policy != nil && d.Policy.Suspends(cluster)
}

// Preserved reports whether the object stays in a cluster when it is no longer sent there.
func (d *Decision) Preserved() bool {
	if d.Policy != nil {
		return d.Policy.Preserves()
	}
	return d.Sent.Preserve
}

// Overwrites reports whether a policy that sends the template takes over what a cluster
// has already (Karmada section D.3).
func (d *Decision) Overwrites() bool {
	return d.Sent.Overwrite || d.Policy != nil && d.Policy.Overwrites()
}

// Input is what decisions follow from.
type Input struct {
	Law       *law.Law
	Templates []*template.Template // in the order of refs
	State     *state.State
	When      time.Time // of the source commit
	Now       time.Time // for schedules
	// Strange reports that a part of the source which cannot be read may hold clusters.
	Strange bool
	// Recovered are the templates whose bindings could not be read: in the state stands what
	// is published of them.
	Recovered map[object.Ref]bool
	Memo      *Memo
}

// Result is what was decided.
type Result struct {
	Decisions []Decision // in the order of the templates
	Diags     []diag.Diagnostic
	// Scheduled reports that Input.Now mattered; RecheckAt is then the next time at which
	// it may matter, zero for never.
	Scheduled bool
	RecheckAt time.Time

	decider *decider
}

// Find returns the decision about a ref; nil if there is no such template.
func (r *Result) Find(ref object.Ref) *Decision { return Find(r.Decisions, ref) }

// Find returns the decision about a ref among some in the order of refs; nil if there is
// none.
func Find(in []Decision, ref object.Ref) *Decision {
	i, ok := slices.BinarySearchFunc(in, ref, func(d Decision, r object.Ref) int { return d.Ref().Compare(r) })
	if !ok {
		return nil
	}
	return &in[i]
}

// Memo remembers decisions from one plan to the next.
type Memo struct {
	decisions cache.Generation[placing, place.Decision]
	same      cache.Generation[repetition, struct{}]
}

// Turn begins the next plan.
func (m *Memo) Turn() {
	m.decisions.Turn()
	m.same.Turn()
}

// decider decides about templates.
type decider struct {
	in    *Input
	cases []*matter // in the order of templates
	byRef map[object.Ref]*matter
	// definitions are the CustomResourceDefinitions, by the kind they define. They are
	// placed first, so that what is of their kinds can follow.
	definitions map[object.GroupKind]*matter
	schedulers  map[*policies.Propagation]*place.Scheduler
	answers     map[question]place.Decision
	placements  map[*policies.Propagation]string // as bindings record them
	pulled      map[bindingID][]*matter          // see pulledBefore; nil until it is asked
	result      Result
}

// matter is a decision under way.
type matter struct {
	Decision

	// rebalanced names the WorkloadRebalancers that name the template; fresh says that the
	// last plan did not know all of them, so that it is divided afresh.
	rebalanced string
	fresh      bool
}

func newDecider(in *Input) *decider {
	return &decider{
		in: in, byRef: map[object.Ref]*matter{}, definitions: map[object.GroupKind]*matter{},
		schedulers: map[*policies.Propagation]*place.Scheduler{}, answers: map[question]place.Decision{}, placements: map[*policies.Propagation]string{},
	}
}

// Decide decides about every template.
func Decide(in Input) Result {
	d := newDecider(&in)
	for _, t := range in.Templates {
		d.open(t)
	}
	d.scale()
	for _, m := range d.cases {
		if m.Size.Err == nil { // it could be scaled
			m.Size = d.in.Law.Interpreter.Size(m.Template.Object, m.Template.Content)
		}
	}
	d.rebalance()
	for _, m := range d.cases {
		if m.Template.Part == nil {
			d.claim(m)
		} else {
			m.Policy = m.Template.Part.Policy
		}
	}
	d.unusedPolicies()
	d.scheduleAll()
	d.enforceQuotas()
	for _, m := range d.cases {
		if m.Policy != nil && m.Policy.Spec.PropagateDeps && len(m.Own) > 0 {
			d.pullDependencies(m)
		}
	}
	d.result.Decisions = make([]Decision, 0, len(d.cases))
	for _, m := range d.cases {
		d.conclude(m)
		d.result.Decisions = append(d.result.Decisions, m.Decision)
	}
	d.result.decider = d
	return d.result
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
	return m.Policy, m.Own
}

// open begins with a template.
func (d *decider) open(t *template.Template) *matter {
	m := &matter{Decision: Decision{Template: t}}
	d.cases = append(d.cases, m)
	d.byRef[t.Ref()] = m
	if defined, ok := t.Object.Defines(); ok {
		d.definitions[defined.GroupKind] = m
	}
	return m
}

func (d *decider) report(ds ...diag.Diagnostic) { d.result.Diags = append(d.result.Diags, ds...) }

// before returns the binding of the last decision about a template; nil if there is none.
func (d *decider) before(m *matter) *karmada.ResourceBinding { return d.in.State.Bindings[m.Ref()] }

// recovered reports that why a template is where it is, or what it is a part of, is not
// known.
func (d *decider) recovered(m *matter) bool {
	return d.in.Recovered[m.Ref()] || m.Template.Part != nil && d.in.Recovered[m.Template.Part.Release.Ref()]
}

// previous returns the clusters of the last decision that a policy made about a template.
func (d *decider) previous(m *matter) []Target {
	if old := d.before(m); old != nil {
		return old.Spec.Clusters
	}
	return nil
}

// claim finds the policy of a template.
func (d *decider) claim(m *matter) {
	p := d.in.Law.Claims.Policy(m.Template.Subject)
	if p == nil {
		d.nearMiss(m)
		return
	}
	if why := d.in.Law.Skips.Why(m.Template.Object.APIVersion(), m.Ref(), m.Template.Subject.Labels); why != "" {
		m.Outcome, m.Message = Skipped, why
		d.report(diag.Diagnostic{
			Code: diag.NeverPropagated, Severity: diag.Notice, Pos: m.Template.Object.Pos(),
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

func (d *decider) nearMiss(m *matter) {
	p, apiVersion := d.in.Law.Claims.NearMiss(m.Template.Subject)
	if p == nil {
		return
	}
	o := m.Template.Object
	d.report(diag.Diagnostic{
		Code: diag.VersionMismatch, Severity: diag.Warning, Pos: o.Pos(),
		Message: fmt.Sprintf("%s selects %s of %s, but the object is written as %s, so that nothing selects it", p, o.Ref().Kind, apiVersion, o.APIVersion()),
		Hint:    "write the same apiVersion in both places",
	})
}

// changedClaim says that another policy claims a template than before. Karmada would have
// kept the first one.
func (d *decider) changedClaim(m *matter) {
	old := d.before(m)
	if old == nil {
		return
	}
	was := state.PolicyOf(old)
	if was == "" || was == policies.Name(m.Policy.Object) {
		return
	}
	d.report(diag.Diagnostic{
		Code: diag.ClaimMoved, Severity: diag.Notice, Pos: m.Policy.Object.Pos(),
		Message: fmt.Sprintf("%s now claims %s, which %s claimed before", m.Policy, m.Ref(), was),
		Hint:    "in Karmada this needs preemption; here claims are judged afresh at each commit",
	})
}

// unusedPolicies warns of policies that select nothing.
func (d *decider) unusedPolicies() {
	used := map[*policies.Propagation]bool{}
	for _, m := range d.cases {
		for _, c := range d.in.Law.Claims.Candidates(m.Template.Subject) {
			used[c.Policy] = true
		}
	}
	for _, p := range d.in.Law.Set.Propagation {
		if !used[p] {
			d.report(diag.Diagnostic{
				Code: diag.SelectsNothing, Severity: diag.Warning, Pos: p.Object.FieldPos([]any{"spec", "resourceSelectors"}),
				Message: p.String() + " selects no object of the source",
				Hint:    "check apiVersion, kind, namespace, name and labels of its resourceSelectors",
			})
		}
	}
}

// conclude merges a template's own clusters with those that need it, own clusters first,
// and makes its binding.
func (d *decider) conclude(m *matter) {
	m.Targets = slices.Clip(m.Own) // so that append makes another list
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
