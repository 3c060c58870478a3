package propose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
)

// merger merges pull requests that nobody but Waybill committed to.
type merger struct{ *run }

// mergeRest is for how long a pull request shows its change before it is merged, so that the checks of others have begun, and for how
// long what hinders it is not judged again by a controller.
const mergeRest = 5 * time.Minute

// merge merges the first pull request that may be merged now. One at most: what the next one does is to be judged beside it.
func (r *merger) merge(ctx context.Context) error {
	if !r.settings.Automerge || r.Forge == nil || r.result.acted {
		return nil
	}
	asked := map[int]bool{}
	for _, n := range r.memory.Open() {
		p := r.memory.Policies[n].Proposal
		isNew := p.At.IsZero() || !p.At.Before(r.now) // it does not show its change yet, or does by this run
		if p.PullRequest == 0 || isNew || asked[p.PullRequest] || r.tried[p.PullRequest] {
			continue
		}
		asked[p.PullRequest] = true
		why, err := r.one(ctx, p)
		if err != nil {
			return err
		}
		r.saysOf(p, why)
		if why == "" {
			return nil
		}
	}
	return nil
}

// one merges a pull request, or says why it is not to be merged now.
func (r *merger) one(ctx context.Context, p *updates.Proposal) (why string, err error) {
	contents, why, err := r.mergeable(ctx, p)
	if why != "" || err != nil {
		return why, err
	}
	q := question{r.heads[p.Branch].String(), "merge into " + r.base.Commit.String()}
	if why := r.Cache.hindrance(q, r.now); why != "" {
		return why, nil
	}
	effect, err := r.effect(ctx, contents)
	if err != nil {
		return "", err
	}
	if why := effect.HindersMerge(); why != "" {
		r.Cache.hinder(q, why, r.now.Add(mergeRest)) // roll-outs take hours, and both versions are planned each time
		return why, nil
	}
	return r.carryOut(ctx, p)
}

// carryOut merges a pull request at the head that was judged, into the base that it was judged for: a forge refuses another head, and
// asks for no base. It says why it is not merged.
func (r *merger) carryOut(ctx context.Context, p *updates.Proposal) (why string, err error) {
	heads, err := r.Repository.Heads(ctx)
	if err != nil {
		return "", err
	}
	for branch, at := range map[string]files.ID{
		r.Base: r.base.Commit, p.Branch: r.heads[p.Branch], updates.MemoryBranch: r.memoryAt.Commit,
	} {
		if heads[branch] != at {
			return "a branch moved while it was judged, and it is judged again", nil
		}
	}
	r.tried[p.PullRequest] = true
	err = r.Forge.MergePullRequest(ctx, p.PullRequest, r.heads[p.Branch].String())
	if e, is := errors.AsType[*forge.Error](err); is && e.IsRefusal() {
		return err.Error(), nil
	}
	r.result.acted = err == nil
	return "", err
}

// saysOf notes that a pull request was merged, or why it is not yet.
func (r *merger) saysOf(p *updates.Proposal, why string) {
	o := Outcome{Branch: p.Branch, Did: Merged, URL: p.URL, Why: why}
	if why != "" {
		o.Did = Waits
	}
	for _, n := range r.memory.Open() {
		if r.memory.Policies[n].Proposal.PullRequest == p.PullRequest {
			o.Of = append(o.Of, n.String())
		}
	}
	r.result.Outcomes = append(r.result.Outcomes, o)
}

// mergeable is what a pull request changes in the base as it is now: the contents of files of the source. Otherwise it says why it is
// not merged, whatever it does.
func (r *merger) mergeable(ctx context.Context, p *updates.Proposal) (contents map[string][]byte, why string, err error) {
	if why := r.unsure(p); why != "" {
		return nil, why, nil
	}
	head, now := r.heads[p.Branch], *p
	now.Over = "" // what was there before is not what is to be merged
	isOurs, err := r.isOurs(ctx, &now)
	if err != nil || !isOurs {
		return nil, "somebody else's commit is on the branch", err
	}
	is, err := r.Forge.PullRequest(ctx, p.PullRequest)
	switch {
	case err != nil:
		return nil, "", err
	case !is.Open || is.Head != head.String() || is.Branch != p.Branch || is.Base != r.Base:
		return nil, fmt.Sprintf("the forge does not show it as one from %s at %.12s to %s", p.Branch, head, r.Base), nil
	}
	if contents, why, err = r.contents(ctx, head); why != "" || err != nil {
		return nil, why, err
	}
	all, err := r.Forge.Statuses(ctx, head.String())
	for _, s := range all {
		if s.State != forge.Success && !s.Optional {
			return nil, fmt.Sprintf("the commit status %s is %s", s.Context, s.State), err
		}
	}
	return contents, "", err
}

// unsure says why what a pull request proposes may not be what is wanted now; empty if it is.
func (r *merger) unsure(p *updates.Proposal) string {
	if until := p.At.Add(mergeRest); r.now.Before(until) {
		return "checks have until " + until.UTC().Format("15:04:05Z") + " to begin"
	}
	for _, n := range r.memory.Open() {
		record := r.memory.Policies[n]
		if record.Proposal.PullRequest != p.PullRequest {
			continue
		}
		all := r.result.Found.Source.Subscriptions
		i := slices.IndexFunc(all, func(s updates.Subscription) bool { return s.Name() == n })
		if i < 0 || all[i].Why != "" || all[i].Current != record.Proposal.From {
			return n.String() + " is not what it was when this was proposed"
		}
		if _, kept := record.KeptBack[record.Proposal.Key]; kept {
			return record.Proposal.Key + " is kept back"
		}
	}
	return ""
}

// contents are the files of the source that a commit of Waybill's changes, as the base will have them. It says why they cannot be told.
func (r *merger) contents(ctx context.Context, of files.ID) (contents map[string][]byte, why string, err error) {
	head, err := r.Repository.Commit(ctx, of)
	if err != nil {
		return nil, "", err
	}
	if !r.isBefore(ctx, head.Parent.String(), r.base.Commit) {
		return nil, "it comes after commits that " + r.Base + " does not have", ctx.Err()
	}
	before, err := r.Repository.Commit(ctx, head.Parent)
	if err != nil {
		return nil, "", err
	}
	contents = map[string][]byte{}
	for d := range files.Diff(before.Tree, head.Tree) {
		name, isSource := strings.CutPrefix(d.Path, strings.TrimPrefix(r.Subdir+"/", "/"))
		if !isSource || d.Old.Blob == nil || d.New.Blob == nil {
			return nil, d.Path + " is no file of the source that it edits", nil
		}
		was, err := d.Old.Blob.Bytes()
		if err != nil {
			return nil, "", err
		}
		is, err := r.snapshot.ReadFile(name)
		if err != nil || !bytes.Equal(was, is) {
			return nil, fmt.Sprintf("%s is another one on %s by now; it is renewed when registries are asked", d.Path, r.Base), ctx.Err()
		}
		if contents[name], err = d.New.Blob.Bytes(); err != nil {
			return nil, "", err
		}
	}
	return contents, "", nil
}
