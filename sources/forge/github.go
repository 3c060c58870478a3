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

// github is GitHub by its REST API (https://docs.github.com/en/rest, version 2022-11-28).
type github struct {
	*client

	app *installation // nil: it asks with a token
}

type githubUser struct {
	ID    int64  `json:"id"` // below zero at Gitea and Forgejo: nobody who could log in
	Login string `json:"login"`
	Type  string `json:"type"`
}

func (u *githubUser) user() User {
	if u == nil { // whose account is gone
		return User{}
	}
	return User{ID: u.ID, Login: u.Login, Bot: u.Type == "Bot" || u.ID < 0}
}

// pullRequest is what GitHub and Gitea say of a pull request.
type pullRequest struct {
	Number int         `json:"number"`
	State  string      `json:"state"`
	Title  string      `json:"title"`
	URL    string      `json:"html_url"`
	User   *githubUser `json:"user"`
	Update time.Time   `json:"updated_at"`
	Head   pullBranch  `json:"head"`
	Base   pullBranch  `json:"base"`
	Merged bool        `json:"merged"`
	// MergedAt is when it was merged, which GitHub tells in lists, too.
	MergedAt *time.Time `json:"merged_at"`
	// Merge is, of one that is not merged, the commit of a trial.
	Merge string `json:"merge_commit_sha"`
}

type pullBranch struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo *struct {
		ID int64 `json:"id"`
	} `json:"repo"`
}

func (p *pullRequest) value() PullRequest {
	branch := p.Head.Ref
	fork := p.Head.Repo == nil || p.Base.Repo == nil || p.Head.Repo.ID != p.Base.Repo.ID // a fork may be deleted
	if fork {
		branch = ""
	}
	return PullRequest{
		Number: p.Number, Head: p.Head.SHA, Base: p.Base.Ref, Author: p.User.user(), Branch: branch,
		Fork: fork, Open: p.State == "open", Updated: p.Update, URL: p.URL, Title: plain(p.Title),
		Merged: p.merged(),
	}
}

func (p *pullRequest) merged() string {
	if !p.Merged && p.MergedAt == nil {
		return ""
	}
	return p.Merge
}

// openAt leaves of pull requests the open ones whose head is a commit.
func openAt(all []pullRequest, commit string) (found []PullRequest) {
	for i := range all {
		if p := all[i].value(); p.Open && p.Head == commit {
			found = append(found, p)
		}
	}
	return found
}

// asCommit leaves of pull requests those that were merged as a commit.
func asCommit(all []pullRequest, commit string) (found []PullRequest) {
	for i := range all {
		if p := all[i].value(); p.Merged == commit {
			found = append(found, p)
		}
	}
	return found
}

// before reports a pull request of which nothing changed since a time. Forges tell by the second.
func before(since time.Time) func(*pullRequest) bool {
	since = since.Truncate(time.Second)
	return func(p *pullRequest) bool { return p.Update.Before(since) }
}

// openSince leaves of pull requests the open ones that changed since a time.
func openSince(all []pullRequest, since time.Time) (found []PullRequest) {
	for i := range all {
		if p := all[i].value(); p.Open && !before(since)(&all[i]) {
			found = append(found, p)
		}
	}
	return found
}

// openOnes says what is done.
const openOnes = "listing open pull requests"

// OpenPullRequests reads the list from the one that changed last.
func (g *github) OpenPullRequests(ctx context.Context, since time.Time) ([]PullRequest, error) {
	k := get(openOnes, "/pulls", nil)
	k.query = url.Values{"state": {"open"}, "sort": {"updated"}, "direction": {"desc"}}
	all, err := pages(ctx, g.client, k, before(since))
	return openSince(all, since), err
}

func (g *github) PullRequest(ctx context.Context, number int) (PullRequest, error) {
	var p pullRequest
	err := g.do(ctx, get(reading(number), fmt.Sprintf("/pulls/%d", number), &p))
	return p.value(), err
}

// reading says what is done.
func reading(number int) string { return fmt.Sprintf("reading pull request %d", number) }

func (g *github) PullRequestsOf(ctx context.Context, commit string) ([]PullRequest, error) {
	all, err := g.about(ctx, "looking for the pull request of "+short(commit), commit)
	return openAt(all, commit), err
}

func (g *github) PullRequestsMergedAs(ctx context.Context, commit string) ([]PullRequest, error) {
	all, err := g.about(ctx, mergedAs(commit), commit)
	return asCommit(all, commit), err
}

// about lists the pull requests that a commit has to do with.
func (g *github) about(ctx context.Context, doing, commit string) ([]pullRequest, error) {
	all, err := pages[pullRequest](ctx, g.client, get(doing, "/commits/"+url.PathEscape(commit)+"/pulls", nil), nil)
	if e, ok := errors.AsType[*Error](err); ok && e.Status == http.StatusUnprocessableEntity {
		return nil, nil // no commit of the repository
	}
	return all, err
}

// mergedAs says what is done.
func mergedAs(commit string) string {
	return "looking for the pull request that was merged as " + short(commit)
}

// short is a commit as people see it.
func short(commit string) string { return plain(commit[:min(12, len(commit))]) }

type githubComment struct {
	ID      int64       `json:"id"`
	Body    string      `json:"body"`
	User    *githubUser `json:"user"`
	Created time.Time   `json:"created_at"`
	Updated time.Time   `json:"updated_at"`
	URL     string      `json:"html_url"`
}

func (c *githubComment) value(mine func(User) bool) Comment {
	author := c.User.user()
	return Comment{ID: c.ID, Author: author, Mine: mine(author), Body: c.Body, Created: c.Created, Edited: !c.Updated.Equal(c.Created), URL: c.URL}
}

func (g *github) Comments(ctx context.Context, number int) ([]Comment, error) {
	mine, err := g.mine(ctx)
	if err != nil {
		return nil, err
	}
	all, err := pages[githubComment](ctx, g.client, get(reading(number), fmt.Sprintf("/issues/%d/comments", number), nil), nil)
	return values(all, mine), err
}

// values turns comments of GitHub or Gitea into ours.
func values(all []githubComment, mine func(User) bool) []Comment {
	comments := make([]Comment, len(all))
	for i := range all {
		comments[i] = all[i].value(mine)
	}
	return comments
}

// mine returns what tells who asks from others: no other bot that leaves our line in a comment is taken for us.
func (g *github) mine(ctx context.Context) (func(User) bool, error) {
	if g.app != nil {
		login, err := g.app.name(ctx)
		return func(u User) bool { return u.Login == login }, err
	}
	self, err := g.who(ctx)
	if self == nil && err == nil {
		self, err = g.viewer(ctx)
	}
	if err != nil {
		return nil, err
	}
	return func(u User) bool { return self.ID == u.ID || self.ID == 0 && u.Bot && self.Login == u.Login }, nil
}

// actionsBot is the account under which the tokens of GitHub Actions comment. Nobody else can have this name.
const actionsBot = "github-actions[bot]"

// viewer asks who asks where the REST API does not tell: of the tokens of installations, which those of GitHub Actions
// are, too, only the GraphQL API does. Where that does not tell either, it is the bot of Actions. Only the login is known.
func (g *github) viewer(ctx context.Context) (*User, error) {
	var said struct {
		Data struct {
			Viewer struct {
				Login string `json:"login"`
			} `json:"viewer"`
		} `json:"data"`
	}
	err := g.do(ctx, call{
		doing: "asking whose token this is", method: http.MethodPost, root: strings.TrimSuffix(g.root, "/v3"), path: "/graphql",
		in: map[string]string{"query": "query { viewer { login } }"}, out: &said, again: true,
	})
	if e, ok := errors.AsType[*Error](err); err != nil && (!ok || e.Status != http.StatusForbidden && e.Status != http.StatusNotFound) {
		return nil, err
	}
	self := &User{Login: cmp.Or(said.Data.Viewer.Login, actionsBot), Bot: true}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.self = self
	return self, nil
}

// who asks who asks, once; nil if the token may not know.
func (c *client) who(ctx context.Context) (*User, error) {
	c.mu.Lock()
	self := c.self
	c.mu.Unlock()
	if self != nil {
		return self, nil
	}
	var u struct {
		githubUser

		Username string `json:"username"` // of GitLab
	}
	err := c.do(ctx, get("asking whose token this is", "//user", &u))
	if e, ok := errors.AsType[*Error](err); ok && c.kind != GitLab && (e.Status == http.StatusForbidden || e.Status == http.StatusNotFound) {
		return nil, nil // nobody knows
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.self = &User{ID: u.ID, Login: u.Login + u.Username}
	return c.self, nil
}

func (g *github) Comment(ctx context.Context, number int, body string) (Comment, error) {
	var made githubComment
	err := g.do(ctx, call{
		doing: commenting(number), method: http.MethodPost, path: fmt.Sprintf("/issues/%d/comments", number),
		in: map[string]string{"body": body}, out: &made,
	})
	return made.value(func(User) bool { return true }), err
}

func commenting(number int) string { return fmt.Sprintf("commenting on pull request %d", number) }

func (g *github) EditComment(ctx context.Context, number int, comment int64, body string) error {
	return g.do(ctx, call{
		doing: commenting(number), method: http.MethodPatch, path: fmt.Sprintf("/issues/comments/%d", comment),
		in: map[string]string{"body": body}, again: true,
	})
}

func (g *github) DeleteComment(ctx context.Context, number int, comment int64) error {
	return g.do(ctx, call{
		doing: commenting(number), method: http.MethodDelete, path: fmt.Sprintf("/issues/comments/%d", comment), again: true,
	})
}

// githubStatus is what GitHub and Gitea take for a status.
type githubStatus struct {
	State       State  `json:"state"`
	Context     string `json:"context"`
	Description string `json:"description"`
	URL         string `json:"target_url,omitempty"`
}

func (g *github) SetStatus(ctx context.Context, s Status) error { return g.setStatus(ctx, s) }

// setStatus sets a status of GitHub or Gitea.
func (c *client) setStatus(ctx context.Context, s Status) error {
	return c.do(ctx, call{
		doing: "setting the status " + plain(s.Context) + " of " + short(s.Commit), method: http.MethodPost, path: "/statuses/" + url.PathEscape(s.Commit),
		in: githubStatus{s.State, s.Context, s.Line(), s.URL}, again: true,
	})
}

func (g *github) Permission(ctx context.Context, u User) (Permission, error) {
	var p struct {
		Permission string `json:"permission"` // where maintain is write
		Role       string `json:"role_name"`
	}
	err := g.do(ctx, get("asking what "+plain(u.Login)+" may do", "/collaborators/"+url.PathEscape(u.Login)+"/permission", &p))
	if errors.Is(err, ErrNotFound) {
		return None, nil
	}
	if p.Role == "maintain" {
		return Admin, err
	}
	return permission(p.Permission), err
}

// permission reads the words of GitHub and Gitea.
func permission(word string) Permission {
	switch word {
	case "read":
		return Read
	case "write":
		return Write
	case "admin", "owner":
		return Admin
	}
	return None
}
