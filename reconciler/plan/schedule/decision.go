package schedule

import (
	"cmp"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/policies/template"
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
	Scheduled, Targets []Target
	RequiredBy         []karmada.BindingSnapshot
	// Group is the affinity group in force; empty where the policy has none.
	Group string
	// Reason and Message are Karmada's condition of the binding, or why the template is
	// skipped or kept.
	Reason, Message string
	Size            interpret.Size
	// Sent is how what is there in a cluster, or no longer sent, is treated.
	Sent    Sent
	Binding *karmada.ResourceBinding // nil if there is none
	// Moves is how it leaves clusters because of their taints, or because it fails there; nil
	// if it does not, and did not.
	Moves *Moves
	// Shift is how replicas leave clusters in which they find no node; nil if there are none, and
	// were none lately.
	Shift *Shift
}

// Sent is what the bindings that send a template say about conflicts and deletion.
type Sent struct{ Overwrite, Preserve bool }

// Ref is what the decision is about.
func (d *Decision) Ref() object.Ref { return d.Template.Ref() }

// Targeted reports whether the decision sends the template to a cluster.
func (d *Decision) Targeted(cluster string) bool {
	return slices.ContainsFunc(d.Targets, func(c Target) bool { return c.Name == cluster })
}

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
	Policies  *index.Policies
	Templates []*template.Template // in the order of refs
	State     *state.State
	When      time.Time // of the source commit
	Now       time.Time // for schedules
	// MayHideClusters reports that a part of the source which cannot be read may hold clusters.
	MayHideClusters bool
	// Failover is how work leaves clusters; nil if it does not.
	Failover *Failover
	// Descheduler is how replicas that find no node are moved; nil if they are not.
	Descheduler *deschedule.Rules
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
	Timed     bool
	RecheckAt time.Time
	// Awaits reports that evidence of health may change it.
	Awaits bool
	Record Record

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

// Memo remembers decisions, and what they go by, from one plan to the next.
type Memo struct {
	sizes     cache.Generation[sizing, interpret.Size]
	decisions cache.Generation[placing, place.Decision]
	same      cache.Generation[repetition, struct{}]
}

// Turn begins the next plan.
func (m *Memo) Turn() {
	m.sizes.Turn()
	m.decisions.Turn()
	m.same.Turn()
}

func byName(a, b Target) int { return cmp.Compare(a.Name, b.Name) }

// sizing is all that a size follows from.
type sizing struct {
	object      *object.Object
	interpreter string // which customizations there are
	scaled      string // see template.Variant
}

// placing is all that a decision follows from. The previous one is known by the list that
// it is in.
type placing struct {
	object, policy *object.Object
	fleet          string // its digest
	interpreter    string // which customizations there are
	scaled         string // see template.Variant
	group          string // that it is in
	only           string // where its release has it, a byte a cluster; empty where it has none
	evicting       string // the clusters that it leaves
	onward         bool
	fresh          bool
	first          *Target
	clusters       int
}

// repetition is a decision after which a binding is what it was.
type repetition struct {
	placing placing
	old     *karmada.ResourceBinding
}

// bindingID names a binding.
type bindingID struct{ namespace, name string }

// decider decides about templates.
type decider struct {
	in    *Input
	items []*item // in the order of templates
	byRef map[object.Ref]*item
	// definitions are the CustomResourceDefinitions, by the kind they define. They are
	// placed first, so that what is of their kinds can follow.
	definitions map[object.GroupKind]*item
	schedulers  map[*policies.Propagation]*place.Scheduler
	answers     place.Answers
	placements  map[*policies.Propagation]string // as bindings record them
	pulled      map[bindingID][]*item            // see pulledBefore; nil until it is asked
	evictor     *evictor                         // nil if work does not leave clusters
	// waiting is what is observed of replicas that wait for a node, by template and cluster; nil
	// until it is asked.
	waiting map[object.Ref]map[string]karmada.Unschedulable
	result  Result
}

// item is a scheduling item: a decision under way.
type item struct {
	Decision

	// rebalanced names the WorkloadRebalancers that name the template; fresh says that the
	// last plan did not know all of them, so that it is divided afresh.
	rebalanced string
	fresh      bool
}

func newDecider(in *Input) *decider {
	d := &decider{
		in: in, byRef: map[object.Ref]*item{}, definitions: map[object.GroupKind]*item{},
		schedulers: map[*policies.Propagation]*place.Scheduler{}, answers: place.Answers{}, placements: map[*policies.Propagation]string{},
	}
	d.evictor = d.newEvictor()
	return d
}

func (d *decider) report(ds ...diag.Diagnostic) { d.result.Diags = append(d.result.Diags, ds...) }

// before returns the binding of the last decision about a template; nil if there is none.
func (d *decider) before(m *item) *karmada.ResourceBinding { return d.in.State.Bindings[m.Ref()] }

// recovered reports that why a template is where it is, or what it is a part of, is not
// known.
func (d *decider) recovered(m *item) bool {
	return d.in.Recovered[m.Ref()] || m.Template.Part != nil && d.in.Recovered[m.Template.Part.Release.Ref()]
}

// previous returns the clusters of the last decision that a policy made about a template, less
// those that it leaves now.
func (d *decider) previous(m *item) []Target {
	if m.Moves != nil && m.Moves.begun {
		return m.Moves.remaining
	}
	if m.shifts() {
		return m.Shift.remaining
	}
	return d.placedBefore(m)
}

// placedBefore returns the clusters of the last decision that a policy made about a template.
func (d *decider) placedBefore(m *item) []Target {
	if old := d.before(m); old != nil {
		return old.Spec.Clusters
	}
	return nil
}

// isLazy reports whether changes of the policy wait for a change of the template.
func isLazy(m *item) bool {
	return m.Policy != nil && m.Policy.Spec.ActivationPreference == karmada.LazyActivation
}
