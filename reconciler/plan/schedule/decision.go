package schedule

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies"
	rules "github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/hpa"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/autoscale"
	"github.com/waybill-dev/waybill/reconciler/plan/deschedule"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
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
	Moves *failover.Moves
	// Shift is how replicas leave clusters in which they find no node; nil if there are none, and
	// were none lately.
	Shift *deschedule.Shift
	// Scaler is the FederatedHPA that scales the template, or that it is made of; nil for none.
	Scaler *autoscale.Scaler
	// Shares are what clusters have of it, of what is made of a FederatedHPA; nil for any other template.
	Shares map[string]hpa.Share
	// Scaled are the clusters in which what is made of Scaler decides how many replicas there are: there the template says
	// nothing of that.
	Scaled map[string]bool
	// Backends is what was found in clusters of the Services that it sends traffic to; nil where it goes out as it is written.
	Backends map[string]ingress.Found
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

// Gaining lists the clusters that get replicas, or the template, by its moves.
func (d *Decision) Gaining() (names []string) {
	for _, c := range d.Scheduled {
		if !slices.Contains(d.Moves.Remaining, c) {
			names = append(names, c.Name)
		}
	}
	return names
}

// Descheduled reports that the replicas of a decision are moved where they find no node.
func (d *Decision) Descheduled() bool { return isDescheduled(d.Ref(), d.Policy) }

func isDescheduled(r object.Ref, p *policies.Propagation) bool {
	return p != nil && p.DividesByRoom() && rules.Moves(r)
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
	Failover *failover.Settings
	// Descheduler is how replicas that find no node are moved; nil if they are not.
	Descheduler *rules.Rules
	// Branches is what is published on branches; its zero value where no branch is meant.
	Branches autoscale.Published
	// Recovered are the templates whose bindings could not be read: in the state stands what
	// is published of them.
	Recovered map[object.Ref]bool
	Memo      *Memo
}

// Result is what was decided.
type Result struct {
	Decisions []Decision // of the templates, and of what FederatedHPAs become, in the order of refs
	Diags     []diag.Diagnostic
	// Recheck is when the decisions may be others.
	Recheck recheck.Recheck
	// Record is what the next plan has to know of how work leaves clusters.
	Record failover.Record
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

// IsClaimed reports an object that a policy claims, by decisions in the order of refs.
func IsClaimed(in []Decision, ref object.Ref) bool {
	d := Find(in, ref)
	return d != nil && d.Policy != nil
}

// Replaced are decisions in the order of refs, with others in place of those about the same refs.
func Replaced(all, by []Decision) []Decision {
	if len(by) == 0 {
		return all
	}
	all = slices.Clone(all)
	for i := range by {
		*Find(all, by[i].Ref()) = by[i]
	}
	return all
}
