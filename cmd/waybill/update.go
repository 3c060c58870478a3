package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/forgeflags"
	"github.com/waybill-dev/waybill/cmd/waybill/updating"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/lock"
)

// updatesList is the list of get that says what is newer.
const updatesList = "updates"

func updateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "update [PATH] [CHART...]", Short: "Pin the charts of repositories in " + lock.FileName + ", and propose new versions of images and charts", Args: cobra.ArbitraryArgs,
		Long: `Update asks the repository of each chart that the source names for the newest
version that fits, and writes version and digest to ` + lock.FileName + `. With names of
charts only those are asked for; the others stay as they are. What the source no
longer names is taken out.

With updates.mode in waybill.yaml, --check and --dry-run say what is to be taken of images and of charts that are
locked, by its rules, and --pull-request proposes it: a pull request an ImagePolicy, or a chart, to the branch
--base. See docs/updates.md.`,
	}
	f := updateFlags{cmd: cmd}
	flags := cmd.Flags()
	flags.BoolVar(&f.check, "check", false, "write nothing, and say by the exit status whether anything newer is to be taken")
	flags.BoolVar(&f.dry, "dry-run", false, "write nothing, and print what would be written")
	flags.BoolVar(&f.pulls, "pull-request", false, "open, renew and close pull requests for new versions of images and charts at the forge")
	flags.StringVar(&f.base, "base", "main", "with --pull-request: the branch that they are for, and that is read")
	f.where = signingFlag(cmd, repositoryFlags(cmd, "repository that pull requests are in, and what is remembered of them: a remote's name, a path or a URL (default: origin where there is one, else the source's own)"))
	f.forge = forgeflags.Add(cmd)
	cmd.MarkFlagsMutuallyExclusive("check", "dry-run", "pull-request")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if f.pulls {
			return failure(2, f.propose())
		}
		return failure(2, f.run(args))
	}
	return cmd
}

// updateFlags are what update is asked.
type updateFlags struct {
	cmd               *cobra.Command
	check, dry, pulls bool
	base              string
	where             func(path string) (repositories, error)
	forge             *forgeflags.Flags
}

// run locks charts, and says what is newer where nothing is written.
func (f *updateFlags) run(only []string) error {
	path := sourcePath(f.cmd)
	s, err := standing(path)
	if err != nil {
		return err
	}
	config, err := configOf(s)
	if err != nil {
		return err
	}
	r := &reconciler.Reconciler{Now: time.Now}
	if r.Engine, err = newEngine(f.cmd, config); err != nil {
		return err
	}
	u := updating.Charts{Out: f.cmd.OutOrStdout(), Err: f.cmd.ErrOrStderr(), Path: path, Source: s, Planner: r.Planner()}
	u.Dry = f.check || f.dry
	u.Judged = u.Dry && len(only) == 0 && config.Updates.Acts()
	if len(only) > 0 {
		u.Only = only
	}
	if u.Store, err = asked(f.cmd, config).Charts(); err != nil {
		return err
	}
	changed, err := u.Run(f.cmd.Context())
	if err == nil {
		err = u.Failure()
	}
	if err == nil && u.Judged {
		var newer bool
		newer, err = f.newer(s, config)
		changed = changed || newer
	}
	if err == nil && changed && f.check {
		return errSilent
	}
	return err
}

// newer prints what is newer, and reports whether anything is to be taken.
func (f *updateFlags) newer(s sources.Snapshot, config render.ConfigSpec) (newer bool, err error) {
	w, err := f.where(sourcePath(f.cmd))
	if err != nil {
		return false, err
	}
	found, err := lookForUpdates(w, s, config)
	if err != nil {
		return false, err
	}
	out := f.cmd.OutOrStdout()
	if err := updating.Write(out, &found, time.Now(), report.Table); err != nil {
		return false, err
	}
	if diag.HasErrors(found.Source.Diags) && f.check {
		return true, nil
	}
	if f.dry {
		err = updating.WriteChanges(out, &found, s)
	}
	return found.Takes(), err
}

// lookForUpdates says what is newer than a version of the source has, and what is wrong with policies and markers.
func lookForUpdates(w repositories, s sources.Snapshot, config render.ConfigSpec) (propose.Found, error) {
	source, err := w.source()
	if err != nil {
		source = nil // a directory in no repository, of which nothing is remembered
	}
	r, err := w.over(source, s)
	if err != nil {
		return propose.Found{}, err
	}
	look := updating.Versions{Planner: r.Planner(), Source: s, Now: time.Now()}
	if source != nil {
		upstream, err := upstream(w, source)
		if err != nil {
			return propose.Found{}, err
		}
		look.Memory = upstream
	}
	if look.Registry, look.Catalog, err = asked(w.cmd, config).Versions(); err != nil {
		return propose.Found{}, err
	}
	found, diags, err := look.Look(w.cmd.Context())
	tell(w.cmd, diags)
	return found, err
}

// writeUpdates prints what is newer, as get does.
func writeUpdates(w repositories, rev, output string, args []string) error {
	as := report.Format(output)
	switch {
	case len(args) > 1:
		return fmt.Errorf("get %s lists all, and takes no NAME", updatesList)
	case !slices.Contains([]report.Format{report.Table, report.JSON, report.YAML}, as):
		return fmt.Errorf("get %s has the formats table, json and yaml, and not %q", updatesList, output)
	}
	source, err := w.source()
	if err != nil && (rev != "" || git.IsURL(w.path)) {
		return err
	}
	s, err := w.snapshot(source, rev)
	if err != nil {
		return err
	}
	config, err := configOf(s)
	if err != nil {
		return err
	}
	if !config.Updates.Acts() {
		return errors.New("updates.mode of waybill.yaml is off, so that nothing is looked at; write updates: {mode: pullRequest}")
	}
	found, err := lookForUpdates(w, s, config)
	if err != nil {
		return err
	}
	return updating.Write(w.cmd.OutOrStdout(), &found, time.Now(), as)
}

// upstream is the repository that pull requests are in: where --to says, else where a clone was made from.
func upstream(w repositories, source *git.Repo) (*git.Repo, error) {
	d := destination{}
	var err error
	switch {
	case w.to != "":
		d, err = w.destination(source, nil)
	case slices.Contains(source.Remotes(), origin):
		d, err = w.remote(source, origin)
	}
	if err != nil || d.location == "" {
		return source, err
	}
	return w.open(source, d)
}

// propose opens, renews and closes pull requests.
func (f *updateFlags) propose() error {
	ctx := f.cmd.Context()
	w, err := f.where(sourcePath(f.cmd))
	if err != nil {
		return err
	}
	source, err := w.source()
	if err != nil {
		return err
	}
	upstream, err := upstream(w, source)
	if err != nil {
		return err
	}
	p := updating.Proposals{Upstream: upstream, Base: f.base, Now: time.Now}
	if p.Forge, err = f.forge.Opened(); err != nil {
		return err
	}
	s, err := upstream.Snapshot(ctx, f.base, source.Subdir())
	if err != nil {
		return err
	}
	if p.Reconciler, err = readsFrom(w, upstream, source, s); err != nil {
		return err
	}
	config, err := configOf(s)
	if err != nil {
		return err
	}
	if p.Registry, p.Catalog, err = asked(f.cmd, config).Versions(); err != nil {
		return err
	}
	result, err := p.Run(ctx, f.cmd.OutOrStdout())
	tell(f.cmd, result.Found.Source.Diags)
	if err == nil && diag.HasErrors(result.Found.Source.Diags) {
		return errSilent
	}
	return err
}

// readsFrom is a reconciler that reads the source from a repository, whatever a clone of it has.
func readsFrom(w repositories, upstream, source *git.Repo, s sources.Snapshot) (*reconciler.Reconciler, error) {
	r, err := w.over(upstream, s)
	if err != nil {
		return nil, err
	}
	r.Subdir, r.Target = source.Subdir(), upstream
	d, err := w.configured(s)
	if err == nil && d.location != "" {
		r.Target, err = w.open(source, d)
	}
	return r, err
}
