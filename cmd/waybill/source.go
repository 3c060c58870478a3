package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/dir"
	"github.com/waybill-dev/waybill/sources/git"
)

// pathOf returns the optional PATH argument.
func pathOf(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return "."
}

// location is where a source is and which version of it is wanted.
type location struct {
	path string // a directory, or the URL of a repository
	rev  string // empty: the directory as it stands
	to   string // where it is published to; empty: as its config says
}

// toFlag adds the flag of reports for where the source is published to.
func toFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("to", "", "repository on this machine that the source is published to, for the previous decisions")
}

// snapshot opens the source.
func (l location) snapshot(ctx context.Context) (sources.Snapshot, error) {
	if l.rev == "" && !git.IsURL(l.path) {
		return standing(l.path)
	}
	repo, subdir, err := openSource(ctx, l.path, git.Auth{})
	if err != nil {
		return nil, err
	}
	return repo.Snapshot(ctx, revOr(l.rev), subdir)
}

// standing lists a directory as it stands: where it is in a work tree, as Git would commit
// it.
func standing(path string) (sources.Snapshot, error) {
	s, err := git.WorkTree(path, os.Getenv)
	if errors.Is(err, git.ErrNoWorkTree) {
		return dir.Snapshot(path)
	}
	return s, err
}

func revOr(rev string) string {
	if rev == "" {
		return "HEAD"
	}
	return rev
}

// open opens a source for a report, with what was published from it as far as this
// machine knows.
func (l location) open(cmd *cobra.Command) (*reconciler.Reconciler, sources.Snapshot, error) {
	ctx := cmd.Context()
	s, err := l.snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	r := &reconciler.Reconciler{Version: buildVersion(), Now: time.Now}
	if r.Engine, err = newEngine(cmd); err != nil {
		return nil, nil, err
	}
	source, subdir, err := openSource(ctx, l.path, git.Auth{})
	if err != nil {
		return r, s, nil //nolint:nilerr // it is a directory that is in no repository, and nothing was published from it
	}
	r.Source, r.Subdir = source, subdir
	r.Target, err = l.published(cmd, s, r.Source)
	return r, s, err
}

// build plans a source for a report: previous decisions count, as they would when it is
// published.
func (l location) build(cmd *cobra.Command, medium plan.Medium) (plan.Plan, plan.Input, error) {
	ctx := cmd.Context()
	r, s, err := l.open(cmd)
	if err != nil {
		return plan.Plan{}, plan.Input{}, err
	}
	obs, err := r.Look(ctx, s, medium)
	if err != nil {
		return plan.Plan{}, plan.Input{}, err
	}
	p, err := r.Build(ctx, &obs)
	return p, obs.Input, err
}

// published opens the repository that the source is published to; nil if its config
// names one that is not on this machine.
func (l location) published(cmd *cobra.Command, s sources.Snapshot, source reconciler.Repository) (reconciler.Repository, error) {
	to := l.to
	if to == "" {
		var err error
		if to, err = configured(cmd, s); err != nil {
			return nil, err
		}
	}
	switch {
	case to == "":
		return source, nil
	case git.IsURL(to) && l.to != "":
		return nil, errors.New("a report asks no server; waybill diff --to does")
	case git.IsURL(to):
		return nil, nil // a report asks no server
	default:
		return open(cmd.Context(), to, git.Auth{})
	}
}

// open opens a repository by path or URL.
func open(ctx context.Context, at string, auth git.Auth) (*git.Repo, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	repo, err := git.Open(ctx, git.Options{Location: at, CacheDir: filepath.Join(cache, "waybill", "repositories"), Auth: auth})
	return repo, plainly(err)
}

// openSource opens the repository that a path is in, and says which folder of it
// the path is.
func openSource(ctx context.Context, path string, auth git.Auth) (repo *git.Repo, subdir string, err error) {
	repo, err = open(ctx, path, auth)
	if err != nil {
		return nil, "", err
	}
	return repo, repo.Subdir(), nil
}

// sleep waits for a while, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// reconcilerFor opens a source and the repository that it is published to: the one
// that to names, else the one of its config, else its own.
func reconcilerFor(cmd *cobra.Command, at sourceAt, to string, auth git.Auth) (*reconciler.Reconciler, error) {
	ctx := cmd.Context()
	if to == "" {
		auth = forNamed(auth, at.path)
	}
	if !given(at.auth) && auth.For != "" {
		known := at.auth.KnownHosts
		at.auth = auth // where they are meant for the source as well
		at.auth.KnownHosts = cmp.Or(known, auth.KnownHosts)
	}
	source, subdir, err := openSource(ctx, at.path, at.auth)
	if err != nil {
		return nil, err
	}
	r := &reconciler.Reconciler{
		Source: source, Target: source, Subdir: subdir, Version: buildVersion(), Now: time.Now,
		Pauses: reconciler.Pauses{Sleep: sleep, Random: rand.Float64},
	}
	if r.Engine, err = newEngine(cmd); err != nil {
		return nil, err
	}
	if to == "" {
		s, err := source.Snapshot(ctx, at.rev, subdir)
		if err != nil {
			return nil, err
		}
		if to, err = configured(cmd, s); err != nil {
			return nil, err
		}
		if auth, err = forConfigured(auth, to); err != nil {
			return nil, err
		}
	}
	if to == "" {
		return r, nil
	}
	r.Target, err = open(ctx, to, forNamed(auth, to))
	return r, err
}

// sourceAt is a version of a source, and what opens it.
type sourceAt struct {
	path, rev string
	auth      git.Auth
}

// configured returns publish.repository of a source's config; "" where there is
// none. A stranger's source names none.
func configured(cmd *cobra.Command, s sources.Snapshot) (string, error) {
	untrusted, err := cmd.Root().PersistentFlags().GetBool("untrusted")
	if err != nil {
		return "", err
	}
	for _, f := range s.Files() {
		if f.Path != render.ConfigFile {
			continue
		}
		data, err := s.ReadFile(f.Path)
		if err != nil {
			return "", err
		}
		c, _ := render.ParseConfig(data)
		if untrusted && c.Publish.Repository != "" {
			return "", fmt.Errorf("%s names a repository to publish to, and with --untrusted none is taken from the source; name it with --to", render.ConfigFile)
		}
		return c.Publish.Repository, nil
	}
	return "", nil
}
