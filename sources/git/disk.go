package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/refs"
)

// onDisk is a repository on disk, of which all is at hand.
type onDisk struct {
	repo   *Repo
	prefix string     // of the full names of its branches
	head   refs.Store // where HEAD is: differs from that of the refs in a linked work tree
	bare   bool
}

func (d *onDisk) names(context.Context) (map[string]files.ID, files.ID, error) {
	all, err := d.repo.refs.List("refs/")
	if err != nil {
		return nil, files.ID{}, err
	}
	target, err := d.head.Target("HEAD")
	if err != nil {
		return nil, files.ID{}, err
	}
	if target != "" {
		return all, all[target], nil
	}
	head, err := d.head.Read("HEAD")
	return all, head, err
}

func (d *onDisk) heads(context.Context) (map[string]files.ID, error) {
	all, err := d.repo.refs.List(d.prefix)
	if err != nil {
		return nil, err
	}
	return branches(all, d.prefix), nil
}

func (d *onDisk) tip(_ context.Context, branch string) (files.ID, error) {
	return d.repo.refs.Read(d.prefix + branch)
}

func (*onDisk) elsewhere(context.Context, string) (files.ID, error) { return files.ID{}, nil }

func (*onDisk) last() (map[string]files.ID, error) { return nil, nil }

func (*onDisk) fetch(context.Context, []string) error { return nil }

func (*onDisk) obtain(context.Context, ...files.ID) error { return nil }

func (*onDisk) obtainSince(context.Context, files.ID, time.Time) error { return nil }

func (*onDisk) obtainAll(context.Context, map[string]files.ID) error { return nil }

// lost finds a commit where it is.
func (d *onDisk) lost(_ context.Context, id files.ID) (some []past, parents []files.ID, err error) {
	if !d.repo.store.has(id) {
		return nil, nil, fmt.Errorf("commit %s, which was lost: %w", id, ErrMissing)
	}
	return nil, nil, nil
}

func (d *onDisk) publish(ctx context.Context, all []move) error {
	w, err := d.repo.acquire(ctx)
	if err != nil {
		return err
	}
	defer w.Release()
	at, err := d.repo.refs.List(refs.Heads)
	if err != nil {
		return err
	}
	return d.advance(ctx, w, all, branches(at, refs.Heads))
}

func (d *onDisk) remembered(as *Repo, prefix string) remembered {
	return remembered{&onDisk{repo: as, prefix: prefix, head: d.head, bare: d.bare}}
}

func (d *onDisk) left() bool { return d.repo.refs.Left() }

func (*onDisk) unfinished() []string { return nil }

// advance moves branches of a repository on disk.
func (d *onDisk) advance(ctx context.Context, w *refs.Writer, all []move, at map[string]files.ID) error {
	todo, err := outstanding(all, at)
	if err != nil || len(todo) == 0 {
		return err
	}
	if err := d.free(todo); err != nil {
		return err
	}
	stored, err := d.repo.write(ctx, todo, at)
	if err != nil {
		return err
	}
	changes := make([]refs.Change, len(todo))
	for i, m := range todo {
		changes[i] = refs.Change{Name: m.ref(), Old: m.Old, New: m.id}
	}
	err = w.Update(ctx, changes)
	if moved, ok := errors.AsType[*refs.MovedError](err); ok {
		return &RaceError{Branch: moved.Name[len(refs.Heads):], Want: moved.Want, Got: moved.Got}
	}
	if err != nil {
		return advise(err)
	}
	d.repo.letGo(stored.blobs)
	return nil
}

// free refuses branches that are checked out.
func (d *onDisk) free(todo []move) error {
	trees, err := d.workTrees()
	if err != nil {
		return err
	}
	out := map[string]bool{}
	for _, t := range trees {
		target, err := t.Target("HEAD")
		if err != nil {
			return fmt.Errorf("reading which branch is checked out: %w", err)
		}
		out[target] = true
	}
	for _, m := range todo {
		if out[m.ref()] {
			return fmt.Errorf("branch %s is checked out in a work tree, whose files would not follow; check out another one, or publish to a bare repository", m.Branch)
		}
	}
	return nil
}

// workTrees returns the refs stores whose HEADs say which branches are checked out.
func (d *onDisk) workTrees() ([]refs.Store, error) {
	var trees []refs.Store
	common := d.repo.store.dir
	if !d.bare {
		trees = append(trees, refs.At(common))
	}
	entries, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("looking for work trees: %w", err)
	}
	for _, e := range entries {
		trees = append(trees, refs.At(filepath.Join(common, "worktrees", e.Name())))
	}
	return trees, nil
}
