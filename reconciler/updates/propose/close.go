package propose

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources/forge"
)

// closer closes the pull requests of what is not to be taken any more.
type closer struct{ *run }

// obsolete forgets the proposals of what is not to be taken any more, and remembers that their pull requests are to be closed. They are
// closed when that is remembered: one that is closed before would be taken for one that a person closed, and one of which
// nothing is remembered would stay for ever if whoever closes it is killed.
func (r *closer) obsolete(wanted map[string][]*updates.Verdict) {
	for _, n := range r.memory.Open() {
		p := r.memory.Policies[n].Proposal
		isWanted := slices.ContainsFunc(wanted[p.Branch], func(v *updates.Verdict) bool { return v.Name() == n })
		if isWanted || r.result.Found.rests(n) {
			continue
		}
		r.memory.Propose(n, nil)
		if len(wanted[p.Branch]) == 0 && (p.PullRequest != 0 || !r.settings.commits()) {
			r.memory.Close(updates.Closing{
				Of: n.String(), Key: p.Key, Branch: p.Branch, Tree: p.Tree, Parent: p.Parent, Over: p.Over, PullRequest: p.PullRequest, URL: p.URL,
			})
		}
	}
	if !r.memoryAt.Commit.IsZero() {
		return
	}
	for _, branch := range slices.Sorted(maps.Keys(r.heads)) { // the memory was lost, or there never was one
		if strings.HasPrefix(branch, updates.BranchPrefix) {
			r.memory.Close(updates.Closing{Branch: branch})
		}
	}
}

// close closes what is to be closed, unless somebody else's commit is on the branch. What could not be closed, and what may be
// wanted, is remembered; the branches of changes are.
func (r *closer) close(ctx context.Context) error {
	var failed error
	closed := map[int]bool{}
	var rest []updates.Closing
	for _, c := range r.memory.Closing {
		if r.isProposed(c.Branch) {
			continue // its pull request has another change
		}
		if r.Forge == nil || c.Key == "" && r.mayBeWanted(c.Branch) {
			rest = append(rest, c)
			continue
		}
		o, err := r.one(ctx, &c, closed)
		if err != nil {
			failed, rest = errors.Join(failed, err), append(rest, c)
		} else if o.Did != "" {
			r.result.Outcomes = append(r.result.Outcomes, o)
		}
	}
	r.memory.Closing = rest
	return failed
}

// one closes a pull request, if it is open and none of those that were closed.
func (r *closer) one(ctx context.Context, c *updates.Closing, closed map[int]bool) (Outcome, error) {
	pull, err := r.pull(ctx, c)
	if err != nil || !pull.Open || closed[pull.Number] {
		return Outcome{}, err
	}
	o := Outcome{Branch: c.Branch, Did: Theirs, URL: pull.URL, Why: "somebody else's commit is on the branch"}
	if c.Of != "" {
		o.Of = []string{c.Of}
	}
	isOurs, err := r.isOurs(ctx, &updates.Proposal{Branch: c.Branch, Tree: c.Tree, Parent: c.Parent, Over: c.Over})
	if err != nil || !isOurs {
		return o, err
	}
	o.Did, o.Why = Closed, cmp.Or(c.Key, "what it proposes")+" is not to be taken any more"
	for n, record := range r.memory.Policies {
		if n.String() == c.Of && record.Proposal.IsOpen() {
			o.Why = "it is proposed on " + record.Proposal.Branch
		}
	}
	if err := r.Forge.ClosePullRequest(ctx, pull.Number); err != nil {
		return o, err
	}
	closed[pull.Number] = true
	return o, nil
}

// pull is the pull request that is to be closed; the zero value if there is none. One that was opened just before somebody
// was interrupted is known by its branch.
func (r *closer) pull(ctx context.Context, c *updates.Closing) (forge.PullRequest, error) {
	if c.PullRequest != 0 {
		return r.pullRequest(ctx, c.PullRequest)
	}
	if r.heads[c.Branch].IsZero() {
		return forge.PullRequest{}, nil
	}
	p, _, err := r.pullOf(ctx, c.Branch)
	return p, err
}

// isProposed reports a branch on which something is proposed.
func (r *closer) isProposed(branch string) bool {
	for _, n := range r.memory.Open() {
		if r.memory.Policies[n].Proposal.Branch == branch {
			return true
		}
	}
	return false
}

// mayBeWanted reports a branch of which it is not known now whether what it has is to be taken.
func (r *closer) mayBeWanted(branch string) bool {
	f := &r.result.Found
	if f.Source.Partial || f.Source.Unsure || len(f.Source.Broken) > 0 || len(f.Verdicts) < len(f.Source.Subscriptions) {
		return true
	}
	return slices.ContainsFunc(f.Verdicts, func(v updates.Verdict) bool {
		isKnown := !f.rests(v.Name()) && (!v.Takes() || r.settings.commits())
		return v.Branch(r.Base, r.settings.Group) == branch && !isKnown
	})
}

// rests reports a subscription of which nothing is known now, or nothing is to be done: what is proposed of it stays as it is.
func (f *Found) rests(n images.Name) bool {
	i := slices.IndexFunc(f.Verdicts, func(v updates.Verdict) bool { return v.Name() == n })
	if i < 0 {
		return f.Source.Broken[n] || f.Source.Partial || f.Source.Unsure && n.Namespace == updates.ChartFolder
	}
	return slices.Contains([]updates.Why{
		updates.NotAnswered, updates.MarkerBad, updates.Suspended, updates.Unclear, updates.Uneditable,
	}, f.Verdicts[i].Why)
}

// isUnanswered reports that a registry did not say what there is.
func (f *Found) isUnanswered() bool {
	return slices.ContainsFunc(f.Verdicts, func(v updates.Verdict) bool { return v.Why == updates.NotAnswered })
}
