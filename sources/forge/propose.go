package forge

import (
	"context"
	"fmt"
	"net/http"
)

// Draft is what a pull request says.
type Draft struct {
	Title, Body string // the body is Markdown
}

// A Proposer is a repository at a forge in which pull requests are opened. The repositories that Open returns are.
type Proposer interface {
	Forge
	// OpenPullRequest opens a pull request from one branch of the repository to another.
	OpenPullRequest(ctx context.Context, branch, base string, d Draft) (PullRequest, error)
	// EditPullRequest puts other words in place of those of a pull request.
	EditPullRequest(ctx context.Context, number int, d Draft) error
	// ClosePullRequest closes a pull request without merging it.
	ClosePullRequest(ctx context.Context, number int) error
}

var (
	_ Proposer = (*github)(nil)
	_ Proposer = (*gitea)(nil)
	_ Proposer = (*gitlab)(nil)
)

func opening(branch string) string { return "opening a pull request from " + plain(branch) }

func editing(number int) string { return fmt.Sprintf("editing pull request %d", number) }

// openPull opens a pull request of GitHub or Gitea.
func (c *client) openPull(ctx context.Context, branch, base string, d Draft) (PullRequest, error) {
	var made pullRequest
	err := c.do(ctx, call{
		doing: opening(branch), method: http.MethodPost, path: "/pulls",
		in: map[string]string{"head": branch, "base": base, "title": d.Title, "body": d.Body}, out: &made,
	})
	return made.value(), err
}

// changePull changes a pull request of GitHub or Gitea.
func (c *client) changePull(ctx context.Context, number int, in map[string]string) error {
	return c.do(ctx, call{doing: editing(number), method: http.MethodPatch, path: fmt.Sprintf("/pulls/%d", number), in: in, again: true})
}

func (g *github) OpenPullRequest(ctx context.Context, branch, base string, d Draft) (PullRequest, error) {
	return g.openPull(ctx, branch, base, d)
}

func (g *github) EditPullRequest(ctx context.Context, number int, d Draft) error {
	return g.changePull(ctx, number, map[string]string{"title": d.Title, "body": d.Body})
}

func (g *github) ClosePullRequest(ctx context.Context, number int) error {
	return g.changePull(ctx, number, map[string]string{"state": "closed"})
}

func (g *gitea) OpenPullRequest(ctx context.Context, branch, base string, d Draft) (PullRequest, error) {
	return g.openPull(ctx, branch, base, d)
}

func (g *gitea) EditPullRequest(ctx context.Context, number int, d Draft) error {
	return g.changePull(ctx, number, map[string]string{"title": d.Title, "body": d.Body})
}

func (g *gitea) ClosePullRequest(ctx context.Context, number int) error {
	return g.changePull(ctx, number, map[string]string{"state": "closed"})
}

func (g *gitlab) OpenPullRequest(ctx context.Context, branch, base string, d Draft) (PullRequest, error) {
	var made mergeRequest
	err := g.do(ctx, call{
		doing: opening(branch), method: http.MethodPost, path: "/merge_requests",
		in: map[string]string{"source_branch": branch, "target_branch": base, "title": d.Title, "description": d.Body}, out: &made,
	})
	return made.value(), err
}

func (g *gitlab) EditPullRequest(ctx context.Context, number int, d Draft) error {
	return g.change(ctx, number, map[string]string{"title": d.Title, "description": d.Body})
}

func (g *gitlab) ClosePullRequest(ctx context.Context, number int) error {
	return g.change(ctx, number, map[string]string{"state_event": "close"})
}

// change changes a merge request.
func (g *gitlab) change(ctx context.Context, number int, in map[string]string) error {
	return g.do(ctx, call{doing: editing(number), method: http.MethodPut, path: fmt.Sprintf("/merge_requests/%d", number), in: in, again: true})
}
