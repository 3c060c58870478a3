package published

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/words"
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

// GoesOn refuses a head of the state branch that does not come after one that was gone by, signed or not: what was
// said since, as that a cluster is suspended, would not count any more.
func (r *Reader) GoesOn(ctx context.Context, head, last files.ID) error {
	if last.IsZero() || last == head || r.Rollback {
		return nil // by Rollback a person wants to go there
	}
	unknown := func(err error) error {
		return fmt.Errorf("whether %.12s of %s comes after %.12s is not known: %w", head.String(), state.Branch, last.String(), err)
	}
	t, err := Walk(ctx, r.Target, head, last, func(h git.Head) bool {
		return ancestry.Replaces(h.Message, state.Branch, last) && r.IsSigned(state.Branch, h) == nil
	})
	if err != nil {
		return unknown(err)
	}
	step := ancestry.Step{Signed: !r.Signers.IsZero(), Follows: t.Follows || !t.Said.IsZero()}
	if !step.Follows {
		if step.Follows, err = r.Target.IsAncestor(ctx, last, head); err == nil {
			step.Back, err = r.Target.IsAncestor(ctx, head, last)
		}
		if err != nil && !errors.Is(err, git.ErrMissing) {
			return unknown(err)
		}
	}
	if step.Allowed() {
		return nil
	}
	return &ancestry.RefusedError{State: true, Applied: last, Text: fmt.Sprintf("the head of %s, %.12s, does not come after %s, which counted already: somebody set the branch back, or this is a copy that lags behind; what was applied stays; publish again, with --restored if the repository was restored from a backup, or start the agent with --rollback once", state.Branch, head.String(), last)}
}

// IsSigned refuses the head of a branch that nobody signed who may, where that is asked for.
func (r *Reader) IsSigned(branch string, head git.Head) error {
	if r.Signers.IsZero() {
		return nil
	}
	if _, err := r.Signers.Verify(head.Signed, head.Signature, head.When); err != nil {
		return fmt.Errorf("the head of %s, %.12s, does not count: %w; what was applied stays; publish with --signing-key, or add who signed it to --allowed-signers", branch, head.Commit.String(), err)
	}
	return nil
}

// genuine refuses a head that is not as Waybill published it for a cluster.
func (r *Reader) genuine(ctx context.Context, in *Desired, cluster string, b Branch) error {
	a := in.Address(cluster)
	name := a.String()
	at := fmt.Sprintf("the head of %s, %.12s,", name, b.Head.Commit.String())
	if a.Folder != "" {
		at = fmt.Sprintf("%s, as of %.12s,", a.Words(), b.Head.Commit.String())
	}
	message := b.Head.Message
	switch named := sources.Trailers(message, publish.TrailerCluster); {
	case b.Published.Edited:
		return fmt.Errorf("%s is not as Waybill published it: somebody edited its files%s; what was applied stays; waybill verify %s says which, and git revert takes the edit back", at, b.Published.Edit, name)
	case b.Published.Built == nil || publish.Trailer(message, publish.TrailerCommit) == "":
		return fmt.Errorf("%s was not written by Waybill; what was applied stays", at)
	case len(named) > 0 && !slices.Contains(named, cluster):
		return fmt.Errorf("%s was published for the cluster %s; what was applied stays", at, words.List(named))
	}
	if err := r.IsSigned(name, b.Head); err != nil {
		return err
	}
	return r.sameSource(ctx, in.revision, name, b.Head)
}
