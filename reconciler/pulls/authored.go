package pulls

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/post"
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
