package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/refs"
)

// ErrShallow says that a commit is in the part of the history that a shallow clone does not
// have, and that it cannot be had from where the clone was made.
var ErrShallow = errors.New("clone the source with its whole history (fetch-depth: 0 for actions/checkout, GIT_DEPTH: 0 for GitLab, git fetch --unshallow by hand)")

// rest is where a shallow clone gets what it lacks.
type rest struct {
	name string // of the remote
	repo *Repo  // nil: from nowhere
}

// IsShallow reports a clone that has only part of its history.
func (r *Repo) IsShallow() bool { return r.rest != nil }

// Complete has a shallow clone get commits that it lacks from the repository that it calls
// by a remote's name. Behind a URL they come one by one, without their history, and lie in
// a cache of their own. It is called before anything else.
func (r *Repo) Complete(name string, from *Repo) error {
	if r.rest == nil {
		return nil
	}
	from, err := from.single()
	if err != nil {
		return fmt.Errorf("completing %s: %w", r.shown, err)
	}
	r.rest = &rest{name: name, repo: from}
	r.store.next = from.store
	return nil
}

// single is a repository behind a URL with a cache in which commits lack their history.
// Nothing there may be told to the server as something that we have.
func (r *Repo) single() (*Repo, error) {
	if r.remote == nil {
		return r, nil
	}
	dir := strings.TrimSuffix(r.store.dir, ".git") + ".single.git"
	if err := initCache(dir); err != nil {
		return nil, advise(err)
	}
	return &Repo{shown: r.shown, heads: refs.Heads, bare: true, refs: refs.At(dir), head: refs.At(dir), store: openStore(dir, dir), remote: r.remote}, nil
}

// borrow has commits at hand that a shallow clone lacks.
func (r *Repo) borrow(ctx context.Context, ids []files.ID) error {
	if r.rest == nil {
		return nil
	}
	lacking := r.lacking(ids)
	if len(lacking) == 0 {
		return nil
	}
	if r.rest.repo == nil || r.rest.repo.remote == nil {
		return fmt.Errorf("commit %s is not in %s, a shallow clone; %w", lacking[0], r.shown, ErrShallow)
	}
	err := r.rest.repo.get(ctx, lacking, func(adv *packp.AdvRefs) (*packp.UploadPackRequest, error) {
		if !gives(adv, lacking) {
			return nil, errors.New("the server gives no commits by their ids")
		}
		return abridged(adv, lacking, packp.DepthCommits(1))
	})
	return r.wanting(lacking[0], err)
}

// borrowSince has the history of a commit at hand that is not older than a time. Where the
// server does not give the commit by its id, it gives the history of its HEAD.
func (r *Repo) borrowSince(ctx context.Context, id files.ID, since time.Time) error {
	if r.rest == nil {
		return nil
	}
	alone := r.borrow(ctx, []files.ID{id})
	if r.rest.repo == nil || r.rest.repo.remote == nil {
		return alone
	}
	if known, err := r.store.commit(id); err == nil && (known.Committer.When.Before(since) || r.reaches(id, since)) {
		return nil
	}
	err := r.rest.repo.get(ctx, []files.ID{id}, func(adv *packp.AdvRefs) (*packp.UploadPackRequest, error) {
		wants := []files.ID{id}
		if !gives(adv, wants) {
			if adv.Head == nil {
				return nil, errors.New("the server gives no commits by their ids")
			}
			wants = []files.ID{files.ID(*adv.Head)}
		}
		return abridged(adv, wants, packp.DepthSince(since))
	})
	return r.wanting(id, err)
}

// reaches reports whether the whole history of a commit since a time is at hand.
func (r *Repo) reaches(id files.ID, since time.Time) bool {
	open, seen := []files.ID{id}, map[files.ID]bool{id: true}
	for len(open) > 0 {
		c, err := r.store.commit(open[len(open)-1])
		open = open[:len(open)-1]
		if err != nil {
			return false
		}
		if c.Committer.When.Before(since) {
			continue
		}
		for _, p := range c.ParentHashes {
			if parent := files.ID(p); !seen[parent] {
				seen[parent] = true
				open = append(open, parent)
			}
		}
	}
	return true
}

// wanting adds to why a commit could not be had what to do.
func (r *Repo) wanting(id files.ID, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("commit %s is not in %s, a shallow clone, and cannot be had from %s (%w); %w", id, r.shown, r.rest.repo.shown, err, ErrShallow)
}

// tipThere returns where the branch is that a revision like origin/main stands for, of
// which a shallow clone has nothing; zero if it is no such name.
func (r *Repo) tipThere(ctx context.Context, name string) (files.ID, error) {
	if r.rest == nil || r.rest.repo == nil {
		return files.ID{}, nil
	}
	branch, ok := strings.CutPrefix(name, r.rest.name+"/")
	if !ok {
		return files.ID{}, nil
	}
	heads, err := r.rest.repo.Heads(ctx)
	if err != nil || heads[branch].IsZero() {
		return files.ID{}, err
	}
	return heads[branch], r.obtain(ctx, heads[branch])
}

// get sends a request and stores what comes, which has to have the ids.
func (r *Repo) get(ctx context.Context, ids []files.ID, request func(*packp.AdvRefs) (*packp.UploadPackRequest, error)) error {
	w, err := r.acquire(ctx)
	if err != nil {
		return err
	}
	defer w.Release()
	ctx, cancel := context.WithTimeout(ctx, transferTime)
	defer cancel()
	s, adv, err := r.remote.upload(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	r.remote.remember(adv)
	if adv == nil {
		return transport.ErrEmptyRemoteRepository
	}
	req, err := request(adv)
	if err != nil {
		return err
	}
	if err := r.exchange(ctx, s, req); err != nil {
		return err
	}
	r.store.refresh()
	if gone := r.lacking(ids); len(gone) > 0 {
		return errors.New("it is not among what the server gives")
	}
	return nil
}

// gives reports whether a server says that it gives commits: those that refs are at, and
// others if it is set up so.
func gives(adv *packp.AdvRefs, ids []files.ID) bool {
	if adv.Capabilities.Supports(capability.AllowReachableSHA1InWant) || adv.Capabilities.Supports("allow-any-sha1-in-want") {
		return true
	}
	tips := map[files.ID]bool{}
	for _, id := range adv.References {
		tips[files.ID(id)] = true
	}
	for _, id := range ids {
		if !tips[id] {
			return false
		}
	}
	return true
}

// abridged asks for commits with part of their history.
func abridged(adv *packp.AdvRefs, wants []files.ID, depth packp.Depth) (*packp.UploadPackRequest, error) {
	req, err := request(adv, wants)
	if err != nil {
		return nil, err
	}
	needs := []capability.Capability{capability.Shallow}
	if _, since := depth.(packp.DepthSince); since {
		needs = append(needs, capability.DeepenSince)
	}
	for _, c := range needs {
		if !adv.Capabilities.Supports(c) {
			return nil, fmt.Errorf("the server does not know %s", c)
		}
		if err := req.Capabilities.Set(c); err != nil {
			return nil, err
		}
	}
	req.Depth = depth
	return req, nil
}
