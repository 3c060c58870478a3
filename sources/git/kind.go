package git

import (
	"context"
	"errors"
	"time"

	"github.com/waybill-dev/waybill/sources/files"
)

// kind is what differs between repositories: onDisk is one on disk, shallow such a clone
// without its whole history, behindURL one on a server with a cache on disk, and remembered
// what this machine knows of another one.
type kind interface {
	// names returns all refs as they are now, and the commit that HEAD leads to.
	names(ctx context.Context) (map[string]files.ID, files.ID, error)
	// heads returns where the branches are now, by their short names.
	heads(ctx context.Context) (map[string]files.ID, error)
	// tip returns where a branch is, or was when a server was asked last; zero for none.
	tip(ctx context.Context, branch string) (files.ID, error)
	// elsewhere returns where a branch of another repository is that a name like
	// origin/main stands for and the refs do not have; zero for none.
	elsewhere(ctx context.Context, name string) (files.ID, error)
	// last returns where the branches of a server were when it was asked last.
	last() (map[string]files.ID, error)

	// fetch has at hand what branches of these names lead to.
	fetch(ctx context.Context, names []string) error
	// obtain has commits at hand, and all that is below them.
	obtain(ctx context.Context, ids ...files.ID) error
	// obtainSince has the history of a commit at hand that is not older than a time.
	obtainSince(ctx context.Context, id files.ID, since time.Time) error
	// obtainAll has at hand what any of the refs lead to.
	obtainAll(ctx context.Context, all map[string]files.ID) error
	// lost returns a commit that no branch leads to any more, if it has to be sent again,
	// and then its parents.
	lost(ctx context.Context, id files.ID) (some []past, parents []files.ID, err error)

	// remembered is what this machine knows of the repository, or of another one whose
	// branches are below a prefix here, for a Repo of its own.
	remembered(as *Repo, prefix string) remembered
	// publish moves branches.
	publish(ctx context.Context, all []move) error
	// left reports whether a writer that was killed left anything that is in others' way.
	left() bool
	// unfinished returns what the names of unfinished files begin with that are nobody else's.
	unfinished() []string
}

// server returns what a repository behind a URL is; false for one on disk.
func (r *Repo) server() (*behindURL, bool) {
	u, ok := r.kind.(*behindURL)
	return u, ok
}

// remembered is what this machine knows of another repository.
type remembered struct{ kind }

func (remembered) publish(context.Context, []move) error {
	return errors.New("it is what this machine knows of another repository; publish to that one")
}
