package pulls

import (
	"context"
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/bases"
	"github.com/waybill-dev/waybill/reconciler/versions"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/words"
)

// shared is what open pull requests that left the branch at one commit are compared with, and what renders that.
type shared struct {
	*versions.Baseline

	by reconciler.Reconciler
}

// compare plans what a pull request adds to where it left the branch. The notes are for whoever reads it.
func (p *Previewer) compare(ctx context.Context, pr *forge.PullRequest, to *destination) (c preview.Comparison, notes []string, err error) {
	head, err := files.ParseID(pr.Head)
	if err != nil {
		return c, nil, fmt.Errorf("the forge names the head %q: %w", pr.Head, err)
	}
	if !pr.Member && p.Fetch != nil {
		if err := p.Fetch(ctx, head, strangersBounds()); err != nil {
			return c, nil, err
		}
	}
	base, found, err := p.MergeBase(ctx, to.tip, head)
	if err != nil {
		return c, nil, err
	}
	if !found {
		base = to.tip
	}
	snapshot, err := p.Reconciler.Source.Snapshot(ctx, head.String(), p.Reconciler.Subdir)
	if err != nil {
		return c, nil, err
	}
	from, err := p.baseline(ctx, base, pr, to)
	if err != nil {
		return c, nil, err
	}
	q, a := versions.Question{Head: snapshot}, versions.Against{Base: from.Baseline, By: from.by, Head: from.by}
	if pr.Member {
		notes, err = p.asMembers(ctx, &q, to)
	} else {
		q.Config = &to.config
		notes = []string{fmt.Sprintf("From a %s: planned by `%s` and with the charts of `%s`, in a sandbox.", origin(pr), render.ConfigFile, p.Rev)}
	}
	if err != nil {
		return c, nil, err
	}
	a.By.Engine, a.Head.Engine = p.bound(from.by.Engine), p.bound(from.by.Engine)
	if !pr.Member && p.Apart != nil {
		a.Head.Engine = p.bound(p.Apart(from.by.Engine))
	}
	c, err = a.Answer(ctx, q)
	c.Head = pr.Head
	return c, notes, err
}

// bound has an engine render within a budget.
func (p *Previewer) bound(e render.Engine) render.Engine {
	if p.Bound == nil {
		return e
	}
	return p.Bound(e)
}

// baseline is what a member's change, or a stranger's, is compared with that left the branch at a commit. It is planned with one
// throwaway key, from which these changes draw, too, and within a budget of its own. Members' and strangers' share nothing.
func (p *Previewer) baseline(ctx context.Context, base files.ID, pr *forge.PullRequest, to *destination) (shared, error) {
	k := bases.Key{Base: base, Moment: to.moment}
	if !pr.Member {
		k.Tip = to.tip
	}
	if known, ok := p.baselines.Find(k); ok {
		return known, nil
	}
	key, err := draw.Throwaway(p.Random)
	if err != nil {
		return shared{}, err
	}
	s := shared{by: *p.Reconciler}
	if !pr.Member {
		if s.by, err = p.stranger(ctx, base, key, to); err != nil {
			return s, err
		}
	}
	begun := p.Now()
	planning := s.by
	planning.Engine = p.bound(s.by.Engine)
	if s.Baseline, err = versions.Begin(ctx, &planning, base.String(), key); err != nil {
		return s, err
	}
	if err := s.Plan(ctx, &planning); err != nil {
		return s, err
	}
	k.Moment.State = s.Observed.Heads.State // which may be another one by now
	p.baselines.Keep(k, s)
	p.Log.InfoContext(ctx, "base planned", "base", base.String(), "members", pr.Member, "dur", p.Now().Sub(begun))
	return s, nil
}

// asMembers has a question be answered as for a member: by the config of the change, but for what it does not settle
// before it is merged.
func (p *Previewer) asMembers(ctx context.Context, q *versions.Question, to *destination) (notes []string, err error) {
	if p.Missing != nil {
		if walls := p.Missing(ctx); len(walls) > 0 {
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
		notes = append(notes, fmt.Sprintf("What `%s` says of `%s` counts once it is merged: this goes by `%s`, too.", render.ConfigFile, strings.Join(later, "`, `"), p.Rev))
	}
	return notes, nil
}

// stranger is the reconciler for strangers' changes that left the branch at a commit: it shares no memory, does not have
// the random key, decrypts nothing, and renders with an engine of its own.
func (p *Previewer) stranger(ctx context.Context, base files.ID, key draw.Key, to *destination) (reconciler.Reconciler, error) {
	r := p.Reconciler
	earlier, err := r.Source.Snapshot(ctx, base.String(), r.Subdir)
	if err != nil {
		return reconciler.Reconciler{}, err
	}
	locked, err := lockOf(earlier)
	if err != nil {
		return reconciler.Reconciler{}, err
	}
	e, err := p.Sandbox(&to.config, to.lock, locked)
	if err != nil {
		return reconciler.Reconciler{}, err
	}
	own := reconciler.Reconciler{
		Source: r.Source, Target: r.Target, Told: r.Told, Subdir: r.Subdir, Engine: e, Version: r.Version,
		ByComment: r.ByComment, Now: r.Now, Pauses: r.Pauses,
	}
	if !r.Random.Key.IsZero() {
		own.Random.Key = key
	}
	own.Seen = reconciler.NewCache()
	return own, nil
}
