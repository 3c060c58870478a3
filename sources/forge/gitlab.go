package forge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// gitlab is GitLab by its REST API (https://docs.gitlab.com/api/rest, version 4). Its merge
// requests are pull requests here, and its notes comments.
type gitlab struct{ *client }

type gitlabUser struct {
	ID       int64  `json:"id"`
	Username string `json:"username"`
	Bot      bool   `json:"bot"`
}

// user is the account. The names of bots of projects and groups cannot be had by people.
func (u *gitlabUser) user() User {
	if u == nil {
		return User{}
	}
	bot := u.Bot || strings.HasPrefix(u.Username, "project_") && strings.Contains(u.Username, "_bot") || strings.HasPrefix(u.Username, "group_") && strings.Contains(u.Username, "_bot")
	return User{ID: u.ID, Login: u.Username, Bot: bot}
}

type mergeRequest struct {
	IID    int         `json:"iid"`
	SHA    string      `json:"sha"`
	Source string      `json:"source_branch"`
	Target string      `json:"target_branch"`
	From   int64       `json:"source_project_id"`
	To     int64       `json:"target_project_id"`
	State  string      `json:"state"`
	Title  string      `json:"title"`
	Author *gitlabUser `json:"author"`
	URL    string      `json:"web_url"`
	Update time.Time   `json:"updated_at"`
	Merge  string      `json:"merge_commit_sha"`  // none where the branch was moved to the head
	Squash string      `json:"squash_commit_sha"` // none where nothing was squashed
}

func (m *mergeRequest) value() PullRequest {
	branch, fork := m.Source, m.From != m.To
	if fork {
		branch = ""
	}
	return PullRequest{
		Number: m.IID, Head: m.SHA, Base: m.Target, Author: m.Author.user(), Branch: branch,
		Fork: fork, Open: m.State == "opened", Updated: m.Update, URL: m.URL, Title: plain(m.Title),
		Merged: m.merged(),
	}
}

func (m *mergeRequest) merged() string {
	if m.State != "merged" {
		return ""
	}
	return cmp.Or(m.Merge, m.Squash, m.SHA)
}

func (g *gitlab) PullRequest(ctx context.Context, number int) (PullRequest, error) {
	var m mergeRequest
	err := g.do(ctx, get(reading(number), fmt.Sprintf("/merge_requests/%d", number), &m))
	return m.value(), err
}

func (g *gitlab) PullRequestsOf(ctx context.Context, commit string) ([]PullRequest, error) {
	return g.about(ctx, "looking for the pull request of "+short(commit), commit, func(p PullRequest) bool { return p.Open && p.Head == commit })
}

func (g *gitlab) PullRequestsMergedAs(ctx context.Context, commit string) ([]PullRequest, error) {
	return g.about(ctx, mergedAs(commit), commit, func(p PullRequest) bool { return p.Merged == commit })
}

// about lists the merge requests that a commit has to do with, and of which something is true.
func (g *gitlab) about(ctx context.Context, doing, commit string, is func(PullRequest) bool) (found []PullRequest, err error) {
	all, err := pages[mergeRequest](ctx, g.client, get(doing, "/repository/commits/"+url.PathEscape(commit)+"/merge_requests", nil), nil)
	if errors.Is(err, ErrNotFound) {
		return nil, nil // no commit of the repository
	}
	for i := range all {
		if p := all[i].value(); is(p) {
			found = append(found, p)
		}
	}
	return found, err
}

func (g *gitlab) OpenPullRequests(ctx context.Context, since time.Time) ([]PullRequest, error) {
	k := get(openOnes, "/merge_requests", nil)
	k.query = url.Values{"state": {"opened"}, "order_by": {"updated_at"}, "updated_after": {since.UTC().Truncate(time.Second).Format(time.RFC3339)}}
	all, err := pages[mergeRequest](ctx, g.client, k, nil)
	var found []PullRequest
	for i := range all {
		found = append(found, all[i].value())
	}
	return found, err
}

type note struct {
	ID      int64       `json:"id"`
	Body    string      `json:"body"`
	Author  *gitlabUser `json:"author"`
	Created time.Time   `json:"created_at"`
	Updated time.Time   `json:"updated_at"`
	System  bool        `json:"system"` // GitLab made it: "added 1 commit"
}

func (n *note) value(mine func(User) bool) Comment {
	author := n.Author.user()
	return Comment{ID: n.ID, Author: author, Mine: mine(author), Body: n.Body, Created: n.Created, Edited: !n.Updated.Equal(n.Created)}
}

func (g *gitlab) Comments(ctx context.Context, number int) ([]Comment, error) {
	self, err := g.who(ctx)
	if err != nil {
		return nil, err
	}
	k := get(reading(number), fmt.Sprintf("/merge_requests/%d/notes", number), nil)
	k.query = url.Values{"sort": {"asc"}, "order_by": {"created_at"}}
	all, err := pages[note](ctx, g.client, k, nil)
	var comments []Comment
	for i := range all {
		if !all[i].System {
			comments = append(comments, all[i].value(func(u User) bool { return u.ID == self.ID }))
		}
	}
	return comments, err
}

func (g *gitlab) Comment(ctx context.Context, number int, body string) (Comment, error) {
	var made note
	err := g.do(ctx, call{
		doing: commenting(number), method: http.MethodPost, path: fmt.Sprintf("/merge_requests/%d/notes", number),
		in: map[string]string{"body": body}, out: &made,
	})
	return made.value(func(User) bool { return true }), err
}

func (g *gitlab) EditComment(ctx context.Context, number int, comment int64, body string) error {
	return g.do(ctx, call{
		doing: commenting(number), method: http.MethodPut, path: fmt.Sprintf("/merge_requests/%d/notes/%d", number, comment),
		in: map[string]string{"body": body}, again: true,
	})
}

func (g *gitlab) DeleteComment(ctx context.Context, number int, comment int64) error {
	return g.do(ctx, call{
		doing: commenting(number), method: http.MethodDelete, path: fmt.Sprintf("/merge_requests/%d/notes/%d", number, comment), again: true,
	})
}

// SetStatus sets a status of a commit, which GitLab shows as a job of a pipeline. It knows failed
// alone for what is not well, and refuses to go from a state to the same.
func (g *gitlab) SetStatus(ctx context.Context, s Status) error {
	state := map[State]string{Pending: "pending", Success: "success", Failure: "failed", Broken: "failed"}[s.State]
	in := map[string]string{"state": state, "name": s.Context, "description": s.Line()}
	if s.URL != "" {
		in["target_url"] = s.URL
	}
	err := g.do(ctx, call{
		doing: "setting the status " + plain(s.Context) + " of " + short(s.Commit), method: http.MethodPost,
		path: "/statuses/" + url.PathEscape(s.Commit), in: in, again: true,
	})
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusBadRequest && isThere(e.Says, state) {
		return nil
	}
	return err
}

// isThere reports the refusal to go from a state to itself, as "Cannot transition status via
// :enqueue from :pending".
func isThere(says, state string) bool {
	return strings.Contains(says, "Cannot transition status") && strings.Contains(says, "from :"+state)
}

// Permission asks for the membership, that of groups included. By number, because a user may
// take another name.
func (g *gitlab) Permission(ctx context.Context, u User) (Permission, error) {
	var m struct {
		Level int    `json:"access_level"`
		State string `json:"state"`
	}
	err := g.do(ctx, get("asking what "+plain(u.Login)+" may do", fmt.Sprintf("/members/all/%d", u.ID), &m))
	const guest, developer, maintainer = 10, 30, 40
	switch {
	case errors.Is(err, ErrNotFound):
		return None, nil
	case err != nil || m.State != "active" || m.Level < guest:
		return None, err
	case m.Level < developer:
		return Read, nil
	case m.Level < maintainer:
		return Write, nil
	}
	return Admin, nil
}
