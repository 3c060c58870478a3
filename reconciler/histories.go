package reconciler

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
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

// lasts is where branches were when they were read or written last, and of which clusters it is asked what they applied.
type lasts struct {
	at       map[string]files.ID  // by branch
	asked    map[string]time.Time // by cluster: until then
	replaced map[string]bool      // lines of trailers that are on their branch
	all      bool                 // every cluster was asked once, because Reconciler.Restored says so
}

// read begins with where branches were when this machine had to do with the server last.
func (l *lasts) read(from Repository) error {
	if l.at != nil {
		return nil
	}
	at, err := from.Last()
	if err != nil {
		return err //nolint:wrapcheck // it names the cache
	}
	l.at, l.asked, l.replaced = maps.Clone(at), map[string]time.Time{}, map[string]bool{}
	if l.at == nil {
		l.at = map[string]files.ID{}
	}
	return nil
}

// wrote notes where branches are since a publication.
func (l *lasts) wrote(updates []git.Update, heads []files.ID) {
	for i, u := range updates {
		l.at[u.Branch] = heads[i]
	}
}

// histories finds the branches whose history was lost, of a source that is about to be published, and says how they go on.
func (r *Reconciler) histories(ctx context.Context, obs *Observation, heads map[string]files.ID) error {
	known := &r.memory().lasts
	if err := known.read(r.Target); err != nil {
		return err
	}
	h := historian{Reconciler: r, lasts: known, obs: obs, at: obs.Source.Config.Publish.Addresses(), heads: heads, clusters: enrolled(obs.Source.Objects), now: r.Now()}
	if err := h.look(ctx); err != nil {
		return err
	}
	applied, err := h.ask(ctx)
	if err != nil {
		return err
	}
	return h.decide(ctx, applied)
}

// historian looks after the histories of the branches of an observation.
type historian struct {
	*Reconciler
	*lasts

	obs      *Observation
	at       render.Addresses
	heads    map[string]files.ID
	clusters []*object.Object
	now      time.Time
	lost     map[string]bool // branches that are not where they were, nor after it
	once     map[string]bool // clusters that are asked now, and not again: those that are new, as it seems
	has      map[files.ID]bool
}

// look finds the branches that lost their history, and notes where the others are.
func (h *historian) look(ctx context.Context) error {
	h.lost, h.once = map[string]bool{}, map[string]bool{}
	branches := map[string][]string{state.Branch: nil} // with the clusters that are there
	for _, c := range h.clusters {
		b := h.at.Of(c.Ref().Name).Branch
		branches[b] = append(branches[b], c.Ref().Name)
	}
	var moved []files.ID
	for branch := range branches {
		if was := h.lasts.at[branch]; !was.IsZero() && was != h.heads[branch] {
			moved = append(moved, was)
		}
	}
	h.has = h.Target.Has(moved...)
	anew, restored := h.heads[state.Branch].IsZero(), h.Restored && !h.all
	h.all = h.all || restored
	for branch, clusters := range branches {
		was, is := h.lasts.at[branch], h.heads[branch]
		follows, err := h.follows(ctx, was, is)
		if err != nil {
			return err
		}
		if follows {
			h.lasts.at[branch] = is
			continue
		}
		h.lost[branch] = true
		restored = restored || branch == state.Branch
		h.inquire(clusters...)
	}
	for _, c := range h.clusters {
		name := c.Ref().Name
		switch absent := anew || h.obs.Heads.Clusters[name].IsZero(); {
		case restored, absent && !h.heads[status.Prefix+name].IsZero():
			h.inquire(name)
		case absent && h.Told != nil:
			h.once[name] = true
		}
	}
	return nil
}

// inquire has clusters be asked what they applied, from now on for a while.
func (h *historian) inquire(clusters ...string) {
	for _, c := range clusters {
		if _, asked := h.asked[c]; !asked {
			h.asked[c] = h.now.Add(asksFor)
		}
	}
}

// follows reports whether a branch is where it was, or after it.
func (h *historian) follows(ctx context.Context, was, is files.ID) (bool, error) {
	if was.IsZero() || was == is {
		return true, nil
	}
	if is.IsZero() {
		return false, nil
	}
	return graph{ctx: ctx, historian: h}.Follows("", is, was)
}

// ask reads what clusters applied, and what of the state their agents went by, as annotations say and, of those that are
// asked, their status branches.
func (h *historian) ask(ctx context.Context) (map[string][]files.ID, error) {
	applied := map[string][]files.ID{}
	isAsked := false
	for _, c := range h.clusters {
		name := c.Ref().Name
		named := ancestry.Named(c.Annotations()[ReplacesAnnotation])
		applied[name], applied[state.Branch] = named, append(applied[state.Branch], named...)
		until, asked := h.asked[name]
		if asked && !h.now.Before(until) {
			delete(h.asked, name)
			branch := h.at.Of(name).Branch
			h.lasts.at[branch] = h.heads[branch] // as it is, from now on
		}
		isAsked = isAsked || asked || h.once[name]
	}
	if !isAsked {
		return applied, nil
	}
	of := slices.DeleteFunc(registered(h.obs.Source.Objects), func(c *karmada.Cluster) bool { _, asked := h.asked[c.Name]; return !asked && !h.once[c.Name] })
	said, err := h.hearsay(ctx, h.heads, of)
	if err != nil {
		if h.Told != nil && ctx.Err() == nil {
			return applied, nil // the agents' repository is away, and is asked again
		}
		return nil, err
	}
	for _, c := range of {
		head, _, err := said.head(ctx, c.Name)
		if err != nil {
			return nil, err
		}
		if head == nil || !h.isEvidence(head, said.keys[c.Name]) {
			continue
		}
		if s, err := status.Read(head.Tree); err == nil {
			applied[c.Name] = append(applied[c.Name], s.Commit)
			applied[state.Branch] = append(applied[state.Branch], s.State)
		}
	}
	return applied, nil
}

// decide notes how branches go on.
func (h *historian) decide(ctx context.Context, applied map[string][]files.ID) error {
	var all []files.ID
	for _, ids := range applied {
		all = append(all, ids...)
	}
	for branch := range h.lost {
		all = append(all, h.lasts.at[branch])
	}
	h.has = h.Target.Has(all...)
	g := graph{ctx: ctx, historian: h}
	h.obs.Continued = map[string]ancestry.Continuation{}
	for _, c := range h.clusters {
		name := c.Ref().Name
		a := h.at.Of(name)
		if err := h.decideOf(ctx, g, ancestry.Branch{Of: name, Folder: a.Folder != "", Applied: applied[name]}, a.Branch); err != nil {
			return err
		}
	}
	return h.decideOf(ctx, g, ancestry.Branch{Of: state.Branch, Applied: applied[state.Branch]}, state.Branch)
}

// decideOf notes how a branch goes on.
func (h *historian) decideOf(ctx context.Context, g graph, b ancestry.Branch, branch string) error {
	if b.Head = h.heads[branch]; h.lost[branch] {
		b.Was = h.lasts.at[branch]
	}
	g.of, g.was = b.Of, b.Was
	c, err := ancestry.Continue(b, g)
	if err == nil {
		c.When, err = latest(ctx, h.Target, c.After)
	}
	if err == nil && !c.IsZero() {
		h.obs.Continued[b.Of] = c
	}
	return err //nolint:wrapcheck // it names the commit
}

// graph is the commits of what is published to.
type graph struct {
	*historian

	ctx context.Context //nolint:containedctx // it lives as long as a call
	of  string          // cluster, or the name of the state branch
	was files.ID        // where the branch was, as we read it
}

// Follows implements ancestry.Graph.
func (g graph) Follows(of string, head, commit files.ID) (bool, error) {
	line := ancestry.Line(of, commit)
	if head == commit || g.replaced[line] {
		return true, nil
	}
	t, err := traced(g.ctx, g.Target, head, commit, func(h git.Head) bool { return ancestry.Replaces(h.Message, of, commit) })
	if err == nil && !t.said.IsZero() {
		g.replaced[line] = true
	}
	if t.follows || !t.said.IsZero() || err != nil || !g.has[commit] {
		return t.follows || !t.said.IsZero(), err
	}
	after, err := g.Target.IsAncestor(g.ctx, commit, head)
	if errors.Is(err, git.ErrMissing) {
		err = nil
	}
	return after, err //nolint:wrapcheck // it names the commit
}

// AtHand implements ancestry.Graph: the commits are here, from the one that was lost back to the head, and are ours. What
// others may write to the repository is ours if it is signed.
func (g graph) AtHand(commit, head files.ID) (bool, error) {
	signed := g.Shared && commit != g.was
	if signed && g.Key == nil || !g.has[commit] {
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
			return false, err //nolint:wrapcheck // it names the commit
		}
		ours := publish.Trailer(h.Message, publish.TrailerCommit) != "" && (!signed || g.Key.Verify(signing.Git, h.Signed, h.Signature) == nil)
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

// trace is what is found on the way from a head back to a commit, by first parents and whatever their dates are.
type trace struct {
	follows bool     // the head comes after it
	said    files.ID // the newest commit that says something; zero for none
}

// traced goes back from a head to a commit, or to one that says something.
func traced(ctx context.Context, from Repository, head, commit files.ID, says func(git.Head) bool) (t trace, err error) {
	for range mostLost {
		if head.IsZero() || head == commit {
			break
		}
		h, _, err := from.Root(ctx, head)
		if err != nil {
			return t, err //nolint:wrapcheck // it names the commit
		}
		if says(h) {
			return trace{said: head}, nil
		}
		head = h.Parent
	}
	t.follows = head == commit
	return t, nil
}

// latest is the latest of the dates of commits.
func latest(ctx context.Context, from Repository, ids []files.ID) (when time.Time, err error) {
	for _, id := range ids {
		h, _, err := from.Root(ctx, id)
		if err != nil {
			return when, err //nolint:wrapcheck // it names the commit
		}
		if h.When.After(when) {
			when = h.When
		}
	}
	return when, nil
}
