package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// gitea is Gitea or Forgejo by their API (https://docs.gitea.com/api), which is much like GitHub's.
type gitea struct{ *client }

// robots are the accounts under which the tokens of Gitea's and Forgejo's Actions comment.
// Nobody else can have these names.
var robots = []string{"gitea-actions", "forgejo-actions"}

func (g *gitea) PullRequest(ctx context.Context, number int) (PullRequest, error) {
	var p pullRequest
	err := g.do(ctx, get(reading(number), fmt.Sprintf("/pulls/%d", number), &p))
	return p.value(), err
}

// PullRequestsOf looks through the open ones: Gitea knows those of a commit only once they are
// merged.
func (g *gitea) PullRequestsOf(ctx context.Context, commit string) ([]PullRequest, error) {
	k := get("looking for the pull request of "+short(commit), "/pulls", nil)
	k.query = url.Values{"state": {"open"}, "sort": {"recentupdate"}}
	all, err := pages[pullRequest](ctx, g.client, k, nil)
	return openAt(all, commit), err
}

// PullRequestsMergedAs asks for the one of a commit: Gitea knows no more than one.
func (g *gitea) PullRequestsMergedAs(ctx context.Context, commit string) ([]PullRequest, error) {
	var p pullRequest
	err := g.do(ctx, get(mergedAs(commit), "/commits/"+url.PathEscape(commit)+"/pull", &p))
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return asCommit([]pullRequest{p}, commit), err
}

// OpenPullRequests reads the list from the one that changed last.
func (g *gitea) OpenPullRequests(ctx context.Context, since time.Time) ([]PullRequest, error) {
	k := get(openOnes, "/pulls", nil)
	k.query = url.Values{"state": {"open"}, "sort": {"recentupdate"}}
	all, err := pages(ctx, g.client, k, before(since))
	return openSince(all, since), err
}

// Comments are all in one answer.
func (g *gitea) Comments(ctx context.Context, number int) ([]Comment, error) {
	self, err := g.who(ctx)
	if err != nil {
		return nil, err
	}
	var all []githubComment
	if err := g.do(ctx, get(reading(number), fmt.Sprintf("/issues/%d/comments", number), &all)); err != nil {
		return nil, err
	}
	comments := values(all, func(u User) bool {
		if self == nil {
			return slices.Contains(robots, u.Login)
		}
		return u.ID == self.ID
	})
	for i := range comments {
		comments[i].Author.Bot = slices.Contains(robots, comments[i].Author.Login)
	}
	return comments, nil
}

func (g *gitea) Comment(ctx context.Context, number int, body string) (Comment, error) {
	var made githubComment
	err := g.do(ctx, call{
		doing: commenting(number), method: http.MethodPost, path: fmt.Sprintf("/issues/%d/comments", number),
		in: map[string]string{"body": body}, out: &made,
	})
	return made.value(func(User) bool { return true }), err
}

func (g *gitea) EditComment(ctx context.Context, number int, comment int64, body string) error {
	return g.do(ctx, call{
		doing: commenting(number), method: http.MethodPatch, path: fmt.Sprintf("/issues/comments/%d", comment),
		in: map[string]string{"body": body}, again: true,
	})
}

func (g *gitea) DeleteComment(ctx context.Context, number int, comment int64) error {
	return g.do(ctx, call{
		doing: commenting(number), method: http.MethodDelete, path: fmt.Sprintf("/issues/comments/%d", comment), again: true,
	})
}

func (g *gitea) SetStatus(ctx context.Context, s Status) error { return g.setStatus(ctx, s) }

// Permission may only be asked by an administrator of the repository, unless of oneself.
func (g *gitea) Permission(ctx context.Context, u User) (Permission, error) {
	var p struct {
		Permission string `json:"permission"`
	}
	err := g.do(ctx, get("asking what "+plain(u.Login)+" may do, which takes an administrator of the repository", "/collaborators/"+url.PathEscape(u.Login)+"/permission", &p))
	if errors.Is(err, ErrNotFound) {
		return None, nil
	}
	return permission(p.Permission), err
}
