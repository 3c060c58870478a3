package apply

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/inventory"
	"github.com/waybill-dev/waybill/render/object"
)

// ended reports whether all phases of the commit came to their end, and the inventory has each object by one name.
func (p *Plan) ended(i inventory.Inventory) bool {
	return len(p.renamed) == 0 && (p.sync == nil || i.Sync == inventory.Sync{Commit: p.sync.Commit, Phase: PostSync})
}

// end notes that all of a plan was done.
func (p *Plan) end(i inventory.Inventory) inventory.Inventory {
	if p.sync != nil {
		i.Sync = inventory.Sync{Commit: p.sync.Commit, Phase: PostSync}
	}
	return i.Ended()
}

// pass waits at the gate of a stage, and notes which phase ended. If the gate does not open, the
// report says why, and hooks for that run if a hook failed.
func (w *writer) pass(ctx context.Context, s *Stage, report *Report) error {
	if !s.Gate {
		return w.ends(ctx, s, report)
	}
	why := cmp.Or(s.Broken, w.failed)
	w.failed = ""
	var left []Unhealthy
	if why == "" {
		var err error
		if left, err = w.await(ctx, s); err != nil {
			return fmt.Errorf("waiting for the phase %s: %w", s.Phase, err)
		}
	}
	w.hooks = append(w.hooks, s.Hooks...)
	if why == "" && len(left) == 0 {
		return w.ends(ctx, s, report)
	}
	report.Stopped = fmt.Sprintf("the phase %s did not come to its end: %s; what comes after it was not done", s.Phase, cmp.Or(why, reasons(left)))
	if why != "" || !hookFailed(s, left) {
		return nil // the next round tries again, or waits on
	}
	now := w.stored.Inventory
	now.Sync.Failed = true
	if err := w.store(ctx, now); err != nil {
		return fmt.Errorf("writing the inventory: %w", err)
	}
	if err := w.clear(ctx, left, report); err != nil {
		return err
	}
	return w.fail(ctx, report)
}

// await waits at the gate of a stage, and returns what is not healthy: when something failed, when
// the time is over, or when other clusters wait for this round to end. A newer commit ends it
// where no hook is at work, which the next round would cut off.
func (w *writer) await(ctx context.Context, s *Stage) ([]Unhealthy, error) {
	const look = 10 * time.Second
	objects := s.Await
	for rest := w.round.Patience; ; rest -= look {
		left, err := w.round.Cluster.Await(ctx, objects, min(rest, look))
		failed := slices.ContainsFunc(left, func(u Unhealthy) bool { return u.Failed })
		switch {
		case err != nil || len(left) == 0 || failed || rest <= look:
			return left, err
		case w.round.Crowded != nil && w.round.Crowded():
			return left, nil
		case len(s.Hooks) == 0 && w.superseded(ctx):
			return left, ErrSuperseded
		}
		objects = nil
		for _, u := range left {
			objects = append(objects, u.Ref)
		}
	}
}

// outlast waits until the hooks of a stage have ended that were begun for an earlier commit. To run
// a hook anew is to delete it, and what it does would be cut off halfway.
func (w *writer) outlast(ctx context.Context, s *Stage, report *Report) error {
	var earlier []object.Ref
	for _, a := range s.Actions {
		if a.Earlier {
			earlier = append(earlier, a.Ref)
		}
	}
	if len(earlier) == 0 {
		return nil
	}
	left, err := w.await(ctx, &Stage{Phase: s.Phase, Await: earlier, Hooks: s.Actions})
	if err != nil {
		return fmt.Errorf("waiting for hooks of an earlier commit: %w", err)
	}
	if left = slices.DeleteFunc(left, func(u Unhealthy) bool { return u.Failed }); len(left) > 0 {
		report.Stopped = fmt.Sprintf("a hook still runs for an earlier commit, and is not cut off: %s; delete it if it never ends; nothing from the phase %s on was done", reasons(left), s.Phase)
	}
	return nil
}

// ends notes that a phase ended, if it did. Only then do its hooks go: until then those of a later
// wave may need them, and a next round would run again what is not there.
func (w *writer) ends(ctx context.Context, s *Stage, report *Report) error {
	if !s.Ends {
		return nil
	}
	now := w.stored.Inventory
	now.Sync.Phase = s.Phase // it has not failed: a round that tries one again notes so at its beginning
	if err := w.store(ctx, now); err != nil {
		return fmt.Errorf("writing the inventory: %w", err)
	}
	return w.clear(ctx, nil, report)
}

// fail runs the hooks for a sync that failed.
func (w *writer) fail(ctx context.Context, report *Report) error {
	for i := range report.Plan.onFail {
		s := &report.Plan.onFail[i]
		if err := w.act(ctx, s, report); err != nil {
			return err
		}
		left, err := w.await(ctx, s)
		if err == nil {
			w.hooks = s.Hooks
			err = w.clear(ctx, left, report)
		}
		if err != nil {
			return fmt.Errorf("waiting for the phase %s: %w", s.Phase, err)
		}
	}
	return nil
}

// clear deletes hooks that ran and succeeded, or failed, and are to be deleted then.
func (w *writer) clear(ctx context.Context, left []Unhealthy, report *Report) error {
	var deletions []Action
	for _, h := range w.hooks {
		n := slices.IndexFunc(left, func(u Unhealthy) bool { return u.Ref == h.Ref })
		if n < 0 && h.Succeeded || n >= 0 && left[n].Failed && h.Failed {
			deletions = append(deletions, Action{Ref: h.Ref, Verb: Delete, UID: w.stored.Inventory.Entries[h.Ref].UID, Hook: h.Hook})
		}
	}
	w.hooks = nil
	return w.act(ctx, &Stage{Actions: deletions}, report)
}

func hookFailed(s *Stage, left []Unhealthy) bool {
	return slices.ContainsFunc(left, func(u Unhealthy) bool {
		return u.Failed && slices.ContainsFunc(s.Hooks, func(h Action) bool { return h.Ref == u.Ref })
	})
}

// reasons says which objects are not healthy: three at most.
func reasons(left []Unhealthy) string {
	const most = 3
	slices.SortFunc(left, func(a, b Unhealthy) int { return cmp.Or(failedFirst(a, b), object.Ref.Compare(a.Ref, b.Ref)) })
	var all []string
	for _, u := range left[:min(most, len(left))] {
		all = append(all, fmt.Sprintf("%s: %s", u.Ref, u.Why))
	}
	if n := len(left) - most; n > 0 {
		all = append(all, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(all, ", ")
}

func failedFirst(a, b Unhealthy) int {
	switch {
	case a.Failed == b.Failed:
		return 0
	case a.Failed:
		return -1
	}
	return 1
}
