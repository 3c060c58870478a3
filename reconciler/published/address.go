package published

import (
	"context"

	"github.com/waybill-dev/waybill/reconciler/folderlog"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// The history of an address is that of its branch or, where clusters share one, those commits of it
// that changed the folder: what is published for one cluster is no news for another.

// Head returns the newest commit of an address; zero if nothing is there.
func (r *Reader) Head(ctx context.Context, heads map[string]files.ID, a render.Address) (files.ID, error) {
	id := heads[a.Branch]
	if a.Folder == "" || id.IsZero() {
		return id, nil
	}
	return r.Cache.history().Last(ctx, r.Target, id, a.Folder)
}

// Newest returns the newest commit of an address, as of a commit of its branch from some time ago.
func (r *Reader) Newest(ctx context.Context, a render.Address, commit files.ID) (files.ID, error) {
	if a.Folder == "" {
		return commit, nil
	}
	return new(folderlog.Log).Last(ctx, r.Target, commit, a.Folder)
}

// CommitAt reads a commit with what it has at an address; false for nothing.
func (r *Reader) CommitAt(ctx context.Context, a render.Address, id files.ID) (git.Head, bool, error) {
	if a.Folder != "" {
		return r.Target.Within(ctx, id, a.Folder)
	}
	h, err := r.Target.Commit(ctx, id)
	return h, err == nil, err
}

// Before reads the commit of an address before another one; false for the first.
func (r *Reader) Before(ctx context.Context, a render.Address, head git.Head) (git.Head, bool, error) {
	id, err := r.CommitBefore(ctx, a, head.Commit, head.Parent)
	if err != nil || id.IsZero() {
		return git.Head{}, false, err
	}
	return r.CommitAt(ctx, a, id)
}

// CommitBefore returns the commit of an address before another one, of which the branch's commit
// before it is known; zero for the first.
func (r *Reader) CommitBefore(ctx context.Context, a render.Address, commit, parent files.ID) (files.ID, error) {
	if a.Folder == "" {
		return parent, nil
	}
	return r.Cache.history().Before(ctx, r.Target, commit, a.Folder)
}

// AddressesOf returns where clusters are published, by the folder of the state branch. What has no
// terms there was published by the config, as it is.
func AddressesOf(root *files.Folder, config render.Addresses) (render.Addresses, error) {
	terms, err := state.ReadTerms(root)
	if err != nil {
		return render.Addresses{}, err
	}
	none := render.DefaultConfig()
	if was := terms.Addresses(); config.Shared != "" || was != none.Publish.Addresses() {
		return was, nil
	}
	return config, nil
}

// editAt is edit for a folder of a branch whose head is known.
func (r *Reader) editAt(ctx context.Context, a render.Address, head files.ID) string {
	id, err := r.Head(ctx, map[string]files.ID{a.Branch: head}, a)
	if err != nil {
		return ""
	}
	h, ok, err := r.CommitAt(ctx, a, id)
	if err != nil || !ok {
		return ""
	}
	return r.edit(ctx, a, h)
}
