// Package history finds the branches whose history was lost, as by a restore from a backup, and says how they go on. It decides
// nothing: reconciler/ancestry does.
package history

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

const (
	// asksFor is how long clusters whose branch lost its history are asked what they applied: those who apply say it
	// when they refuse the branch, which takes them a round.
	asksFor = time.Hour
	// mostLost is how many commits that were lost are taken up again.
	mostLost = 10_000
)

// Memory is where branches were when they were read or written last, and of which clusters it is asked what they applied.
// It is for one who publishes, and cannot be copied. The zero value asks what this machine knows of the server.
type Memory struct {
	mu       sync.Mutex
	at       map[string]files.ID  // by branch
	asked    map[string]time.Time // by cluster: until then
	replaced map[string]bool      // lines of trailers that are on their branch
	all      bool                 // every cluster was asked once, because Finder.Restored says so
}

// read begins with where branches were when this machine had to do with the server last.
func (m *Memory) read(from published.Repository) error {
	if m.at != nil {
		return nil
	}
	at, err := from.Last()
	if err != nil {
		return err
	}
	m.at, m.asked, m.replaced = maps.Clone(at), map[string]time.Time{}, map[string]bool{}
	if m.at == nil {
		m.at = map[string]files.ID{}
	}
	return nil
}

// Wrote notes where branches are since a publication.
func (m *Memory) Wrote(updates []git.Update, heads []files.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, u := range updates {
		m.at[u.Branch] = heads[i]
	}
}

// Awaits reports that clusters are asked what they applied, which their status branches say.
func (m *Memory) Awaits() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked) > 0
}

// Finder finds branches whose history was lost.
type Finder struct {
	Target published.Repository
	// Reports are what clusters say.
	Reports *reports.Reader
	// Restored says that what is published was restored from a backup: every cluster is asked what it applied.
	Restored bool
	Memory   *Memory
}

// Branches are those of a source that is about to be published.
type Branches struct {
	Heads      map[string]files.ID // of all branches
	Clusters   map[string]files.ID // what is at the addresses of clusters
	Addresses  render.Addresses
	Written    []*object.Object          // the registered clusters, as they are written
	Registered func() []*karmada.Cluster // asked if any cluster is asked what it applied
	Now        time.Time
}

// Continue finds the branches whose history was lost, of a source that is about to be published, and says how they go on:
// by cluster, or by the name of the state branch.
func (f *Finder) Continue(ctx context.Context, b Branches) (map[string]ancestry.Continuation, error) {
	f.Memory.mu.Lock()
	defer f.Memory.mu.Unlock()
	if err := f.Memory.read(f.Target); err != nil {
		return nil, err
	}
	s := search{Finder: f, Branches: b, memory: f.Memory, continued: map[string]ancestry.Continuation{}}
	if err := s.look(ctx); err != nil {
		return nil, err
	}
	applied, err := s.ask(ctx)
	if err != nil {
		return nil, err
	}
	return s.continued, s.decide(ctx, applied)
}

// search looks after the histories of branches.
type search struct {
	*Finder
	Branches

	memory    *Memory
	continued map[string]ancestry.Continuation
	lost      map[string]bool // branches that are not where they were, nor after it
	once      map[string]bool // clusters that are asked now, and not again: those that are new, as it seems
	has       map[files.ID]bool
}

// look finds the branches that lost their history, and notes where the others are.
func (s *search) look(ctx context.Context) error {
	s.lost, s.once = map[string]bool{}, map[string]bool{}
	branches := map[string][]string{state.Branch: nil} // with the clusters that are there
	for _, c := range s.Written {
		b := s.Addresses.Of(c.Ref().Name).Branch
		branches[b] = append(branches[b], c.Ref().Name)
	}
	var moved []files.ID
	for branch := range branches {
		if was := s.memory.at[branch]; !was.IsZero() && was != s.Heads[branch] {
			moved = append(moved, was)
		}
	}
	s.has = s.Target.Has(moved...)
	anew, restored := s.Heads[state.Branch].IsZero(), s.Restored && !s.memory.all
	s.memory.all = s.memory.all || restored
	for branch, clusters := range branches {
		was, is := s.memory.at[branch], s.Heads[branch]
		follows, err := s.follows(ctx, was, is)
		if err != nil {
			return err
		}
		if follows {
			s.memory.at[branch] = is
			continue
		}
		s.lost[branch] = true
		restored = restored || branch == state.Branch
		s.inquire(clusters...)
	}
	for _, c := range s.Written {
		name := c.Ref().Name
		switch absent := anew || s.Clusters[name].IsZero(); {
		case restored, absent && !s.Heads[status.Prefix+name].IsZero():
			s.inquire(name)
		case absent && s.Reports.Agents != nil:
			s.once[name] = true
		}
	}
	return nil
}

// inquire has clusters be asked what they applied, from now on for a while.
func (s *search) inquire(clusters ...string) {
	for _, c := range clusters {
		if _, asked := s.memory.asked[c]; !asked {
			s.memory.asked[c] = s.Now.Add(asksFor)
		}
	}
}

// follows reports whether a branch is where it was, or after it.
func (s *search) follows(ctx context.Context, was, is files.ID) (bool, error) {
	if was.IsZero() || was == is {
		return true, nil
	}
	if is.IsZero() {
		return false, nil
	}
	return graph{ctx: ctx, search: s}.Follows("", is, was)
}

// ask reads what clusters applied, and what of the state their agents went by, as annotations say and, of those that are
// asked, their status branches.
func (s *search) ask(ctx context.Context) (map[string][]files.ID, error) {
	applied := map[string][]files.ID{}
	isAsked := false
	for _, c := range s.Written {
		name := c.Ref().Name
		named := ancestry.Named(c.Annotations()[published.ReplacesAnnotation])
		applied[name], applied[state.Branch] = named, append(applied[state.Branch], named...)
		until, asked := s.memory.asked[name]
		if asked && !s.Now.Before(until) {
			delete(s.memory.asked, name)
			branch := s.Addresses.Of(name).Branch
			s.memory.at[branch] = s.Heads[branch] // as it is, from now on
		}
		isAsked = isAsked || asked || s.once[name]
	}
	if !isAsked {
		return applied, nil
	}
	of := slices.DeleteFunc(slices.Clone(s.Registered()), func(c *karmada.Cluster) bool { _, asked := s.memory.asked[c.Name]; return !asked && !s.once[c.Name] })
	said, err := s.Reports.Applied(ctx, s.Heads, of)
	if err != nil {
		if s.Reports.Agents != nil && ctx.Err() == nil {
			return applied, nil // the agents' repository is away, and is asked again
		}
		return nil, err
	}
	for cluster, summary := range said {
		applied[cluster] = append(applied[cluster], summary.Commit)
		applied[state.Branch] = append(applied[state.Branch], summary.State)
	}
	return applied, nil
}

// decide notes how branches go on.
func (s *search) decide(ctx context.Context, applied map[string][]files.ID) error {
	var all []files.ID
	for _, ids := range applied {
		all = append(all, ids...)
	}
	for branch := range s.lost {
		all = append(all, s.memory.at[branch])
	}
	s.has = s.Target.Has(all...)
	g := graph{ctx: ctx, search: s}
	for _, c := range s.Written {
		name := c.Ref().Name
		a := s.Addresses.Of(name)
		if err := s.decideOf(ctx, g, ancestry.Branch{Of: name, Folder: a.Folder != "", Applied: applied[name]}, a.Branch); err != nil {
			return err
		}
	}
	return s.decideOf(ctx, g, ancestry.Branch{Of: state.Branch, Applied: applied[state.Branch]}, state.Branch)
}

// decideOf notes how a branch goes on.
func (s *search) decideOf(ctx context.Context, g graph, b ancestry.Branch, branch string) error {
	if b.Head = s.Heads[branch]; s.lost[branch] {
		b.Was = s.memory.at[branch]
	}
	g.of, g.was = b.Of, b.Was
	c, err := ancestry.Continue(b, g)
	if err == nil {
		c.When, err = latest(ctx, s.Target, c.After)
	}
	if err == nil && !c.IsZero() {
		s.continued[b.Of] = c
	}
	return err
}

// graph is the commits of what is published to.
type graph struct {
	*search

	ctx context.Context //nolint:containedctx // it lives as long as a call
	of  string          // cluster, or the name of the state branch
	was files.ID        // where the branch was, as we read it
}

// Follows implements ancestry.Graph.
func (g graph) Follows(of string, head, commit files.ID) (bool, error) {
	line := ancestry.Line(of, commit)
	if head == commit || g.memory.replaced[line] {
		return true, nil
	}
	t, err := published.Walk(g.ctx, g.Target, head, commit, func(h git.Head) bool { return ancestry.Replaces(h.Message, of, commit) })
	if err == nil && !t.Said.IsZero() {
		g.memory.replaced[line] = true
	}
	if t.Follows || !t.Said.IsZero() || err != nil || !g.has[commit] {
		return t.Follows || !t.Said.IsZero(), err
	}
	after, err := g.Target.IsAncestor(g.ctx, commit, head)
	if errors.Is(err, git.ErrMissing) {
		err = nil
	}
	return after, err
}

// AtHand implements ancestry.Graph: the commits are here, from the one that was lost back to the head, and are ours. What
// others may write to the repository is ours if it is signed.
func (g graph) AtHand(commit, head files.ID) (bool, error) {
	signed := g.Reports.Shared && commit != g.was
	if signed && g.Reports.Key == nil || !g.has[commit] {
		return false, nil
	}
	at := commit
	for range mostLost {
		if at.IsZero() || at == head {
			return true, nil
		}
		h, _, err := g.Target.Root(g.ctx, at)
		if errors.Is(err, git.ErrMissing) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		ours := publish.Trailer(h.Message, publish.TrailerCommit) != "" && (!signed || g.Reports.Key.Verify(signing.Git, h.Signed, h.Signature) == nil)
		if !ours || at == commit && commit != g.was && !g.isOf(h) {
			return false, nil
		}
		at = h.Parent
	}
	return false, nil
}

// isOf reports a commit of the branch of the cluster, or of the state's: what a cluster says that it applied may be any.
func (g graph) isOf(h git.Head) bool {
	clusters := sources.Trailers(h.Message, publish.TrailerCluster)
	return len(clusters) == 0 && g.of == state.Branch || slices.Contains(clusters, g.of)
}

// latest is the latest of the dates of commits.
func latest(ctx context.Context, from published.Repository, ids []files.ID) (when time.Time, err error) {
	for _, id := range ids {
		h, _, err := from.Root(ctx, id)
		if err != nil {
			return when, err
		}
		if h.When.After(when) {
			when = h.When
		}
	}
	return when, nil
}
