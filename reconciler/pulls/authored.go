package pulls

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
)

// authored tells which of the pull requests that a forge lists are members', and leaves out those of
// which it cannot be told now. The error says why. The branches are read after the list, and once.
func (p *Previewer) authored(ctx context.Context, listed []forge.PullRequest) (told []forge.PullRequest, failed error) {
	var tips map[string]files.ID
	for _, pr := range listed {
		was := p.shown[pr.Number].pull
		pr.Member = was.Member && was.Head == pr.Head
		if pr.Member || pr.Branch == "" || pr.Base != p.Rev {
			told = append(told, pr)
			continue
		}
		if tips == nil {
			var err error
			if tips, err = p.Reconciler.Source.Heads(ctx); err != nil {
				return nil, err
			}
		}
		moved, err := p.ofMember(ctx, &pr, tips)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("pull request %d: %w", pr.Number, err))
		} else if !moved {
			told = append(told, pr)
		}
	}
	return told, failed
}

// ofMember tells whether a pull request is a member's, or that it has moved on since it was listed: then
// the next look finds its new head.
func (p *Previewer) ofMember(ctx context.Context, pr *forge.PullRequest, tips map[string]files.ID) (moved bool, err error) {
	tip := ""
	if id, ok := tips[pr.Branch]; ok {
		tip = id.String()
	}
	if pr.Member, err = forge.OfMember(ctx, p.Forge, pr, tip); err != nil || tip == "" || tip == pr.Head {
		return false, err
	}
	now, err := p.Forge.PullRequest(ctx, pr.Number)
	return err == nil && now.Head != pr.Head, err
}

// about is the context of the status that a pull request's head gets. A stranger's has its own, so that it never
// stands in place of what a member's request with that commit shows; one that a maintainer named has that of members
// where no such request is open.
func (p *Previewer) about(ctx context.Context, pr *forge.PullRequest, to *destination) (string, error) {
	if pr.Member {
		return post.Context, nil
	}
	if !to.approved[pr.Head] {
		return post.StrangersContext, nil
	}
	all, err := p.Forge.PullRequestsOf(ctx, pr.Head)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(all, func(o forge.PullRequest) bool { return o.Number != pr.Number && o.Branch != "" }) {
		return post.StrangersContext, nil
	}
	return post.Context, nil
}

// origin is a word for where a stranger's change is from.
func origin(pr *forge.PullRequest) string {
	if pr.Fork {
		return "fork"
	}
	return "stranger"
}

// Adds tells which removals a pull request adds that the guard would hold: those of its head, and not of
// where it left the branch. Why says that it is not looked at.
func (p *Previewer) Adds(ctx context.Context, pr forge.PullRequest) (adds guard.Removals, why string, err error) {
	if pr.Base != p.Rev {
		return nil, "the pull request goes to " + pr.Base + ", and " + p.Rev + " is followed", nil
	}
	told, err := p.authored(ctx, []forge.PullRequest{pr})
	if err != nil || len(told) == 0 {
		return nil, "the pull request has another head by now", err
	}
	to, err := p.target(ctx)
	if err != nil {
		return nil, "", err
	}
	if !told[0].Member && to.config.Previews.Forks == render.ForksNever {
		return nil, "changes of strangers are not looked at", nil
	}
	within, cancel := context.WithTimeout(ctx, previewTime)
	defer cancel()
	c, _, err := p.compare(within, &told[0], to)
	p.Reconciler.Seen = reconciler.NewCache() // approvals are rare
	p.baselines.Forget()
	if errors.Is(err, worker.ErrBudget) { // it would be the next time, too
		return nil, "too much has to be rendered to tell which removals the pull request adds", nil
	}
	if err != nil {
		return nil, "", err
	}
	return c.Guard.Adds(), "", nil
}
