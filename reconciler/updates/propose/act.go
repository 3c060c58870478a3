package propose

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/updates"
)

// act does what is to be done about what was found, a branch after the other.
func (r *run) act(ctx context.Context) error {
	byBranch, commits := r.wanted()
	isOver := func(t time.Time) bool { return r.now.Sub(t).Abs() >= time.Hour } // one that is to come is of a clock that was ahead
	r.memory.Opened = slices.DeleteFunc(slices.Clone(r.memory.Opened), isOver)
	ends := &closer{r}
	ends.obsolete(byBranch)
	var changes []*change
	for _, branch := range slices.Sorted(maps.Keys(byBranch)) {
		c, err := r.change(ctx, branch, byBranch[branch])
		if err != nil {
			return err
		}
		if c != nil && r.allowed(c) {
			changes = append(changes, c)
		}
	}
	if err := r.push(ctx, changes); err != nil {
		return err
	}
	failed := ends.close(ctx) // what could not be closed is closed the next time, and keeps no other from being opened
	for _, c := range changes {
		failed = errors.Join(failed, (&presenter{r}).show(ctx, c))
	}
	(&presenter{r}).unlabel(ctx)
	if failed != nil {
		return errors.Join(failed, r.remember(ctx)) // what is open already is not opened again
	}
	if err := (&committer{r}).commit(ctx, commits); err != nil {
		return err
	}
	if err := (&merger{r}).merge(ctx); err != nil {
		return errors.Join(err, r.remember(ctx))
	}
	isUsedUp := !r.waited || !r.settings.isFresh(r.now)
	if r.due && len(r.settings.schedule) > 0 && isUsedUp && !r.result.acted { // who acted looks again
		r.memory.Looked = r.now
	}
	return r.remember(ctx)
}

// wanted is what is to be written: by branches of their own, and by names of what is committed together to the base.
func (r *run) wanted() (byBranch, commits map[string][]*updates.Verdict) {
	byBranch, commits = map[string][]*updates.Verdict{}, map[string][]*updates.Verdict{}
	for i := range r.result.Found.Verdicts {
		v := &r.result.Found.Verdicts[i]
		if !v.Takes() || r.merged[v.Name()] { // whether it was reverted since is known the next time
			continue
		}
		branch, to := v.Branch(r.Base, r.settings.Group), byBranch
		if r.settings.commits() && strings.HasPrefix(branch, updates.BranchPrefix) {
			to = commits
		}
		to[branch] = append(to[branch], v)
	}
	return byBranch, commits
}

// goOn ends what earlier runs began, and asks no registry.
func (r *run) goOn(ctx context.Context) error {
	(&presenter{r}).unlabel(ctx)
	err := (&closer{r}).close(ctx)
	if err == nil {
		err = (&merger{r}).merge(ctx)
	}
	return errors.Join(err, r.remember(ctx))
}

// allowed reports whether a change may be proposed now. One that has a pull request already always may.
func (r *run) allowed(c *change) bool {
	if c.was != nil {
		return true
	}
	open := map[string]bool{}
	for _, n := range r.memory.Open() {
		open[r.memory.Policies[n].Proposal.Branch] = true
	}
	why := r.limited()
	if why == "" && len(open) >= r.settings.Limits.Open {
		why = fmt.Sprintf("%d pull requests are open, and updates.limits.open is %d", len(open), r.settings.Limits.Open)
	}
	if why != "" {
		r.say(c, Waits, "", why)
		return false
	}
	r.memory.Opened = append(r.memory.Opened, r.now)
	c.note(r.memory)
	return true
}

// limited says why nothing new may be begun now; empty if it may.
func (r *run) limited() string {
	switch most := r.settings.Limits.PerHour; {
	case !r.due:
		return "the schedule has not come about since pull requests were opened last"
	case len(r.memory.Opened) >= most:
		return fmt.Sprintf("%d were opened in the last hour, and updates.limits.perHour is %d", len(r.memory.Opened), most)
	}
	return ""
}

// effect is what becomes of the clusters if files of the source have other contents than on the base.
func (r *run) effect(ctx context.Context, contents map[string][]byte) (updates.Effect, error) {
	if r.judge == nil {
		var err error
		if r.judge, err = r.Judge(ctx, r.base.Commit.String()); err != nil {
			return updates.Effect{}, err
		}
	}
	return r.judge(ctx, newEdited(r.snapshot, contents))
}

// say notes what became of a branch.
func (r *run) say(c *change, did Did, url, why string) {
	o := Outcome{Branch: c.branch, Did: did, URL: url, Why: why}
	for _, v := range c.verdicts {
		o.Of = append(o.Of, v.Name().String())
	}
	r.result.Outcomes = append(r.result.Outcomes, o)
}
