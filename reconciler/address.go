package reconciler

import (
	"context"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/trail"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// The history of an address is that of its branch or, where clusters share one, those commits of it
// that changed the folder: what is published for one cluster is no news for another.

// headOf returns the newest commit of an address; zero if nothing is there.
func (r *Reconciler) headOf(ctx context.Context, heads map[string]files.ID, a render.Address) (files.ID, error) {
	id := heads[a.Branch]
	if a.Folder == "" || id.IsZero() {
		return id, nil
	}
	return r.memory().trail.Last(ctx, r.Target, id, a.Folder) //nolint:wrapcheck // it names the commit
}

// newest returns the newest commit of an address, as of a commit of its branch from some time ago.
func (r *Reconciler) newest(ctx context.Context, a render.Address, commit files.ID) (files.ID, error) {
	if a.Folder == "" {
		return commit, nil
	}
	return new(trail.Trail).Last(ctx, r.Target, commit, a.Folder) //nolint:wrapcheck // it names the commit
}

// CommitAt reads a commit with what it has at an address; false for nothing.
func (r *Reconciler) CommitAt(ctx context.Context, a render.Address, id files.ID) (git.Head, bool, error) {
	if a.Folder != "" {
		return r.Target.Within(ctx, id, a.Folder) //nolint:wrapcheck // it names the commit
	}
	h, err := r.Target.Commit(ctx, id)
	return h, err == nil, err //nolint:wrapcheck // it names the commit
}

// before reads the commit of an address before another one; false for the first.
func (r *Reconciler) before(ctx context.Context, a render.Address, head git.Head) (git.Head, bool, error) {
	id, err := r.CommitBefore(ctx, a, head.Commit, head.Parent)
	if err != nil || id.IsZero() {
		return git.Head{}, false, err
	}
	return r.CommitAt(ctx, a, id)
}

// CommitBefore returns the commit of an address before another one, of which the branch's commit
// before it is known; zero for the first.
func (r *Reconciler) CommitBefore(ctx context.Context, a render.Address, commit, parent files.ID) (files.ID, error) {
	if a.Folder == "" {
		return parent, nil
	}
	return r.memory().trail.Before(ctx, r.Target, commit, a.Folder) //nolint:wrapcheck // it names the commit
}

// publishedAt returns where clusters are published, by the folder of the state branch. What has no
// terms there was published by the config, as it is.
func publishedAt(root *files.Folder, config render.Addresses) (render.Addresses, error) {
	terms, err := state.ReadTerms(root)
	if err != nil {
		return render.Addresses{}, err //nolint:wrapcheck // it names the file
	}
	none := render.DefaultConfig()
	if was := terms.Addresses(); config.Shared != "" || was != none.Publish.Addresses() {
		return was, nil
	}
	return config, nil
}

// editAt is edit for a folder of a branch whose head is known.
func (r *Reconciler) editAt(ctx context.Context, a render.Address, head files.ID) string {
	id, err := r.headOf(ctx, map[string]files.ID{a.Branch: head}, a)
	if err != nil {
		return ""
	}
	h, ok, err := r.CommitAt(ctx, a, id)
	if err != nil || !ok {
		return ""
	}
	return r.edit(ctx, a, h)
}
