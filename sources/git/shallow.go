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
)

// ErrShallow says that a commit is in the part of the history that a shallow clone does not
// have, and that it cannot be had from where the clone was made.
var ErrShallow = errors.New("clone the source with its whole history (fetch-depth: 0 for actions/checkout, GIT_DEPTH: 0 for GitLab, git fetch --unshallow by hand)")

// shallow is a clone on disk that has only part of its history. What it lacks it gets from
// the repository that it calls by the name of a remote.
type shallow struct {
	*onDisk

	name string // of the remote
	from *Repo  // nil: from nowhere
}

// IsShallow reports a clone that has only part of its history.
func (r *Repo) IsShallow() bool {
	_, is := r.shallow()
	return is
}

func (r *Repo) shallow() (*shallow, bool) {
	k := r.kind
	if known, ok := k.(remembered); ok {
		k = known.kind
	}
	s, is := k.(*shallow)
	return s, is
}

// Complete has a shallow clone get commits that it lacks from the repository that it calls
// by a remote's name. Behind a URL they come one by one, without their history, and lie in
// a cache of their own. It is called before anything else.
func (r *Repo) Complete(name string, from *Repo) error {
	s, is := r.shallow()
	if !is {
		return nil
	}
	if u, ok := from.server(); ok {
		var err error
		if from, err = u.single(); err != nil {
			return fmt.Errorf("completing %s: %w", r.shown, err)
		}
	}
	s.name, s.from = name, from
	r.store.next = from.store
	return nil
}

// lender is the server that lends commits; false where there is none.
func (s *shallow) lender() (*behindURL, bool) {
	if s.from == nil {
		return nil, false
	}
	return s.from.server()
}

// obtain has commits at hand that the clone lacks, without their history.
func (s *shallow) obtain(ctx context.Context, ids ...files.ID) error {
	lacking := s.repo.store.lacking(ids)
	if len(lacking) == 0 {
		return nil
	}
	lender, ok := s.lender()
	if !ok {
		return fmt.Errorf("commit %s is not in %s, a shallow clone; %w", lacking[0], s.repo.shown, ErrShallow)
	}
	err := lender.get(ctx, lacking, func(adv *packp.AdvRefs) (*packp.UploadPackRequest, error) {
		if !gives(adv, lacking) {
			return nil, errors.New("the server gives no commits by their ids")
		}
		return abridged(adv, lacking, packp.DepthCommits(1))
	})
	return s.wanting(lacking[0], err)
}

// obtainSince has the history of a commit at hand that is not older than a time. Where the
// server does not give the commit by its id, it gives the history of its HEAD.
func (s *shallow) obtainSince(ctx context.Context, id files.ID, since time.Time) error {
	alone := s.obtain(ctx, id)
	lender, ok := s.lender()
	if !ok {
		return alone
	}
	if known, err := s.repo.store.commit(id); err == nil && (known.Committer.When.Before(since) || s.reaches(id, since)) {
		return nil
	}
	err := lender.get(ctx, []files.ID{id}, func(adv *packp.AdvRefs) (*packp.UploadPackRequest, error) {
		wants := []files.ID{id}
		if !gives(adv, wants) {
			if adv.Head == nil {
				return nil, errors.New("the server gives no commits by their ids")
			}
			wants = []files.ID{files.ID(*adv.Head)}
		}
		return abridged(adv, wants, packp.DepthSince(since))
	})
	return s.wanting(id, err)
}

// reaches reports whether the whole history of a commit since a time is at hand.
func (s *shallow) reaches(id files.ID, since time.Time) bool {
	open, seen := []files.ID{id}, map[files.ID]bool{id: true}
	for len(open) > 0 {
		c, err := s.repo.store.commit(open[len(open)-1])
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
func (s *shallow) wanting(id files.ID, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("commit %s is not in %s, a shallow clone, and cannot be had from %s (%w); %w", id, s.repo.shown, s.from.shown, err, ErrShallow)
}

// elsewhere returns where the branch is that a revision like origin/main stands for, of
// which a shallow clone has nothing; zero if it is no such name.
func (s *shallow) elsewhere(ctx context.Context, name string) (files.ID, error) {
	branch, ok := strings.CutPrefix(name, s.name+"/")
	if !ok || s.from == nil {
		return files.ID{}, nil
	}
	heads, err := s.from.Heads(ctx)
	if err != nil || heads[branch].IsZero() {
		return files.ID{}, err
	}
	return heads[branch], s.obtain(ctx, heads[branch])
}

func (s *shallow) remembered(as *Repo, prefix string) remembered {
	disk := s.onDisk.remembered(as, prefix).kind.(*onDisk)
	return remembered{&shallow{onDisk: disk, name: s.name, from: s.from}}
}

// get sends a request and stores what comes, which has to have the ids.
func (u *behindURL) get(ctx context.Context, ids []files.ID, request func(*packp.AdvRefs) (*packp.UploadPackRequest, error)) error {
	w, err := u.repo.acquire(ctx)
	if err != nil {
		return err
	}
	defer w.Release()
	ctx, cancel := context.WithTimeout(ctx, transferTime)
	defer cancel()
	s, adv, err := u.remote.upload(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	u.remote.remember(adv)
	if adv == nil {
		return transport.ErrEmptyRemoteRepository
	}
	req, err := request(adv)
	if err != nil {
		return err
	}
	if err := u.remote.exchange(ctx, s, req, u.repo.store.dir); err != nil {
		return err
	}
	u.repo.store.refresh()
	if gone := u.repo.store.lacking(ids); len(gone) > 0 {
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
