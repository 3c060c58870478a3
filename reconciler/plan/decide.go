package plan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// SpreadAnnotation on a policy makes spread constraints that Karmada ignores act.
const SpreadAnnotation = "waybill.dev/spread"

// decide settles where every template goes.
func (b *builder) decide() {
	for _, t := range b.templates {
		if t.part != nil {
			t.decision = Decision{Template: t.object, Policy: t.policy}
		} else if !t.isRelease() {
			b.claim(t)
		}
	}
	b.unusedPolicies()
	for _, crd := range b.definitions {
		if crd.policy != nil {
			b.schedule(crd)
		}
	}
	for _, t := range b.templates {
		if t.policy != nil && !t.isDefinition() && !t.isRelease() {
			b.schedule(t)
		}
	}
	b.enforceQuotas()
	for _, t := range b.templates {
		if t.policy != nil && t.policy.Spec.PropagateDeps && len(t.own) > 0 {
			b.pullDependencies(t)
		}
	}
	for _, t := range b.templates {
		b.conclude(t)
		b.plan.Decisions = append(b.plan.Decisions, t.decision)
	}
}

// claim finds t's policy.
func (b *builder) claim(t *template) {
	t.decision = Decision{Template: t.object, Outcome: Unclaimed}
	p := b.claims.Policy(t.subject)
	if p == nil {
		b.nearMiss(t)
		return
	}
	if why := b.skips.Why(t.object.APIVersion(), t.object.Ref(), t.subject.Labels); why != "" {
		t.decision.Outcome, t.decision.Message = Skipped, why
		b.report(diag.Diagnostic{
			Code: "never-propagated", Severity: diag.Notice, Pos: t.object.Pos(),
			Message: fmt.Sprintf("%s selects %s, which is not propagated: %s", p, t.object.Ref(), why),
		})
		return
	}
	if p.Waits != "" && len(b.previous(t)) == 0 {
		t.decision.Message = fmt.Sprintf("%s waits for the override policy %s", p, p.Waits)
		return
	}
	t.policy, t.decision.Policy = p, p
	b.changedClaim(t)
}

func (b *builder) nearMiss(t *template) {
	p, apiVersion := b.claims.NearMiss(t.subject)
	if p == nil {
		return
	}
	b.report(diag.Diagnostic{
		Code: "version-mismatch", Severity: diag.Warning, Pos: t.object.Pos(),
		Message: fmt.Sprintf("%s selects %s of %s, but the object is written as %s, so that nothing selects it", p, t.object.Ref().Kind, apiVersion, t.object.APIVersion()),
		Hint:    "write the same apiVersion in both places",
	})
}

// changedClaim says that another policy claims t than before. Karmada would have
// kept the first one.
func (b *builder) changedClaim(t *template) {
	old := b.in.State.Bindings[t.object.Ref()]
	if old == nil {
		return
	}
	was := claimOf(old)
	if was == "" || was == policies.Name(t.policy.Object) {
		return
	}
	b.report(diag.Diagnostic{
		Code: "claim-moved", Severity: diag.Notice, Pos: t.policy.Object.Pos(),
		Message: fmt.Sprintf("%s now claims %s, which %s claimed before", t.policy, t.object.Ref(), was),
		Hint:    "in Karmada this needs preemption; here claims are judged afresh at each commit",
	})
}

// unusedPolicies warns of policies that select nothing.
func (b *builder) unusedPolicies() {
	used := map[*policies.Propagation]bool{}
	for _, t := range b.templates {
		for _, c := range b.claims.Candidates(t.subject) {
			used[c.Policy] = true
		}
	}
	for _, p := range b.set.Propagation {
		if !used[p] {
			b.report(diag.Diagnostic{
				Code: "selects-nothing", Severity: diag.Warning, Pos: p.Object.FieldPos([]any{"spec", "resourceSelectors"}),
				Message: p.String() + " selects no object of the source",
				Hint:    "check apiVersion, kind, namespace, name and labels of its resourceSelectors",
			})
		}
	}
}

// scheduler returns the compiled placement of a policy; nil if it has an error,
// which is then reported.
func (b *builder) scheduler(p *policies.Propagation) *place.Scheduler {
	s, ok := b.schedulers[p]
	if ok {
		return s
	}
	mode := place.SpreadKarmada
	if p.Object.Annotations()[SpreadAnnotation] == "strict" {
		mode = place.SpreadStrict
	}
	s, err := place.Compile(&p.Spec.Placement, b.fleet, mode)
	if err != nil {
		b.report(diag.Diagnostic{
			Code: "bad-placement", Severity: diag.Error, Pos: p.Object.FieldPos([]any{"spec", "placement"}),
			Message: fmt.Sprintf("%s: %v", p, err),
		})
	}
	b.schedulers[p] = s
	return s
}

// schedule gives t its own clusters.
func (b *builder) schedule(t *template) {
	if t.interpretErr != nil {
		b.report(diag.Diagnostic{
			Code: "interpret", Severity: diag.Error, Pos: t.object.Pos(),
			Message: fmt.Sprintf("%s: %v", t.object.Ref(), t.interpretErr),
			Hint:    "it stays as it was last published",
		})
		b.keep(t, t.interpretErr.Error())
		return
	}
	if t.policy.Waits != "" {
		b.keep(t, "waiting for the override policy "+t.policy.Waits)
		return
	}
	s := b.scheduler(t.policy)
	if s == nil {
		b.keep(t, "the policy's placement has an error")
		return
	}
	r := b.request(t)
	if !t.fresh && (b.lazy(t) || b.settled(t) && s.Settled(r)) {
		b.stay(t)
		return
	}
	d := b.in.Memo.schedule(b.placing(t), func() place.Decision { return s.Schedule(r) })
	if d.Reason == place.NoClusterFit && b.mender.strange && len(r.Previous) > 0 {
		b.keep(t, "no cluster fits, and one may be in what cannot be read")
		return
	}
	defer b.countVariants(t)
	t.own, t.decision.Reason, t.decision.Message = d.Targets, string(d.Reason), d.Message
	t.decision.Group = d.Group
	if d.Reason != place.Success {
		b.unplaced(t, d)
	}
}

// placing is all that a decision about t follows from; the zero value for a decision that
// is not worth remembering.
func (b *builder) placing(t *template) placing {
	if t.policy == nil || t.part != nil || t.isRelease() || b.alsoServed(t) != nil {
		return placing{}
	}
	p := placing{object: t.object, scaled: t.scaled, policy: t.policy.Object, fleet: b.plan.FleetDigest, fresh: t.fresh, group: b.group(t)}
	if before := b.previous(t); len(before) > 0 {
		p.first, p.clusters = &before[0], len(before)
	}
	return p
}

// request is what t asks of its policy's scheduler.
func (b *builder) request(t *template) place.Request {
	return place.Request{
		APIVersion: t.object.APIVersion(), Kind: t.object.Ref().Kind,
		Replicas: t.replicas, Requirements: t.requirements, Components: len(t.components), Previous: b.previous(t), Group: b.group(t),
		Fresh: t.fresh, AlsoServed: b.alsoServed(t), Only: b.only(t),
	}
}

// group returns the affinity group that t is in by the last decision.
func (b *builder) group(t *template) string {
	if old := b.in.State.Bindings[t.object.Ref()]; old != nil {
		return old.Status.SchedulerObservedAffinityName
	}
	return ""
}

// settled reports whether t was last placed, successfully, by the placement that
// its policy has now. Karmada then leaves a divided workload alone (section A.11).
func (b *builder) settled(t *template) bool {
	old := b.in.State.Bindings[t.object.Ref()]
	return old != nil && old.Annotations[placementAnnotation] == b.placementOf(t.policy) && wasPlaced(old)
}

// lazy reports whether t waits: its policy is Lazy, and t itself is as it was when
// it was last placed (section A.15). What could not be placed, and what has a cluster that
// is gone, is scheduled again all the same: Lazy keeps changes of the policy from it only.
func (b *builder) lazy(t *template) bool {
	old := b.in.State.Bindings[t.object.Ref()]
	return t.isLazy() && old != nil && old.Annotations[templateAnnotation] == t.digest() && wasPlaced(old) &&
		!slices.ContainsFunc(old.Spec.Clusters, func(c target) bool { _, ok := b.fleet.Lookup(c.Name); return !ok })
}

// wasPlaced reports whether the last decision of a binding placed its template.
func wasPlaced(b *karmada.ResourceBinding) bool {
	for _, c := range b.Status.Conditions {
		if c.Type == "Scheduled" {
			return c.Status == "True"
		}
	}
	return false
}

// stay repeats the last decision about t.
func (b *builder) stay(t *template) {
	old := b.in.State.Bindings[t.object.Ref()]
	t.own, t.decision.Group = old.Spec.Clusters, old.Status.SchedulerObservedAffinityName
	for _, c := range old.Status.Conditions {
		if c.Type == "Scheduled" {
			t.decision.Reason, t.decision.Message = c.Reason, c.Message
		}
	}
}

// alsoServed tells the clusters that get the definition of t's kind by this plan;
// nil where the source has none.
func (b *builder) alsoServed(t *template) func(string) bool {
	if t.isRelease() {
		return func(string) bool { return true } // it is rendered, and never sent
	}
	crd := b.definitions[groupKind{t.object.Ref().Group, t.object.Ref().Kind}]
	if crd == nil || crd == t {
		return nil
	}
	return func(cluster string) bool {
		return slices.ContainsFunc(crd.own, func(c target) bool { return c.Name == cluster })
	}
}

// unplaced reports a template that its policy cannot place.
func (b *builder) unplaced(t *template, d place.Decision) {
	after := "it is nowhere"
	switch {
	case len(b.previous(t)) == 0:
	case d.Reason == place.NoClusterFit:
		after = "it leaves its clusters"
	default:
		after = "it keeps its clusters and replicas"
	}
	b.report(diag.Diagnostic{
		Code: "unschedulable", Severity: diag.Error, Pos: t.policy.Object.FieldPos([]any{"spec", "placement"}),
		Message: fmt.Sprintf("%s cannot place %s: %s; %s", t.policy, t.object.Ref(), d.Message, after),
		Hint:    fmt.Sprintf("waybill explain %s shows why each cluster was passed over", argument(t.object.Ref())),
	})
}

// keep leaves t where it was, with what was published of it.
func (b *builder) keep(t *template, why string) {
	t.own, t.decision.Group = b.previous(t), b.group(t)
	t.decision.Outcome, t.decision.Reason, t.decision.Message = Kept, "SchedulerError", why
}

// previous returns the clusters of the last decision that a policy made about t.
func (b *builder) previous(t *template) []target {
	old := b.in.State.Bindings[t.object.Ref()]
	if old == nil {
		return nil
	}
	return old.Spec.Clusters
}

// pullDependencies sends along what t needs (Karmada section A.6).
func (b *builder) pullDependencies(t *template) {
	deps, err := b.interpret.Dependencies(t.content)
	if err != nil {
		b.report(diag.Diagnostic{
			Code: "dependencies", Severity: diag.Error, Pos: t.object.Pos(),
			Message: fmt.Sprintf("what %s depends on cannot be told: %v", t.object.Ref(), err),
			Hint:    "what it pulled along before goes along with it",
		})
	}
	snapshot := karmada.BindingSnapshot{Namespace: t.object.Ref().Namespace, Name: state.BindingName(t.object.Ref()), Clusters: t.own}
	isOurs := func(s karmada.BindingSnapshot) bool {
		return s.Namespace == snapshot.Namespace && s.Name == snapshot.Name
	}
	var needed []*template
	for _, d := range deps {
		needed = append(needed, b.find(d)...)
	}
	if err != nil {
		needed = b.pulledBefore(t)
	}
	for _, dep := range needed {
		if dep == t {
			continue
		}
		if !slices.ContainsFunc(dep.requiredBy, isOurs) {
			dep.requiredBy = append(dep.requiredBy, snapshot)
		}
		dep.overwrite = dep.overwrite || t.policy.Spec.ConflictResolution == karmada.ConflictOverwrite
		dep.preserve = dep.preserve || t.policy.Spec.PreserveResourcesOnDeletion != nil && *t.policy.Spec.PreserveResourcesOnDeletion
	}
}

// bindingID names a binding.
type bindingID struct{ namespace, name string }

// pulledBefore returns what a template pulled along in the previous plan.
func (b *builder) pulledBefore(t *template) []*template {
	if b.pulled == nil {
		b.pulled = map[bindingID][]*template{}
		for _, dep := range b.templates {
			if old := b.in.State.Bindings[dep.object.Ref()]; old != nil {
				for _, s := range old.Spec.RequiredBy {
					id := bindingID{s.Namespace, s.Name}
					b.pulled[id] = append(b.pulled[id], dep)
				}
			}
		}
	}
	return b.pulled[bindingID{t.object.Ref().Namespace, state.BindingName(t.object.Ref())}]
}

// find returns the templates that a dependency names; those that are not in the
// source are no error, as in Karmada.
func (b *builder) find(d interpret.Dependency) []*template {
	group, _ := object.GroupVersion(d.APIVersion)
	if d.Name != "" {
		t := b.byRef[object.Ref{Group: group, Kind: d.Kind, Namespace: d.Namespace, Name: d.Name}]
		if t == nil || t.object.APIVersion() != d.APIVersion || match.ClustersOwn(t.object.Ref()) {
			return nil
		}
		return []*template{t}
	}
	selector, err := v1.LabelSelectorAsSelector(d.LabelSelector)
	if err != nil {
		selector = labels.Nothing()
	}
	var found []*template
	for _, t := range b.templates {
		r := t.object.Ref()
		if r.Kind == d.Kind && t.object.APIVersion() == d.APIVersion && r.Namespace == d.Namespace && selector.Matches(t.subject.Labels) && !match.ClustersOwn(r) {
			found = append(found, t)
		}
	}
	return found
}

// conclude merges a template's own clusters with those that need it, own clusters
// first, and makes its binding.
func (b *builder) conclude(t *template) {
	targets := slices.Clone(t.own)
	if len(t.requiredBy) > 0 {
		have := make(map[string]bool, len(targets))
		for _, c := range targets {
			have[c.Name] = true
		}
		for _, s := range t.requiredBy {
			for _, c := range s.Clusters {
				if !have[c.Name] {
					have[c.Name] = true
					targets = append(targets, c)
				}
			}
		}
	}
	slices.SortFunc(targets, byName)
	t.decision.Targets = targets
	if t.policy == nil && len(t.requiredBy) == 0 {
		return
	}
	if t.decision.Outcome != Kept {
		t.decision.Outcome = Placed
	}
	t.decision.RequiredBy = t.requiredBy
	t.decision.Binding = b.bind(t)
}

// argument prints a ref as explain takes it.
func argument(r object.Ref) string {
	s := r.Kind
	if r.Group != "" {
		s += "." + r.Group
	}
	s += "/" + r.Name
	if r.Namespace != "" {
		s += " -n " + r.Namespace
	}
	return s
}
