package git

import (
	"context"
	"fmt"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/pack"
	"github.com/waybill-dev/waybill/sources/git/internal/refs"
)

// Publish commits each tree on top of its branch and returns the commits, in the
// order of updates. On disk all branches move or none; behind a URL so, too, if the
// server can push atomically. Otherwise they move stage by stage. Updates whose commits are
// at their branches already are done: publishing twice does nothing the second time.
//
// The bytes of what was published are let go: from then on the trees' files are read from
// the repository.
//
// A branch that somebody else moved gives a RaceError. A branch that is checked out
// in a work tree is refused, because its files would not follow.
func (r *Repo) Publish(ctx context.Context, updates []Update) ([]files.ID, error) {
	if len(updates) == 0 {
		return nil, r.tidy(ctx)
	}
	all, err := moves(updates, r.sign)
	if err != nil {
		return nil, err
	}
	if err := r.kind.publish(ctx, all); err != nil {
		return nil, fmt.Errorf("publishing to %s: %w", r.shown, err)
	}
	ids := make([]files.ID, len(all))
	for i, m := range all {
		ids[i] = m.id
		r.known.add(m.Branch, m.id, m.Old, m.Tree)
	}
	return ids, nil
}

// tidy clears away what a killed writer left, if it did. One that was killed behind its
// last step leaves nothing to publish, and locks that are in the way of others.
func (r *Repo) tidy(ctx context.Context) error {
	if !r.kind.left() {
		return nil
	}
	w, err := r.acquire(ctx)
	if err != nil {
		return fmt.Errorf("tidying %s: %w", r.shown, err)
	}
	w.Release()
	return nil
}

// acquire becomes the only writer of the repository on disk, and clears away what a
// killed one left.
func (r *Repo) acquire(ctx context.Context) (*refs.Writer, error) {
	w, err := r.refs.Acquire(ctx)
	if err != nil {
		return nil, advise(err)
	}
	if err := pack.Sweep(r.store.objects(), r.kind.unfinished()...); err != nil {
		w.Release()
		return nil, advise(fmt.Errorf("removing unfinished packs: %w", err))
	}
	return w, nil
}

// letGo lets go of the bytes of blobs that branches lead to by now. Whoever still has the
// trees, to compare the next ones with, then has their ids only.
func (r *Repo) letGo(blobs []*files.Blob) {
	load := r.store.blob // once: a method value is made anew each time
	for _, b := range blobs {
		b.Stored(load)
	}
}

// stored is what the moves needed.
type stored struct {
	pack  string // the path of the objects that were not there
	blobs []*files.Blob
}

// write stores what the moves need.
func (r *Repo) write(ctx context.Context, todo []move, at map[string]files.ID) (stored, error) {
	r.known.check(at)
	for _, m := range todo {
		if m.Old.IsZero() || r.known.at(m.Branch) == m.Old {
			continue
		}
		h, err := r.Commit(ctx, m.Old)
		switch {
		case ctx.Err() != nil:
			return stored{}, fmt.Errorf("reading branch %s: %w", m.Branch, err)
		case err == nil: // otherwise nothing of it is used again
			r.known.add(m.Branch, m.Old, h.Parent, h.Tree)
		}
	}
	lost, err := r.lost(ctx, todo, at)
	if err != nil {
		return stored{}, err
	}
	objects, blobs, err := missing(todo, lost, &r.known)
	if err != nil {
		return stored{}, err
	}
	path, err := pack.Write(ctx, r.store.objects(), objects)
	if err != nil {
		return stored{}, advise(fmt.Errorf("writing %d objects: %w", len(objects), err))
	}
	return stored{path, blobs}, nil
}
