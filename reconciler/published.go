package reconciler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// published reads the state branch and what is at the address of every cluster.
func (r *Reconciler) published(ctx context.Context, obs *Observation, heads map[string]files.ID) error {
	at := obs.Source.Config.Publish.Addresses()
	var wanted []string
	for _, branch := range slices.Sorted(maps.Keys(heads)) {
		if branch == state.Branch || at.Has(branch) {
			wanted = append(wanted, branch)
		}
	}
	if err := r.Target.Fetch(ctx, wanted...); err != nil {
		return err //nolint:wrapcheck // the caller says of what
	}
	obs.Heads.Clusters = map[string]files.ID{}
	read := reading{Reconciler: r, obs: obs, at: at, heads: heads, isOurs: r.sameSources(ctx, obs.Source.Revision)}
	for _, name := range wanted {
		var err error
		switch {
		case name == state.Branch:
			err = read.state(ctx)
		case at.Shared != "":
			err = read.shared(ctx)
		default:
			err = read.branch(ctx, name)
		}
		if err != nil {
			return err
		}
	}
	if err := errors.Join(read.recent(ctx), read.elsewhere(ctx)); err != nil {
		return err
	}
	obs.Input.State.Random = lastRandom(&obs.Input.State, read.published)
	obs.Ahead = ahead(&obs.Input.State, read.published)
	return errors.Join(r.ordered(ctx, obs, heads), r.evident(ctx, obs, heads))
}

// reading reads what is published into an observation.
type reading struct {
	*Reconciler

	obs       *Observation
	at        render.Addresses
	heads     map[string]files.ID
	isOurs    func(branch string, head git.Head) error
	published []git.Head // commits that clusters were published with, the last of each
	tip       git.Head   // of the branch that clusters share; zero for none
}

// state reads the branch of the state.
func (r *reading) state(ctx context.Context) error {
	known := r.memory()
	was, ok, err := r.remembered(ctx, state.Branch)
	if err != nil || !ok {
		return err
	}
	if err := r.isOurs(state.Branch, was.head); err != nil {
		return err
	}
	r.obs.Heads.State = was.head.Commit
	if r.obs.Input.State, err = ReadState(was.head, known.state); err != nil {
		return fmt.Errorf("branch %s: %w", state.Branch, err)
	}
	last := r.obs.Input.State
	known.state = &last
	return nil
}

// branch reads the branch of a cluster.
func (r *reading) branch(ctx context.Context, name string) error {
	was, ok, err := r.remembered(ctx, name)
	if err != nil || !ok {
		return err
	}
	if err := r.isOurs(name, was.head); err != nil {
		return err
	}
	r.published = append(r.published, was.head)
	cluster, _ := r.at.Cluster(name)
	r.obs.Heads.Clusters[cluster], r.obs.Input.Published[cluster] = was.head.Commit, was.published
	return nil
}

// remembered reads a branch, unless it is where it was when it was read last; false where there is
// none.
func (r *reading) remembered(ctx context.Context, name string) (b branch, ok bool, err error) {
	known := r.memory()
	if b, ok = known.branches[name]; ok && b.head.Commit == r.heads[name] {
		return b, true, nil
	}
	if b, ok, err = r.readBranch(ctx, name); err != nil {
		return b, false, err
	}
	if !ok {
		delete(known.branches, name)
		return b, false, nil
	}
	known.branches[name] = b
	return b, true, nil
}

// shared reads the branch that clusters share. A folder that is no cluster's, and that Waybill did
// not write, is somebody's own.
func (r *reading) shared(ctx context.Context) error {
	head, ok, err := r.Target.Branch(ctx, r.at.Shared)
	if err != nil || !ok {
		return err //nolint:wrapcheck // it names the branch
	}
	if config := path.Join(r.Subdir, render.ConfigFile); holds(head.Tree, config) {
		return fmt.Errorf("branch %s holds %s, so that it is one of a source, and clusters cannot have their folders there; name another one with spec.publish.branch", r.at.Shared, config)
	}
	r.tip, r.obs.Heads.Shared = head, publish.Shared{Commit: head.Commit, Root: head.Tree}
	folders, err := r.folders(ctx, r.at.Shared, head)
	if err != nil {
		return err
	}
	for cluster, b := range folders {
		r.obs.Heads.Clusters[cluster], r.obs.Input.Published[cluster] = head.Commit, b.published
	}
	return nil
}

func holds(root *files.Folder, path string) bool {
	_, ok := root.Lookup(path)
	return ok
}

// folders reads the folders of clusters at the head of a branch.
func (r *reading) folders(ctx context.Context, shared string, head git.Head) (map[string]branch, error) {
	known, all := r.memory(), map[string]branch{}
	isCluster := map[string]bool{}
	for _, c := range registered(r.obs.Source.Objects) {
		isCluster[c.Name] = true
	}
	for _, e := range head.Tree.Entries() {
		if e.Dir == nil {
			continue
		}
		a := render.Address{Branch: shared, Folder: e.Name}
		b, ok := known.branches[a.String()]
		if !ok || b.head.Tree.ID() != e.ID {
			b = branch{head: git.Head{Commit: head.Commit, Tree: e.Dir}}
			var err error
			if b.published, err = tree.Read(e.Dir); err != nil {
				return nil, fmt.Errorf("%s: %w", a.Words(), err)
			}
			if b.published.Edited {
				b.published.Edit = r.editAt(ctx, a, head.Commit)
			}
			known.branches[a.String()] = b
		}
		if b.published.Built != nil || isCluster[e.Name] {
			b.head.Commit = head.Commit
			all[e.Name] = b
		}
	}
	return all, nil
}

// recent notes the commits of the branch that clusters share, back to the first that was not written
// on top of the state. Where the state is lost, all may have been.
func (r *reading) recent(ctx context.Context) error {
	const most = 1000
	checked := false
	for n, head := 0, r.tip; n < most && !head.Commit.IsZero(); n++ {
		isOurs := publish.Trailer(head.Message, publish.TrailerCommit) != ""
		if isOurs && !checked {
			if err := r.isOurs(r.at.Shared, head); err != nil {
				return err
			}
			checked = true
		}
		r.published = append(r.published, git.Head{Commit: head.Commit, Message: head.Message, When: head.When})
		if head.Parent.IsZero() || isOurs && !isOnTop(&r.obs.Input.State, head.Message) {
			return nil
		}
		var err error
		if head, _, err = r.Target.Root(ctx, head.Parent); err != nil {
			return err //nolint:wrapcheck // it names the commit
		}
	}
	return nil
}

// readBranch reads a branch; false where there is none.
func (r *Reconciler) readBranch(ctx context.Context, name string) (b branch, ok bool, err error) {
	if b.head, ok, err = r.Target.Branch(ctx, name); err != nil || !ok {
		return branch{}, false, err
	}
	if name != state.Branch {
		b.published, err = tree.Read(b.head.Tree)
	}
	if err != nil {
		return branch{}, false, fmt.Errorf("branch %s: %w", name, err)
	}
	if b.published.Edited {
		b.published.Edit = r.edit(ctx, render.Address{Branch: name}, b.head)
	}
	return b, true, nil
}
