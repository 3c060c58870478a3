package published

import (
	"context"
	"errors"
	"fmt"

	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// ReadState reads a commit of the state branch. What is as in an earlier state, which may
// be nil, is not read again.
func ReadState(head git.Head, earlier *state.State) (state.State, error) {
	s, err := state.Decode(head.Tree, earlier)
	if err != nil {
		return state.State{}, err
	}
	s.Commit = head.Commit.String()
	if IsObservation(head) {
		s.Planned = publish.Trailer(head.Message, publish.TrailerState)
	}
	if s.Published.Commit == "" { // the older form leaves it to the commit
		s.Published = state.Publication{Commit: publish.Trailer(head.Message, publish.TrailerCommit), When: head.When}
	}
	return s, nil
}

// StateHead fetches branches, that of the state among them, and reads the state's head. It
// refuses one that was published from another source.
func (r *Reader) StateHead(ctx context.Context, heads map[string]files.ID, here sources.Revision, branches ...string) (git.Head, error) {
	if _, ok := heads[state.Branch]; !ok {
		return git.Head{}, fmt.Errorf("nothing is published in %s: there is no branch %s; waybill publish comes first", r.Target.Name(), state.Branch)
	}
	if err := r.Target.Fetch(ctx, branches...); err != nil {
		return git.Head{}, err
	}
	head, _, err := r.Target.Branch(ctx, state.Branch)
	if err != nil {
		return git.Head{}, err
	}
	if err := r.IsSigned(state.Branch, head); err != nil {
		return git.Head{}, err
	}
	return head, r.sameSource(ctx, here, state.Branch, head)
}

// GoesOn refuses a head of the state branch that does not come after one that was gone by, signed or not: what was
// said since, as that a cluster is suspended, would not count any more.
func (r *Reader) GoesOn(ctx context.Context, head, last files.ID) error {
	if last.IsZero() || last == head || r.Rollback {
		return nil // by Rollback a person wants to go there
	}
	unknown := func(err error) error {
		return fmt.Errorf("whether %.12s of %s comes after %.12s is not known: %w", head.String(), state.Branch, last.String(), err)
	}
	t, err := Walk(ctx, r.Target, head, last, func(h git.Head) bool {
		return ancestry.Replaces(h.Message, state.Branch, last) && r.IsSigned(state.Branch, h) == nil
	})
	if err != nil {
		return unknown(err)
	}
	step := ancestry.Step{Signed: !r.Signers.IsZero(), Follows: t.Follows || !t.Said.IsZero()}
	if !step.Follows {
		if step.Follows, err = r.Target.IsAncestor(ctx, last, head); err == nil {
			step.Back, err = r.Target.IsAncestor(ctx, head, last)
		}
		if err != nil && !errors.Is(err, git.ErrMissing) {
			return unknown(err)
		}
	}
	if step.Allowed() {
		return nil
	}
	return &ancestry.RefusedError{State: true, Applied: last, Text: fmt.Sprintf("the head of %s, %.12s, does not come after %s, which counted already: somebody set the branch back, or this is a copy that lags behind; what was applied stays; publish again, with --restored if the repository was restored from a backup, or start the agent with --rollback once", state.Branch, head.String(), last)}
}

// IsSigned refuses the head of a branch that nobody signed who may, where that is asked for.
func (r *Reader) IsSigned(branch string, head git.Head) error {
	if r.Signers.IsZero() {
		return nil
	}
	if _, err := r.Signers.Verify(head.Signed, head.Signature, head.When); err != nil {
		return fmt.Errorf("the head of %s, %.12s, does not count: %w; what was applied stays; publish with --signing-key, or add who signed it to --allowed-signers", branch, head.Commit.String(), err)
	}
	return nil
}

// IsObservation reports a commit of the state branch that holds no plan.
func IsObservation(head git.Head) bool {
	return publish.Trailer(head.Message, publish.TrailerObserved) != ""
}

// Planned returns the newest commit of the state branch, from head on, that holds a plan.
func (r *Reader) Planned(ctx context.Context, head git.Head) (git.Head, error) {
	for IsObservation(head) {
		parent, err := r.Target.Commit(ctx, head.Parent)
		if err != nil {
			return head, err
		}
		if !state.OnlyObserved(parent.Tree, head.Tree) {
			return head, fmt.Errorf("commit %s of %s says that it holds what was observed of clusters, and holds something else as well; git show %[1]s", head.Commit, state.Branch)
		}
		head = parent
	}
	return head, nil
}

// mostWalked is how many commits are read on the way from one to another.
const mostWalked = 10_000

// Trace is what is found on the way from a head back to a commit, by first parents and whatever their dates are.
type Trace struct {
	Follows bool     // the head comes after it
	Said    files.ID // the newest commit that says something; zero for none
}

// Walk goes back from a head to a commit, or to one that says something.
func Walk(ctx context.Context, from Repository, head, commit files.ID, says func(git.Head) bool) (t Trace, err error) {
	for range mostWalked {
		if head.IsZero() || head == commit {
			break
		}
		h, _, err := from.Root(ctx, head)
		if err != nil {
			return t, err
		}
		if says(h) {
			return Trace{Said: head}, nil
		}
		head = h.Parent
	}
	t.Follows = head == commit
	return t, nil
}
