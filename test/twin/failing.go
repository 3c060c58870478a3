package twin

import (
	"context"
	"errors"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// ErrDown is what a Failing says to its one question.
var ErrDown = errors.New("the server is down")

// Failing is a repository that does not answer one question, and answers all others.
type Failing struct {
	*Repo

	left int // questions until the one that fails
}

// FailingAt is a repository that does not answer its nth question.
func FailingAt(n int, r *Repo) *Failing { return &Failing{Repo: r, left: n} }

// HasFailed reports that it was asked that often.
func (f *Failing) HasFailed() bool { return f.left <= 0 }

func (f *Failing) fails() error {
	if f.left--; f.left == 0 {
		return ErrDown
	}
	return nil
}

// Heads is as of the Repo, unless it is the question that is not answered, as are those below.
func (f *Failing) Heads(ctx context.Context) (map[string]files.ID, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.Repo.Heads(ctx)
}

// Fetch is as of the Repo.
func (f *Failing) Fetch(ctx context.Context, branches ...string) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.Repo.Fetch(ctx, branches...)
}

// Branch is as of the Repo.
func (f *Failing) Branch(ctx context.Context, name string) (git.Head, bool, error) {
	if err := f.fails(); err != nil {
		return git.Head{}, false, err
	}
	return f.Repo.Branch(ctx, name)
}

// Commit is as of the Repo.
func (f *Failing) Commit(ctx context.Context, id files.ID) (git.Head, error) {
	if err := f.fails(); err != nil {
		return git.Head{}, err
	}
	return f.Repo.Commit(ctx, id)
}

// Root is as of the Repo.
func (f *Failing) Root(ctx context.Context, id files.ID) (git.Head, []files.Entry, error) {
	if err := f.fails(); err != nil {
		return git.Head{}, nil, err
	}
	return f.Repo.Root(ctx, id)
}

// Within is as of the Repo.
func (f *Failing) Within(ctx context.Context, id files.ID, folder string) (git.Head, bool, error) {
	if err := f.fails(); err != nil {
		return git.Head{}, false, err
	}
	return f.Repo.Within(ctx, id, folder)
}
