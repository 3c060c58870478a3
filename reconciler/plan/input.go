package plan

import (
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/lastgood"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/replicas"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/units"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/tree"
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
	// and Unresolved says what is not known.
	Source     render.Source
	Unresolved lastgood.Unresolved
	// Expanded is Source with its releases rendered, by Expand. Nil renders nothing: each
	// release fails.
	Expanded *expand.Result
	State    state.State
	// Unlisted are objects that stay although no kustomization lists them.
	Unlisted []state.Unlisted
	// Published is what is published for each cluster, by cluster.
	Published map[string]tree.Published
	Medium    Medium
	// Random is what releases draw from, and what seals are keyed with.
	Random Random
	// Now is the time for which schedules are judged. It matters only where the source has
	// schedules: then Basis.Scheduled says so.
	Now time.Time
	// Evidence is what clusters say of the health of objects, where work fails over.
	Evidence evict.Evidence
	// Staging is what is known of what goes out in stages.
	Staging Staging
	// AtTheEnd lays out how every cluster is when all that goes out in stages is out, as previews show it. Such a
	// plan is not published.
	AtTheEnd bool
	// Allow is what allows removals, whose digest is Plan.Removals.
	Allow guard.Allowance
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

// Memo remembers from one plan to the next what was made of objects, so that a plan costs
// what changed. An object is known by its identity, which a cache of decoded files keeps,
// and what is made of it by all that goes into it. What a plan does not ask for is gone
// after the next. A Memo serves one plan at a time.
type Memo struct {
	expand   expand.Memo
	schedule schedule.Memo
	manifest manifest.Memo
	state    state.Memo
	units    units.Memo
	replicas replicas.Memo
	older    cache.Generation[string, *expand.Memo] // of older commits that clusters show, or did in the plan before
}

// NewMemo returns an empty memo.
func NewMemo() *Memo { return &Memo{} }

// Policies remembers what policies decoded to.
func (m *Memo) Policies() policies.Cache { return &m.expand.Policies }

// Random is what releases draw from, and what seals are keyed with.
type Random struct {
	Key draw.Key // zero: releases may not draw, and seals are not keyed
	// Source is where the source is. What was drawn first says it for good, so that a
	// source that moves draws the same.
	Source string
	// Rotate has the key take the place of another one, from which was drawn before.
	Rotate bool
	// Disguised has releases read other values in place of those of Secrets. It is for a plan beside
	// which another one shows what depends on them.
	Disguised bool
}

// Twin is what a plan is made from that differs from another one in what depends on Secrets and draws.
func (r Random) Twin() Random {
	r.Key, r.Disguised = r.Key.Twin(), true
	return r
}
