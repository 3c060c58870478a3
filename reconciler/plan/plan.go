// Package plan is the judgement of the product: Build turns a source, the fleet,
// the previous decisions and what is published into what every cluster should hold
// and why. Controller, preview, command line and tests call it; nothing else
// decides.
//
// It promises that equal inputs give equal bytes, that what has an error keeps its
// last published files, and that a plan which removes too much says so instead of
// being carried out. It reads and writes nothing.
//
// # How a plan is made
//
//  1. Mend: parts of the source that could not be read, and policies with an
//     error, are taken from the last commit in which they were sound.
//  2. Unfold: releases become what they render to. What has yet to be rendered is
//     listed in Wanted, and Build is asked again with the results.
//  3. Decide: match claims each template for one policy, place gives it clusters
//     and replicas, then dependencies follow what needs them.
//  4. Write out: for one template, clusters with the same replicas and the same
//     matching override rules form a class. A manifest is overridden, encoded and
//     hashed once a class, not once a cluster.
//  5. Lay out: clusters that hold the same things share one tree. A placed
//     manifest costs eight bytes a cluster until then.
//  6. Guard: each new tree is held against the published one. What shrinks too
//     much, loses a protected kind, or was edited by somebody else is held.
//  7. Settle: templates of which a held cluster would have to take a part stay
//     everywhere as they are, and the other clusters are laid out again.
//
// What cannot be done leaves things where they are: a template that can be written
// nowhere it should go, a release that cannot be rendered, a policy that waits. The state
// then remembers the decision before, so that the next plan starts from what is.
//
// # From one plan to the next
//
// A process that plans again and again hands a Memo along. Objects keep their identity
// as long as their files do, and so what they decoded to, their defaults, the decision
// about them, their manifests and their bindings are found again by that identity and
// by all else that went into them (see recipe and placing); what is left is one pass
// over what is placed. Nothing is carried over that is not a function of its key, so
// that a plan with a memo is the plan without one, which every scenario of the tests
// checks. What a plan does not ask for is gone after the next.
//
// # Limits
//
// The work of steps 1 to 3 grows with templates and, where placement asks every
// cluster, with templates times clusters; that of step 4 with the number of
// different results; that of step 5 with placed manifests, at a few nanoseconds
// each, and with distinct trees. Memory holds every distinct manifest, eight bytes for
// each placed one and the bindings, whose clusters are listed one by one: a cold plan
// spends nearly half of its time on writing those.
package plan

import (
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
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
	Source render.Source
	// LastGood holds earlier commits of the source, by commit id: those that
	// State.SourceCommit and State.LastGood name, as far as they could be read.
	LastGood map[string]render.Source
	State    state.State
	// Published is the head of each cluster branch, by cluster.
	Published map[string]tree.Published
	Medium    Medium
	// Rendered holds results of jobs, by Job.Key.
	Rendered map[string]engine.Rendered
	// Now is the time for which schedules are judged. It matters only where the
	// source has schedules: then Plan.Scheduled says so.
	Now time.Time
	// Allow is the digest of the removals that are allowed (see Plan.Removals), or
	// AllowAll.
	Allow string
	// Held are clusters that are held, with the reasons, whatever the guard says: those
	// of the plan that is rebuilt. A plan of its own leaves it nil. Staying is then what
	// waited for them, by ref.
	Held, Staying map[string]string
	// Released says that removals were allowed in the plan that is rebuilt.
	Released bool
	// Memo remembers what plans before this one made. It changes no result; nil is an
	// empty one.
	Memo *Memo
}

// AllowAll allows every removal.
const AllowAll = "*"

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
	// FleetDigest identifies the clusters as the plan saw them.
	FleetDigest string
	// Removals identifies what the held clusters would lose; empty if none is held.
	Removals string
	// Released says that removals were held, and are allowed.
	Released bool
	// Scheduled reports that the plan depends on Time, which is Input.Now; RecheckAt
	// is then the next time at which it may be another, and zero for never.
	Scheduled bool
	Time      time.Time
	RecheckAt time.Time
	// Missing lists the commits that Build wants in LastGood and was not given.
	Missing []string
	// Wanted lists the jobs that Build wants in Rendered and was not given. Then it is
	// all that the plan says.
	Wanted []engine.Job
}

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
	Held    *Hold // nil if the tree may be published
}

// Hold says why a tree may not be published.
type Hold struct {
	Reason   string    `json:"reason"`
	Removals []Removal `json:"removals,omitempty"`
}

// Removal is an object that a cluster would lose.
type Removal struct {
	Object object.Ref `json:"object"`
	Cause  string     `json:"cause"`
}

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

// Decision is where one template goes, and why.
type Decision struct {
	Template *object.Object
	Policy   *policies.Propagation // nil if none claims it
	Outcome  Outcome
	// Targets are the clusters in the order of names, dependencies included.
	Targets []karmada.TargetCluster
	// RequiredBy names the bindings that pulled the template along.
	RequiredBy []karmada.BindingSnapshot
	// Group is the affinity group in force; empty where the policy has none.
	Group string
	// Reason and Message are Karmada's condition of the binding, or why the
	// template is skipped.
	Reason, Message string
	Binding         *karmada.ResourceBinding // nil if there is none
}
