package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/fetching"
	"github.com/waybill-dev/waybill/cmd/waybill/updating"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/lock"
)

// updatesList is the list of get that says what is newer.
const updatesList = "updates"

func updateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "update [PATH] [CHART...]", Short: "Pin the charts of repositories in " + lock.FileName + ", and propose new versions of images and charts",
		Args: cobra.ArbitraryArgs, Long: updating.Long,
	}
	where := signingFlag(cmd, repositoryFlags(cmd, "repository that pull requests are in, and what is remembered of them: a remote's name, a path or a URL (default: origin where there is one, else the source's own)"))
	f := updating.AddFlags(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		w, err := where(sourcePath(cmd))
		if err != nil {
			return failure(2, err)
		}
		fails, err := f.Run(cmd.Context(), updatePlaces(w, ""), args)
		if err == nil && fails {
			err = errSilent
		}
		return failure(2, err)
	}
	return cmd
}

// updatePlaces opens what there is to look for new versions; the source at a revision, or as it stands if rev is empty.
func updatePlaces(w repositories, rev string) updating.Places {
	return updating.Places{
		Path: w.path, Out: w.cmd.OutOrStdout(), Err: w.cmd.ErrOrStderr(), Tell: func(all []diag.Diagnostic) { tell(w.cmd, all) },
		Standing: func() (p updating.Place, err error) {
			source, err := w.source()
			switch {
			case err == nil:
				p.Upstream = func() (published.Repository, error) { return upstream(w, source) }
			case rev != "" || git.IsURL(w.path):
				return p, err
			default:
				source = nil // a directory in no repository, of which nothing is remembered
			}
			if p.Source, err = w.snapshot(source, rev); err != nil {
				return p, err
			}
			p.Reconciler, err = w.over(source, p.Source)
			return readAs(w, p, err)
		},
		Base: func(branch string) (p updating.Place, err error) {
			source, err := w.source()
			if err != nil {
				return p, err
			}
			at, err := upstream(w, source)
			if err != nil {
				return p, err
			}
			p.Upstream = func() (published.Repository, error) { return at, nil }
			if p.Source, err = at.Snapshot(w.cmd.Context(), branch, source.Subdir()); err != nil {
				return p, err
			}
			if p.Reconciler, err = w.over(at, p.Source); err != nil {
				return p, err
			}
			p.Reconciler.Subdir, p.Reconciler.Target = source.Subdir(), at
			d, err := w.configured(p.Source)
			if err == nil && d.location != "" {
				p.Reconciler.Target, err = w.open(source, d)
			}
			return readAs(w, p, err)
		},
	}
}

// readAs adds to a place what its config says, unless it could not be opened.
func readAs(w repositories, p updating.Place, err error) (updating.Place, error) {
	if err != nil {
		return p, err
	}
	p.Config, err = configOf(p.Source)
	p.Asked = func(c render.ConfigSpec) fetching.Asked { return asked(w.cmd, c) }
	return p, err
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
