package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/forgeflags"
	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/sources/forge"
)

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
	f := forgeflags.Add(cmd)
	return func(w repositories) (*poster, error) {
		if !*asked {
			return nil, nil
		}
		j, err := f.Job()
		if err != nil {
			return nil, err
		}
		p := &poster{warn: w.warn, change: post.Change{Commit: j.Commit, Number: cmp.Or(*number, j.PullRequest), Page: j.Page}}
		p.forge, err = f.Open(j)
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
