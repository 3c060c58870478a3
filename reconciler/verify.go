package reconciler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// Verification is the outcome of rebuilding a branch.
type Verification struct {
	Branch      string   `json:"branch"`
	Commit      string   `json:"commit"`
	Source      string   `json:"sourceCommit"`
	Version     string   `json:"waybillVersion"` // that wrote the commit
	Same        bool     `json:"same"`
	Differences []string `json:"differences,omitempty"` // paths, or what else differs
}

// Verify rebuilds the head of a branch from what its trailers name, and compares
// it byte for byte.
func (r *Reconciler) Verify(ctx context.Context, branch string) (Verification, error) {
	if err := r.Target.Fetch(ctx, branch, state.Branch); err != nil {
		return Verification{}, err //nolint:wrapcheck // it names the branch
	}
	head, ok, err := r.Target.Branch(ctx, branch)
	if err != nil {
		return Verification{}, err //nolint:wrapcheck // it names the branch
	}
	if !ok {
		return Verification{}, fmt.Errorf("there is no branch %s in the repository", branch)
	}
	v := Verification{
		Branch: branch, Commit: head.Commit.String(),
		Source: publish.Trailer(head.Message, publish.TrailerCommit), Version: publish.Trailer(head.Message, publish.TrailerVersion),
	}
	if v.Source == "" {
		return v, fmt.Errorf("the head of %s, %s, has no %s trailer: Waybill did not write it", branch, v.Commit, publish.TrailerCommit)
	}
	at := *r
	at.Subdir = publish.Trailer(head.Message, publish.TrailerPath)
	v.Differences, err = at.differences(ctx, head, branch)
	if err != nil {
		return v, fmt.Errorf("%s at %.12s could not be rebuilt: %w", branch, v.Commit, err)
	}
	v.Same = len(v.Differences) == 0
	return v, nil
}

// differences rebuilds the head of a branch and says in what it differs. Where it does for
// want of something that it was made from, that is the error.
func (r *Reconciler) differences(ctx context.Context, head git.Head, branch string) ([]string, error) {
	var obs Observation
	var err error
	if obs.Input, obs.Snapshot, err = r.inputOf(ctx, head, branch); err != nil {
		return nil, err
	}
	p, err := r.Build(ctx, &obs)
	if err != nil {
		return nil, err
	}
	want, err := rebuilt(&p, branch, obs.Input.Published, head)
	if err != nil {
		return nil, err
	}
	var differ []string
	if digest := publish.Trailer(head.Message, publish.TrailerFleet); digest != p.FleetDigest {
		differ = append(differ, fmt.Sprintf("the fleet: the commit saw %.12s, the source has %.12s", digest, p.FleetDigest))
	}
	for c := range files.Diff(want, head.Tree) {
		differ = append(differ, c.Path)
	}
	if len(differ) == 0 {
		return nil, nil // whatever was missing, it was so then, too
	}
	return differ, wanting(&p)
}

// wanting says what a plan was not given; nil for nothing.
func wanting(p *plan.Plan) error {
	if len(p.Missing) > 0 {
		return fmt.Errorf("commit %s of the source, from which it takes what is broken later, cannot be read; in a shallow clone, git fetch --unshallow gets it", p.Missing[0])
	}
	if i := slices.IndexFunc(p.Diags, mayPass); i >= 0 {
		return errors.New(p.Diags[i].String())
	}
	return nil
}

// inputOf collects the input of the plan that a commit was written by.
func (r *Reconciler) inputOf(ctx context.Context, head git.Head, branch string) (plan.Input, sources.Snapshot, error) {
	snapshot, err := r.Source.Snapshot(ctx, publish.Trailer(head.Message, publish.TrailerCommit), r.Subdir)
	if err != nil {
		return plan.Input{}, nil, fmt.Errorf("its source commit cannot be read: %w", err)
	}
	src, err := r.load(ctx, snapshot, nil)
	if err != nil {
		return plan.Input{}, nil, err //nolint:wrapcheck // the caller says of what
	}
	in := plan.Input{
		Source: src, Medium: plan.Branch, Allow: plan.AllowAll, Released: publish.Trailer(head.Message, publish.TrailerReleased) != "",
		LastGood: map[string]render.Source{}, Published: map[string]tree.Published{},
	}
	if at := publish.Trailer(head.Message, publish.TrailerTime); at != "" {
		if in.Now, err = time.Parse(time.RFC3339, at); err != nil {
			return plan.Input{}, nil, fmt.Errorf("reading the trailer %s: %w", publish.TrailerTime, err)
		}
	}
	if commit := publish.Trailer(head.Message, publish.TrailerState); commit != "" {
		before, err := r.commit(ctx, commit)
		if err != nil {
			return plan.Input{}, nil, err
		}
		if in.State, err = ReadState(before, nil); err != nil {
			return plan.Input{}, nil, err
		}
	}
	if previous := publish.Trailer(head.Message, publish.TrailerPrevious); previous != "" {
		in.State.SourceCommit = previous
	}
	// What was held depends on every branch at that time.
	then, err := r.stateThen(ctx, head, branch, in.State)
	if err != nil {
		return plan.Input{}, nil, err
	}
	in.Held, in.Staying = then.Held, then.Staying
	if name, ok := strings.CutPrefix(branch, src.Config.Publish.BranchPrefix); ok && !head.Parent.IsZero() {
		parent, err := r.Target.Commit(ctx, head.Parent)
		if err != nil {
			return plan.Input{}, nil, err //nolint:wrapcheck // it names the commit
		}
		if in.Published[name], err = tree.Read(parent.Tree); err != nil {
			return plan.Input{}, nil, err //nolint:wrapcheck // the caller says of what
		}
	}
	return in, snapshot, nil
}

// stateThen returns the state that was published with a commit, which says which clusters
// were held, or the one before, where that did not change.
func (r *Reconciler) stateThen(ctx context.Context, head git.Head, branch string, before state.State) (state.State, error) {
	at, ok, err := head, true, error(nil)
	if branch != state.Branch {
		at, ok, err = r.Target.Branch(ctx, state.Branch)
	}
	for ; err == nil && ok && at.Commit.String() != before.Commit; at, err = r.Target.Commit(ctx, at.Parent) {
		first := at.Parent.IsZero()
		if first && before.Commit == "" || at.Parent.String() == before.Commit {
			if publish.Trailer(at.Message, publish.TrailerCommit) != publish.Trailer(head.Message, publish.TrailerCommit) {
				break // that one came later
			}
			return ReadState(at, nil)
		}
		if first {
			break
		}
	}
	return before, err //nolint:wrapcheck // it names the commit
}

func (r *Reconciler) commit(ctx context.Context, hex string) (git.Head, error) {
	id, err := files.ParseID(hex)
	if err != nil {
		return git.Head{}, err //nolint:wrapcheck // it names the id
	}
	return r.Target.Commit(ctx, id) //nolint:wrapcheck // it names the commit
}

// rebuilt returns the root folder that the plan gives a branch.
func rebuilt(p *plan.Plan, branch string, published map[string]tree.Published, head git.Head) (*files.Folder, error) {
	if branch == state.Branch {
		return p.State, nil
	}
	name, ok := strings.CutPrefix(branch, p.Config.Publish.BranchPrefix)
	for _, c := range p.Clusters {
		if !ok || c.Name != name {
			continue
		}
		meta := tree.Metadata{DrySHA: p.Revision.Commit, RepoURL: publish.Trailer(head.Message, publish.TrailerRepository), Version: publish.Trailer(head.Message, publish.TrailerVersion)}
		return tree.WithMetadata(c.Tree, meta, published[name].Foreign) //nolint:wrapcheck // it says what
	}
	return nil, errors.New("the source commit registers no cluster for branch " + branch)
}
