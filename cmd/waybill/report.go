package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// answerTime is how long a report waits for a server. It is not worth more, since what was
// fetched last is likely still so.
const answerTime = 5 * time.Second

// errSlow is why a server is not waited for any longer.
var errSlow = fmt.Errorf("no answer in %s", answerTime)

// reportFlags adds the flags for the repositories of a report, which writes nothing.
func reportFlags(cmd *cobra.Command) func(path string) (repositories, error) {
	where := repositoryFlags(cmd, "repository that the source is published to, for the previous decisions: a remote's name, a path or a URL (default: as waybill.yaml says, else origin where there is one)")
	statuses := addStatusFlags(cmd, "URL or path of the repository that agents write to (default: that of the branches)")
	offline := cmd.Flags().Bool("offline", false, "do not ask that repository; go by what was fetched from it last")
	return func(path string) (repositories, error) {
		w, err := where(path)
		w.statuses, w.offline = statuses, *offline
		return w, err
	}
}

// report opens a source for a report, with what was published from it: previous decisions
// count, as they would when it is published.
func (w repositories) report(rev string) (*reconciler.Reconciler, sources.Snapshot, error) {
	r, s, err := w.alone(rev)
	if err != nil || r.Source == nil {
		return r, s, err
	}
	source, _ := r.Source.(*git.Repo)
	r.Target, err = w.published(source, s)
	return r, s, err
}

// openPublished opens a source of which something has to be published, for what that says.
func openPublished(
	cmd *cobra.Command, where func(path string) (repositories, error), rev string,
) (*reconciler.Reconciler, sources.Snapshot, error) {
	w, err := where(sourcePath(cmd))
	if err != nil {
		return nil, nil, err
	}
	w.sure = true
	r, s, err := w.report(rev)
	if err == nil && r.Target == nil {
		err = errNothingPublished(sourcePath(cmd))
	}
	return r, s, err
}

// alone opens a source, whatever was published from it.
func (w repositories) alone(rev string) (*reconciler.Reconciler, sources.Snapshot, error) {
	source, err := w.source()
	if err != nil && (rev != "" || git.IsURL(w.path)) {
		return nil, nil, err
	}
	if err != nil {
		source = nil // a directory that is in no repository, and nothing was published from it
	}
	s, err := w.snapshot(source, rev)
	if err != nil {
		return nil, nil, err
	}
	r, err := w.over(source, s)
	return r, s, err
}

// compared opens a source for a report about two versions of it, and the second of them.
// Where it is published to is what the first one says.
func (w repositories) compared(base, head string) (*reconciler.Reconciler, sources.Snapshot, error) {
	w.sure = true
	source, err := w.source()
	if err != nil {
		return nil, nil, err
	}
	before, err := w.snapshot(source, base)
	if err != nil {
		return nil, nil, err
	}
	after, err := w.snapshot(source, head)
	if err != nil {
		return nil, nil, err
	}
	r, err := w.over(source, after)
	if err != nil {
		return nil, nil, err
	}
	r.Target, err = w.published(source, before)
	return r, after, err
}

// build plans a source for a report.
func (w repositories) build(rev string, medium plan.Medium) (plan.Plan, error) {
	r, s, err := w.report(rev)
	if err != nil {
		return plan.Plan{}, err
	}
	p, _, err := w.plan(r, s, medium)
	return p, err
}

// plan plans a source that was opened for a report.
func (w repositories) plan(r *reconciler.Reconciler, s sources.Snapshot, medium plan.Medium) (plan.Plan, reconciler.Observation, error) {
	ctx := w.cmd.Context()
	_, end := terminal.Doing(ctx, 0, "planning")
	defer end()
	obs, err := r.Look(ctx, s, medium)
	if err != nil {
		return plan.Plan{}, obs, err
	}
	p, err := r.Planner().Build(ctx, &obs.Observation)
	if err == nil {
		err = w.vacant(&p)
	}
	return p, obs, err
}

// vacant is an error about a plan of nothing: the folder is likely another one than was meant.
func (w repositories) vacant(p *plan.Plan) error {
	if !p.Vacant() {
		return nil
	}
	return errVacant(w.path)
}

// errVacant says of a folder that there is nothing in it, or that it is not there.
func errVacant(path string) error {
	return fmt.Errorf("%s registers no cluster and holds nothing to place; PATH or -C names the source, and `waybill init %s` writes a first one", path, path)
}

// published opens what is known of what was published from a source: the repository that it
// is published to, if that answers, else what was fetched from it last. The branches of a
// clone itself count only if it was made from nothing.
func (w repositories) published(source *git.Repo, s sources.Snapshot) (published.Repository, error) {
	d, err := home(w, source, s)
	if err != nil {
		return nil, err
	}
	if d.location == "" {
		return source, nil
	}
	repo, err := w.open(source, d)
	if err != nil && d.typed {
		return nil, err
	}
	why := err
	if err == nil {
		if w.offline && (d.remote != "" || git.IsURL(d.location)) {
			why = errors.New("it is not asked, because of --offline")
		} else if repo, err := answered(w.cmd.Context(), repo); err == nil {
			return repo, nil
		} else {
			why = err
		}
	}
	return w.fetched(source, repo, d, why)
}

// server is a repository that answered, and is not asked again where its branches are.
type server struct {
	*git.Repo

	heads map[string]files.ID
}

// Heads implements published.Repository.
func (s server) Heads(context.Context) (map[string]files.ID, error) { return s.heads, nil }

// answered asks a repository where its branches are.
func answered(ctx context.Context, repo *git.Repo) (published.Repository, error) {
	_, end := terminal.Doing(ctx, 0, "asking %s what is published", repo.Name())
	defer end()
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, errSlow)
	defer cancel()
	heads, err := repo.Heads(ctx)
	return server{repo, heads}, err
}

// fetched is what this machine knows of a destination, and it is said why and since when.
// Repo is nil where not even that much is known of it.
func (w repositories) fetched(source, repo *git.Repo, d destination, why error) (published.Repository, error) {
	var known *git.Repo
	var at time.Time
	switch {
	case d.remote != "":
		known, at = source.Fetched(d.remote)
	case repo != nil:
		known, at = repo.Fetched("")
	default:
		return nil, why
	}
	heads, err := known.Heads(w.cmd.Context())
	if err != nil {
		return nil, err
	}
	name := d.remote
	if name == "" {
		name = repo.Name()
	}
	if _, ok := heads[state.Branch]; ok {
		w.warn("%s: %s; what is published there is as it was fetched at %s, %s ago", name, why, at.UTC().Format(time.RFC3339), roughly(time.Since(at)))
		return known, nil
	}
	if (d.typed || w.sure) && !w.offline {
		return nil, fmt.Errorf("%s: %w; and nothing of what is published there was fetched; with --offline this is as if nothing were", name, why)
	}
	w.warn("%s: %s; nothing of what is published there was fetched, so this is as if nothing were", name, why)
	return known, nil
}

func (w repositories) warn(format string, args ...any) { warn(w.cmd, format, args...) }

// roughly says how long something takes in the largest unit that fits.
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	for _, u := range []struct {
		name string
		is   time.Duration
	}{{"days", day}, {"hours", time.Hour}, {"minutes", time.Minute}} {
		if n := d / u.is; n > 1 {
			return fmt.Sprintf("%d %s", n, u.name)
		}
	}
	return fmt.Sprintf("%d seconds", d/time.Second)
}
