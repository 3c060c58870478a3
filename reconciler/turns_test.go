package reconciler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// flaky is a repository of which a test says how it answers; what is nil is as in the twin.
type flaky struct {
	*twin.Repo

	heads   func() error
	publish func(context.Context) error
}

func (f *flaky) Heads(ctx context.Context) (map[string]files.ID, error) {
	if f.heads != nil {
		if err := f.heads(); err != nil {
			return nil, err
		}
	}
	return f.Repo.Heads(ctx)
}

func (f *flaky) Publish(ctx context.Context, updates []git.Update) ([]files.ID, error) {
	if f.publish != nil {
		if err := f.publish(ctx); err != nil {
			return nil, err
		}
	}
	return f.Repo.Publish(ctx, updates)
}

func newFlaky(name string) *flaky { return &flaky{Repo: twin.New(name)} }

// turning is a loop whose turns are remembered. Its clock is that of the bubble it runs in.
type turning struct {
	*reconciler.Loop

	source, target *flaky
	began          time.Time
	turns          []reconciler.Sync
}

func newTurning(interval time.Duration) *turning {
	l := &turning{source: newFlaky("source"), target: newFlaky("target"), began: time.Now()}
	l.source.Write("main", "first", twin.Tree{"fleet.yaml": twin.File([]byte(fleet))}.Folder())
	l.Loop = &reconciler.Loop{
		Reconciler: &reconciler.Reconciler{Source: l.source, Target: l.target, Cache: cache.Memory(), Now: time.Now},
		Rev:        "main", Interval: interval, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Report: func(s reconciler.Sync) { l.turns = append(l.turns, s) },
	}
	return l
}

// during runs the loop for some time, and returns when it ended.
func (l *turning) during(t *testing.T, d time.Duration) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := l.Run(ctx); err != nil {
		t.Error(err)
	}
	return time.Since(l.began)
}

// at says when turns began of which something is so, since the loop did.
func (l *turning) at(is func(*reconciler.Sync) bool) string {
	var all []time.Duration
	for i := range l.turns {
		if is(&l.turns[i]) {
			all = append(all, l.turns[i].At.Sub(l.began))
		}
	}
	return strings.Trim(fmt.Sprint(all), "[]")
}

func anyTurn(*reconciler.Sync) bool   { return true }
func planned(s *reconciler.Sync) bool { return s.Err == nil && !s.UpToDate }

// TestWhenALoopLooks: after each interval; after errors later and later, up to a ceiling that is lower where nobody answers, which
// costs one request; and after the first turn that ends well as before.
func TestWhenALoopLooks(t *testing.T) {
	away := errors.New("away")
	for name, tt := range map[string]struct {
		interval, during time.Duration
		set              func(l *turning, fail func() error)
		fails            int // how often
		want             string
	}{
		"all is well":                     {10 * time.Second, 35 * time.Second, nil, 0, "0s 10s 20s 30s"},
		"the source does not answer":      {time.Second, 72500 * time.Millisecond, func(l *turning, fail func() error) { l.source.heads = fail }, 6, "0s 2s 6s 14s 30s 50s 1m10s 1m11s 1m12s"},
		"the target does not answer":      {time.Second, 14500 * time.Millisecond, func(l *turning, fail func() error) { l.target.heads = fail }, 3, "0s 2s 6s 14s"},
		"nothing can be published":        {10 * time.Second, 6 * time.Minute, func(l *turning, fail func() error) { l.target.publish = func(context.Context) error { return fail() } }, 99, "0s 20s 1m0s 2m20s 4m20s"},
		"it is published after two tries": {10 * time.Second, 75 * time.Second, func(l *turning, fail func() error) { l.target.publish = func(context.Context) error { return fail() } }, 2, "0s 20s 1m0s 1m10s"},
		"the interval is above ceilings":  {5 * time.Minute, 16 * time.Minute, func(l *turning, fail func() error) { l.source.heads = fail }, 99, "0s 5m0s 10m0s 15m0s"},
		"it is at the ceiling":            {60 * time.Second, 5 * time.Minute, func(l *turning, fail func() error) { l.target.publish = func(context.Context) error { return fail() } }, 99, "0s 2m0s 4m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newTurning(tt.interval)
				left := tt.fails
				if tt.set != nil {
					tt.set(l, func() error {
						if left--; left >= 0 {
							return away
						}
						return nil
					})
				}
				l.during(t, tt.during)
				if got := l.at(anyTurn); got != tt.want {
					t.Errorf("it looked at %s; want %s", got, tt.want)
				}
			})
		})
	}
}

// TestALoopIsWoken: at once, by whoever wakes it, and what comes of it is told before it sleeps again.
func TestALoopIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTurning(time.Hour)
		wake := make(chan struct{})
		var told []string
		l.Wake, l.After = wake, func(_ context.Context, s *reconciler.Sync) {
			told = append(told, fmt.Sprint(s.At.Sub(l.began), " ", s.UpToDate, " ", s.Err, " ", len(s.Heads), " ", len(l.turns)))
		}
		go func() {
			time.Sleep(time.Minute)
			wake <- struct{}{}
		}()
		l.during(t, 2*time.Minute)
		if want := []string{"0s false <nil> 0 1", "1m0s true <nil> 2 2"}; !slices.Equal(told, want) {
			t.Errorf("it is told %q; want %q", told, want)
		}
	})
}

// TestALoopThatIsStopped finishes what it publishes, for twenty seconds; what is cut off then is no error.
func TestALoopThatIsStopped(t *testing.T) {
	for name, tt := range map[string]struct {
		takes time.Duration // of a push
		ends  time.Duration // of the loop, which is stopped after a second
		turns int
	}{
		"between two turns":    {0, time.Second, 1},
		"in time":              {15 * time.Second, 15 * time.Second, 1},
		"after the grace":      {time.Minute, 21 * time.Second, 0},
		"just after the grace": {22 * time.Second, 21 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newTurning(time.Hour)
				l.target.publish = func(ctx context.Context) error {
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(tt.takes):
						return nil
					}
				}
				ended := l.during(t, time.Second)
				heads, _ := l.target.Repo.Heads(t.Context())
				if ended != tt.ends || len(l.turns) != tt.turns || len(heads) != 2*tt.turns {
					t.Errorf("it ended after %s, with %d turns and branches %v; want after %s, %d turns", ended, len(l.turns), heads, tt.ends, tt.turns)
				}
				if tt.turns > 0 && (l.turns[0].Err != nil || l.turns[0].Took != tt.takes) {
					t.Errorf("it took %s (%v); want %s", l.turns[0].Took, l.turns[0].Err, tt.takes)
				}
			})
		})
	}
}

// TestALoopTurnsWhenSomethingIsDue: what goes out in stages goes on in time, however long the interval is, and what is not due
// is not planned before. What could not be had beside it is asked for in its own time.
func TestALoopTurnsWhenSomethingIsDue(t *testing.T) {
	for name, tt := range map[string]struct {
		interval time.Duration
		fails    bool // an overlay cannot be rendered, which may pass
		want     string
	}{
		// The canary gets it at once, a second later it counts as healthy, and soaks for five minutes; so does who is next.
		"nothing is missing": {7 * time.Minute, false, "1h0m0s 1h0m1s 1h5m1s 1h5m2s 1h10m2s 1h10m3s"},
		// It is asked for again a minute after it failed, and then every other minute.
		"something could not be had": {time.Minute, true, "1h0m0s 1h0m1s 1h2m1s 1h4m1s 1h5m1s 1h5m2s 1h7m2s 1h9m2s 1h10m2s 1h10m3s 1h12m3s 1h14m3s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newTurning(tt.interval)
				tree := twin.Tree{
					"fleet.yaml":   twin.File([]byte(synced + cluster("c1", "canary") + cluster("p1", "prod"))),
					"waybill.yaml": twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {rollout: {evidence: [status, timed]}}\n")),
				}
				write := func(version string) {
					tree["web.yaml"] = twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: team}\ndata: {v: " + version + "}\n"))
					l.source.Now = time.Now()
					l.source.Write("main", version, tree.Folder())
				}
				write("one")
				l.during(t, time.Hour) // until all have it
				l.turns = nil
				if tt.fails {
					l.Reconciler.Engine = &failing{until: time.Now().Add(time.Hour)}
					tree["app/kustomization.yaml"] = twin.File([]byte("resources: [cm.yaml]\n"))
				}
				write("two")
				l.during(t, 15*time.Minute)
				if got := l.at(planned); got != tt.want {
					t.Errorf("it planned at %s; want %s", got, tt.want)
				}
				if got := l.at(func(s *reconciler.Sync) bool { return s.UpToDate && !tt.fails }); got != "" {
					t.Errorf("it looked for nothing at %s", got)
				}
			})
		})
	}
}

// failing renders nothing but an error that may pass, for some time.
type failing struct {
	render.Engine

	until time.Time
}

func (f *failing) Render(_ context.Context, _ sources.Snapshot, jobs []engine.Job) ([]engine.Rendered, error) {
	results := make([]engine.Rendered, len(jobs))
	if time.Now().Before(f.until) {
		for i := range results {
			results[i].Diags = []diag.Diagnostic{{Code: diag.ChartUnavailable, Severity: diag.Error, Message: "its host is away"}}
		}
	}
	return results, nil
}

// TestWhatCouldNotBeHadIsAskedForLaterAndLater: the source is looked at each interval, and planned when it is worth while.
func TestWhatCouldNotBeHadIsAskedForLaterAndLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newTurning(10 * time.Second)
		l.Reconciler.Engine = &failing{until: time.Now().Add(4 * time.Minute)}
		var log bytes.Buffer
		l.Log = slog.New(slog.NewJSONHandler(&log, nil))
		l.source.Write("main", "an overlay", twin.Tree{
			"fleet.yaml": twin.File([]byte(fleet)), "app/kustomization.yaml": twin.File([]byte("resources: [cm.yaml]\n")),
		}.Folder())
		l.during(t, 20*time.Minute)
		if got, want := l.at(planned), "0s 10s 30s 1m10s 2m30s 4m30s"; got != want {
			t.Errorf("it planned at %s; want %s", got, want)
		}
		if got, want := errorsLogged(t, &log), "[1 1 1 1 1 0]"; got != want {
			t.Errorf("it logged %s errors; want %s", got, want)
		}
	})
}

// errorsLogged is how many errors the log says that each plan had.
func errorsLogged(t *testing.T, log *bytes.Buffer) string {
	t.Helper()
	var all []int
	for d := json.NewDecoder(log); ; {
		var entry struct {
			Msg    string
			Errors int
		}
		if err := d.Decode(&entry); errors.Is(err, io.EOF) {
			return fmt.Sprint(all)
		} else if err != nil {
			t.Fatal(err)
		}
		if entry.Msg == "synced" {
			all = append(all, entry.Errors)
		}
	}
}
