package status

import (
	"fmt"
	"strconv"
	"time"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// The trailers by which a commit says how long its branch is.
const (
	trailerCommits = "Status-Commits"
	trailerSince   = "Status-Since"
)

// mostCommits is how many commits a branch has before it starts anew.
const mostCommits = 1000

// Past is what a status branch was. The zero value is that of none.
type Past struct {
	Head    files.ID
	Commits int
	Since   time.Time // when it was started
}

// PastOf returns what a branch was, by its head.
func PastOf(h git.Head) Past {
	p := Past{Head: h.Commit, Commits: 1, Since: h.When}
	if n, err := strconv.Atoi(last(h.Message, trailerCommits)); err == nil && n > 0 {
		p.Commits = n
	}
	if since, err := time.Parse(time.RFC3339, last(h.Message, trailerSince)); err == nil {
		p.Since = since
	}
	return p
}

func last(message, trailer string) string {
	values := sources.Trailers(message, trailer)
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// Next returns the update that writes a folder of a cluster on top of a branch, or, where that
// has grown long or old, starts it anew: a status is worth little when it is past.
func (p Past) Next(cluster string, root *files.Folder, at time.Time) git.Update {
	return p.Then(Prefix+cluster, cluster+": "+subject(root), root, at)
}

// Then is Next for any branch that says how something is.
func (p Past) Then(branch, subject string, root *files.Folder, at time.Time) git.Update {
	at = at.UTC().Truncate(time.Second)
	anew := p.Head.IsZero() || p.Commits >= mostCommits || at.Sub(p.Since) >= Lasting
	n, since := p.Commits+1, p.Since
	if anew {
		n, since = 1, at
	}
	return git.Update{
		Branch: branch, Old: p.Head, Tree: root, When: at, Anew: anew,
		Author:  git.Author{Name: "Waybill", Email: "waybill@waybill.dev"},
		Message: fmt.Sprintf("%s\n\n%s: %d\n%s: %s\n", subject, trailerCommits, n, trailerSince, since.UTC().Format(time.RFC3339)),
	}
}

// subject says how a cluster is.
func subject(root *files.Folder) string {
	s, err := Read(root)
	if err != nil {
		return "status"
	}
	c := s.Counts
	return fmt.Sprintf("%s, %d of %d objects applied, %d healthy", s.Verdict.Reason, c.Applied, c.Objects, c.Healthy)
}
