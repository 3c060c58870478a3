package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/pulls"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/lock"
)

// What one preview may take for all that it renders: time of a processor and bytes.
const (
	previewProcessor = time.Minute
	previewMemory    = 2 << 30
)

// previewFlags say whether the controller shows what pull requests do.
type previewFlags struct {
	cmd       *cobra.Command
	shows     bool
	perAuthor int
}

// addPreviewFlags adds these flags.
func addPreviewFlags(cmd *cobra.Command) *previewFlags {
	f := &previewFlags{cmd: cmd}
	flags := cmd.Flags()
	flags.BoolVar(&f.shows, "previews", false, "show at --forge what each open pull request to --rev does to every cluster; see docs/forges.md for those from forks")
	flags.IntVar(&f.perAuthor, "previews-per-author", 20, "with --previews: how many changes of one author that come from forks are looked at in an hour")
	return f
}

// newPreviewer returns what shows pull requests, by a reconciler of its own.
func newPreviewer(cmd *cobra.Command, c *controller) (*pulls.Previewer, error) {
	r := c.loop.Reconciler
	source, ok := r.Source.(*git.Repo)
	if !ok {
		return nil, errors.New("--previews and --orders need a source that is a Git repository")
	}
	o, err := workerOptions(cmd)
	if err != nil {
		return nil, err
	}
	o.Trust = worker.Untrusted
	o.Jobs = 1
	pool := worker.New(o)
	missing := sync.OnceValue(func() []string { return missingWalls(cmd.Context(), o) })
	comparer := &pulls.Comparer{
		Reconciler: forOthers(*r), Rev: c.loop.Rev, MergeBase: source.MergeBase, Fetch: source.FetchWithin,
		Now: time.Now, Random: rand.Reader, Log: c.loop.Log,
		Sandbox: func(spec *render.ConfigSpec, locks ...lock.Lock) (render.Engine, error) {
			charts, err := asked(cmd, *spec).Charts()
			return renderer.New(pool, &renderer.Locked{Charts: charts, Locks: locks}), err
		},
		Bound:   bound,
		Apart:   ownResults,
		Missing: func(context.Context) []string { return missing() },
	}
	return &pulls.Previewer{Comparer: comparer, Forge: c.forge, Shown: c.shown, Interval: c.loop.Interval}, nil
}

// bound has an engine render within the budget of a preview.
func bound(e render.Engine) render.Engine {
	if r, ok := e.(*renderer.Renderer); ok {
		return r.Within(worker.NewBudget(previewProcessor, previewMemory))
	}
	return e
}

// ownResults has an engine keep what it renders to itself.
func ownResults(e render.Engine) render.Engine {
	if r, ok := e.(*renderer.Renderer); ok {
		return r.Apart()
	}
	return e
}

// missingWalls names the walls that are missing where there are not enough for strangers; what cannot be tried is
// found when something is rendered.
func missingWalls(ctx context.Context, o worker.Options) (names []string) {
	walls, err := worker.Walls(ctx, o)
	if err != nil || worker.Enough(walls) {
		return nil
	}
	for _, w := range walls {
		if !w.Up {
			names = append(names, w.Name)
		}
	}
	return names
}

// parts show pull requests.
func (f *previewFlags) parts(_ context.Context, c *controller) ([]runnable, error) {
	if !f.shows {
		return nil, nil
	}
	p, err := newPreviewer(f.cmd, c)
	if err != nil {
		return nil, err
	}
	p.PerAuthor = f.perAuthor
	return []runnable{{name: "previews", leads: true, wakes: c.wakes.pulled, run: func(ctx context.Context, wakes <-chan struct{}) error {
		if s := c.shown.Store; s != nil {
			s.Working(true)
			defer s.Working(false)
		}
		return p.Run(ctx, wakes)
	}}}, nil
}

// check refuses a number that looks at nothing.
func (f *previewFlags) check() error {
	if f.perAuthor < 1 {
		return fmt.Errorf("--previews-per-author is %d; want at least 1", f.perAuthor)
	}
	return nil
}
