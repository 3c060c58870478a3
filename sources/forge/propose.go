package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
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
	Labeler
	Merger
}

// A Merger is a repository at a forge in which pull requests are merged.
type Merger interface {
	// MergePullRequest merges a pull request, in the way that the repository allows, if its head is that commit. The forge refuses
	// it otherwise, and where its rules do not let it be merged.
	MergePullRequest(ctx context.Context, number int, head string) error
}

var (
	_ Proposer = (*github)(nil)
	_ Proposer = (*gitea)(nil)
	_ Proposer = (*gitlab)(nil)
)

func opening(branch string) string { return "opening a pull request from " + plain(branch) }

func merging(number int) string { return fmt.Sprintf("merging pull request %d", number) }

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

// addLabel gives a pull request of GitHub's or Gitea's a label, as the forge names it.
func (c *client) addLabel(ctx context.Context, number int, label any) error {
	return c.do(ctx, call{
		doing: labeling(number), method: http.MethodPost, path: labelsOf(number), in: map[string]any{"labels": []any{label}}, again: true,
	})
}

// removeLabel takes a label, as the forge names it, from a pull request of GitHub's or Gitea's.
func (c *client) removeLabel(ctx context.Context, number int, label string) error {
	err := c.do(ctx, call{doing: labeling(number), method: http.MethodDelete, path: labelsOf(number) + "/" + url.PathEscape(label), again: true})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
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

// MergePullRequest makes a merge commit, or, where the repository or a rule of the branch allows none, what they do: what a rule allows
// GitHub tells only by refusing.
func (g *github) MergePullRequest(ctx context.Context, number int, head string) error {
	var allows struct { // null for those who may not know
		Merge  *bool `json:"allow_merge_commit"`
		Squash *bool `json:"allow_squash_merge"`
		Rebase *bool `json:"allow_rebase_merge"`
	}
	if err := g.do(ctx, get(merging(number), "", &allows)); err != nil {
		return err
	}
	refused := &Error{Kind: g.kind, Host: g.host, Doing: merging(number), Status: http.StatusMethodNotAllowed, Says: "the repository allows no way to merge"}
	var says []string
	for _, way := range []struct {
		name   string
		allows *bool
	}{{"merge", allows.Merge}, {"squash", allows.Squash}, {"rebase", allows.Rebase}} {
		if way.allows != nil && !*way.allows {
			continue
		}
		err := g.do(ctx, call{
			doing: merging(number), method: http.MethodPut, path: fmt.Sprintf("/pulls/%d/merge", number),
			in: map[string]string{"sha": head, "merge_method": way.name},
		})
		e, is := errors.AsType[*Error](err)
		if !is || e.Status != http.StatusMethodNotAllowed {
			return err
		}
		says = append(says, way.name+": "+e.Says)
		refused.Says = strings.Join(says, "; ")
	}
	return refused
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

// MergePullRequest merges in the way that the repository says first.
func (g *gitea) MergePullRequest(ctx context.Context, number int, head string) error {
	var allows struct {
		Way string `json:"default_merge_style"`
	}
	if err := g.do(ctx, get(merging(number), "", &allows)); err != nil {
		return err
	}
	return g.do(ctx, call{
		doing: merging(number), method: http.MethodPost, path: fmt.Sprintf("/pulls/%d/merge", number),
		in: map[string]string{"Do": cmp.Or(allows.Way, "merge"), "head_commit_id": head},
	})
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

// MergePullRequest merges in the way of the project.
func (g *gitlab) MergePullRequest(ctx context.Context, number int, head string) error {
	return g.do(ctx, call{
		doing: merging(number), method: http.MethodPut, path: fmt.Sprintf("/merge_requests/%d/merge", number), in: map[string]string{"sha": head},
	})
}

// change changes a merge request.
func (g *gitlab) change(ctx context.Context, number int, in map[string]string) error {
	return g.do(ctx, call{doing: editing(number), method: http.MethodPut, path: fmt.Sprintf("/merge_requests/%d", number), in: in, again: true})
}
