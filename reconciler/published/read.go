package published

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/seal/unseal"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// Reader reads what is published from a source, and says whether it is that. What it is not given it does without.
type Reader struct {
	Branches // may be those of the source

	Source Repository // nil for one who only applies what is published, as an agent does
	Subdir string     // folder of the source that is read; empty for all
	// TakeOver has branches count that were published from another source, and Rollback commits that come before the one
	// that counted last.
	TakeOver, Rollback bool
	// Identities returns what decrypts what SOPS encrypted, to apply it; nil: nothing does. It
	// is asked anew whenever a branch has something encrypted.
	Identities func(context.Context) (unseal.Identities, error)
	// Signers are those of whom one has to have signed what is applied; the zero value asks for
	// no signature.
	Signers signing.Signers
}

// Content is what is published from a source, at one moment.
type Content struct {
	Heads publish.Heads
	// State is what the state branch says; where somebody deleted it, what branches say of the random key.
	State    state.State
	Clusters map[string]tree.Published // by cluster
	// Moved are the clusters that were published elsewhere than the config says now, and Left
	// where another layout of it publishes and nothing goes any more.
	Moved map[string]publish.Moved
	Left  []render.Address
	// Ahead are what was published after the publication that the state names, in the order
	// of dates: where a push is not atomic, a branch may be ahead of the state.
	Ahead []state.Publication
	// Unrecorded are the clusters whose branch is ahead of the state, by name, with what the state knows of them.
	Unrecorded map[string]*staged.Unrecorded
}

// Asked is of which source, by which config, and for which clusters it is asked what is published.
type Asked struct {
	Revision sources.Revision
	Publish  *render.Publish
	Clusters func() []*karmada.Cluster // that are registered; asked where clusters share a branch
}

// Content reads the state branch and what is at the address of every cluster, where the heads of branches are.
func (r *Reader) Content(ctx context.Context, heads map[string]files.ID, asked Asked) (*Content, error) {
	at := asked.Publish.Addresses()
	var wanted []string
	for _, branch := range slices.Sorted(maps.Keys(heads)) {
		if branch == state.Branch || at.Has(branch) {
			wanted = append(wanted, branch)
		}
	}
	if err := r.Target.Fetch(ctx, wanted...); err != nil {
		return nil, err
	}
	read := reading{
		Reader: r, asked: asked, at: at, heads: heads, isOurs: r.sameSources(ctx, asked.Revision),
		Content: Content{
			Heads: publish.Heads{Clusters: map[string]files.ID{}}, Clusters: map[string]tree.Published{},
			Unrecorded: map[string]*staged.Unrecorded{},
		},
		newest: map[string]git.Head{},
	}
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
			return nil, err
		}
	}
	if err := errors.Join(read.recent(ctx), read.moved(ctx), read.unrecorded(ctx)); err != nil {
		return nil, err
	}
	read.State.Random = lastRandom(&read.State, read.published)
	read.Ahead = ahead(&read.State, read.published)
	return &read.Content, nil
}

// reading is what is read of what is published, so far.
type reading struct {
	*Reader
	Content

	asked     Asked
	at        render.Addresses
	heads     map[string]files.ID
	isOurs    func(branch string, head git.Head) error
	published []git.Head          // commits that clusters were published with, the last of each
	tip       git.Head            // of the branch that clusters share; zero for none
	newest    map[string]git.Head // of clusters that have a branch of their own
}

// state reads the branch of the state.
func (r *reading) state(ctx context.Context) error {
	was, ok, err := r.remembered(ctx, state.Branch)
	if err != nil || !ok {
		return err
	}
	if err := r.isOurs(state.Branch, was.Head); err != nil {
		return err
	}
	r.Heads.State = was.Head.Commit
	if r.State, err = ReadState(was.Head, r.Cache.lastState()); err != nil {
		return fmt.Errorf("branch %s: %w", state.Branch, err)
	}
	last := r.State
	r.Cache.keepState(&last)
	return nil
}

// branch reads the branch of a cluster.
func (r *reading) branch(ctx context.Context, name string) error {
	was, ok, err := r.remembered(ctx, name)
	if err != nil || !ok {
		return err
	}
	if err := r.isOurs(name, was.Head); err != nil {
		return err
	}
	r.published = append(r.published, was.Head)
	cluster, _ := r.at.Cluster(name)
	r.newest[cluster] = was.Head
	r.Heads.Clusters[cluster], r.Clusters[cluster] = was.Head.Commit, was.Published
	return nil
}

// remembered reads a branch, unless it is where it was when it was read last; false where there is
// none.
func (r *reading) remembered(ctx context.Context, name string) (b Branch, ok bool, err error) {
	if b, ok = r.Cache.branch(name); ok && b.Head.Commit == r.heads[name] {
		return b, true, nil
	}
	if b, ok, err = r.readBranch(ctx, name); err != nil {
		return b, false, err
	}
	if !ok {
		r.Cache.keep(name, nil)
		return b, false, nil
	}
	r.Cache.keep(name, &b)
	return b, true, nil
}

// shared reads the branch that clusters share. A folder that is no cluster's, and that Waybill did
// not write, is somebody's own.
func (r *reading) shared(ctx context.Context) error {
	head, ok, err := r.Target.Branch(ctx, r.at.Shared)
	if err != nil || !ok {
		return err
	}
	if config := path.Join(r.Subdir, render.ConfigFile); holds(head.Tree, config) {
		return fmt.Errorf("branch %s holds %s, so that it is one of a source, and clusters cannot have their folders there; name another one with spec.publish.branch", r.at.Shared, config)
	}
	r.tip, r.Heads.Shared = head, publish.Shared{Commit: head.Commit, Root: head.Tree}
	folders, err := r.folders(ctx, r.at.Shared, head)
	if err != nil {
		return err
	}
	for cluster, b := range folders {
		r.Heads.Clusters[cluster], r.Clusters[cluster] = head.Commit, b.Published
	}
	return nil
}

func holds(root *files.Folder, path string) bool {
	_, ok := root.Lookup(path)
	return ok
}

// folders reads the folders of clusters at the head of a branch.
func (r *reading) folders(ctx context.Context, shared string, head git.Head) (map[string]Branch, error) {
	all := map[string]Branch{}
	isCluster := map[string]bool{}
	for _, c := range r.asked.Clusters() {
		isCluster[c.Name] = true
	}
	for _, e := range head.Tree.Entries() {
		if e.Dir == nil {
			continue
		}
		a := render.Address{Branch: shared, Folder: e.Name}
		b, ok := r.Cache.branch(a.String())
		if !ok || b.Head.Tree.ID() != e.ID {
			b = Branch{Head: git.Head{Commit: head.Commit, Tree: e.Dir}}
			var err error
			if b.Published, err = tree.Read(e.Dir); err != nil {
				return nil, fmt.Errorf("%s: %w", a.Words(), err)
			}
			if b.Published.Edited {
				b.Published.Edit = r.editAt(ctx, a, head.Commit)
			}
			r.Cache.keep(a.String(), &b)
		}
		if b.Published.Built != nil || isCluster[e.Name] {
			b.Head.Commit = head.Commit
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
		isOurs := isPublication(head.Message)
		if isOurs && !checked {
			if err := r.isOurs(r.at.Shared, head); err != nil {
				return err
			}
			checked = true
		}
		r.published = append(r.published, git.Head{Commit: head.Commit, Message: head.Message, When: head.When})
		if head.Parent.IsZero() || isOurs && !isOnTop(&r.State, head.Message) {
			return nil
		}
		var err error
		if head, _, err = r.Target.Root(ctx, head.Parent); err != nil {
			return err
		}
	}
	return nil
}
