// Package publish writes a plan to branches: a branch a cluster, and the state
// branch. Changes says what would be written and is what a dry run prints; Do only
// writes it.
//
// It promises that an unchanged tree makes no commit, that a held cluster's branch
// is not touched, that files of others stay where they are, and that every branch
// advances from the head that the plan was made against or not at all.
package publish

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
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
	// TrailerReleased says which removals were allowed, and is there only if any were; on the
	// branch of a cluster, only if those of that cluster were.
	TrailerReleased = "Removals-Allowed"
	// TrailerRandomKey is there only if the plan depends on the random key: its fingerprint.
	TrailerRandomKey = "Random-Key"
	// TrailerCluster is there on the branch of a cluster, and names it. Clusters that go from
	// one head to one tree share the commit, which then names each.
	TrailerCluster = "Cluster"
	// TrailerFailedOver is there on the branch of a cluster for each path that left it because the
	// cluster, or what is there, failed: no guard counts it.
	TrailerFailedOver = "Failed-Over"
	// TrailerObserved is there on commits of the state branch that hold what was observed of
	// clusters and no plan: it names a cluster.
	TrailerObserved = "Observed"
	// TrailerTime is there only if the plan depends on the time.
	TrailerTime = "Plan-Time"
)

// Heads is what the branches were at when the plan was made.
type Heads struct {
	State    files.ID            // zero: there is no state branch
	Clusters map[string]files.ID // by cluster; absent: there is no branch
}

// Base is what a plan was made over.
type Base struct {
	Published map[string]tree.Published // by cluster
	State     *state.State
	Ahead     []string // see TrailerAhead
}

// Changes returns the updates that carry out p, the state branch last, and what a person
// should know of them. Version is the running Waybill's. The state is written whenever
// anything is, because it says what was published last; where nothing else changes, nothing
// is.
func Changes(p *plan.Plan, base Base, heads Heads, version string) ([]git.Update, []diag.Diagnostic, error) {
	c := changer{plan: p, divided: divided(p), version: version}
	c.releasing = message(p, base, version, p.Released)
	c.message = message(p, base, version, plan.Released{Missing: p.Released.Missing})
	for _, cluster := range p.Clusters {
		if err := c.cluster(cluster, base.Published[cluster.Name], heads.Clusters[cluster.Name]); err != nil {
			return nil, nil, err
		}
	}
	c.nameClusters()
	if len(c.updates) > 0 || len(base.Ahead) > 0 || !base.State.Same(p.State) {
		root, err := StateOf(p)
		if err != nil {
			return nil, nil, err
		}
		c.update(state.Branch, heads.State, root, stageState, c.releasing)
	}
	return c.updates, c.diags, nil
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
	divided map[string]bool // by path: workloads whose replicas are divided
	// message is that of a branch, and releasing that of one whose removals were held and are
	// allowed.
	message, releasing string
	version            string
	// metadata is that of the first cluster that is written.
	metadata *files.Blob
	updates  []git.Update
	names    []string   // of the clusters of updates
	left     [][]string // the paths that failed over, by cluster of updates
	diags    []diag.Diagnostic
}

// cluster adds the update of one cluster branch, if it needs one.
func (c *changer) cluster(cl plan.Cluster, p tree.Published, head files.ID) error {
	branch := c.plan.Config.Publish.BranchPrefix + cl.Name
	if len(p.Foreign) > 0 && cl.Held == nil {
		names := slices.Sorted(maps.Keys(p.Foreign))
		c.diags = append(c.diags, diag.Diagnostic{
			Code: diag.ForeignFiles, Severity: diag.Warning,
			Message: fmt.Sprintf("branch %s holds files that Waybill did not write (%s); they stay", branch, words.List(names)),
			Hint:    "Flux and Argo CD may apply them; move them elsewhere if they should not",
		})
	}
	switch {
	case cl.Held != nil:
		return nil
	case p.Built != nil && !p.Edited && p.Built.ID() == cl.Tree.ID():
		return nil
	case p.Built == nil && head.IsZero() && cl.Objects == 0:
		return nil // a new cluster that is to hold nothing needs no branch yet
	}
	meta := tree.Metadata{DrySHA: c.plan.Revision.Commit, RepoURL: c.plan.Revision.Repo, Version: c.version}
	root, err := tree.WithMetadata(cl.Tree, meta, c.metadata, p.Foreign)
	if err != nil {
		return fmt.Errorf("laying out branch %s: %w", branch, err)
	}
	if e, ok := root.Lookup(tree.MetadataFile); ok && c.metadata == nil {
		c.metadata = e.Blob
	}
	stage := stageGive
	if p.Built != nil && c.takes(p.Built, cl.Tree) {
		stage = stageTake
	}
	c.update(branch, head, root, stage, "")
	c.names, c.left = append(c.names, cl.Name), append(c.left, failedOver(c.plan.FailedOver(cl.Name), p.Built, cl.Tree))
	return nil
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

// nameClusters has commits say which clusters they are for.
func (c *changer) nameClusters() {
	type step struct {
		from, to files.ID
		released bool
	}
	at := func(i int) step {
		return step{c.updates[i].Old, c.updates[i].Tree.ID(), c.plan.Released.Clusters[c.names[i]]}
	}
	named := map[step]*strings.Builder{}
	for i, name := range c.names {
		s := at(i)
		if named[s] == nil {
			named[s] = &strings.Builder{}
			if s.released {
				named[s].WriteString(c.releasing)
			} else {
				named[s].WriteString(c.message)
			}
		}
		fmt.Fprintf(named[s], "%s: %s\n", TrailerCluster, name)
		for _, path := range c.left[i] {
			if line := TrailerFailedOver + ": " + path + "\n"; !strings.Contains(named[s].String(), line) {
				named[s].WriteString(line)
			}
		}
	}
	for i := range c.names {
		c.updates[i].Message = named[at(i)].String()
	}
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

func (c *changer) update(branch string, old files.ID, root *files.Folder, stage int, message string) {
	c.updates = append(c.updates, git.Update{
		Branch: branch, Old: old, Tree: root, Message: message,
		Author: git.Author{Name: authorName, Email: authorEmail}, When: when(c.plan), Stage: stage,
	})
}

// when is the date of every commit of a plan: that of the source commit.
func when(p *plan.Plan) time.Time { return p.Revision.When.UTC() }

// message is the commit message of the branches of a plan of which as much was allowed.
func message(p *plan.Plan, base Base, version string, allowed plan.Released) string {
	r := p.Revision
	at := ""
	if p.Basis.Scheduled {
		at = p.Basis.Time.UTC().Format(time.RFC3339)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", r.Commit[:min(12, len(r.Commit))], subject(r.Subject))
	if moved := p.Moved(); len(moved) > 0 {
		b.WriteString(moves("Failover", moved) + "\n")
	}
	if moved := p.Descheduled(); len(moved) > 0 {
		b.WriteString(moves("Descheduled", moved) + "\n")
	}
	for _, t := range [][2]string{
		{TrailerRepository, r.Repo},
		{TrailerCommit, r.Commit},
		{TrailerPath, r.Path},
		{TrailerFleet, p.Basis.FleetDigest},
		{TrailerState, base.State.Commit},
		{TrailerAhead, strings.Join(base.Ahead, " ")},
		{TrailerReleased, released(allowed)},
		{TrailerRandomKey, p.Basis.RandomKey},
		{TrailerTime, at},
		{TrailerVersion, version},
	} {
		if t[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", t[0], t[1])
		}
	}
	return b.String()
}

// moves lists what moves, a line each, below a title.
func moves(title string, said []string) string {
	const most = 20
	var b strings.Builder
	b.WriteString(title + ":\n")
	for _, s := range said[:min(most, len(said))] {
		fmt.Fprintf(&b, "- %s\n", s)
	}
	if more := len(said) - most; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	return b.String()
}

// subject shortens the subject of a source commit: it is repeated on every branch.
func subject(s string) string {
	const most = 200 // bytes
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

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

// The words of TrailerReleased.
const (
	heldWord    = "of held clusters"
	missingWord = "of what is missing"
)

// released says which removals were allowed, as ParseReleased reads it; empty for none.
func released(r plan.Released) string {
	var words []string
	if r.Held {
		words = append(words, heldWord)
	}
	if r.Missing {
		words = append(words, missingWord)
	}
	return strings.Join(words, ", ")
}

// ParseReleased reads TrailerReleased.
func ParseReleased(s string) plan.Released {
	return plan.Released{Held: strings.Contains(s, heldWord), Missing: strings.Contains(s, missingWord)}
}

// Trailer returns the value of a trailer of a commit message; "" where there is
// none.
func Trailer(message, key string) string {
	for _, value := range sources.Trailers(message, key) {
		return value
	}
	return ""
}
