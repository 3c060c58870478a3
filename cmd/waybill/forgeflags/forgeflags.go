// Package forgeflags holds the flags that say which repository of which forge a command asks, as whom, and for what.
package forgeflags

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/sources/forge"
)

// Flags say which repository of which forge is asked, and as whom.
type Flags struct {
	// Kind is that of the forge, and Repository the one that is asked, as owner/name; both as they are written.
	Kind, Repository string

	cmd            *cobra.Command
	url, tokenFile string
	app, appKey    string // of GitHub
}

// Add adds these flags to a command.
func Add(cmd *cobra.Command) *Flags {
	f := &Flags{cmd: cmd}
	flags := cmd.Flags()
	flags.StringVar(&f.Kind, "forge", "", "kind of the forge: github, gitlab, gitea or forgejo (default: that of the CI job)")
	flags.StringVar(&f.url, "forge-url", "", "URL of the forge, as https://git.example.com (default: that of the CI job)")
	flags.StringVar(&f.Repository, "forge-repository", "", "repository of the forge, as owner/name (default: that of the CI job)")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token for the forge (default $WAYBILL_FORGE_TOKEN, or $GITHUB_TOKEN, $GITLAB_TOKEN or $GITEA_TOKEN in a job of theirs)")
	flags.StringVar(&f.app, "github-app-id", "", "client ID or number of a GitHub App, in place of a token")
	flags.StringVar(&f.appKey, "github-app-key-file", "", "private key of the GitHub App, as the PEM file that GitHub made")
	cmd.MarkFlagsRequiredTogether("github-app-id", "github-app-key-file")
	return f
}

// Known is the kind that the flags name; empty for none, and for one that nobody knows.
func (f *Flags) Known() forge.Kind {
	k, _ := forge.ParseKind(f.Kind)
	return k
}

// Job is what the flags and, where they say nothing, the CI job say.
func (f *Flags) Job() (forge.Job, error) {
	j, err := f.place()
	if err == nil && f.tokenFile != "" {
		data, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return j, fmt.Errorf("reading --token-file: %w", err)
		}
		j.Token = strings.TrimSpace(string(data))
	}
	if err == nil && j.Token == "" && f.app == "" {
		return j, fmt.Errorf("there is no token for %s; give one with --token-file or $WAYBILL_FORGE_TOKEN; docs/forges.md says what it needs", j.URL)
	}
	return j, err
}

// place is which repository of which forge it is.
func (f *Flags) place() (forge.Job, error) {
	j, err := forge.DetectJob(os.Getenv, os.ReadFile)
	if err == nil && f.Kind != "" {
		j.Kind, err = forge.ParseKind(f.Kind)
	}
	if err != nil {
		return j, err
	}
	j.URL, j.Repository = cmp.Or(f.url, j.URL), cmp.Or(f.Repository, j.Repository)
	for _, missing := range [][2]string{{string(j.Kind), "--forge"}, {j.URL, "--forge-url"}, {j.Repository, "--forge-repository"}} {
		if missing[0] == "" {
			return j, fmt.Errorf("this is no job of GitHub Actions, GitLab CI or Gitea's or Forgejo's Actions; give %s", missing[1])
		}
	}
	return j, nil
}

// OpenedBy opens the repository of the forge for whoever has a token, and nobody else.
func (f *Flags) OpenedBy(token string) (forge.Proposer, error) {
	j, err := f.place()
	if err != nil {
		return nil, err
	}
	o, err := f.options(j)
	o.Token = token
	if err != nil {
		return nil, err
	}
	return forge.Open(o)
}

// options are those of the repository of a job.
func (f *Flags) options(j forge.Job) (forge.Options, error) {
	plain, err := f.cmd.Flags().GetBool("plain-http")
	return forge.Options{Kind: j.Kind, URL: j.URL, Repository: j.Repository, Token: j.Token, PlainHTTP: plain, Now: time.Now}, err
}

// Open opens the repository of a job.
func (f *Flags) Open(j forge.Job) (forge.Proposer, error) {
	o, err := f.options(j)
	if err != nil {
		return nil, err
	}
	if f.app != "" {
		key, err := os.ReadFile(f.appKey)
		if err != nil {
			return nil, fmt.Errorf("reading --github-app-key-file: %w", err)
		}
		o.Token, o.App = "", &forge.App{ID: f.app, Key: key}
	}
	return forge.Open(o)
}

// Opened opens the repository of the forge that the flags and the CI job say.
func (f *Flags) Opened() (forge.Proposer, error) {
	j, err := f.Job()
	if err != nil {
		return nil, err
	}
	return f.Open(j)
}
