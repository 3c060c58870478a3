package plan

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// Plan is what every cluster should hold, and why.
type Plan struct {
	Revision  sources.Revision
	Config    render.ConfigSpec
	Decisions []Decision // in the order of their templates
	Clusters  []Cluster  // in the order of names
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

	table *table // for those who ask why
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
	// By are those who allowed it by comments on pull requests, by cluster.
	By map[string][]string
}

// Approvers lists those who allowed removals by comments.
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
	c := p.table.count(b)
	return c.n, c.known
}

// Template returns what templates call an object of a cluster's branch. The two differ in
// virtual clusters.
func (p *Plan) Template(cluster string, r object.Ref) object.Ref {
	if p.table == nil {
		return r // nobody planned it
	}
	l := p.table.in.Expanded.Policies
	i, ok := l.Position(cluster)
	if !ok {
		return r
	}
	return l.Virtual.At(i).Template(r)
}

// Law is what the policies of the source say; nil if nobody planned it. Nobody may modify it.
func (p *Plan) Policies() *index.Policies {
	if p.table == nil {
		return nil
	}
	return p.table.in.Expanded.Policies
}

// Published is what a cluster holds as it was published last; nil if nothing was.
func (p *Plan) Published(cluster string) *files.Folder {
	if p.table == nil {
		return nil
	}
	return p.table.in.Published[cluster].Built
}

// Remaining is Left of every object of which anything is left as it is.
func (p *Plan) Remaining() map[object.Ref]map[string]rollout.Left {
	if p.table == nil {
		return nil
	}
	all := make(map[object.Ref]map[string]rollout.Left, len(p.table.left))
	for i := range p.table.left {
		r := p.table.rows[i].Ref
		all[r] = p.table.remaining(r)
	}
	return all
}

// Within returns a release that matches and is rendered by another one, and the one of these that
// a policy selects; false if there is none.
func (p *Plan) Within(matches func(object.Ref) bool) (inner, outer object.Ref, ok bool) {
	for _, n := range p.table.in.Expanded.Inners {
		if matches(n.Release.Ref()) {
			return n.Release.Ref(), n.Of, true
		}
	}
	return inner, outer, false
}

// Vacant reports a plan of nothing: its source registers no cluster, holds nothing to place, and
// nothing is left of an earlier one.
func (p *Plan) Vacant() bool {
	return len(p.Clusters)+len(p.Decisions)+len(p.Detached) == 0 && !diag.HasErrors(p.Diags)
}

// Inners returns the releases that are rendered by those which a policy selects.
func (p *Plan) Inners() []expand.Inner {
	if p.table == nil {
		return nil
	}
	return p.table.in.Expanded.Inners
}

// Left returns in which clusters an object is left as it is, and why, although the
// decision about it, or its absence, says otherwise.
func (p *Plan) Left(r object.Ref) map[string]rollout.Left {
	return p.table.remaining(r)
}
