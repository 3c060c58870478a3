package reconciler

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/traces"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/files"
)

// The limits of the loop. The grace is what a publication under way gets to end in
// when the process is told to stop; the ceilings are the longest waits after errors, and until
// what did not answer is asked again, which costs one request.
const (
	stopGrace      = 20 * time.Second
	backoffCeiling = 2 * time.Minute
	askCeiling     = 20 * time.Second
)

// Loop publishes a source whenever it, or what is published from it, changes.
type Loop struct {
	Reconciler *Reconciler
	Rev        string        // branch to follow
	Interval   time.Duration // between two looks at the repositories
	Log        *slog.Logger
	Now        func() time.Time
	// Wake has it look at once; nil: nobody does.
	Wake <-chan struct{}
	// After is called after every turn with what came of it; nil: nothing is.
	After func(context.Context, *Sync)
	// Report is told of every synchronisation that did or tried something.
	Report func(Sync)
}

// Sync is one turn of the loop.
type Sync struct {
	At       time.Time
	Took     time.Duration
	Result   Result
	Err      error
	UpToDate bool // nothing had changed, so that nothing was done
	// Heads are where the branches of the target were.
	Heads map[string]files.ID

	blind bool // a repository did not say where its branches are
}

// Run turns until ctx ends. A publication under way is then finished, or given up
// after a grace period; either leaves the repositories whole.
func (l *Loop) Run(ctx context.Context) error {
	if l.Reconciler.Seen == nil {
		l.Reconciler.Seen = NewCache()
	}
	var done synced
	failures := 0
	for {
		s := l.turn(ctx, &done)
		if ctx.Err() != nil && s.Err != nil {
			return nil // what failed was cut off
		}
		if s.Err != nil {
			failures++
		} else {
			failures = 0
		}
		ceiling := backoffCeiling
		if s.blind {
			ceiling = askCeiling
		}
		l.Report(s)
		if l.After != nil {
			l.After(ctx, &s)
		}
		timer := time.NewTimer(l.untilNext(failures, ceiling, done))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-l.Wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// synced is what was synchronised last, and until when that holds.
type synced struct {
	seen  seen
	until time.Time // zero: for ever
	// tries counts the turns in a row in which something could not be had that may be had
	// later on.
	tries int
	basis basis
}

// untilNext returns how long to sleep: at most until a schedule of the source
// comes about.
func (l *Loop) untilNext(failures int, ceiling time.Duration, done synced) time.Duration {
	d := l.wait(failures, ceiling)
	if done.until.IsZero() {
		return d
	}
	return max(min(d, done.until.Sub(l.Now())), 0)
}

// wait returns the interval, doubled for each failure in a row up to a ceiling.
func (l *Loop) wait(failures int, ceiling time.Duration) time.Duration {
	d := l.Interval
	for range failures {
		d *= 2
		if d >= ceiling {
			return max(ceiling, l.Interval)
		}
	}
	return d
}

// turn looks once and publishes if something changed since done.
func (l *Loop) turn(ctx context.Context, done *synced) Sync {
	start := l.Now()
	s := Sync{At: start}
	now, err := l.Reconciler.look(ctx, l.Rev)
	if err == nil && done.basis.awaits {
		now.told = lookTold(ctx, l.Reconciler.Agents, done.seen.told)
	}
	s.Heads, s.blind = now.target, err != nil
	due := !done.until.IsZero() && !start.Before(done.until)
	if err == nil && now.published(done.basis).equal(done.seen) && !due {
		s.UpToDate = true
		return s
	}
	ctx, end := traces.BeginAt(ctx, "sync", start)
	_, looked := traces.BeginAt(ctx, "look", start)
	looked(err)
	if err == nil {
		act, cancel := graceful(ctx)
		ended := sayingSlow(l.Log)
		s.Result, err = l.Reconciler.Publish(act, l.Rev)
		ended()
		cancel()
	}
	if err == nil {
		*done = l.synced(now.after(s.Result), s.Result, done.tries)
	}
	s.Err, s.Took = err, l.Now().Sub(start)
	end(err, traces.Commit(s.Result.Plan.Revision.Commit), traces.Count("branches", len(s.Result.Updates)))
	l.log(s)
	return s
}

// synced says what a turn did, and when the next one is due at the latest: when a schedule
// of the source comes about, or when what could not be had is to be asked for again.
func (l *Loop) synced(at seen, r Result, tries int) synced {
	s := synced{seen: at, until: r.Plan.Basis.RecheckAt, basis: basisOf(&r)}
	if !slices.ContainsFunc(r.Diags, diag.Diagnostic.MayPass) {
		return s
	}
	s.tries = tries + 1
	if again := l.Now().Add(l.wait(tries, backoffCeiling)); s.until.IsZero() || again.Before(s.until) {
		s.until = again
	}
	return s
}

// graceful returns a context that outlives ctx by the grace period.
func graceful(ctx context.Context) (context.Context, context.CancelFunc) {
	act, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(stopGrace, cancel)
	})
	return act, func() { stop(); cancel() }
}

func (l *Loop) log(s Sync) {
	if s.Err != nil {
		l.Log.Error("sync failed", "source", l.Reconciler.Source.Name(), "dur", s.Took, "err", s.Err)
		return
	}
	commit := s.Result.Plan.Revision.Commit
	for i, u := range s.Result.Updates {
		l.Log.Info("branch published", "branch", u.Branch, "head", s.Result.Heads[i].String(), "commit", commit)
	}
	for _, d := range s.Result.Diags {
		l.Log.Debug("diagnostic", "commit", commit, "text", d.String())
	}
	l.logHeld(&s.Result.Plan)
	for _, cluster := range slices.Sorted(maps.Keys(s.Result.Plan.Released.By)) {
		l.Log.Info("cluster released", "cluster", cluster, "by", s.Result.Plan.Released.By[cluster])
	}
	errs := 0
	for _, d := range s.Result.Diags {
		if d.Severity == diag.Error {
			errs++
		}
	}
	l.Log.Info("synced", "source", l.Reconciler.Source.Name(), "commit", commit, "branches", len(s.Result.Updates), "errors", errs, "dur", s.Took)
}

// logHeld says which clusters are held, why, what they would lose, and what releases them.
func (l *Loop) logHeld(p *plan.Plan) {
	const most = 5 // of what a cluster would lose
	allowance := l.Reconciler.Planner().Allow
	for _, c := range p.Clusters {
		if c.Held == nil {
			continue
		}
		var loses []string
		for _, r := range c.Held.Removals[:min(most, len(c.Held.Removals))] {
			loses = append(loses, fmt.Sprintf("%s (%s)", r.Object, r.Cause))
		}
		l.Log.Warn("cluster held", "cluster", c.Name, "reason", c.Held.Reason, "removals", len(c.Held.Removals), "loses", loses,
			"release", allowance.ToAllow(p.Removals))
	}
}
