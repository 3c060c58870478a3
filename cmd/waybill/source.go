package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/dir"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/pause"
	"github.com/waybill-dev/waybill/sources/signing"
)

// repositories is what a command line says of a source, and of where it is published to.
type repositories struct {
	cmd      *cobra.Command
	path     string // of the source: a directory, or the URL of a repository
	to       string // where it is published to: a remote's name, a path or a URL; empty: as its config says
	offline  bool   // ask no server about the source, or about what is published
	sure     bool   // a report is nothing without what is published
	from     git.Auth
	at       git.Auth        // for where it is published to
	sign     git.Signer      // of what is published; nil: it is not signed
	key      *signing.Public // of what is signed
	statuses *statusFlags    // where agents write; nil: it does not matter
}

// repositoryFlags adds the flags for the repositories of a command. To says what --to is.
func repositoryFlags(cmd *cobra.Command, to string) func(path string) (repositories, error) {
	where := cmd.Flags().String("to", "", to)
	creds := credentialFlags(cmd)
	return func(path string) (repositories, error) {
		from, at, err := creds()
		return repositories{cmd: cmd, path: path, to: *where, from: from, at: at}, err
	}
}

// source opens the repository that the source is in. A shallow clone gets from where it was
// made what it lacks.
func (w repositories) source() (*git.Repo, error) {
	auth := w.from
	if !given(auth) {
		if typed := w.typed(); typed.For != "" {
			auth = typed // where they are meant for the source as well
		}
	}
	repo, err := openSigned(w.cmd.Context(), w.path, auth, w.sign)
	if err != nil || !repo.IsShallow() || w.offline {
		return repo, err
	}
	return repo, w.complete(repo)
}

// typed are the credentials for where the source is published to, which are for the source
// if the command line names nothing else.
func (w repositories) typed() git.Auth {
	if w.to == "" {
		return forNamed(w.at, w.path)
	}
	return w.at
}

// complete has a shallow clone get what it lacks.
func (w repositories) complete(repo *git.Repo) error {
	name := w.to
	if !slices.Contains(repo.Remotes(), name) {
		name = origin
	}
	if !slices.Contains(repo.Remotes(), name) {
		return nil
	}
	d, err := w.remote(repo, name)
	if err != nil {
		return err
	}
	if given(w.from) {
		d.auth = w.from
	}
	from, err := open(w.cmd.Context(), d.location, d.auth)
	if err != nil {
		return nil // what is lacking is an error, and perhaps nothing is
	}
	return repo.Complete(name, from)
}

// snapshot reads a version of the source; the directory as it stands if rev is empty. The
// repository is nil for a directory that is in none.
func (w repositories) snapshot(repo *git.Repo, rev string) (sources.Snapshot, error) {
	if rev == "" && !git.IsURL(w.path) {
		s, err := standing(w.path)
		if err != nil || repo == nil {
			return s, err
		}
		return calledAs{s, repo.Source()}, nil
	}
	if rev == "" {
		rev = "HEAD"
	}
	return repo.Snapshot(w.cmd.Context(), rev, repo.Subdir())
}

// standing lists a directory as it stands: where it is in a work tree, as Git would commit
// it.
func standing(path string) (sources.Snapshot, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s; PATH or -C names the source, and `waybill init %s` writes a first one", path, path)
	}
	s, err := git.WorkTree(path, os.Getenv)
	if errors.Is(err, git.ErrNoWorkTree) {
		return dir.Snapshot(path)
	}
	return s, err
}

// calledAs is a snapshot of a directory, which is called as the repository that it is in.
type calledAs struct {
	sources.Snapshot

	repo string
}

// Revision implements sources.Snapshot.
func (s calledAs) Revision() sources.Revision {
	r := s.Snapshot.Revision()
	r.Repo = s.repo
	return r
}

// reconciler opens the source, and the repository that it is published to.
func (w repositories) reconciler(rev string) (*reconciler.Reconciler, error) {
	return reconcilerAt(w, rev, repositories.destination)
}

// reconcilerAt opens the source, and the repository that is found for it.
func reconcilerAt(w repositories, rev string, find finder) (*reconciler.Reconciler, error) {
	source, err := w.source()
	if err != nil {
		return nil, err
	}
	s, err := w.snapshot(source, rev)
	if err != nil && w.to == "" {
		return nil, err // where to publish is not known, and perhaps nothing else is missed
	}
	r, err := w.over(source, s)
	if err != nil {
		return nil, err
	}
	d, err := find(w, source, s)
	if err != nil {
		return nil, err
	}
	r.Target = source
	if d.location != "" {
		r.Target, err = w.open(source, d)
	}
	return r, err
}

// publisher is a reconciler that is about to write. It warns of branches that stay in a
// clone.
func (w repositories) publisher(rev string) (*reconciler.Reconciler, error) {
	r, err := w.reconciler(rev)
	if err != nil {
		return nil, err
	}
	if source, ok := r.Source.(*git.Repo); ok && r.Target == r.Source {
		w.sayWhere(source)
	}
	return r, nil
}

// over returns what reads a source, of which a version is known.
func (w repositories) over(source *git.Repo, s sources.Snapshot) (r *reconciler.Reconciler, err error) {
	r = &reconciler.Reconciler{Seen: reconciler.NewCache(), Version: buildVersion(), Now: time.Now, Pauses: reconciler.Pauses{Sleep: pause.For, Random: rand.Float64}, Pushing: terminal.Pushing}
	if source != nil {
		r.Source, r.Subdir = source, source.Subdir()
	}
	if r.Random.Key, err = reportKey(w.cmd, w.path); err != nil {
		return nil, err
	}
	r.Key = w.key
	if w.statuses != nil {
		if err := w.statuses.into(r); err != nil {
			return nil, err
		}
	}
	config, err := configOf(s)
	if err != nil {
		return nil, err
	}
	r.Engine, err = newEngine(w.cmd, config)
	return r, err
}

// open opens a destination.
func (w repositories) open(source *git.Repo, d destination) (*git.Repo, error) {
	repo, err := openSigned(w.cmd.Context(), d.location, d.auth, w.sign)
	if names := source.Remotes(); err != nil && d.typed && d.remote == "" && len(names) > 0 {
		return nil, fmt.Errorf("%w; the remotes of %s are %s", err, source.Name(), strings.Join(names, ", "))
	}
	return repo, err
}

// open opens a repository by path or URL.
func open(ctx context.Context, at string, auth git.Auth) (*git.Repo, error) {
	return openSigned(ctx, at, auth, nil)
}

// openSigned opens a repository by path or URL, and signs what is published there.
func openSigned(ctx context.Context, at string, auth git.Auth, sign git.Signer) (*git.Repo, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	repo, err := git.Open(ctx, git.Options{Location: at, CacheDir: filepath.Join(cache, "waybill", "repositories"), Auth: auth, Sign: sign})
	if errors.Is(err, git.ErrPlain) {
		return nil, fmt.Errorf("%w; use https, or --plain-http if the way there is safe", err)
	}
	return repo, err
}

// configured returns publish.repository of a source's config; "" where there is
// none. A stranger's source names none.
func configured(cmd *cobra.Command, s sources.Snapshot) (string, error) {
	c, err := configOf(s)
	if err == nil && isUntrusted(cmd) && c.Publish.Repository != "" {
		err = fmt.Errorf("%s names a repository to publish to, and with --untrusted none is taken from the source; name it with --to", render.ConfigFile)
	}
	return c.Publish.Repository, err
}

// configOf reads the config of a source, which may be nil. One that has a mistake is as if there
// were none.
func configOf(s sources.Snapshot) (render.ConfigSpec, error) {
	if s == nil {
		return render.DefaultConfig(), nil
	}
	c, _, err := render.ConfigOf(s)
	return c, err
}
