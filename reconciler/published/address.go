package published

import (
	"context"
	"fmt"

	"github.com/waybill-dev/waybill/reconciler/folderlog"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// Branches reads the branches and folders at which clusters are published, and their history.
type Branches struct {
	Target Repository
	// Cache is what is remembered; it has to be there.
	Cache *Cache
}

// At returns what reads a repository, and remembers nothing yet.
func At(target Repository) Branches { return Branches{Target: target, Cache: &Cache{}} }

// The history of an address is that of its branch or, where clusters share one, those commits of it
// that changed the folder: what is published for one cluster is no news for another.

// Head returns the newest commit of an address; zero if nothing is there.
func (b *Branches) Head(ctx context.Context, heads map[string]files.ID, a render.Address) (files.ID, error) {
	id := heads[a.Branch]
	if a.Folder == "" || id.IsZero() {
		return id, nil
	}
	return b.Cache.history().Last(ctx, b.Target, id, a.Folder)
}

// Newest returns the newest commit of an address, as of a commit of its branch from some time ago.
func (b *Branches) Newest(ctx context.Context, a render.Address, commit files.ID) (files.ID, error) {
	if a.Folder == "" {
		return commit, nil
	}
	return new(folderlog.Log).Last(ctx, b.Target, commit, a.Folder)
}

// CommitAt reads a commit with what it has at an address; false for nothing.
func (b *Branches) CommitAt(ctx context.Context, a render.Address, id files.ID) (git.Head, bool, error) {
	if a.Folder != "" {
		return b.Target.Within(ctx, id, a.Folder)
	}
	h, err := b.Target.Commit(ctx, id)
	return h, err == nil, err
}

// Before reads the commit of an address before another one; false for the first.
func (b *Branches) Before(ctx context.Context, a render.Address, head git.Head) (git.Head, bool, error) {
	id, err := b.CommitBefore(ctx, a, head.Commit, head.Parent)
	if err != nil || id.IsZero() {
		return git.Head{}, false, err
	}
	return b.CommitAt(ctx, a, id)
}

// CommitBefore returns the commit of an address before another one, of which the branch's commit
// before it is known; zero for the first.
func (b *Branches) CommitBefore(ctx context.Context, a render.Address, commit, parent files.ID) (files.ID, error) {
	if a.Folder == "" {
		return parent, nil
	}
	return b.Cache.history().Before(ctx, b.Target, commit, a.Folder)
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
func (b *Branches) editAt(ctx context.Context, a render.Address, head files.ID) string {
	id, err := b.Head(ctx, map[string]files.ID{a.Branch: head}, a)
	if err != nil {
		return ""
	}
	h, ok, err := b.CommitAt(ctx, a, id)
	if err != nil || !ok {
		return ""
	}
	return b.edit(ctx, a, h)
}

// readBranch reads a branch; false where there is none.
func (b *Branches) readBranch(ctx context.Context, name string) (is Branch, ok bool, err error) {
	if is.Head, ok, err = b.Target.Branch(ctx, name); err != nil || !ok {
		return Branch{}, false, err
	}
	if name != state.Branch {
		is.Published, err = tree.Read(is.Head.Tree)
	}
	if err != nil {
		return Branch{}, false, fmt.Errorf("branch %s: %w", name, err)
	}
	if is.Published.Edited {
		is.Published.Edit = b.edit(ctx, render.Address{Branch: name}, is.Head)
	}
	return is, true, nil
}
