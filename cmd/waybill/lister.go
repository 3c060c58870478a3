package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/cmd/waybill/watching"
	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/report/listing"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/git"
)

// lister answers get from Git.
type lister struct {
	where repositories
	rev   string
	query listing.Query
	print listing.Printer
}

// selector reads what -l says.
func selector(text string) (labels.Selector, error) {
	s, err := labels.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("reading -l: %w; want labels as in app=web,tier!=cache", err)
	}
	return s, nil
}

// once prints a list.
func (g *lister) once() error {
	if _, err := g.print.Flags.ToPrinter(); err != nil {
		return failure(2, err)
	}
	r, s, err := g.where.report(g.rev)
	if err != nil {
		return failure(2, err)
	}
	list, missing := g.list(r, s)
	if _, ok := errors.AsType[*listing.NotFoundError](missing); missing != nil && !ok {
		return failure(2, missing)
	}
	if missing != nil && len(list.Names()) == 0 {
		return failure(1, missing)
	}
	if err := g.print.Print(g.where.cmd.OutOrStdout(), list); err != nil {
		return failure(2, err)
	}
	return failure(1, missing)
}

// list plans a version of the source, and lists what is asked for.
func (g *lister) list(r *reconciler.Reconciler, s sources.Snapshot) (listing.List, error) {
	if listing.IsRecorded(g.query.Kind) {
		return g.recorded(r)
	}
	p, obs, err := g.where.plan(r, s, plan.Branch)
	if err != nil {
		return listing.List{}, err
	}
	set, _, _ := policies.Settings{Failover: obs.Input.Source.Config.Failover.Enabled}.Load(obs.Input.Source.Objects, nil)
	set.Observe(obs.Input.State.Observed)
	lists := listing.Lists{Plan: &p, Set: &set, Now: r.Now()}
	if r.Target != nil && listing.ShowsStatus(g.query.Kind) {
		if lists.Words, err = r.Reports().Reports(g.where.cmd.Context(), set.Clusters, g.query.Namespace, reports.Lasting); err != nil {
			return listing.List{}, err
		}
	}
	return lists.List(g.query)
}

// recorded lists what the state branch records, without a plan.
func (g *lister) recorded(r *reconciler.Reconciler) (listing.List, error) {
	if r.Target == nil {
		return listing.List{}, errNothingPublished(g.where.path)
	}
	all, unreadable, err := commands.Recorded(g.where.cmd.Context(), r.Target)
	if err != nil {
		return listing.List{}, err
	}
	for _, u := range slices.SortedFunc(maps.Keys(unreadable), rollouts.Unit.Compare) {
		g.where.warn("%s: what is recorded of it cannot be read: %s", u, unreadable[u])
	}
	return (&listing.Lists{Rollouts: all, Now: r.Now()}).List(g.query)
}

// watched prints a list, and what of it is new or otherwise whenever a file of the directory
// changes, until it is interrupted.
func (g *lister) watched() error {
	if g.rev != "" || git.IsURL(g.where.path) {
		return errors.New("--watch follows a directory as it stands, and neither a URL nor --rev; with --clusters it follows what clusters hold")
	}
	cmd := g.where.cmd
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd.SetContext(ctx)
	seen, err := watching.Fingerprint(g.where.path)
	if err != nil {
		return err
	}
	r, s, err := g.where.report("")
	if err != nil {
		return err
	}
	r.Cache = cache.Memory()
	source, _ := r.Source.(*git.Repo)
	var before listing.List
	for ctx.Err() == nil {
		list, err := g.list(r, s)
		if err == nil {
			err = g.print.Print(cmd.OutOrStdout(), list.Changed(before))
			*g.print.Flags.NoHeaders, before = true, list
		}
		if err != nil && ctx.Err() == nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "error:", err)
		}
		if seen, err = watching.Next(ctx, g.where.path, seen); err != nil || ctx.Err() != nil {
			return err
		}
		if s, err = g.where.snapshot(source, ""); err != nil {
			return err
		}
	}
	return nil
}
