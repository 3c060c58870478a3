package reconciler

import (
	"context"
	"fmt"
	"net/url"
	"path"
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
	other := &otherSourceError{branch, at(repository, folder), at(here.Repo, r.Subdir), commit}
	if path.Clean(folder) != path.Clean(r.Subdir) {
		return other
	}
	if r.Source == r.Target || place(repository) == place(here.Repo) {
		return nil
	}
	if _, err := r.Source.Resolve(ctx, commit); err != nil {
		return other
	}
	return nil
}

// forward refuses to publish a commit that comes before the one that was published last:
// a slow job, or a mirror that lags behind, would undo what came after it. Where the last
// one is not at hand, as in a clone of one commit, their dates decide.
func (r *Reconciler) forward(ctx context.Context, now sources.Revision, before string, date time.Time) error {
	commit, err := files.ParseID(now.Commit)
	if err != nil || before == "" || before == now.Commit || r.Rollback {
		return nil //nolint:nilerr // a directory has no history
	}
	last, err := files.ParseID(before)
	if err != nil {
		return nil //nolint:nilerr // the branch was not written by this version
	}
	older := now.When.Before(date)
	if _, err := r.Source.Commit(ctx, last); err == nil {
		if older, err = r.Source.IsAncestor(ctx, commit, last); err != nil {
			return fmt.Errorf("comparing commits: %w", err)
		}
	}
	if older {
		return fmt.Errorf("%.12s comes before %.12s, which was published last, and would undo what came after it; revert in the source, or publish with --rollback if that is what you want", now.Commit, before)
	}
	return nil
}

// dateOf returns the date of a source commit by the heads that were written from it, which
// are dated alike; zero if there is none.
func dateOf(commit string, heads []git.Head) time.Time {
	for _, h := range heads {
		if commit != "" && publish.Trailer(h.Message, publish.TrailerCommit) == commit {
			return h.When
		}
	}
	return time.Time{}
}

// at names a folder of a repository.
func at(repository, folder string) string {
	if folder == "" {
		return repository
	}
	return "the folder " + folder + " of " + repository
}

// place is where a repository is: host and path, without how it is reached. A port that
// is not the one of its scheme tells servers apart.
func place(repository string) string {
	s := repository
	if u, err := url.Parse(repository); err == nil && u.Host != "" {
		host := u.Hostname()
		if p := u.Port(); p != "" && p != map[string]string{"https": "443", "http": "80", "ssh": "22"}[u.Scheme] {
			host = u.Host
		}
		s = host + "/" + strings.TrimLeft(u.Path, "/")
	} else if host, rest, ok := strings.Cut(repository, ":"); ok && !strings.Contains(host, "/") {
		s = host[strings.LastIndex(host, "@")+1:] + "/" + strings.TrimLeft(rest, "/")
	}
	return strings.TrimSuffix(strings.TrimRight(s, "/"), ".git")
}

// lastPublished returns the source commit that was published last. The state branch
// stands still while decisions stay the same, so a cluster branch that was written
// on top of it knows a later one. Where the state says nothing, because somebody deleted
// the branch or wrote to it, the cluster branches alone do.
func lastPublished(s state.State, heads []git.Head) string {
	onTop := make([]git.Head, 0, len(heads))
	for _, h := range heads {
		if s.Commit != "" && publish.Trailer(h.Message, publish.TrailerState) == s.Commit {
			onTop = append(onTop, h)
		}
	}
	if last := latest(s.SourceCommit, onTop, heads); last != "" {
		return last
	}
	return latest("", heads, heads)
}

// latest returns the last of a source commit and those that heads were written from. Each
// head names the commit that was published before its own, so the last one is the one that
// no other of all came after; dates decide only where that says nothing, as after going
// back and forth.
func latest(last string, heads, all []git.Head) string {
	before := map[string]bool{} // commits that another one was published after
	for _, h := range all {
		if commit := publish.Trailer(h.Message, publish.TrailerCommit); commit != publish.Trailer(h.Message, publish.TrailerPrevious) {
			before[publish.Trailer(h.Message, publish.TrailerPrevious)] = true
		}
	}
	at := time.Time{}
	open := last != "" && !before[last]
	for _, h := range heads {
		commit := publish.Trailer(h.Message, publish.TrailerCommit)
		if commit == "" {
			continue
		}
		if isOpen := !before[commit]; isOpen && !open || isOpen == open && !h.When.Before(at) {
			last, at, open = commit, h.When, isOpen
		}
	}
	return last
}
