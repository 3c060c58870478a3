package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/test/peers"
)

// asWorker, alone on the command line, makes the test binary a worker's child.
const asWorker = "bench-worker"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == asWorker {
		os.Exit(worker.Main(engines.Run))
	}
	os.Exit(m.Run())
}

// counter counts the tasks that it hands on.
type counter struct {
	renderer.Runner

	tasks int
}

func (c *counter) Do(ctx context.Context, tasks []worker.Job) []worker.Result {
	c.tasks += len(tasks)
	return c.Runner.Do(ctx, tasks)
}

// build plans a source, and renders what it asks for.
func build(tb testing.TB, src *Source, r *renderer.Renderer) plan.Plan {
	tb.Helper()
	loaded, err := render.Load(tb.Context(), src, render.With{Engine: r})
	if err != nil {
		tb.Fatal(err)
	}
	in := plan.Input{Source: loaded, Medium: plan.Branch}
	err = plan.Expand(&in, func(jobs []engine.Job) ([]engine.Rendered, error) { return r.Render(tb.Context(), src, jobs) })
	if err != nil {
		tb.Fatal(err)
	}
	p := plan.Build(in)
	if diag.HasErrors(p.Diags) {
		tb.Fatal(p.Diags)
	}
	return p
}

func TestAChartRendersOnceForEachSetOfValues(t *testing.T) {
	c := &counter{Runner: &worker.Local{Handler: engines.Run}}
	r := renderer.New(c, nil)
	p := build(t, Charts(100, 10), r)
	if c.tasks != 10 || p.Stats.Placed != 100*20 {
		t.Errorf("%d renders placed %d objects; want 10 and 2000", c.tasks, p.Stats.Placed)
	}
	if build(t, Charts(100, 10), r); c.tasks != 10 {
		t.Errorf("planned again it renders %d times", c.tasks-10)
	}
}

// pool renders as the program does.
func pool(b *testing.B) *worker.Pool {
	b.Helper()
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	p := worker.New(worker.Options{Command: []string{program, asWorker}, Trust: worker.Trusted, Jobs: 2})
	b.Cleanup(p.Close)
	return p
}

// BenchmarkChart plans a chart for 1,000 clusters with ten sets of values; nothing is
// remembered from one round to the next.
func BenchmarkChart(b *testing.B) {
	src := Charts(1000, 10)
	for name, runner := range map[string]renderer.Runner{"worker": pool(b), "in-process": &worker.Local{Handler: engines.Run}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				build(b, src, renderer.New(runner, nil))
			}
		})
	}
}

// BenchmarkChartAgainstHelm plans a chart for 1,000 clusters with ten sets of values,
// and runs helm template for 50 clusters, one by one as a script would. The metric
// times-faster compares what 1,000 clusters cost.
func BenchmarkChartAgainstHelm(b *testing.B) {
	const clusters, sample = 1000, 50
	helm := peers.Build(b).Helm
	dir := b.TempDir()
	for name, text := range ChartFiles() {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	src, runner := Charts(clusters, 10), pool(b)
	var ours, theirs time.Duration
	for b.Loop() {
		start := time.Now()
		build(b, src, renderer.New(runner, nil))
		ours += time.Since(start)
		start = time.Now()
		for i := range sample {
			cmd := exec.CommandContext(b.Context(), helm, "template", "shop", dir, "-n", "shop", "--set", fmt.Sprintf("region=r%d", i%10))
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
		}
		theirs += time.Since(start) * clusters / sample
	}
	b.ReportMetric(ours.Seconds()/float64(b.N), "waybill-s")
	b.ReportMetric(theirs.Seconds()/float64(b.N), "helm-s")
	b.ReportMetric(theirs.Seconds()/ours.Seconds(), "times-faster")
}
