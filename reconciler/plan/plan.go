package plan

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/replicas"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/services"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// Plan is what every cluster should hold, and why. It is a value, which nobody may modify; the zero
// one is of what nobody planned.
type Plan struct {
	Revision  sources.Revision
	Config    render.ConfigSpec
	Source    render.Source // that it was made from
	Expanded  expand.Result // what its policies say, and its releases render
	Asked     schedule.Input
	Decisions []Decision // in the order of their templates
	Clusters  []Cluster  // in the order of names
	// Published is what clusters held when the plan was made, by name.
	Published map[string]tree.Published
	// Left is in which clusters objects are left as they are, and why, although the decisions about
	// them, or their absence, say otherwise.
	Left map[object.Ref]rollout.LeftRow
	// Leaving lists the clusters that templates leave, or left and are in still, because they failed
	// or what is there did.
	Leaving map[object.Ref][]string
	// Rollouts are the units that go out in stages, or did, in the order of their names.
	Rollouts []stage.Output
	// Units says with which of them objects go out, by number; the first is 1.
	Units map[object.Ref]int
	// Moves are the objects that leave clusters for others because it was so decided, in the order of objects and
	// clusters: those that begin to, stay for now, or go. Of a plan that is made again nothing is known of them.
	Moves []Move
	// Asks are clusters of objects that move, of which the input does not say whether, and what, they say of their
	// copies. If they say anything, the plan with that in its evidence is another one.
	Asks map[object.Ref][]string
	// Missing are older source commits of which the input does not say what they are, and that matter. With them among its
	// versions the plan is another one, unless they cannot be read.
	Missing  []string
	Services *services.Laid // that clusters exchange; nil for none
	// Detached names the clusters that have a branch and are no longer registered.
	Detached []string
	State    *files.Folder // the state branch's next folder
	Diags    []diag.Diagnostic
	Stats    Stats
	Basis    Basis
	// Removals identifies what the held clusters would lose; empty if none is held.
	Removals string
	// ByComment says that removals are allowed by comments, and by no trailer; see guard.Allowance.
	ByComment bool
	// Released says which removals were held and are allowed; see Released.
	Released Released

	replicas *replicas.Counter // changes speed only
}

// Basis is what a plan depends on beside the source: what a commit names, so that it can be
// made again, and how long it holds.
type Basis struct {
	// FleetDigest identifies the clusters as the plan saw them.
	FleetDigest string
	// RandomKey is the fingerprint of the random key, if the plan depends on it.
	RandomKey string
	// Scheduled reports that the plan depends on Time, which is Input.Now; RecheckAt is
	// then the next time at which it may be another, and zero for never.
	Scheduled bool
	Time      time.Time
	RecheckAt time.Time
	// Awaits reports that the plan may be another one when clusters say what became of objects.
	Awaits bool
}

// Released says which removals were allowed.
type Released struct {
	Held bool // those of held clusters
	// Clusters are these, as far as the plan decided it: one that is made again was told.
	Clusters map[string]bool
	Missing  bool // those of objects that may be in what cannot be read
	// By are those who allowed it, and how: by a comment on a pull request, the trailer of a commit, or as whoever publishes; by cluster.
	By map[string][]string
}

// Approvers lists those who allowed removals, and how.
func (r *Released) Approvers() []string {
	return slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for _, by := range r.By {
			for _, who := range by {
				if !yield(who) {
					return
				}
			}
		}
	}))
}

// Decision is where one template goes, and why.
type Decision = schedule.Decision

// Target is a cluster, with the replicas there.
type Target = schedule.Target

// Stats counts.
type Stats struct {
	render.Stats

	Templates int `json:"templates"` // objects that a policy may place
	Placed    int `json:"placed"`    // manifests over all clusters
	Distinct  int `json:"distinct"`  // different manifests among them
}

// Replicas returns how many replicas a manifest of the plan has; false if its kind has none,
// or they cannot be told.
func (p *Plan) Replicas(b *files.Blob) (int32, bool) {
	if p.replicas == nil {
		return 0, false // nobody planned it
	}
	c := p.replicas.Of(b)
	return c.N, c.Known
}

// LeftAt is how an object is left in a cluster; the zero value where it is as decided.
func (p *Plan) LeftAt(r object.Ref, cluster string) (l rollout.Left) {
	if left := p.Left[r]; len(left) > 0 {
		if i, ok := p.Expanded.Policies.Position(cluster); ok {
			l, _ = left.At(i)
		}
	}
	return l
}

// Template returns what templates call an object of a cluster's branch. The two differ in
// virtual clusters.
func (p *Plan) Template(cluster string, r object.Ref) object.Ref {
	if p.Expanded.Policies == nil {
		return r // nobody planned it
	}
	i, ok := p.Expanded.Policies.Position(cluster)
	if !ok {
		return r
	}
	return p.Expanded.Policies.Virtual.At(i).Template(r)
}

// Vacant reports a plan of nothing: its source registers no cluster, holds nothing to place, and
// nothing is left of an earlier one.
func (p *Plan) Vacant() bool {
	return len(p.Clusters)+len(p.Decisions)+len(p.Detached) == 0 && !diag.HasErrors(p.Diags)
}
