package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/refs"
)

// maxPack is the largest pack that is fetched, in bytes.
const maxPack = 2 << 30

// openURL prepares a repository behind a URL and its cache.
func openURL(o Options) (*Repo, error) {
	a, err := parseURL(o.Location)
	if err != nil {
		return nil, fmt.Errorf("opening repository: %w", err)
	}
	if o.CacheDir == "" {
		return nil, fmt.Errorf("opening repository %s: a URL needs a cache directory", a.shown)
	}
	dir := filepath.Join(o.CacheDir, a.cacheName())
	if err := initCache(dir); err != nil {
		return nil, fmt.Errorf("opening repository %s: preparing its cache: %w", a.shown, advise(err))
	}
	m, err := openRemote(a, o.Auth)
	if err != nil {
		return nil, fmt.Errorf("opening repository %s: %w", a.shown, err)
	}
	return cached(a.shown, dir, m), nil
}

// initCache makes a bare repository that Git can read, too, unless it is there.
func initCache(dir string) error {
	for _, sub := range []string{"objects/pack", "objects/info", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(sub)), 0o700); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"HEAD":   "ref: refs/heads/main\n",
		"config": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n",
	} {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Fetch gets the objects of branches, as the server listed them last; branches that
// it did not list are passed over. What is in the cache is not asked for. It does
// nothing for a repository on disk.
func (r *Repo) Fetch(ctx context.Context, branches ...string) error {
	if len(branches) == 0 {
		return nil
	}
	return r.kind.fetch(ctx, branches)
}

// download gets commits that the cache lacks. A server gives what its refs are at; for
// anything else all refs are fetched, of which it should be part.
func (u *behindURL) download(ctx context.Context, w *refs.Writer, ids []files.ID) error {
	u.repo.store.refresh()
	lacking := u.repo.store.lacking(ids)
	if len(lacking) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, transferTime)
	defer cancel()
	s, adv, err := u.remote.upload(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	l := u.remote.remember(adv)
	if ids := wants(u.repo.store, l, lacking); len(ids) > 0 {
		req, err := u.repo.asks(adv, ids)
		if err == nil {
			err = u.remote.exchange(ctx, s, req, u.repo.store.dir)
		}
		if err != nil {
			return err
		}
	}
	u.repo.store.refresh()
	if err := keep(w, u.repo.store, l.refs); err != nil {
		return err
	}
	if gone := u.repo.store.lacking(lacking); len(gone) > 0 {
		return &goneError{gone[0]}
	}
	return nil
}

// goneError says that a server does not have a commit.
type goneError struct{ id files.ID }

func (e *goneError) Error() string {
	return fmt.Sprintf("commit %s is below no branch or tag of the server: it does not exist, or a branch was rewritten", e.id)
}

// Is has it be an ErrMissing.
func (*goneError) Is(target error) bool { return target == ErrMissing }

// wants returns what to ask for.
func wants(st *store, l listing, lacking []files.ID) []files.ID {
	tips := make(map[files.ID]bool, len(l.refs))
	var all []files.ID
	for name, id := range l.refs {
		tips[id] = true
		if tracked(name) {
			all = append(all, id)
		}
	}
	for _, id := range lacking {
		if !tips[id] {
			return st.lacking(all)
		}
	}
	return lacking
}

func tracked(name string) bool {
	return strings.HasPrefix(name, refs.Heads) || strings.HasPrefix(name, "refs/tags/")
}

// keep notes which refs of the server the cache has whole. They are told to the server
// at the next fetch, and keep what they lead to from being collected by Git.
func keep(w *refs.Writer, st *store, all map[string]files.ID) error {
	whole := make(map[string]files.ID, len(all))
	for name, id := range all {
		if tracked(name) && st.has(id) {
			whole[name] = id
		}
	}
	if err := w.Replace(whole); err != nil {
		return advise(fmt.Errorf("updating the cache: %w", err))
	}
	return nil
}

// asks is a request for commits that tells the server what is in the cache.
func (r *Repo) asks(adv *packp.AdvRefs, wants []files.ID) (*packp.UploadPackRequest, error) {
	have, err := r.refs.List("refs/")
	if err != nil {
		return nil, err
	}
	req, err := request(adv, wants)
	if err != nil {
		return nil, err
	}
	for _, id := range have {
		if r.store.has(id) {
			req.Haves = append(req.Haves, plumbing.Hash(id))
		}
	}
	return req, nil
}

// request asks a server for commits.
func request(adv *packp.AdvRefs, wants []files.ID) (*packp.UploadPackRequest, error) {
	req := packp.NewUploadPackRequestFromCapabilities(adv.Capabilities)
	if adv.Capabilities.Supports(capability.NoProgress) {
		if err := req.Capabilities.Set(capability.NoProgress); err != nil {
			return nil, err
		}
	}
	for _, id := range wants {
		req.Wants = append(req.Wants, plumbing.Hash(id))
	}
	return req, nil
}

// sideways is the pack in an answer, which may have more than that.
func sideways(req *packp.UploadPackRequest, in io.Reader) io.Reader {
	switch {
	case req.Capabilities.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, in)
	case req.Capabilities.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, in)
	}
	return in
}

// storePack checks and stores a pack.
func storePack(dir string, in io.Reader) error {
	out, err := dotgit.New(osfs.New(dir)).NewObjectPack()
	if err != nil {
		return fmt.Errorf("storing a pack: %w", err)
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("storing a pack: %w", err)
	}
	return nil
}
