package git

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/waybill-dev/waybill/sources/files"
)

// past is a commit that was on a branch, with its files.
type past struct {
	id   files.ID
	data []byte
	tree *files.Folder
}

// Has reports which commits are at hand, without asking a server for them.
func (r *Repo) Has(ids ...files.ID) map[files.ID]bool {
	has := make(map[files.ID]bool, len(ids))
	if len(ids) > 0 {
		r.store.refresh()
	}
	for _, id := range ids {
		has[id] = r.store.has(id)
	}
	return has
}

// Last returns where branches were when this machine had to do with the server last, maybe long ago; nothing for a
// repository on disk.
func (r *Repo) Last() (map[string]files.ID, error) {
	return r.kind.last()
}

// lost returns the commits that moves come after and that may not be on the server any more: those from which no branch
// leads there. What is on disk is there.
func (r *Repo) lost(ctx context.Context, todo []move, at map[string]files.ID) ([]past, error) {
	seen := map[files.ID]bool{}
	for _, id := range at {
		seen[id] = true
	}
	var open []files.ID
	for _, m := range todo {
		open = append(open, m.After...)
	}
	var all []past
	for len(open) > 0 && ctx.Err() == nil {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		some, parents, err := r.kind.lost(ctx, id)
		if err != nil {
			return nil, err
		}
		all, open = append(all, some...), append(open, parents...)
	}
	return all, ctx.Err()
}

// past reads a commit of the cache, and says what its parents are.
func (r *Repo) past(ctx context.Context, id files.ID) (p past, parents []files.ID, err error) {
	c, err := r.store.commit(id)
	if err != nil {
		return p, nil, err
	}
	p = past{id: id}
	if p.data, err = r.store.bytes(plumbing.CommitObject, id, maxMeta); err != nil {
		return p, nil, err
	}
	for _, h := range c.ParentHashes {
		parents = append(parents, files.ID(h))
	}
	p.tree, err = r.wide(ctx, files.ID(c.TreeHash))
	return p, parents, err
}
