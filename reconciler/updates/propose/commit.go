package propose

import (
	"context"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources/git"
)

// committer commits to the branch that is followed.
type committer struct{ *run }

// commit commits the first of some changes that may be committed now, by the names of what is committed together. One at most: what the
// next one does is to be judged beside it.
func (r *committer) commit(ctx context.Context, all map[string][]*updates.Verdict) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := &change{branch: r.Base, verdicts: all[name], at: r.base.Commit}
		if why := r.limited(); why != "" {
			r.say(c, Waits, "", why)
			continue
		}
		edited, err := r.result.Found.Source.Edit(c.verdicts)
		if err != nil {
			return err
		}
		if !r.isStill(ctx, c) {
			continue
		}
		effect, err := r.effect(ctx, edited)
		if err != nil {
			return err
		}
		if why := effect.HindersCommit(); why != "" {
			r.waited = true
			r.say(c, Waits, "", why)
			continue
		}
		c.tree = r.written(edited)
		return r.carryOut(ctx, c)
	}
	return nil
}

// carryOut commits a change. What is remembered goes first where the server cannot move both branches at once: it says on which commit
// this was to come, so that the next run finds out whether it did.
func (r *committer) carryOut(ctx context.Context, c *change) error {
	r.memory.Opened = append(r.memory.Opened, r.now)
	for _, v := range c.verdicts {
		r.memory.Propose(v.Name(), &updates.Proposal{
			Key: v.Key(), From: v.Current, To: v.Next, Branch: r.Base, Tree: c.tree.ID().String(), At: r.now, Parent: r.base.Commit.String(),
		})
	}
	err := r.publish(ctx, git.Update{
		Branch: r.Base, Old: r.base.Commit, Tree: c.tree, Message: c.message(), Author: author, When: r.now, Stage: 1,
	})
	if err != nil {
		return err
	}
	for _, v := range c.verdicts {
		p := *r.memory.Policies[v.Name()].Proposal
		p.Merged = r.heads[r.Base].String()
		r.memory.Propose(v.Name(), &p)
	}
	r.result.acted = true
	r.say(c, Committed, "", "")
	return nil
}
