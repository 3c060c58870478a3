package pulls

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/bases"
	"github.com/waybill-dev/waybill/reconciler/versions"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/words"
)

// Comparer plans what pull requests do to the clusters. A change whose head is no member's is planned as Previewer says.
type Comparer struct {
	Reconciler *reconciler.Reconciler // with a cache of its own
	Rev        string                 // branch that pull requests go to
	// MergeBase finds the commit of the source from which two others went apart.
	MergeBase func(ctx context.Context, a, b files.ID) (files.ID, bool, error)
	// Fetch has at hand what a stranger pushed, within bounds; nil: all is at hand.
	Fetch func(ctx context.Context, head files.ID, most git.Bounds) error
	// Sandbox returns what renders what strangers wrote, as a config says, with the charts of locks.
	Sandbox func(c *render.ConfigSpec, locks ...lock.Lock) (render.Engine, error)
	// Bound has an engine render within a budget, a new one each time; nil: there is none.
	Bound func(render.Engine) render.Engine
	// Apart has an engine know what was rendered and keep what it renders to itself; nil: it does not.
	Apart func(render.Engine) render.Engine
	// Missing names the walls of the sandbox that are missing, where there are not enough for strangers; nil: there are.
	Missing func(ctx context.Context) []string
	Now     func() time.Time
	// Random is where the key of a preview comes from, which is thrown away.
	Random io.Reader
	Log    *slog.Logger

	baselines bases.Cache[shared]
}

// shared is what open pull requests that left the branch at one commit are compared with, and what renders that.
type shared struct {
	*versions.Baseline

	by reconciler.Reconciler
}

// compare plans what a pull request adds to where it left the branch. The notes are for whoever reads it.
func (c *Comparer) compare(ctx context.Context, pr *forge.PullRequest, to *destination) (is preview.Comparison, notes []string, err error) {
	head, err := files.ParseID(pr.Head)
	if err != nil {
		return is, nil, fmt.Errorf("the forge names the head %q: %w", pr.Head, err)
	}
	if !pr.Member && c.Fetch != nil {
		if err := c.Fetch(ctx, head, untrustedBounds()); err != nil {
			return is, nil, err
		}
	}
	base, found, err := c.MergeBase(ctx, to.tip, head)
	if err != nil {
		return is, nil, err
	}
	if !found {
		base = to.tip
	}
	snapshot, err := c.Reconciler.Source.Snapshot(ctx, head.String(), c.Reconciler.Subdir)
	if err != nil {
		return is, nil, err
	}
	from, err := c.baseline(ctx, base, pr, to)
	if err != nil {
		return is, nil, err
	}
	q, a := versions.Question{Head: snapshot}, versions.Against{Base: from.Baseline, By: from.by, Head: from.by}
	if pr.Member {
		notes, err = c.asMembers(ctx, &q, to)
	} else {
		q.Config = &to.config
		notes = []string{fmt.Sprintf("From a %s: planned by `%s` and with the charts of `%s`, in a sandbox.", origin(pr), render.ConfigFile, c.Rev)}
	}
	if err != nil {
		return is, nil, err
	}
	a.By.Engine, a.Head.Engine = c.bound(from.by.Engine), c.bound(from.by.Engine)
	if !pr.Member && c.Apart != nil {
		a.Head.Engine = c.bound(c.Apart(from.by.Engine))
	}
	is, err = a.Answer(ctx, q)
	is.Head = pr.Head
	return is, notes, err
}

// bound has an engine render within a budget.
func (c *Comparer) bound(e render.Engine) render.Engine {
	if c.Bound == nil {
		return e
	}
	return c.Bound(e)
}

// baseline is what a member's change, or a stranger's, is compared with that left the branch at a commit. It is planned with one
// throwaway key, from which these changes draw, too, and within a budget of its own. Members' and strangers' share nothing.
func (c *Comparer) baseline(ctx context.Context, base files.ID, pr *forge.PullRequest, to *destination) (shared, error) {
	k := bases.Key{Base: base, Moment: to.moment}
	if !pr.Member {
		k.Tip = to.tip
	}
	if known, ok := c.baselines.Find(k); ok {
		return known, nil
	}
	key, err := draw.Throwaway(c.Random)
	if err != nil {
		return shared{}, err
	}
	s := shared{by: *c.Reconciler}
	if !pr.Member {
		if s.by, err = c.untrusted(ctx, base, key, to); err != nil {
			return s, err
		}
	}
	begun := c.Now()
	planning := s.by
	planning.Engine = c.bound(s.by.Engine)
	if s.Baseline, err = versions.Begin(ctx, &planning, base.String(), key); err != nil {
		return s, err
	}
	if err := s.Plan(ctx, &planning); err != nil {
		return s, err
	}
	k.Moment.State = s.Observed.Heads.State // which may be another one by now
	c.baselines.Keep(k, s)
	c.Log.InfoContext(ctx, "base planned", "base", base.String(), "members", pr.Member, "dur", c.Now().Sub(begun))
	return s, nil
}

// asMembers has a question be answered as for a member: by the config of the change, but for what it does not settle
// before it is merged.
func (c *Comparer) asMembers(ctx context.Context, q *versions.Question, to *destination) (notes []string, err error) {
	if c.Missing != nil {
		if walls := c.Missing(ctx); len(walls) > 0 {
			notes = append(notes, fmt.Sprintf("Rendered without a sandbox (missing: %s), as nothing of a stranger's would be; `waybill doctor` says more.", words.First(walls, 3)))
		}
	}
	config, diags, err := render.ConfigOf(q.Head)
	if err != nil || len(diags) > 0 {
		return notes, err // what is wrong with it is found when it is loaded
	}
	config, later := config.Proposed(&to.config)
	q.Config = &config
	if len(later) > 0 {
		notes = append(notes, fmt.Sprintf("What `%s` says of `%s` counts once it is merged: this goes by `%s`, too.", render.ConfigFile, strings.Join(later, "`, `"), c.Rev))
	}
	return notes, nil
}

// untrusted is the reconciler for strangers' changes that left the branch at a commit: it shares no memory, does not have
// the random key, decrypts nothing, and renders with an engine of its own.
func (c *Comparer) untrusted(ctx context.Context, base files.ID, key draw.Key, to *destination) (reconciler.Reconciler, error) {
	r := c.Reconciler
	earlier, err := r.Source.Snapshot(ctx, base.String(), r.Subdir)
	if err != nil {
		return reconciler.Reconciler{}, err
	}
	locked, err := lockOf(earlier)
	if err != nil {
		return reconciler.Reconciler{}, err
	}
	e, err := c.Sandbox(&to.config, to.lock, locked)
	if err != nil {
		return reconciler.Reconciler{}, err
	}
	own := reconciler.Reconciler{
		Source: r.Source, Target: r.Target, Agents: r.Agents, Subdir: r.Subdir, Engine: e, Version: r.Version,
		ByComment: r.ByComment, Now: r.Now, Pauses: r.Pauses,
	}
	if !r.Random.Key.IsZero() {
		own.Random.Key = key
	}
	own.Seen = reconciler.NewCache()
	return own, nil
}
