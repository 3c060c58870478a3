package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/test/twin"
)

// meddler is an engine to which something happens until the first turn of a loop is over.
type meddler struct {
	render.Engine

	during func() *diag.Diagnostic // what renderings end with, if anything
	over   bool
}

func (m *meddler) Render(ctx context.Context, s sources.Snapshot, jobs []engine.Job) ([]engine.Rendered, error) {
	if m.over {
		return m.Engine.Render(ctx, s, jobs)
	}
	d := m.during()
	if d == nil {
		return m.Engine.Render(ctx, s, jobs)
	}
	results := make([]engine.Rendered, len(jobs))
	for i := range results {
		results[i].Diags = []diag.Diagnostic{*d}
	}
	return results, nil
}

// follow runs a loop over a source with a Kustomize root until what is published of it is
// as wanted, or for half a minute.
func follow(t *testing.T, want string, during func(src string) *diag.Diagnostic) {
	t.Helper()
	src, bare := t.TempDir(), filepath.Join(t.TempDir(), "bare.git")
	run(t, ".", "init", "-q", "--bare", bare)
	run(t, ".", "init", "-q", "-b", "main", src)
	change(t, src, map[string]string{
		"fleet.yaml":             fleet,
		"app/kustomization.yaml": "resources: [cm.yaml]\n",
		"app/cm.yaml":            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: shop}\ndata: {v: one}\n",
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	m := &meddler{Engine: renderer.New(&worker.Local{Handler: engines.Run}, nil), during: func() *diag.Diagnostic { return during(src) }}
	r := &reconciler.Reconciler{
		Seen:   reconciler.NewCache(),
		Source: open(t.Context(), t, src), Target: open(t.Context(), t, bare), Cache: cache.Memory(), Now: time.Now, Engine: m,
	}
	got := ""
	l := &reconciler.Loop{
		Reconciler: r, Rev: "main", Interval: time.Millisecond, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Report: func(s reconciler.Sync) {
			m.over = true
			if s.Err != nil {
				t.Error(s.Err)
				cancel()
			}
			if got = publishedValue(t, bare); got == want {
				cancel()
			}
		},
	}
	if err := l.Run(ctx); err != nil {
		t.Error(err)
	}
	if got != want || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("in the end there is %q, want %q", got, want)
	}
}

// publishedValue is the value of the app's ConfigMap; empty if there is none.
func publishedValue(t *testing.T, bare string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "-C", bare, "show", "waybill/cluster/eu:manifests/shop/configmap/app.yaml").Output()
	if err != nil {
		return ""
	}
	_, data, _ := strings.Cut(string(out), "data:\n")
	v, _, _ := strings.Cut(strings.TrimSpace(data), "\n")
	return v
}

// change writes files and commits them.
func change(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "add", ".")
	run(t, dir, "commit", "-q", "-m", "a change")
}

func TestACommitThatComesDuringAPublicationIsPublishedNext(t *testing.T) {
	came := false
	follow(t, "v: two", func(src string) *diag.Diagnostic {
		if came {
			return nil
		}
		came = true
		change(t, src, map[string]string{"app/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: shop}\ndata: {v: two}\n"})
		return nil
	})
}

func TestAChartThatCouldNotBeHadIsAskedForAgain(t *testing.T) {
	follow(t, "v: one", func(string) *diag.Diagnostic {
		return &diag.Diagnostic{Code: diag.ChartUnavailable, Severity: diag.Error, Message: "its host is away"}
	})
}

// TestWhatIsNotPublishedIsNoReasonToPlan has somebody push a status, and to a branch that
// looks like a cluster's, between any two turns of a loop.
func TestWhatIsNotPublishedIsNoReasonToPlan(t *testing.T) {
	const pushes = 1000
	repo := twin.New("busy")
	write := func(branch, text string) {
		repo.Write(branch, text, twin.Tree{"text": twin.File([]byte(text))}.Folder())
	}
	repo.Write("main", "first", twin.Tree{"fleet.yaml": twin.File([]byte(fleet))}.Folder())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	turns, plans := 0, 0
	l := &reconciler.Loop{
		Reconciler: &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Now: time.Now},
		Rev:        "main", Interval: time.Microsecond, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Report: func(s reconciler.Sync) {
			if s.Err != nil {
				t.Error(s.Err)
				cancel()
			}
			if !s.UpToDate {
				plans++
			}
			switch turns++; {
			case turns <= pushes:
				write("waybill/status/eu", fmt.Sprint("push ", turns))
				write("feature/waybill/cluster/eu", fmt.Sprint("push ", turns))
			case turns == pushes+1:
				if plans != 1 {
					t.Errorf("%d pushes of what is not published made %d plans", pushes, plans-1)
				}
				write("waybill/state", "an edit") // which is
			case plans == 2:
				cancel()
			}
		},
	}
	if err := l.Run(ctx); err != nil {
		t.Error(err)
	}
	if plans != 2 {
		t.Errorf("an edit of what is published was not seen in %d turns", turns)
	}
}
