package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/sources/forge"
)

// forgeFlags say which repository of which forge is asked, and as whom.
type forgeFlags struct {
	cmd                              *cobra.Command
	kind, url, repository, tokenFile string
	app, appKey                      string // of GitHub
}

// addForgeFlags adds these flags.
func addForgeFlags(cmd *cobra.Command) *forgeFlags {
	f := &forgeFlags{cmd: cmd}
	flags := cmd.Flags()
	flags.StringVar(&f.kind, "forge", "", "kind of the forge: github, gitlab, gitea or forgejo (default: that of the CI job)")
	flags.StringVar(&f.url, "forge-url", "", "URL of the forge, as https://git.example.com (default: that of the CI job)")
	flags.StringVar(&f.repository, "forge-repository", "", "repository of the forge, as owner/name (default: that of the CI job)")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token for the forge (default $WAYBILL_FORGE_TOKEN, or $GITHUB_TOKEN, $GITLAB_TOKEN or $GITEA_TOKEN in a job of theirs)")
	flags.StringVar(&f.app, "github-app-id", "", "client ID or number of a GitHub App, in place of a token")
	flags.StringVar(&f.appKey, "github-app-key-file", "", "private key of the GitHub App, as the PEM file that GitHub made")
	cmd.MarkFlagsRequiredTogether("github-app-id", "github-app-key-file")
	return f
}

// job is what the flags and, where they say nothing, the CI job say.
func (f *forgeFlags) job() (forge.Job, error) {
	j, err := forge.DetectJob(os.Getenv, os.ReadFile)
	if err == nil && f.kind != "" {
		j.Kind, err = forge.ParseKind(f.kind)
	}
	if err != nil {
		return j, err
	}
	j.URL, j.Repository = cmp.Or(f.url, j.URL), cmp.Or(f.repository, j.Repository)
	if f.tokenFile != "" {
		data, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return j, fmt.Errorf("reading --token-file: %w", err)
		}
		j.Token = strings.TrimSpace(string(data))
	}
	for _, missing := range [][2]string{{string(j.Kind), "--forge"}, {j.URL, "--forge-url"}, {j.Repository, "--forge-repository"}} {
		if missing[0] == "" {
			return j, fmt.Errorf("this is no job of GitHub Actions, GitLab CI or Gitea's or Forgejo's Actions; give %s", missing[1])
		}
	}
	if j.Token == "" && f.app == "" {
		return j, fmt.Errorf("there is no token for %s; give one with --token-file or $WAYBILL_FORGE_TOKEN; docs/forges.md says what it needs", j.URL)
	}
	return j, nil
}

// open opens the repository of a job.
func (f *forgeFlags) open(j forge.Job) (forge.Forge, error) {
	plain, err := f.cmd.Flags().GetBool("plain-http")
	if err != nil {
		return nil, err
	}
	o := forge.Options{Kind: j.Kind, URL: j.URL, Repository: j.Repository, Token: j.Token, PlainHTTP: plain, Now: time.Now}
	if f.app != "" {
		key, err := os.ReadFile(f.appKey)
		if err != nil {
			return nil, fmt.Errorf("reading --github-app-key-file: %w", err)
		}
		o.Token, o.App = "", &forge.App{ID: f.app, Key: key}
	}
	return forge.Open(o)
}

// opened opens the repository of the forge that the flags and the CI job say.
func (f *forgeFlags) opened() (forge.Forge, error) {
	j, err := f.job()
	if err != nil {
		return nil, err
	}
	return f.open(j)
}

// poster shows what a change does where the flags say; a nil one shows nothing.
type poster struct {
	forge  forge.Forge
	change post.Change
	warn   func(format string, args ...any)
}

// postFlags adds the flags of what shows a change at its forge.
func postFlags(cmd *cobra.Command) func(w repositories) (*poster, error) {
	asked := cmd.Flags().Bool("post", false, "show the change at its forge, too: as the one comment of its pull request, edited in place, and as a commit status; see docs/forges.md")
	number := cmd.Flags().Int("pull-request", 0, "number of the pull request, or merge request (default: that of the CI job, or those that have the commit as their head)")
	f := addForgeFlags(cmd)
	return func(w repositories) (*poster, error) {
		if !*asked {
			return nil, nil
		}
		j, err := f.job()
		if err != nil {
			return nil, err
		}
		p := &poster{warn: w.warn, change: post.Change{Commit: j.Commit, Number: cmp.Or(*number, j.PullRequest), Page: j.Page}}
		p.forge, err = f.open(j)
		return p, err
	}
}

// about says which folder of the repository the source is.
func (p *poster) about(folder string) {
	if p != nil {
		p.change.Source = folder
	}
}

// show shows a comparison.
func (p *poster) show(ctx context.Context, c *preview.Comparison) error {
	if p == nil {
		return nil
	}
	return p.send(ctx, c.Head, post.Of(c))
}

// fail shows that there is no comparison.
func (p *poster) fail(ctx context.Context, why error) error {
	if p == nil || p.change.Commit == "" {
		return why
	}
	return errors.Join(why, p.send(ctx, "", post.Unknown(p.change.Commit, "the log of the job")))
}

// send shows a verdict on the commit of the job, or else on the one that was looked at.
func (p *poster) send(ctx context.Context, head string, v post.Verdict) error {
	c := p.change
	if c.Commit = cmp.Or(c.Commit, head); c.Commit == "" {
		return errors.New("--post shows what a commit does, and this is a directory; name its commit: waybill diff BASE HEAD --post")
	}
	shown, err := post.Show(ctx, p.forge, c, v)
	if shown.Not != "" {
		p.warn("nothing is commented: %s", shown.Not)
	}
	return err
}
