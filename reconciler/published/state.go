package published

import (
	"context"
	"fmt"

	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
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

// IsObservation reports a commit of the state branch that holds no plan.
func IsObservation(head git.Head) bool {
	return publish.Trailer(head.Message, publish.TrailerObserved) != ""
}

// Planned returns the newest commit of the state branch, from head on, that holds a plan.
func Planned(ctx context.Context, from Repository, head git.Head) (git.Head, error) {
	for IsObservation(head) {
		parent, err := from.Commit(ctx, head.Parent)
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
