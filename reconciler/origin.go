package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// An otherSourceError says that a branch was published from another source.
type otherSourceError struct{ branch, there, here, commit string }

func (e *otherSourceError) Error() string {
	return fmt.Sprintf("branch %s was published from %s, and this is %s, which does not have its commit %.12s; two sources cannot share a branch: give each a publish.branchPrefix and a repository of its own, or, if the source moved, publish once with --take-over", e.branch, e.there, e.here, e.commit)
}

// sameSource refuses to write over a branch that was published from another source.
// A source is known by where it is, however the URL is spelled, or else by its
// history: it has the commit that was published. In its own repository a source
// can only be another folder.
func (r *Reconciler) sameSource(ctx context.Context, here sources.Revision, branch string, head git.Head) error {
	repository, folder := publish.Trailer(head.Message, publish.TrailerRepository), publish.Trailer(head.Message, publish.TrailerPath)
	if r.TakeOver || repository == "" {
		return nil
	}
	commit := publish.Trailer(head.Message, publish.TrailerCommit)
	if r.Source == nil {
		return alike(branch, head, here)
	}
	other := &otherSourceError{branch, at(repository, folder), at(here.Repo, r.Subdir), commit}
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
func (r *Reconciler) sameSources(ctx context.Context, here sources.Revision) func(branch string, head git.Head) error {
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
	if branch == state.Branch || sourceID(repository, folder) == sourceID(here.Repo, here.Path) {
		return nil
	}
	return &otherSourceError{branch, at(repository, folder), at(here.Repo, here.Path), publish.Trailer(head.Message, publish.TrailerCommit)}
}

// horizon is how far the dates of commits may be from the order in which they came.
const horizon = 24 * time.Hour

// forward refuses to publish a commit that comes before one that was published: a slow job,
// or a mirror that lags behind, would undo what came after it. Where that one is nowhere, as
// after its branch was rewritten, their dates decide. Where it cannot be had, because the
// source is a shallow clone, only dates that are far apart do.
func (r *Reconciler) forward(ctx context.Context, now sources.Revision, published []state.Publication) error {
	commit, err := files.ParseID(now.Commit)
	if err != nil || r.Rollback {
		return nil //nolint:nilerr // a directory has no history
	}
	for _, p := range published {
		last, err := files.ParseID(p.Commit)
		if err != nil || p.Commit == now.Commit || !p.When.IsZero() && now.When.After(p.When.Add(horizon)) {
			continue // nothing was, or somebody else wrote the branch
		}
		older := now.When.Before(p.When)
		if _, err := r.Source.Commit(ctx, last); err == nil || errors.Is(err, git.ErrShallow) {
			if older, err = r.Source.IsAncestor(ctx, commit, last); err != nil {
				return fmt.Errorf("whether %.12s comes before %.12s, which was published last, is not known, and nothing is published: %w", now.Commit, p.Commit, err)
			}
		}
		if older {
			return fmt.Errorf("%.12s comes before %.12s, which was published last, and would undo what came after it; revert in the source, or publish with --rollback if that is what you want", now.Commit, p.Commit)
		}
	}
	return nil
}

// at names a folder of a repository.
func at(repository, folder string) string {
	if folder == "" {
		return repository
	}
	return "the folder " + folder + " of " + repository
}

// sourceID is what a source is known by, however its repository is reached.
func sourceID(repository, folder string) string {
	if folder = strings.Trim(path.Clean("/"+folder), "/"); folder != "" {
		return sources.Place(repository) + " " + folder
	}
	return sources.Place(repository)
}

// Work is what a reconciler that follows a branch of its source does, in words: two that do the
// same are replicas.
func (r *Reconciler) Work(rev string) string {
	return fmt.Sprintf("%s of %s to %s", rev, sourceID(r.Source.Name(), r.Subdir), sources.Place(r.Target.Name()))
}

// lastRandom is the random key that was used last: what the state says of it or, where
// somebody deleted its branch, that of the newest commit which names one.
func lastRandom(s *state.State, branches []git.Head) (last state.Random) {
	if s.Commit != "" {
		return s.Random
	}
	var when time.Time
	for _, h := range branches {
		key := publish.Trailer(h.Message, publish.TrailerRandomKey)
		if key != "" && !h.When.Before(when) {
			source := sourceID(publish.Trailer(h.Message, publish.TrailerRepository), publish.Trailer(h.Message, publish.TrailerPath))
			last, when = state.Random{Key: key, Source: source}, h.When
		}
	}
	return last
}

// ahead lists what was published after the publication that the state names, in the order
// of dates: what branches were written from on top of it. Where the state names none,
// because somebody deleted its branch, that is all that branches were written from.
func ahead(s *state.State, branches []git.Head) []state.Publication {
	var all []state.Publication
	seen := map[string]bool{} // clusters that changed alike share a message
	for _, h := range branches {
		if seen[h.Message] {
			continue
		}
		seen[h.Message] = true
		p := state.Publication{Commit: publish.Trailer(h.Message, publish.TrailerCommit), When: h.When}
		same := func(other state.Publication) bool { return other.Commit == p.Commit }
		if isOnTop(s, h.Message) && p.Commit != "" && p.Commit != s.Published.Commit && !slices.ContainsFunc(all, same) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b state.Publication) int {
		return cmp.Or(a.When.Compare(b.When), cmp.Compare(a.Commit, b.Commit))
	})
	return all
}

// isOnTop reports a commit that was written from what the state says now. Where it names no
// publication, all may have been.
func isOnTop(s *state.State, message string) bool {
	over := publish.Trailer(message, publish.TrailerState)
	return over == s.Commit || s.Planned != "" && over == s.Planned || s.Published.Commit == ""
}
