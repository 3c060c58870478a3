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
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan/law"
	"github.com/waybill-dev/waybill/reconciler/plan/memo"
	"github.com/waybill-dev/waybill/reconciler/plan/template"
	"github.com/waybill-dev/waybill/reconciler/state"
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
	// names.
	Own, Targets []Target
	RequiredBy   []karmada.BindingSnapshot
	// Group is the affinity group in force; empty where the policy has none.
	Group string
	// Reason and Message are Karmada's condition of the binding, or why the template is
	// skipped or kept.
	Reason, Message string
	Size            Size
	// Sent is how what is there in a cluster, or no longer sent, is treated.
	Sent    Sent
	Binding *karmada.ResourceBinding // nil if there is none
}

// Size is what a template asks for.
type Size struct {
	Replicas     int32
	Requirements *karmada.ReplicaRequirements
	Components   []karmada.Component // pod templates, of a kind that has several
	Err          error               // why it cannot be told
}

// Sent is what the bindings that send a template say about conflicts and deletion.
type Sent struct{ Overwrite, Preserve bool }

// Ref is what the decision is about.
func (d *Decision) Ref() object.Ref { return d.Template.Ref() }

// Divided reports whether the template's replicas are shared out.
func (d *Decision) Divided() bool {
	if d.Policy == nil || d.Policy.Spec.Placement.ReplicaScheduling == nil {
		return false
	}
	return d.Policy.Spec.Placement.ReplicaScheduling.ReplicaSchedulingType != karmada.ReplicaSchedulingTypeDuplicated
}

// IsWorkload reports whether the template's binding has replicas (Karmada section A.12).
func (d *Decision) IsWorkload() bool {
	return len(d.Size.Components) <= 1 && (d.Size.Replicas > 0 || d.Size.Requirements != nil)
}

// Suspended reports whether the policy holds dispatching to a cluster (Karmada section
// A.16).
func (d *Decision) Suspended(cluster string) bool {
	if d.Policy == nil || d.Policy.Spec.Suspension == nil {
		return false
	}
	s := d.Policy.Spec.Suspension
	return s.Dispatching != nil && *s.Dispatching ||
		s.DispatchingOnClusters != nil && slices.Contains(s.DispatchingOnClusters.ClusterNames, cluster)
}

// Preserved reports whether the object stays in a cluster when it is no longer sent there.
func (d *Decision) Preserved() bool {
	if d.Policy != nil {
		return d.Policy.Spec.PreserveResourcesOnDeletion != nil && *d.Policy.Spec.PreserveResourcesOnDeletion
	}
	return d.Sent.Preserve
}

// Overwrites reports whether a policy that sends the template takes over what a cluster
// has already (Karmada section D.3).
func (d *Decision) Overwrites() bool {
	return d.Sent.Overwrite || d.Policy != nil && d.Policy.Spec.ConflictResolution == karmada.ConflictOverwrite
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
func (r *Result) Find(ref object.Ref) *Decision {
	i, ok := slices.BinarySearchFunc(r.Decisions, ref, func(d Decision, r object.Ref) int { return d.Ref().Compare(r) })
	if !ok {
		return nil
	}
	return &r.Decisions[i]
}

// Memo remembers decisions from one plan to the next.
type Memo struct {
	decisions memo.Generation[placing, place.Decision]
	same      memo.Generation[repetition, struct{}]
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
	definitions map[template.GroupKind]*matter
	schedulers  map[*policies.Propagation]*place.Scheduler
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
		in: in, byRef: map[object.Ref]*matter{}, definitions: map[template.GroupKind]*matter{},
		schedulers: map[*policies.Propagation]*place.Scheduler{}, placements: map[*policies.Propagation]string{},
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
		d.size(m)
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
	if kind, ok := t.Defines(); ok {
		d.definitions[kind] = m
	}
	return m
}

func (d *decider) report(ds ...diag.Diagnostic) { d.result.Diags = append(d.result.Diags, ds...) }

// size counts what a template asks for. One that could not be scaled keeps its error.
func (d *decider) size(m *matter) {
	if m.Size.Err != nil {
		return
	}
	s := &m.Size
	in := d.in.Law.Asking(m.Template.Object)
	s.Replicas, s.Requirements, _, s.Err = in.Replicas(m.Template.Content)
	if s.Err == nil {
		s.Components, _, s.Err = in.Components(m.Template.Content)
	}
	if s.Err == nil && m.Template.Object.Private() {
		s.conceal(m.Template.Object.Secrets())
	}
}

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
			Code: "never-propagated", Severity: diag.Notice, Pos: m.Template.Object.Pos(),
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
		Code: "version-mismatch", Severity: diag.Warning, Pos: o.Pos(),
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
	was := claimOf(old)
	if was == "" || was == policies.Name(m.Policy.Object) {
		return
	}
	d.report(diag.Diagnostic{
		Code: "claim-moved", Severity: diag.Notice, Pos: m.Policy.Object.Pos(),
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
				Code: "selects-nothing", Severity: diag.Warning, Pos: p.Object.FieldPos([]any{"spec", "resourceSelectors"}),
				Message: p.String() + " selects no object of the source",
				Hint:    "check apiVersion, kind, namespace, name and labels of its resourceSelectors",
			})
		}
	}
}

// conclude merges a template's own clusters with those that need it, own clusters first,
// and makes its binding.
func (d *decider) conclude(m *matter) {
	m.Targets = slices.Clone(m.Own)
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
	slices.SortFunc(m.Targets, byName)
	if m.Policy == nil && len(m.RequiredBy) == 0 {
		return
	}
	if m.Outcome != Kept {
		m.Outcome = Placed
	}
	m.Binding = d.bind(m)
}
