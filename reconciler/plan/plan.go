package plan

import (
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/reconciler/lastgood"
	"github.com/waybill-dev/waybill/reconciler/plan/claim"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/guard"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// Medium is what a plan is for.
type Medium int

// The media. Plain Secrets are refused on branches.
const (
	Folder Medium = iota
	Branch
)

// Input is everything a plan depends on.
type Input struct {
	// Source is the source to plan from: broken parts of it are as they were last good,
	// and Doubt says what is not known.
	Source render.Source
	Doubt  lastgood.Doubt
	// Expanded is Source with its releases rendered, by Expand. Nil renders nothing: each
	// release fails.
	Expanded *expand.Result
	State    state.State
	// Published is the head of each cluster branch, by cluster.
	Published map[string]tree.Published
	Medium    Medium
	// Random is what releases draw from, and what seals are keyed with.
	Random Random
	// Now is the time for which schedules are judged. It matters only where the source has
	// schedules: then Basis.Scheduled says so.
	Now time.Time
	// Allow is the digest of the removals that are allowed (see Plan.Removals), or AllowAll.
	Allow string
	// Replay is what was recorded by the plan that is rebuilt: what it left as it was is
	// left again, and nothing is judged. A plan of its own leaves it nil.
	Replay *Replay
	// recovery is what was made up, by Expand, for files of the state that cannot be read.
	recovery state.Recovery
	// Memo remembers what plans before this one made. It changes no result; nil is an empty
	// one.
	Memo *Memo
}

// Replay is what a plan recorded of what it carried out.
type Replay struct {
	State   state.State // that was published with the plan
	Allowed bool        // the removals of held clusters
}

// AllowAll allows every removal.
const AllowAll = "*"

// Memo remembers from one plan to the next what was made of objects, so that a plan costs
// what changed. An object is known by its identity, which a cache of decoded files keeps,
// and what is made of it by all that goes into it. What a plan does not ask for is gone
// after the next. A Memo serves one plan at a time.
type Memo struct {
	expand   expand.Memo
	claim    claim.Memo
	manifest manifest.Memo
	state    state.Memo
}

// NewMemo returns an empty memo.
func NewMemo() *Memo { return &Memo{} }

// Policies remembers what policies decoded to.
func (m *Memo) Policies() policies.Cache { return &m.expand.Law }

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
}

// Released says which removals were allowed.
type Released struct {
	Held    bool // those of held clusters
	Missing bool // those of objects that may be in what cannot be read
}

// Decision is where one template goes, and why.
type Decision = claim.Decision

// Stats counts.
type Stats struct {
	render.Stats

	Templates int `json:"templates"` // objects that a policy may place
	Placed    int `json:"placed"`    // manifests over all clusters
	Distinct  int `json:"distinct"`  // different manifests among them
}

// Cluster is the plan for one cluster.
type Cluster struct {
	Name string
	// Tree is what the cluster should hold, without waybill.metadata.
	Tree    *files.Folder
	Objects int // manifests in Tree
	Sync    fluxsync.Sync
	Held    *guard.Hold // nil if the tree may be published
}

// Replicas returns how many replicas a manifest of the plan has; false if its kind has none,
// or they cannot be told.
func (p *Plan) Replicas(b *files.Blob) (int32, bool) {
	c := p.table.count(b)
	return c.n, c.known
}

// Left returns in which clusters an object is left as it is, and why, although the
// decision about it, or its absence, says otherwise.
func (p *Plan) Left(r object.Ref) map[string]rollout.Left {
	return p.table.remaining(r)
}
