package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
		return dir.Snapshot(l.path)
	}
	repo, subdir, err := openSource(ctx, l.path, credentials{})
	if err != nil {
		return nil, err
	}
	return repo.Snapshot(ctx, revOr(l.rev), subdir)
}

func revOr(rev string) string {
	if rev == "" {
		return "HEAD"
	}
	return rev
}

// build plans a source for a report, with what was published from it as far as this
// machine knows: previous decisions count, as they would when it is published.
func (l location) build(cmd *cobra.Command) (plan.Plan, plan.Input, error) {
	ctx := cmd.Context()
	s, err := l.snapshot(ctx)
	if err != nil {
		return plan.Plan{}, plan.Input{}, err
	}
	r := &reconciler.Reconciler{Now: time.Now}
	if r.Engine, err = newEngine(cmd); err != nil {
		return plan.Plan{}, plan.Input{}, err
	}
	if r.Source, r.Subdir, err = openSource(ctx, l.path, credentials{}); err == nil {
		if r.Target, err = l.published(ctx, s, r.Source); err != nil {
			return plan.Plan{}, plan.Input{}, err
		}
	} // else it is a directory that is in no repository, and nothing was published from it
	obs, err := r.Look(ctx, s)
	if err != nil {
		return plan.Plan{}, plan.Input{}, err
	}
	p, err := r.Build(ctx, &obs)
	return p, obs.Input, err
}

// published opens the repository that the source is published to; nil if its config
// names one that is not on this machine.
func (l location) published(ctx context.Context, s sources.Snapshot, source reconciler.Repository) (reconciler.Repository, error) {
	to := l.to
	if to == "" {
		var err error
		if to, err = configured(s); err != nil {
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
		return open(ctx, to, credentials{})
	}
}

// credentials are what the flags and the environment say for a repository.
type credentials struct {
	username, password, sshKey, knownHosts string
}

// credentialFlags adds the flags for the repository that is published to, and for a
// source that is another remote. Each is sent to its own repository only, and a
// password comes from a file or the environment, never from the command line.
func credentialFlags(cmd *cobra.Command) func() (source, target credentials, err error) {
	target := credentialSet(cmd, "", "WAYBILL_PASSWORD", "the published repository")
	source := credentialSet(cmd, "source-", "WAYBILL_SOURCE_PASSWORD", "the source, where it is another remote")
	return func() (s, t credentials, err error) {
		if t, err = target(); err == nil {
			s, err = source()
		}
		return s, t, err
	}
}

func credentialSet(cmd *cobra.Command, prefix, env, of string) func() (credentials, error) {
	username := cmd.Flags().String(prefix+"username", "", "user name for "+of+" over HTTP(S); the password or token is read from --"+prefix+"password-file or $"+env)
	passwordFile := cmd.Flags().String(prefix+"password-file", "", "file with the password or token for "+of)
	sshKey := cmd.Flags().String(prefix+"ssh-key", "", "private key file for "+of+" over SSH")
	knownHosts := cmd.Flags().String(prefix+"known-hosts", "", "known_hosts file for "+of+" (default ~/.ssh/known_hosts)")
	return func() (credentials, error) {
		c := credentials{username: *username, password: os.Getenv(env), sshKey: *sshKey, knownHosts: *knownHosts}
		if *passwordFile != "" {
			data, err := os.ReadFile(*passwordFile)
			if err != nil {
				return c, fmt.Errorf("reading --%spassword-file: %w", prefix, err)
			}
			c.password = strings.TrimSpace(string(data))
		}
		return c, nil
	}
}

// open opens a repository by path or URL.
func open(ctx context.Context, at string, c credentials) (*git.Repo, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return git.Open(ctx, git.Options{
		Location: at, CacheDir: filepath.Join(cache, "waybill", "repositories"),
		Auth: git.Auth{Username: c.username, Password: c.password, SSHKey: c.sshKey, KnownHosts: c.knownHosts},
	})
}

// openSource opens the repository that a path is in, and says which folder of it
// the path is.
func openSource(ctx context.Context, path string, c credentials) (repo *git.Repo, subdir string, err error) {
	repo, err = open(ctx, path, c)
	if err != nil {
		return nil, "", err
	}
	return repo, repo.Subdir(), nil
}

// reconcilerFor opens a source and the repository that it is published to: the one
// that to names, else the one of its config, else its own.
func reconcilerFor(cmd *cobra.Command, at sourceAt, to string, c credentials) (*reconciler.Reconciler, error) {
	ctx := cmd.Context()
	shared := to == "" && at.credentials == (credentials{})
	if shared {
		at.credentials = c // unless the config says otherwise, one repository is both
	}
	source, subdir, err := openSource(ctx, at.path, at.credentials)
	if err != nil {
		return nil, err
	}
	r := &reconciler.Reconciler{Source: source, Target: source, Subdir: subdir, Version: buildVersion(), Now: time.Now}
	if r.Engine, err = newEngine(cmd); err != nil {
		return nil, err
	}
	if to == "" {
		s, err := source.Snapshot(ctx, at.rev, subdir)
		if err != nil {
			return nil, err
		}
		if to, err = configured(s); err != nil {
			return nil, err
		}
	}
	if to == "" {
		return r, nil
	}
	if shared && c != (credentials{}) && git.IsURL(at.path) {
		return nil, fmt.Errorf("the source publishes to another repository, %s; say with the --source-* flags which credentials are for the source", to)
	}
	r.Target, err = open(ctx, to, c)
	return r, err
}

// sourceAt is a version of a source, and what opens it.
type sourceAt struct {
	path, rev   string
	credentials credentials
}

// configured returns publish.repository of a source's config; "" where there is
// none.
func configured(s sources.Snapshot) (string, error) {
	for _, f := range s.Files() {
		if f.Path != render.ConfigFile {
			continue
		}
		data, err := s.ReadFile(f.Path)
		if err != nil {
			return "", err
		}
		c, _ := render.ParseConfig(data)
		return c.Publish.Repository, nil
	}
	return "", nil
}

// errSilent ends with status 1 after everything was said.
var errSilent = &exitError{code: 1}

func failure(code int, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*exitError](err); ok {
		return err
	}
	return &exitError{code: code, err: err}
}
