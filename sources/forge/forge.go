// Package forge speaks to where pull requests are: GitHub, GitLab, and Gitea or Forgejo. It
// knows of a repository there what Waybill needs and nothing else: which pull request a commit
// is the head of, what people comment on it, who may write, and what is shown at a commit.
//
// A Forge is one repository, with few and plain calls; Say builds on them the one comment that
// Waybill edits in place. Package forgetest holds every client to the same promises. A Webhook
// reads the messages that a forge sends.
//
// # Trust
//
// A credential is sent to the host that it is for and to no other: redirects are not
// followed. It is in no error. What a forge answers is data of strangers: it is bounded, and
// what is shown of it is one line without control characters.
package forge

import (
	"context"
	"fmt"
	"time"
)

// Kind is a kind of forge, by the API that it has.
type Kind string

// The kinds. Forgejo has Gitea's API.
const (
	GitHub Kind = "github"
	GitLab Kind = "gitlab"
	Gitea  Kind = "gitea"
)

// ParseKind reads the name of a forge.
func ParseKind(s string) (Kind, error) {
	switch k := Kind(s); k {
	case GitHub, GitLab, Gitea:
		return k, nil
	case "forgejo":
		return Gitea, nil
	}
	return "", fmt.Errorf("%q is no forge that is known; want github, gitlab, gitea or forgejo", s)
}

// A Forge is one repository at a forge. Its methods may be called by several at once. They fail
// with an *Error where the forge refuses, and with what errors.Is ErrNotFound where there is no
// such thing.
type Forge interface {
	// PullRequest returns a pull request, open or not.
	PullRequest(ctx context.Context, number int) (PullRequest, error)
	// PullRequestsOf lists the open pull requests whose head is a commit.
	PullRequestsOf(ctx context.Context, commit string) ([]PullRequest, error)
	// PullRequestsMergedAs lists the pull requests that were merged as a commit: see PullRequest.Merged.
	PullRequestsMergedAs(ctx context.Context, commit string) ([]PullRequest, error)
	// OpenPullRequests lists the open pull requests of which something changed since a time, such as
	// by a comment.
	OpenPullRequests(ctx context.Context, since time.Time) ([]PullRequest, error)
	// Comments lists the comments of a pull request in the order in which they were made.
	Comments(ctx context.Context, number int) ([]Comment, error)
	// Comment makes a comment on a pull request.
	Comment(ctx context.Context, number int, body string) (Comment, error)
	// EditComment puts another body in place of that of a comment, and DeleteComment deletes one.
	EditComment(ctx context.Context, number int, comment int64, body string) error
	DeleteComment(ctx context.Context, number int, comment int64) error
	// SetStatus shows a status at a commit. A later one of a commit and a context stands in place
	// of an earlier one.
	SetStatus(ctx context.Context, s Status) error
	// Statuses lists what is shown at a commit: the newest of each context and creator, by context and then by creator.
	// Whoever may write to the repository may have set them.
	Statuses(ctx context.Context, commit string) ([]Status, error)
	// Permission asks what somebody may do with the repository now.
	Permission(ctx context.Context, u User) (Permission, error)
}

// PullRequest is a pull request, or a merge request of GitLab's.
type PullRequest struct {
	Number int
	Head   string // commit
	Base   string // branch that it is to be merged into
	Author User
	// Branch is the one of the repository that its head should be on, as far as the forge says;
	// empty where the head is in another repository.
	Branch string
	Fork   bool // its head is in another repository
	// Member says that its head is a member's. No forge tells; OfMember does.
	Member bool
	Open   bool
	// Merged is the commit as which it was merged, be it the one that squashes it, or the last of those that
	// it became; empty if it was not merged. Only PullRequest and
	// PullRequestsMergedAs tell.
	Merged string
	// Updated is when something of it changed last, such as by a comment.
	Updated time.Time
	URL     string
	Title   string // as whoever opened it wrote it
}

// User is an account of a forge.
type User struct {
	ID    int64
	Login string
	Bot   bool // as far as the forge says
}

// Comment is a comment on a pull request.
type Comment struct {
	ID      int64
	Author  User
	Mine    bool // whoever asks has made it
	Body    string
	Created time.Time
	Edited  bool // it is not as it was made; forges tell by the second
	URL     string
}

// State is how a status is.
type State string

// The states.
const (
	Pending State = "pending"
	Success State = "success"
	Failure State = "failure" // what was looked at is not as it should be
	Broken  State = "error"   // it could not be looked at
)

// Status is a commit status.
type Status struct {
	Commit      string
	Context     string // what it is about, as waybill/published; as its creator wrote it
	State       State
	Description string // one line; what is longer than forges take is cut
	URL         string // where more is said; may be empty
	// Optional says that the forge itself goes on whatever the state is: what was skipped, and a job of GitLab's that may fail and did,
	// or that nobody has to start. Only Statuses tells.
	Optional bool
	// Creator is who set it, and Time when, by the forge's clock. Only Statuses tells.
	Creator User
	Time    time.Time
}

// Permission is what somebody may do with a repository.
type Permission int

// The permissions, each of which has those before it.
const (
	None  Permission = iota
	Read             // GitLab's Guest, Planner and Reporter too
	Write            // GitLab's Developer
	Admin            // GitHub's and GitLab's Maintainer, too
)

func (p Permission) String() string {
	return []string{"none", "read", "write", "admin"}[min(max(p, None), Admin)]
}

// maxDescription is how many letters of the description of a status all forges take.
const maxDescription = 140

// Line is the description as all forges take it: a line that is not too long.
func (s *Status) Line() string {
	letters := []rune(plain(s.Description))
	if len(letters) <= maxDescription {
		return string(letters)
	}
	return string(letters[:maxDescription-1]) + "…"
}
