// Package publish writes a plan to branches: a branch a cluster, or one branch with a
// folder a cluster, and the state branch. Changes says what would be written and is what a dry run prints; Do only
// writes it.
//
// It promises that an unchanged tree makes no commit, that a held cluster's branch or
// folder is not touched, that files of others stay where they are, and that every branch
// advances from the head that the plan was made against or not at all.
package publish

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/summary"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/words"
)

// The author of every commit. Equal plans on equal parents are equal commits.
const (
	authorName  = "Waybill"
	authorEmail = "waybill@waybill.dev"
)

// The trailers by which a published commit names what it was computed from.
const (
	TrailerRepository = "Source-Repository"
	TrailerCommit     = "Source-Commit"
	// TrailerPath is there only if the source is a folder of its repository.
	TrailerPath    = "Source-Path"
	TrailerFleet   = "Fleet-Digest"
	TrailerState   = "State-Commit"
	TrailerVersion = "Waybill-Version"
	// TrailerAhead lists source commits that were published in part on top of the state,
	// and is there only if there are any.
	TrailerAhead = "Published-Ahead"
	// TrailerReleased says which removals were allowed, and is there only if any were. On branches
	// of clusters TrailerReleasedIn stands for those of held clusters, which names such a cluster;
	// earlier versions wrote the other one there, and it was for all clusters.
	TrailerReleased   = "Removals-Allowed"
	TrailerReleasedIn = "Removals-Allowed-In"
	// TrailerReleasedBy says who allowed removals, and how: by a comment on which pull request, by the trailer of which
	// commit, or as whoever published. It is there for each who did.
	TrailerReleasedBy = "Removals-Allowed-By"
	// TrailerRandomKey is there only if the plan depends on the random key: its fingerprint.
	TrailerRandomKey = "Random-Key"
	// TrailerCluster is there on the branch of a cluster, and names it. Clusters that go from
	// one head to one tree share the commit, which then names each.
	TrailerCluster = "Cluster"
	// TrailerContinued is there where a cluster is published at another address than before: it
	// names the cluster, where that was, and the commit there that this one comes after; see Continued.
	TrailerContinued = "Continued-From"
	// TrailerFailedOver is there on the branch of a cluster for each path that left it because the
	// cluster, or what is there, failed: no guard counts it. On a branch that clusters share the path
	// begins with the folder.
	TrailerFailedOver = "Failed-Over"
	// TrailerObserved is there on commits of the state branch that hold what was observed of
	// clusters and no plan: it names a cluster.
	TrailerObserved = "Observed"
	// TrailerBypassed is there for each unit that goes to every cluster at once, although it goes out in stages: it names the
	// unit, and who had it do so.
	TrailerBypassed = "Rollout-Bypassed"
	// TrailerTime is there only if the plan depends on the time.
	TrailerTime = "Plan-Time"
)

// Heads is what the branches were at when the plan was made.
type Heads struct {
	State    files.ID            // zero: there is no state branch
	Clusters map[string]files.ID // by cluster; absent: nothing is at its address
	Shared   Shared
}

// Shared is the branch on which each cluster has a folder; zero where there is none yet, or where
// each cluster has a branch.
type Shared struct {
	Commit files.ID
	Root   *files.Folder
}

// Base is what a plan was made over.
type Base struct {
	Published map[string]tree.Published // by cluster
	State     *state.State
	Ahead     []string // see TrailerAhead
	// Moved are the clusters that were published at another address than the config has now.
	Moved map[string]Moved
	// Left are addresses that another layout of the config has, and where nothing is published now.
	Left []render.Address
	// Continued says how branches go on whose history was lost, by cluster or by the name of the state branch.
	Continued map[string]ancestry.Continuation
}

// Moved is where a cluster was published last, if that is not its address.
type Moved struct {
	From   render.Address
	Commit files.ID // of the branch
	Root   *files.Folder
}

// Changes returns the updates that carry out p, the state branch last, and what a person
// should know of them. Version is the running Waybill's. The state is written whenever
// anything is, because it says what was published last; where nothing else changes, nothing
// is.
func Changes(p *plan.Plan, base Base, heads Heads, version string) ([]git.Update, []diag.Diagnostic, error) {
	c := changer{plan: p, base: &base, heads: &heads, at: p.Config.Publish.Addresses(), divided: divided(p), version: version}
	c.message = message(p, base, version, plan.Released{Missing: p.Released.Missing})
	for _, cluster := range p.Clusters {
		if err := c.cluster(cluster); err != nil {
			return nil, nil, err
		}
	}
	c.takeAlong()
	c.share()
	c.nameClusters()
	own := base.Continued[state.Branch]
	if len(c.updates) > 0 || len(base.Ahead) > 0 || !base.State.Same(p.State) || !own.IsZero() {
		root, err := StateOf(p)
		if err != nil {
			return nil, nil, err
		}
		c.update(state.Branch, heads.State, root, stageState)
		u := &c.updates[len(c.updates)-1]
		u.Message = message(p, base, version, p.Released) + lines(replacing(state.Branch, own))
		goOn(u, own)
	}
	return c.updates, append(c.diags, c.leftBehind()...), nil
}

// StateOf returns the folder of the state branch that a plan is published with.
func StateOf(p *plan.Plan) (*files.Folder, error) {
	root, err := state.WithPublication(p.State, state.Publication{Commit: p.Revision.Commit, When: p.Revision.When})
	if err != nil {
		return nil, fmt.Errorf("laying out branch %s: %w", state.Branch, err)
	}
	return root, nil
}

// The stages in which branches move where a server may take some and refuse others. What
// goes from one cluster to another is then in both, and not in neither, if the server stops
// halfway; and the state says only what is on the branches.
const (
	stageGive  = iota // branches that lose nothing
	stageTake         // those that lose a manifest, or replicas of a divided workload
	stageState        // the state branch
)

type changer struct {
	plan    *plan.Plan
	base    *Base
	heads   *Heads
	at      render.Addresses
	divided map[string]bool // by path: workloads whose replicas are divided
	message string          // of every branch but the state's
	version string
	// metadata is that of the first cluster that is written.
	metadata *files.Blob
	updates  []git.Update
	written  []written
	folders  []files.Entry // of clusters that share a branch
	// continued are how these go on.
	continued []ancestry.Continuation
	diags     []diag.Diagnostic
}

// written is a cluster that an update is for.
type written struct {
	update int
	said   []string // lines of the message
}

// cluster adds the update of one cluster, if it needs one.
func (c *changer) cluster(cl plan.Cluster) error {
	address, p, head := c.at.Of(cl.Name), c.base.Published[cl.Name], c.heads.Clusters[cl.Name]
	moved, isMoved := c.base.Moved[cl.Name]
	goes := c.base.Continued[cl.Name]
	if len(p.Foreign) > 0 && cl.Held == nil {
		names := slices.Sorted(maps.Keys(p.Foreign))
		c.diags = append(c.diags, diag.Diagnostic{
			Code: diag.ForeignFiles, Severity: diag.Warning,
			Message: fmt.Sprintf("%s holds files that Waybill did not write (%s); they stay", address.Words(), words.List(names)),
			Hint:    "Flux and Argo CD may apply them; move them elsewhere if they should not",
		})
	}
	switch {
	case isMoved:
	case cl.Held != nil:
		return nil
	case p.Built != nil && !p.Edited && p.Built.ID() == cl.Tree.ID() && goes.IsZero():
		return nil
	case p.Built == nil && head.IsZero() && cl.Objects == 0:
		return nil // a new cluster that is to hold nothing needs no branch yet
	}
	root, err := c.root(&cl, &p, moved.Root)
	if err != nil {
		return fmt.Errorf("laying out %s: %w", address.Words(), err)
	}
	said := []string{TrailerCluster + ": " + cl.Name}
	if isMoved {
		continued := Continued{From: moved.From, Commit: moved.Commit, AsItWas: cl.Held != nil}
		said = append(said, continued.line(cl.Name))
	}
	if c.plan.Released.Clusters[cl.Name] {
		said = append(said, TrailerReleasedIn+": "+cl.Name)
	}
	for _, who := range c.plan.Released.By[cl.Name] {
		said = append(said, TrailerReleasedBy+": "+who)
	}
	for _, path := range failedOver(summary.LeavingPaths(c.plan, cl.Name), p.Built, cl.Tree) {
		said = append(said, TrailerFailedOver+": "+address.Path(path))
	}
	said = append(said, replacing(cl.Name, goes)...)
	stage := stageGive
	if p.Built != nil && c.takes(p.Built, cl.Tree) {
		stage = stageTake
	}
	c.write(cl.Name, root, said, stage)
	return nil
}

// write has a root be at the address of a cluster.
func (c *changer) write(cluster string, root *files.Folder, said []string, stage int) {
	c.written = append(c.written, written{update: len(c.updates), said: said})
	if a := c.at.Of(cluster); a.Folder != "" {
		c.folders, c.continued = append(c.folders, files.DirEntry(a.Folder, root)), append(c.continued, c.base.Continued[cluster])
	} else {
		c.update(a.Branch, c.heads.Clusters[cluster], root, stage)
		goOn(&c.updates[len(c.updates)-1], c.base.Continued[cluster])
	}
}

// root is what a cluster's address is to hold.
func (c *changer) root(cl *plan.Cluster, p *tree.Published, before *files.Folder) (*files.Folder, error) {
	if cl.Held != nil {
		return asItWas(before, p), nil
	}
	meta := tree.Metadata{DrySHA: c.plan.Revision.Commit, RepoURL: c.plan.Revision.Repo, Version: c.version}
	root, err := tree.WithMetadata(cl.Tree, meta, c.metadata, p.Foreign)
	if err != nil {
		return nil, err
	}
	if e, ok := root.Lookup(tree.MetadataFile); ok && c.metadata == nil {
		c.metadata = e.Blob
	}
	return root, nil
}

// failedOver leaves of paths those that a cluster loses, sorted.
func failedOver(paths map[string]bool, was, is *files.Folder) (lost []string) {
	if len(paths) == 0 || was == nil {
		return nil
	}
	for change := range files.Diff(was, is) {
		if change.New.Name == "" && paths[change.Path] {
			lost = append(lost, change.Path)
		}
	}
	slices.Sort(lost)
	return lost
}

// takes reports whether a cluster loses a manifest, or replicas of a divided workload, that
// its branch has.
func (c *changer) takes(was, is *files.Folder) bool {
	for change := range files.Diff(was, is) {
		if change.New.Name == "" {
			return true
		}
		if change.Old.Name == "" || !c.divided[change.Path] {
			continue
		}
		from, had := c.plan.Replicas(change.Old.Blob)
		to, has := c.plan.Replicas(change.New.Blob)
		if had && has && to < from {
			return true
		}
	}
	return false
}

// divided lists the manifests of workloads whose replicas are divided, by path.
func divided(p *plan.Plan) map[string]bool {
	paths := map[string]bool{}
	for i := range p.Decisions {
		if d := &p.Decisions[i]; d.Divided() {
			paths[tree.Path(d.Ref())] = true
		}
	}
	return paths
}

func (c *changer) update(branch string, old files.ID, root *files.Folder, stage int) {
	c.updates = append(c.updates, git.Update{
		Branch: branch, Old: old, Tree: root, Message: c.message,
		Author: git.Author{Name: authorName, Email: authorEmail}, When: when(c.plan), Stage: stage,
	})
}

// when is the date of every commit of a plan: that of the source commit.
func when(p *plan.Plan) time.Time { return p.Revision.When.UTC() }

// A Publisher writes branches. *git.Repo is one.
type Publisher interface {
	Publish(ctx context.Context, updates []git.Update) ([]files.ID, error)
}

// Do carries updates out. It returns the new heads in the order of the updates.
func Do(ctx context.Context, to Publisher, updates []git.Update) ([]files.ID, error) {
	heads, err := to.Publish(ctx, updates)
	if err != nil {
		return heads, fmt.Errorf("publishing %d branches: %w", len(updates), err)
	}
	return heads, nil
}
