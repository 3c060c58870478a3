package planner

import (
	"context"
	"errors"
	"fmt"

	"github.com/waybill-dev/waybill/reconciler/lastgood"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/unlisted"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/git"
)

// Mend finds the source to plan from. While all of it can be read that is the source as it
// was observed. Otherwise the earlier commits are read in which the rest was last good, and
// the source is read once more, with what is taken from there: a Cluster that cannot be read
// still has its directory, and a Flux Kustomization its folder.
func (p *Planner) Mend(ctx context.Context, obs *Observation, allows func(digest string) bool) (err error) {
	obs.Input.Source, obs.Input.Unresolved, err = p.mended(ctx, obs, obs.Source, render.With{}, allows)
	p.tellShallow(ctx, &obs.Input.Unresolved)
	return err
}

// mended is Mend of a source that was read from the snapshot of an observation, with what it is read
// with.
func (p *Planner) mended(ctx context.Context, obs *Observation, src render.Source, with render.With, allows func(digest string) bool) (render.Source, lastgood.Unresolved, error) {
	in := lastgood.Input{
		Source: src, State: &obs.Input.State, Earlier: map[string]render.Source{},
		Allows: allows, ByComment: p.Allow.ByComment, Cache: obs.Input.Memo.Policies(),
	}
	for _, ahead := range obs.Ahead {
		in.Ahead = append(in.Ahead, ahead.Commit)
	}
	commits := lastgood.Commits(in)
	snapshots := earlier{planner: p, read: map[string]sources.Snapshot{}}
	last := in.State.Published.Commit
	for _, commit := range commits {
		if commit != last {
			p.readEarlier(ctx, &in, commit, &snapshots, with)
		}
	}
	if len(commits) > 0 {
		with.Earlier = snapshots.by(ctx, in.State)
		if with.Inherited = lastgood.Goods(in); last != "" {
			p.readEarlier(ctx, &in, last, &snapshots, with)
		}
		with.Inherited = lastgood.Inherited(in)
		src, err := p.Load(ctx, obs.Snapshot, with)
		if err != nil {
			return src, lastgood.Unresolved{}, fmt.Errorf("reading the source: %w", err)
		}
		in.Source = src
	}
	source, unresolved := lastgood.Restore(in)
	return source, unresolved, nil
}

// unlisted lists what stays although no kustomization lists it. Where a version published last that
// read such files and did not say so, the source is read once more, as that version did.
func (p *Planner) unlisted(ctx context.Context, obs *Observation, allows func(digest string) bool) ([]state.Unlisted, error) {
	s, source := &obs.Input.State, obs.Input.Source
	if !s.ReadUnlisted() {
		return unlisted.Still(s.Unlisted, source), nil
	}
	if len(source.Unlisted)+len(source.Broken) == 0 {
		return nil, nil
	}
	with := render.With{Unlisted: true}
	older, err := p.Load(ctx, obs.Snapshot, with)
	if err == nil {
		older, _, err = p.mended(ctx, obs, older, with, allows)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the source as it was read before: %w", err)
	}
	return unlisted.Found(s, older, source), nil
}

// tellShallow adds to what is not known of a source that it is in the part of the history
// that a shallow clone does not have.
func (p *Planner) tellShallow(ctx context.Context, d *lastgood.Unresolved) {
	if d.OutOfReach == "" {
		return
	}
	if _, err := p.Source.Snapshot(ctx, d.OutOfReach, p.Subdir); errors.Is(err, git.ErrShallow) {
		d.Diags = append(d.Diags, diag.Diagnostic{
			Code: diag.HistoryMissing, Severity: diag.Error,
			Message: fmt.Sprintf("what is broken now is held, because the commit in which it was sound last cannot be read: %s", err),
		})
	}
}

// readEarlier reads an earlier commit, if it can be had: the plan goes on without it, and
// changes nothing then.
func (p *Planner) readEarlier(ctx context.Context, in *lastgood.Input, commit string, from *earlier, with render.With) {
	s := from.at(ctx, commit)
	if s == nil {
		return
	}
	if src, err := p.Load(ctx, s, with); err == nil {
		in.Earlier[commit] = src
	}
}

// earlier are the snapshots of earlier commits.
type earlier struct {
	planner *Planner
	read    map[string]sources.Snapshot
}

// at returns the snapshot of a commit; nil if it cannot be had.
func (e *earlier) at(ctx context.Context, commit string) sources.Snapshot {
	if _, known := e.read[commit]; !known {
		s, err := e.planner.Source.Snapshot(ctx, commit, e.planner.Subdir)
		if err != nil {
			s = nil
		}
		e.read[commit] = s
	}
	return e.read[commit]
}

// by returns how to find the snapshot in which a path was last sound, by a state.
func (e *earlier) by(ctx context.Context, s *state.State) func(path string) (sources.Snapshot, bool) {
	return func(path string) (sources.Snapshot, bool) {
		commit := s.Published.Commit
		if part, ok := s.LastGood.Broken[path]; ok {
			commit = part.Commit
		} else if part, ok := s.LastGood.Broken[path+"/"]; ok { // a folder
			commit = part.Commit
		}
		if commit == "" {
			return nil, false
		}
		found := e.at(ctx, commit)
		return found, found != nil
	}
}
