// Package post shows at a forge what a change would do to the clusters: as the one comment of
// its pull request, which is edited in place, and as a commit status of its head. What is said
// is decided by Judge, a value; Show sends it.
package post

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/words"
)

// Context is what the status is about, as forges show it. StrangersContext is that of what is a stranger's: a
// stranger may have a head that a member has, too, and a commit has one status a context.
const (
	Context          = "waybill/preview"
	StrangersContext = "waybill/preview-fork"
)

// Change is the change that is shown.
type Change struct {
	Commit string // the head of the pull request
	Number int    // of the pull request; zero: those are looked for that have the head
	// Source tells sources of one repository from each other: its folder; empty for the root.
	Source string
	Page   string // where more is said; may be empty
	// About is the context of the status; empty for Context.
	About string
}

// Verdict is what is said of a change.
type Verdict struct {
	State forge.State
	Line  string // for the status
	Text  string // for the comment, as Markdown
	// Passing says that some of it is so because of what the base has, or holds, now.
	Passing bool
}

// Judge says in a line what a comparison comes to. It fails if the source has errors, or if a
// cluster would be held, so that the change would not be carried out as it is.
func Judge(c *preview.Comparison) (forge.State, string) {
	held := 0
	for i := range c.Clusters {
		if c.Clusters[i].Held != "" && !c.Clusters[i].Already {
			held++
		}
	}
	line := "no cluster changes"
	if !c.Empty() {
		line = words.Count(c.Totals.Objects, "object") + " in " + words.Count(len(c.Clusters), "cluster")
	}
	switch n := c.Errors(); {
	case n > 0:
		return forge.Failure, fmt.Sprintf("the source has %s; %s as far as is known", words.Count(n, "error"), line)
	case held > 0:
		return forge.Failure, fmt.Sprintf("%s; %s would be held", line, words.Count(held, "cluster"))
	}
	return forge.Success, line
}

// Shown is what became of showing a change.
type Shown struct {
	Comments []string // where the comments are
	// Not says why there is no comment, or no status; empty where there is what there should be.
	Not string
}

// Show shows a verdict. A pull request whose head is another commit by now keeps what it shows:
// somebody else says what that one does. The token of a job that runs for a fork often may
// only read, and that is no failure.
func Show(ctx context.Context, f forge.Forge, c Change, v Verdict) (Shown, error) {
	pulls, err := find(ctx, f, c)
	if err != nil {
		return Shown{}, err
	}
	about := cmp.Or(c.About, Context)
	if c.Source != "" {
		about += " (" + c.Source + ")"
	}
	err = f.SetStatus(ctx, forge.Status{Commit: c.Commit, Context: about, State: v.State, Description: v.Line, URL: c.Page})
	if err != nil {
		return refused(err, pulls)
	}
	if len(pulls) == 0 {
		return Shown{Not: "no open pull request has the head " + c.Commit}, nil
	}
	var shown Shown
	for _, p := range pulls {
		if p.Head != c.Commit {
			shown.Not = fmt.Sprintf("pull request %d has another head by now", p.Number)
			continue
		}
		said, err := forge.Say(ctx, f, p.Number, strings.TrimSpace("preview "+c.Source), v.Text)
		if err != nil {
			return refused(err, pulls)
		}
		shown.Comments = append(shown.Comments, said.URL)
	}
	return shown, nil
}

// find returns the pull requests of a change.
func find(ctx context.Context, f forge.Forge, c Change) ([]forge.PullRequest, error) {
	if c.Number == 0 {
		return f.PullRequestsOf(ctx, c.Commit)
	}
	p, err := f.PullRequest(ctx, c.Number)
	return []forge.PullRequest{p}, err
}

// refused leaves of an error why nothing is shown, where that is no failure.
func refused(err error, pulls []forge.PullRequest) (Shown, error) {
	fork := slices.ContainsFunc(pulls, func(p forge.PullRequest) bool { return p.Fork })
	if fork && errors.Is(err, forge.ErrForbidden) {
		return Shown{Not: "the change comes from a fork, for which the token may only read: " + err.Error()}, nil
	}
	return Shown{}, err
}
