package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// SpreadAnnotation on a policy makes spread constraints that Karmada ignores act.
const SpreadAnnotation = "waybill.dev/spread"

// scheduleAll gives the templates that a policy claims their clusters: definitions of
// kinds first, and releases before what they render to.
func (d *decider) scheduleAll() {
	isDefinition := func(m *item) bool {
		_, ok := m.Template.Object.Defines()
		return ok
	}
	for _, isTurn := range []func(*item) bool{
		isDefinition,
		func(m *item) bool { return m.Template.IsRelease() && !isDefinition(m) },
		func(m *item) bool { return !m.Template.IsRelease() && !isDefinition(m) },
	} {
		for _, m := range d.items {
			if m.Policy != nil && isTurn(m) {
				d.schedule(m)
			}
		}
	}
}

// scheduler returns the compiled placement of a policy; nil if it has an error, which is
// then reported.
func (d *decider) scheduler(p *policies.Propagation) *place.Scheduler {
	s, ok := d.schedulers[p]
	if ok {
		return s
	}
	mode := place.SpreadKarmada
	if p.Object.Annotations()[SpreadAnnotation] == "strict" {
		mode = place.SpreadStrict
	}
	s, err := place.Compile(&p.Spec.Placement, d.in.Policies.Fleet, mode)
	if err != nil {
		d.report(diag.Diagnostic{
			Code: diag.BadPlacement, Severity: diag.Error, Pos: p.Object.FieldPos([]any{"spec", "placement"}),
			Message: fmt.Sprintf("%s: %v", p, err),
		})
	}
	d.schedulers[p] = s
	return s
}

// schedule gives a template its own clusters.
func (d *decider) schedule(m *item) {
	d.resume(m)
	if m.Size.Err != nil {
		d.report(diag.Diagnostic{
			Code: diag.Interpret, Severity: diag.Error, Pos: m.Template.Object.Origin(),
			Message: fmt.Sprintf("%s: %v", m.Ref(), m.Size.Err),
			Hint:    "it stays as it was last published",
		})
		d.keep(m, m.Size.Err.Error())
		return
	}
	if d.recovered(m) {
		d.keep(m, "its binding could not be read")
		return
	}
	if m.Policy.Waits != "" {
		d.keep(m, "waiting for the override policy "+m.Policy.Waits)
		return
	}
	s := d.scheduler(m.Policy)
	if s == nil {
		d.keep(m, "the policy's placement has an error")
		return
	}
	d.leave(m, s)
	d.deschedule(m, s)
	r := d.request(m)
	if !m.fresh && !m.leaves() && !m.shifts() && (d.lazy(m) || d.settled(m) && s.Settled(r)) {
		d.repeat(m)
		return
	}
	placed := d.in.Memo.schedule(d.placing(m), func() place.Decision { return d.answers.Schedule(s, r) })
	if placed.Reason == place.NoClusterFit && d.in.MayHideClusters && len(r.Previous) > 0 {
		d.keep(m, "no cluster fits, and one may be in what cannot be read")
		return
	}
	m.Scheduled, m.Reason, m.Message, m.Group = placed.Targets, string(placed.Reason), placed.Message, placed.Group
	if placed.Reason != place.Success {
		d.unplaced(m, placed)
	}
	d.countVariants(m)
	m.shifted()
}

// schedule returns the decision about a placing, which is from unless it is known. Nobody
// may modify its targets.
func (m *Memo) schedule(p placing, from func() place.Decision) place.Decision {
	if p == (placing{}) {
		return from()
	}
	return m.decisions.Or(p, from)
}

// placing is all that a decision about a template follows from; the zero value for a
// decision that is not worth remembering.
func (d *decider) placing(m *item) placing {
	t := m.Template
	if m.Policy == nil || m.Shift != nil || t.Part != nil && len(t.Part.Failed) > 0 || !t.IsRelease() && d.alsoServed(m) != nil {
		return placing{}
	}
	p := placing{evicting: strings.Join(d.evicting(m), " "), onward: d.onward(), object: t.Object, scaled: t.Scaled, policy: m.Policy.Object, fleet: d.in.Policies.FleetDigest, interpreter: d.in.Policies.InterpreterDigest, fresh: m.fresh, group: d.group(m)}
	if before := d.previous(m); len(before) > 0 {
		p.first, p.clusters = &before[0], len(before)
	}
	if t.Part != nil {
		only := make([]byte, len(d.in.Policies.Fleet.Clusters()))
		for i := range only {
			if t.In(i) != nil {
				only[i] = 1
			}
		}
		p.only = string(only)
	}
	return p
}

// request is what a template asks of its policy's scheduler.
func (d *decider) request(m *item) place.Request {
	return place.Request{
		APIVersion: m.Template.Object.APIVersion(), Kind: m.Ref().Kind,
		Replicas: m.Size.Replicas, Requirements: m.Size.Requirements, Components: len(m.Size.Components),
		Previous: d.previous(m), Group: d.group(m), Fresh: m.fresh, AlsoServed: d.alsoServed(m), Only: d.only(m),
		Evicting: d.evicting(m), Full: m.full(), Onward: d.onward() && !m.fresh,
	}
}

// group returns the affinity group that a template is in by the last decision.
func (d *decider) group(m *item) string {
	if old := d.before(m); old != nil {
		return old.Status.SchedulerObservedAffinityName
	}
	return ""
}

// settled reports whether a template was last placed, successfully, by the placement that
// its policy has now. Karmada then leaves a divided workload alone (section A.11).
func (d *decider) settled(m *item) bool {
	return state.PlacedBy(d.before(m), d.placementOf(m.Policy))
}

// lazy reports whether a template waits: its policy is Lazy, and it is as it was when it
// was last placed (section A.15). What could not be placed, and what has a cluster that is
// gone, is scheduled again all the same: Lazy keeps changes of the policy from it only.
func (d *decider) lazy(m *item) bool {
	old := d.before(m)
	return isLazy(m) && state.Placed(old) && old.Annotations[state.TemplateAnnotation] == m.Template.Digest(d.in.Policies.Fleet) &&
		!slices.ContainsFunc(old.Spec.Clusters, func(c Target) bool { _, ok := d.in.Policies.Fleet.Lookup(c.Name); return !ok })
}

// repeat repeats the last decision about a template.
func (d *decider) repeat(m *item) {
	old := d.before(m)
	m.Scheduled, m.Group = old.Spec.Clusters, old.Status.SchedulerObservedAffinityName
	c, _ := state.Scheduled(old)
	m.Reason, m.Message = c.Reason, c.Message
}

// keep decides that a template stays as it was published, where it was.
func (d *decider) keep(m *item, why string) {
	m.Scheduled, m.Group = d.previous(m), d.group(m)
	m.Outcome, m.Reason, m.Message = Kept, "SchedulerError", why
}

// alsoServed tells the clusters that get the definition of a template's kind by this plan;
// nil where the source has none. A release is rendered, and never sent.
func (d *decider) alsoServed(m *item) func(string) bool {
	if m.Template.IsRelease() {
		return func(string) bool { return true }
	}
	crd := d.definitions[object.GroupKind{Group: m.Ref().Group, Kind: m.Ref().Kind}]
	if crd == nil || crd == m {
		return nil
	}
	return func(cluster string) bool {
		return slices.ContainsFunc(crd.Scheduled, func(c Target) bool { return c.Name == cluster })
	}
}

// only returns the clusters that may have a template: where its release has it, or had it
// and cannot be rendered now; nil for all.
func (d *decider) only(m *item) func(string) bool {
	part := m.Template.Part
	if part == nil {
		return nil
	}
	previous, find := d.previous(m), d.in.Policies.Finder()
	return func(cluster string) bool {
		i, ok := find(cluster)
		return ok && m.Template.In(i) != nil || part.Failed[cluster] && slices.ContainsFunc(previous, func(c Target) bool { return c.Name == cluster })
	}
}

// unplaced reports a template that its policy cannot place.
func (d *decider) unplaced(m *item, placed place.Decision) {
	after := "it is nowhere"
	switch {
	case len(d.previous(m)) == 0:
	case placed.Reason == place.NoClusterFit:
		after = "it leaves its clusters"
	default:
		after = "it keeps its clusters and replicas"
	}
	d.report(diag.Diagnostic{
		Code: diag.Unschedulable, Severity: diag.Error, Pos: m.Policy.Object.FieldPos([]any{"spec", "placement"}),
		Message: fmt.Sprintf("%s cannot place %s: %s; %s", m.Policy, m.Ref(), placed.Message, after),
		Hint:    fmt.Sprintf("waybill explain %s shows why each cluster was passed over", m.Ref().Argument()),
	})
}

// countVariants gives each cluster the replicas that the release has there, where they are
// not divided. A cluster for which it cannot be rendered keeps those that it had.
func (d *decider) countVariants(m *item) {
	part := m.Template.Part
	if part == nil || !m.Size.IsWorkload() {
		return
	}
	asked := make([]int32, len(part.Variants))
	for n, v := range part.Variants {
		asked[n] = m.Size.Replicas
		if size := d.size(v); size.Err == nil {
			asked[n] = size.Replicas
		}
	}
	if m.Divided() {
		d.warnOfVariants(m, asked)
		return
	}
	if len(part.Failed) == 0 && !slices.ContainsFunc(asked, func(n int32) bool { return n != m.Size.Replicas }) {
		return // every cluster has them already
	}
	previous, find := d.previous(m), d.in.Policies.Finder()
	m.Scheduled = slices.Clone(m.Scheduled)
	for i, c := range m.Scheduled {
		if at, known := find(c.Name); known {
			if n, ok := part.Of(at); ok {
				m.Scheduled[i].Replicas = asked[n]
				continue
			}
		}
		for _, was := range previous {
			if was.Name == c.Name {
				m.Scheduled[i].Replicas = was.Replicas
			}
		}
	}
}

// warnOfVariants says that the total to divide is not the same everywhere.
func (d *decider) warnOfVariants(m *item, asked []int32) {
	release := m.Template.Part.Release
	for _, n := range asked {
		if n != m.Size.Replicas {
			d.report(diag.Diagnostic{
				Code: diag.ReplicasDiffer, Severity: diag.Warning, Pos: release.Origin(),
				Message: fmt.Sprintf("%s renders %s with %d replicas in one cluster and %d in another; %s divides %d", release.Ref(), m.Ref(), m.Size.Replicas, n, m.Policy, m.Size.Replicas),
				Hint:    "say the same number everywhere, and let the policy's weights tell clusters apart",
			})
			return
		}
	}
}

// placementOf prints a policy's placement as Karmada records it on a binding.
func (d *decider) placementOf(p *policies.Propagation) string {
	if _, known := d.placements[p]; !known {
		d.placements[p] = state.Placement(&p.Spec.Placement)
	}
	return d.placements[p]
}
