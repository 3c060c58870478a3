package updating

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/fetching"
	"github.com/waybill-dev/waybill/cmd/waybill/forgeflags"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/subscribe"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/lock"
)

// Long is what waybill update says of itself.
const Long = `Update asks the repository of each chart that the source names for the newest
version that fits, and writes version and digest to ` + lock.FileName + `. With names of
charts only those are asked for; the others stay as they are. What the source no
longer names is taken out.

With updates.mode in waybill.yaml, --check and --dry-run say what is to be taken of images and of charts that are
locked, by its rules, and --pull-request proposes it: a pull request an ImagePolicy, or a chart, to the branch
--base. With mode: commit, --commit commits to that branch. See docs/updates.md.`

// Place is a version of a source, and what is opened to look for new versions of what it names.
type Place struct {
	Source     sources.Snapshot
	Config     render.ConfigSpec
	Reconciler *reconciler.Reconciler // which reads the source
	// Upstream opens the repository that pull requests are in; nil: the source is in none.
	Upstream func() (published.Repository, error)
	// Asked says which registries are asked for a source with some config.
	Asked func(render.ConfigSpec) fetching.Asked
}

// Places opens what a command line says of a source.
type Places struct {
	Path string
	// Standing opens the source as it stands, and Base a branch of the repository that pull requests are in.
	Standing func() (Place, error)
	Base     func(branch string) (Place, error)
	Out, Err io.Writer
	Tell     func([]diag.Diagnostic) // of what is wrong
}

// Flags are what waybill update is asked.
type Flags struct {
	check, dry, pulls, commits bool
	base                       string
	forge                      *forgeflags.Flags
}

// AddFlags adds the flags to the command.
func AddFlags(cmd *cobra.Command) *Flags {
	f, flags := &Flags{}, cmd.Flags()
	flags.BoolVar(&f.check, "check", false, "write nothing, and say by the exit status whether anything newer is to be taken")
	flags.BoolVar(&f.dry, "dry-run", false, "write nothing, and print what would be written")
	flags.BoolVar(&f.pulls, "pull-request", false, "open, renew and close pull requests for new versions of images and charts at the forge")
	flags.BoolVar(&f.commits, "commit", false, "commit new versions of images and charts to the branch that is followed")
	flags.StringVar(&f.base, "base", "main", "with --pull-request and --commit: the branch that they are for, and that is read")
	f.forge = forgeflags.Add(cmd)
	cmd.MarkFlagsMutuallyExclusive("check", "dry-run", "pull-request", "commit")
	return f
}

// Run does what is asked. It reports whether nothing is an error, and yet the program should fail: something newer is to be taken, with
// --check, or the source has mistakes, which were told.
func (f *Flags) Run(ctx context.Context, at Places, only []string) (fails bool, err error) {
	if f.pulls || f.commits {
		return f.propose(ctx, at)
	}
	return f.lock(ctx, at, only)
}

// lock locks charts, and says what is newer where nothing is written.
func (f *Flags) lock(ctx context.Context, at Places, only []string) (fails bool, err error) {
	p, err := at.Standing()
	if err != nil {
		return false, err
	}
	u := Charts{Out: at.Out, Err: at.Err, Path: at.Path, Source: p.Source, Planner: p.Reconciler.Planner()}
	u.Dry = f.check || f.dry
	u.Judged = u.Dry && len(only) == 0 && p.Config.Updates.Acts()
	if len(only) > 0 {
		u.Only = only
	}
	if u.Store, err = p.Asked(p.Config).Charts(); err != nil {
		return false, err
	}
	changed, err := u.Run(ctx)
	if err == nil {
		err = u.Failure()
	}
	if err == nil && u.Judged {
		var newer bool
		newer, err = f.newer(ctx, at, &p)
		changed = changed || newer
	}
	return changed && f.check, err
}

// newer prints what is newer, and reports whether anything is to be taken.
func (f *Flags) newer(ctx context.Context, at Places, p *Place) (newer bool, err error) {
	found, err := look(ctx, at, p)
	if err != nil {
		return false, err
	}
	if err := write(at.Out, &found, time.Now(), report.Table); err != nil {
		return false, err
	}
	if diag.HasErrors(found.Source.Diags) && f.check {
		return true, nil
	}
	if f.dry {
		err = writeChanges(at.Out, &found, p.Source)
	}
	return found.Takes(), err
}

// look says what is newer than a version of the source has, and what is wrong with policies and markers.
func look(ctx context.Context, at Places, p *Place) (propose.Found, error) {
	v := looker{planner: p.Reconciler.Planner(), source: p.Source, now: time.Now()}
	var err error
	if p.Upstream != nil {
		if v.memory, err = p.Upstream(); err != nil {
			return propose.Found{}, err
		}
	}
	if v.registry, v.catalog, err = p.Asked(p.Config).Versions(); err != nil {
		return propose.Found{}, err
	}
	found, diags, err := v.look(ctx)
	at.Tell(diags)
	return found, err
}

// List prints what is newer, as get does. Name is what the list is called.
func List(ctx context.Context, at Places, name, output string, args []string) error {
	as := report.Format(output)
	switch {
	case len(args) > 1:
		return fmt.Errorf("get %s lists all, and takes no NAME", name)
	case !slices.Contains([]report.Format{report.Table, report.JSON, report.YAML}, as):
		return fmt.Errorf("get %s has the formats table, json and yaml, and not %q", name, output)
	}
	p, err := at.Standing()
	if err != nil {
		return err
	}
	if !p.Config.Updates.Acts() {
		return errors.New("updates.mode of waybill.yaml is off, so that nothing is looked at; write updates: {mode: pullRequest}")
	}
	found, err := look(ctx, at, &p)
	if err != nil {
		return err
	}
	return write(at.Out, &found, time.Now(), as)
}

// propose opens, renews and closes pull requests, or commits.
func (f *Flags) propose(ctx context.Context, at Places) (fails bool, err error) {
	proposals := Proposals{Base: f.base, Mode: subscribe.ModeCommit, Now: time.Now}
	if f.pulls {
		proposals.Mode = subscribe.ModePullRequest
		if proposals.Forge, err = f.forge.Opened(); err != nil {
			return false, err
		}
	}
	p, err := at.Base(f.base)
	if err != nil {
		return false, err
	}
	if proposals.Upstream, err = p.Upstream(); err != nil {
		return false, err
	}
	proposals.Reconciler, proposals.Asked = p.Reconciler, p.Asked
	result, err := proposals.run(ctx, at.Out)
	at.Tell(result.Found.Source.Diags)
	return err == nil && diag.HasErrors(result.Found.Source.Diags), err
}
