package git

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/refs"
)

// behindURL is a repository on a server, with a bare cache on disk.
type behindURL struct {
	repo   *Repo
	remote *remote
}

// cached returns a repository whose cache is in a folder.
func cached(shown, dir string, m *remote) *Repo {
	r := &Repo{shown: shown, refs: refs.At(dir), store: openStore(dir, dir)}
	r.kind = &behindURL{repo: r, remote: m}
	return r
}

// single is the repository with a cache in which commits lack their history. Nothing there
// may be told to the server as something that we have.
func (u *behindURL) single() (*Repo, error) {
	dir := strings.TrimSuffix(u.repo.store.dir, ".git") + ".single.git"
	if err := initCache(dir); err != nil {
		return nil, advise(err)
	}
	return cached(u.repo.shown, dir, u.remote), nil
}

func (u *behindURL) names(ctx context.Context) (map[string]files.ID, files.ID, error) {
	l, err := u.remote.look(ctx)
	return l.refs, l.head, err
}

func (u *behindURL) heads(ctx context.Context) (map[string]files.ID, error) {
	l, err := u.remote.look(ctx)
	if err != nil {
		return nil, err
	}
	return branches(l.refs, refs.Heads), nil
}

func (u *behindURL) tip(ctx context.Context, branch string) (files.ID, error) {
	l, err := u.remote.last(ctx)
	if err != nil {
		return files.ID{}, err
	}
	return l.refs[refs.Heads+branch], nil
}

func (*behindURL) elsewhere(context.Context, string) (files.ID, error) { return files.ID{}, nil }

func (u *behindURL) last() (map[string]files.ID, error) {
	all, err := u.repo.refs.List(refs.Heads)
	if err != nil {
		return nil, fmt.Errorf("reading the cache of %s: %w", u.repo.shown, err)
	}
	return branches(all, refs.Heads), nil
}

func (u *behindURL) fetch(ctx context.Context, names []string) error {
	l, err := u.remote.last(ctx)
	if err != nil {
		return fmt.Errorf("fetching from %s: %w", u.repo.shown, err)
	}
	var ids []files.ID
	for _, b := range names {
		if id, ok := l.refs[refs.Heads+b]; ok {
			ids = append(ids, id)
		}
	}
	return u.obtain(ctx, ids...)
}

func (u *behindURL) obtain(ctx context.Context, ids ...files.ID) error {
	if len(u.repo.store.lacking(ids)) == 0 {
		return nil
	}
	w, err := u.repo.acquire(ctx)
	if err != nil {
		return fmt.Errorf("fetching from %s: %w", u.repo.shown, err)
	}
	defer w.Release()
	if err := u.download(ctx, w, ids); err != nil {
		return fmt.Errorf("fetching from %s: %w", u.repo.shown, err)
	}
	return nil
}

// obtainSince has nothing to do: a cache holds commits with all of their history.
func (*behindURL) obtainSince(context.Context, files.ID, time.Time) error { return nil }

func (u *behindURL) obtainAll(ctx context.Context, all map[string]files.ID) error {
	return u.obtain(ctx, slices.Collect(maps.Values(all))...)
}

// lost returns the commit, which the server may have collected as garbage.
func (u *behindURL) lost(ctx context.Context, id files.ID) (some []past, parents []files.ID, err error) {
	p, parents, err := u.repo.past(ctx, id)
	if err != nil {
		return nil, nil, fmt.Errorf("reading commit %s, which was lost: %w", id, err)
	}
	return []past{p}, parents, nil
}

func (u *behindURL) publish(ctx context.Context, all []move) error {
	w, err := u.repo.acquire(ctx)
	if err != nil {
		return err
	}
	defer w.Release()
	return u.push(ctx, w, all)
}

// remembered is what is in the cache.
func (*behindURL) remembered(as *Repo, prefix string) remembered {
	return remembered{&onDisk{repo: as, prefix: prefix, head: as.refs, bare: true}}
}

// left is false: what a killed writer left in the cache is cleared away by the next one.
func (*behindURL) left() bool { return false }

// unfinished are go-git's files. The cache is ours alone.
func (*behindURL) unfinished() []string { return []string{"tmp_pack_", "tmp_idx_"} }
