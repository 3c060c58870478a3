package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// subject is a commit that is verified.
type subject struct {
	branch string
	head   git.Head
	parts  []part // what of it is compared
	// readsClusters reports that what all clusters had is read, too.
	readsClusters bool
}

// part is what a commit has at an address.
type part struct {
	cluster string // empty for the state, and until it is known whose branch it is
	address render.Address
	root    *files.Folder
	kept    *files.Folder // what came along from another address as it was; nil if nothing did
}

// subject finds what is meant: a branch, BRANCH:FOLDER, or a cluster.
func (v *Verifier) subject(ctx context.Context, what string) (*subject, error) {
	heads, err := v.branches.at(ctx)
	if err != nil {
		return nil, err
	}
	at, err := v.publishedNow(ctx, heads)
	if err != nil {
		return nil, err
	}
	address := render.ParseAddress(what)
	if _, ok := heads[address.Branch]; !ok && address.Folder == "" {
		address = at.Of(what)
	}
	id, ok := heads[address.Branch]
	if !ok {
		return nil, fmt.Errorf("there is no branch %s in the repository, and no cluster of this name", what)
	}
	if err := v.branches.fetch(ctx, address.Branch, state.Branch); err != nil {
		return nil, err
	}
	if address.Folder != "" {
		return v.folder(ctx, heads, address)
	}
	if s, isShared, err := v.shared(ctx, address.Branch, id); err != nil || isShared {
		return s, err
	}
	head, err := v.Published.Target.Commit(ctx, id)
	if err == nil && address.Branch == state.Branch {
		head, err = published.Planned(ctx, v.Published.Target, head)
	}
	return &subject{branch: address.Branch, head: head, parts: []part{{address: address, root: head.Tree}}}, err
}

// publishedNow returns where clusters are published, as the state has it.
func (v *Verifier) publishedNow(ctx context.Context, heads map[string]files.ID) (render.Addresses, error) {
	none := render.DefaultConfig()
	if _, ok := heads[state.Branch]; !ok {
		return none.Publish.Addresses(), nil
	}
	if err := v.branches.fetch(ctx, state.Branch); err != nil {
		return render.Addresses{}, err
	}
	head, _, err := v.Published.Target.Branch(ctx, state.Branch)
	if err != nil {
		return render.Addresses{}, err
	}
	return published.AddressesOf(head.Tree, none.Publish.Addresses())
}

// folder is the commit that changed a folder last.
func (v *Verifier) folder(ctx context.Context, heads map[string]files.ID, a render.Address) (*subject, error) {
	id, err := v.Published.Head(ctx, heads, a)
	if err != nil {
		return nil, err
	}
	if id.IsZero() {
		return nil, fmt.Errorf("there is no %s in the repository", a.Words())
	}
	head, _, err := v.Published.CommitAt(ctx, a, id)
	return &subject{branch: a.Branch, head: head, parts: []part{{cluster: a.Folder, address: a, root: head.Tree}}}, err
}

// shared is the head of a branch that clusters share, with the folders that it says it changed; false
// for any other branch.
func (v *Verifier) shared(ctx context.Context, branch string, id files.ID) (*subject, bool, error) {
	head, entries, err := v.Published.Target.Root(ctx, id)
	clusters := sources.Trailers(head.Message, publish.TrailerCluster)
	isOne := slices.ContainsFunc(entries, func(e files.Entry) bool { return e.Name == tree.MetadataFile })
	if err != nil || isOne || len(clusters) == 0 {
		return nil, false, err
	}
	s := &subject{branch: branch, head: head}
	for _, cluster := range clusters {
		a := render.Address{Branch: branch, Folder: cluster}
		h, ok, err := v.Published.CommitAt(ctx, a, id)
		if err != nil {
			return nil, false, err
		}
		if ok {
			s.parts = append(s.parts, part{cluster: cluster, address: a, root: h.Tree})
		}
	}
	return s, true, nil
}

// thenAt reads what was at an address, or at the one before, when a commit was written.
func (v *Verifier) thenAt(ctx context.Context, obs *planner.Observation, p *part, head git.Head) error {
	if p.cluster == "" {
		return nil
	}
	before, ok, err := v.Published.Before(ctx, p.address, head)
	if err != nil {
		return err
	}
	var was tree.Published
	there := ok
	if ok {
		if was, err = tree.Read(before.Tree); err != nil {
			return err
		}
	}
	if c, moved := publish.ParseContinued(head.Message, p.cluster); moved {
		there = true
		if before, _, err = v.Published.CommitAt(ctx, c.From, c.Commit); err != nil {
			return err
		}
		is := was
		if was, err = tree.Read(before.Tree); err != nil {
			return err
		}
		was.Foreign = published.Foreign(was, is)
		if c.AsItWas {
			p.kept = before.Tree
		}
	}
	if there {
		obs.Input.Published[p.cluster] = was
	}
	return nil
}

// rebuilt returns the folder that the plan gives a part of a commit.
func rebuilt(p *plan.Plan, of *part, obs *planner.Observation, head git.Head) (*files.Folder, error) {
	if of.address.Branch == state.Branch {
		return publish.StateOf(p)
	}
	was := obs.Input.Published[of.cluster]
	if of.kept != nil {
		return tree.Overlay(of.kept, was.Foreign), nil
	}
	for _, c := range p.Clusters {
		if c.Name != of.cluster {
			continue
		}
		meta := tree.Metadata{DrySHA: p.Revision.Commit, RepoURL: publish.Trailer(head.Message, publish.TrailerRepository), Version: publish.Trailer(head.Message, publish.TrailerVersion)}
		return tree.WithMetadata(c.Tree, meta, nil, was.Foreign)
	}
	return nil, errors.New("the source commit registers no cluster for " + of.address.Words())
}
