// Package folderlog finds the commits of a branch that changed a folder at its root. Where clusters share
// a branch, these are to a cluster what the commits of a branch of its own would be: one that changes
// other folders is none of its history.
package folderlog

import (
	"context"
	"slices"
	"sync"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// Repository is what commits are read from.
type Repository interface {
	Root(ctx context.Context, id files.ID) (git.Head, []files.Entry, error)
}

// Log is the history of the folders of one branch, by first parents, as far back as somebody asked.
// What it read once it does not read again. Several may ask it at once; the zero value knows nothing.
type Log struct {
	mu    sync.Mutex
	tip   []files.Entry // what is at the root of the head
	known *known        // from the head on; nil: nothing
	older *known        // from an earlier head on, until the walk gets there
}

// known is what commits changed, from a head on until a commit, which is not among them.
type known struct {
	head       files.ID
	past       map[string][]files.ID // commits by folder, the newest first; zero: it went
	at, parent files.ID              // zero parent: it is the first commit
	root       []files.Entry         // what is at the root there
	ended      bool                  // what the first commit changed is known, too
}

// Last returns the newest commit of those that lead to head that changed a folder; zero if head
// does not have the folder.
func (t *Log) Last(ctx context.Context, repo Repository, head files.ID, folder string) (files.ID, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || t.known.head != head {
		if err := t.begin(ctx, repo, head); err != nil {
			return files.ID{}, err
		}
	}
	if !slices.ContainsFunc(t.tip, func(e files.Entry) bool { return e.Name == folder }) {
		return files.ID{}, nil
	}
	return t.nth(ctx, repo, folder, 0)
}

// Before returns the newest commit before one that changed a folder, which changed it, too; zero if
// the folder was not there before.
func (t *Log) Before(ctx context.Context, repo Repository, commit files.ID, folder string) (files.ID, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known != nil {
		if i := slices.Index(t.known.past[folder], commit); i >= 0 {
			return t.nth(ctx, repo, folder, i+1)
		}
	}
	h, _, err := repo.Root(ctx, commit)
	if err != nil || h.Parent.IsZero() {
		return files.ID{}, err
	}
	return (&Log{}).Last(ctx, repo, h.Parent, folder)
}

// begin begins at a head.
func (t *Log) begin(ctx context.Context, repo Repository, head files.ID) error {
	h, entries, err := repo.Root(ctx, head)
	if err != nil {
		return err
	}
	if t.older == nil {
		t.older = t.known
	}
	t.tip = entries
	t.known = &known{head: head, past: map[string][]files.ID{}, at: head, parent: h.Parent, root: entries}
	return nil
}

// nth returns the commit behind so many newer ones that changed a folder; zero for none.
func (t *Log) nth(ctx context.Context, repo Repository, folder string, n int) (files.ID, error) {
	for len(t.known.past[folder]) <= n {
		if t.known.ended {
			return files.ID{}, nil
		}
		if err := t.step(ctx, repo); err != nil {
			return files.ID{}, err
		}
	}
	return t.known.past[folder][n], nil
}

// step goes one commit back, or to where it got before from an earlier head.
func (t *Log) step(ctx context.Context, repo Repository) error {
	k := t.known
	if o := t.older; o != nil && o.head == k.at {
		for folder, past := range o.past {
			k.past[folder] = append(k.past[folder], past...)
		}
		k.at, k.parent, k.root, k.ended, t.older = o.at, o.parent, o.root, o.ended, nil
		return nil
	}
	var before []files.Entry
	var further files.ID
	if !k.parent.IsZero() {
		h, entries, err := repo.Root(ctx, k.parent)
		if err != nil {
			return err
		}
		before, further = entries, h.Parent
	}
	is, was := differing(k.root, before)
	for folder, id := range is {
		if was[folder] != id {
			k.past[folder] = append(k.past[folder], k.at)
		}
	}
	for folder := range was {
		if _, ok := is[folder]; !ok {
			k.past[folder] = append(k.past[folder], files.ID{})
		}
	}
	if k.parent.IsZero() {
		k.ended, t.older = true, nil
		return nil
	}
	k.at, k.parent, k.root = k.parent, further, before
	return nil
}

// differing returns two folders by name, without what is the same at their beginnings and ends, which
// mostly is nearly all.
func differing(a, b []files.Entry) (inA, inB map[string]files.ID) {
	for len(a) > 0 && len(b) > 0 && same(&a[0], &b[0]) {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && same(&a[len(a)-1], &b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return byName(a), byName(b)
}

func same(a, b *files.Entry) bool { return a.ID == b.ID && a.Name == b.Name }

func byName(entries []files.Entry) map[string]files.ID {
	ids := make(map[string]files.ID, len(entries))
	for _, e := range entries {
		ids[e.Name] = e.ID
	}
	return ids
}
