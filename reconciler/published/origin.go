package published

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// An OtherSourceError says that a branch was published from another source.
type OtherSourceError struct{ Branch, There, Here, Commit string }

func (e *OtherSourceError) Error() string {
	return fmt.Sprintf("branch %s was published from %s, and this is %s, which does not have its commit %.12s; two sources cannot share a branch: give each a publish.branchPrefix and a repository of its own, or, if the source moved, publish once with --take-over", e.Branch, e.There, e.Here, e.Commit)
}

// sameSource refuses to write over a branch that was published from another source.
// A source is known by where it is, however the URL is spelled, or else by its
// history: it has the commit that was published. In its own repository a source
// can only be another folder.
func (r *Reader) sameSource(ctx context.Context, here sources.Revision, branch string, head git.Head) error {
	repository, folder := publish.Trailer(head.Message, publish.TrailerRepository), publish.Trailer(head.Message, publish.TrailerPath)
	if r.TakeOver || repository == "" {
		return nil
	}
	commit := publish.Trailer(head.Message, publish.TrailerCommit)
	if r.Source == nil {
		return alike(branch, head, here)
	}
	other := &OtherSourceError{branch, at(repository, folder), at(here.Repo, r.Subdir), commit}
	if path.Clean(folder) != path.Clean(r.Subdir) {
		return other
	}
	if r.Source == r.Target || sources.Place(repository) == sources.Place(here.Repo) {
		return nil
	}
	switch _, err := r.Source.Resolve(ctx, commit); {
	case errors.Is(err, git.ErrShallow):
		return fmt.Errorf("whether branch %s was published from this source is not known: %w", branch, err)
	case err != nil:
		return other
	}
	return nil
}

// sameSources is sameSource for many branches: clusters that changed alike share a commit.
func (r *Reader) sameSources(ctx context.Context, here sources.Revision) func(branch string, head git.Head) error {
	known := map[files.ID]bool{}
	return func(branch string, head git.Head) error {
		if known[head.Commit] {
			return nil
		}
		err := r.sameSource(ctx, here, branch, head)
		known[head.Commit] = err == nil
		return err
	}
}

// alike is sameSource for who has no source: the state branch says where that is, and the others
// have to say the same.
func alike(branch string, head git.Head, here sources.Revision) error {
	repository, folder := publish.Trailer(head.Message, publish.TrailerRepository), publish.Trailer(head.Message, publish.TrailerPath)
	if branch == state.Branch || SourceID(repository, folder) == SourceID(here.Repo, here.Path) {
		return nil
	}
	return &OtherSourceError{branch, at(repository, folder), at(here.Repo, here.Path), publish.Trailer(head.Message, publish.TrailerCommit)}
}

// at names a folder of a repository.
func at(repository, folder string) string {
	if folder == "" {
		return repository
	}
	return "the folder " + folder + " of " + repository
}

// SourceID is what a source is known by, however its repository is reached.
func SourceID(repository, folder string) string {
	if folder = strings.Trim(path.Clean("/"+folder), "/"); folder != "" {
		return sources.Place(repository) + " " + folder
	}
	return sources.Place(repository)
}
