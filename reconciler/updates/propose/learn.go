package propose

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
)

// learner notes what became of earlier proposals.
type learner struct{ *run }

// learn notes what people and roll-outs made of earlier proposals.
func (r *learner) learn(ctx context.Context, all []updates.Subscription) error {
	r.memory.Learn(all, r.base.Commit.String())
	ask := r.askOnce(ctx)
	for i := range all {
		if p := r.memory.Policies[all[i].Name()].Proposal; p.IsOpen() && p.Branch == r.Base {
			if err := r.committed(ctx, &all[i], p); err != nil {
				return err
			}
		}
	}
	for _, n := range r.memory.Open() {
		p := r.memory.Policies[n].Proposal
		if p.PullRequest == 0 || r.Forge == nil {
			continue
		}
		is, err := ask(p.PullRequest)
		if err != nil {
			return err
		}
		if !is.Open && is.Merged == "" {
			r.memory.KeepBack(n, p.Key, fmt.Sprintf("pull request %d was closed", p.PullRequest))
			r.memory.Propose(n, nil)
		} else if is.Merged != "" {
			merged := *p
			merged.Merged = is.Merged
			r.memory.Propose(n, &merged)
			r.merged[n] = !r.isBefore(ctx, is.Merged, r.base.Commit)
		}
	}
	known := slices.DeleteFunc(slices.Clone(all), func(s updates.Subscription) bool { return r.merged[s.Name()] })
	r.memory.Learn(known, r.base.Commit.String()) // what was merged and reverted since the last run
	return r.keptByRollouts(ctx, all)
}

// pullRequest is a pull request by its number, and the zero value where there is none any more. A forge says so, too, to whom it shows
// none, as to a token that is for another repository: that is an error.
func (p *Proposer) pullRequest(ctx context.Context, number int) (forge.PullRequest, error) {
	is, err := p.Forge.PullRequest(ctx, number)
	if !errors.Is(err, forge.ErrNotFound) {
		return is, err
	}
	_, err = p.Forge.OpenPullRequests(ctx, p.Now())
	return forge.PullRequest{}, err
}

// askOnce asks for pull requests, for each once.
func (r *learner) askOnce(ctx context.Context) func(number int) (forge.PullRequest, error) {
	type answer struct {
		forge.PullRequest
		err error
	}
	asked := map[int]answer{}
	return func(number int) (forge.PullRequest, error) {
		a, is := asked[number]
		if !is {
			a.PullRequest, a.err = r.pullRequest(ctx, number)
			asked[number] = a
		}
		return a.PullRequest, a.err
	}
}

// mostWalked is how many commits are read to find one of Waybill's.
const mostWalked = 1000

// committed notes what became of a version that was about to be committed, and that the source does not say: whether the branch got
// the commit, so that somebody reverted it. Where the history does not tell, it is taken to have been.
func (r *learner) committed(ctx context.Context, s *updates.Subscription, p *updates.Proposal) error {
	isWhole := r.isBefore(ctx, p.Parent, r.base.Commit)
	queue, seen := []files.ID{r.base.Commit}, map[files.ID]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		if id.IsZero() || id.String() == p.Parent || seen[id] {
			continue
		}
		seen[id] = true
		at, err := r.Repository.Commit(ctx, id)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || len(seen) > mostWalked {
			isWhole = false
			break
		}
		if at.Author == author && slices.Contains(sources.Trailers(at.Message, trailer), taken(s, p.Key)) {
			merged := *p
			merged.Merged = id.String()
			r.memory.Propose(s.Name(), &merged)
			return nil
		}
		queue = append(append(queue, at.Parent), at.Others...)
	}
	if isWhole {
		r.memory.Opened = slices.DeleteFunc(slices.Clone(r.memory.Opened), p.At.Equal) // which was not to be
	} else {
		r.memory.KeepBack(s.Name(), p.Key, fmt.Sprintf("it may have been committed on %.12s, which the history of %s does not tell", p.Parent, r.Base))
	}
	r.memory.Propose(s.Name(), nil)
	return nil
}

// keptByRollouts keeps back what values were at the target of a roll-out that stopped or went back, if they were others at
// its base.
func (r *learner) keptByRollouts(ctx context.Context, all []updates.Subscription) error {
	recorded, err := r.Rollouts(ctx)
	if err != nil {
		return err
	}
	for i := range recorded {
		st := &recorded[i].Status
		if st.Phase != rollouts.Done {
			r.open = append(r.open, recorded[i].Unit.String())
		}
		ended := st.Phase == rollouts.Stopped || st.Phase == rollouts.Returning || st.Reason == rollouts.KeptBack
		if !ended || !st.Base.IsKnown() || !st.Target.IsKnown() {
			continue
		}
		err := r.keptByRollout(ctx, &recorded[i], all)
		if err != nil && !errors.Is(err, files.ErrMissing) { // of a history that was rewritten nobody can learn any more
			return err
		}
	}
	slices.Sort(r.open)
	return nil
}

// keptByRollout keeps back what values were at the target of one roll-out, if they were others at its base.
func (r *learner) keptByRollout(ctx context.Context, of *rollouts.Rollout, all []updates.Subscription) error {
	before, err := r.valuesAt(ctx, of.Status.Base.Commit, all)
	if err != nil {
		return err
	}
	after, err := r.valuesAt(ctx, of.Status.Target.Commit, all)
	if err != nil {
		return err
	}
	for n := range all {
		name := all[n].Name()
		was, is := before[name], after[name]
		if is == was || is.Tag == "" {
			continue
		}
		key := is.Tag
		if is.Tag == was.Tag {
			key = is.Tag + "@" + is.Digest
		}
		why := fmt.Sprintf("the roll-out of %s to %.12s did not go through (%s)", of.Unit, of.Status.Target.Commit, of.Status.Phase)
		r.memory.KeepBack(name, key, why)
	}
	return nil
}

// valuesAt are the values of subscriptions at a commit.
func (r *learner) valuesAt(ctx context.Context, commit string, of []updates.Subscription) (map[images.Name]marker.Image, error) {
	s, err := r.Repository.Snapshot(ctx, commit, r.Subdir)
	if err != nil {
		return nil, err
	}
	return updates.ValuesAt(s, of)
}
