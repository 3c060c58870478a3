package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/sources/git"
)

// goesOut is a source that is published, and who publishes it.
type goesOut struct {
	*reconciler.Reconciler

	src, bare string
	now       time.Time
}

// publishing publishes a source for the first time.
func publishing(b *testing.B, s *Source) *goesOut {
	b.Helper()
	g := &goesOut{now: time.Unix(1763683200, 0)}
	g.src, g.bare = repositories(b, s)
	g.begin(b)
	g.publish(b)
	return g
}

// begin forgets what was remembered, as another process does.
func (g *goesOut) begin(b *testing.B) {
	b.Helper()
	g.Reconciler = &reconciler.Reconciler{Seen: reconciler.NewCache(), Cache: cache.Memory(), Now: func() time.Time { return g.now }}
	var err error
	if g.Source, err = git.Open(b.Context(), git.Options{Location: g.src}); err != nil {
		b.Fatal(err)
	}
	if g.Target, err = git.Open(b.Context(), git.Options{Location: g.bare}); err != nil {
		b.Fatal(err)
	}
}

func (g *goesOut) publish(b *testing.B) reconciler.Result {
	b.Helper()
	g.now = g.now.Add(time.Second)
	res, err := g.Publish(b.Context(), "main")
	if err != nil {
		b.Fatal(err)
	}
	return res
}

// plan plans, and writes nothing.
func (g *goesOut) plan(b *testing.B) reconciler.Result {
	b.Helper()
	g.now = g.now.Add(time.Second)
	res, err := g.DryRun(b.Context(), "main")
	if err != nil {
		b.Fatal(err)
	}
	return res
}

// edit replaces a text in the files of the source whose paths begin so, and commits.
func (g *goesOut) edit(b *testing.B, prefix, from, to string) {
	b.Helper()
	edited := 0
	err := filepath.WalkDir(filepath.Join(g.src, filepath.Dir(prefix)), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasPrefix(path, filepath.Join(g.src, prefix)) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(data), from) {
			return err
		}
		edited++
		return os.WriteFile(path, []byte(strings.Replace(string(data), from, to, 1)), 0o600)
	})
	if err != nil || edited == 0 {
		b.Fatalf("%d files are edited: %v", edited, err)
	}
	gitIn(b, g.src, "commit", "-qam", "an edit")
}

// bind has the units go out in stages from now on.
func (g *goesOut) bind(b *testing.B, s Strategy) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(g.src, "policies/strategy.yaml"), []byte(s.Text()), 0o600); err != nil {
		b.Fatal(err)
	}
	gitIn(b, g.src, "add", "-A")
	g.edit(b, "policies/unit", Unbound, Bound)
	g.publish(b)
	if n := g.open(b); n != 0 {
		b.Fatalf("%d runs are open", n)
	}
}

// open counts the runs that are open.
func (g *goesOut) open(b *testing.B) (n int) {
	b.Helper()
	head, _, err := g.Target.Branch(b.Context(), state.Branch)
	if err != nil {
		b.Fatal(err)
	}
	all, _ := state.Rollouts(head.Tree)
	for i := range all {
		if all[i].Status.Phase != rollouts.Done {
			n++
		}
	}
	return n
}

// compare measures something with and without strategies, turn by turn, and reports how much more of the processors it
// takes with them.
func compare(b *testing.B, plain, staged func()) {
	b.Helper()
	var without, with time.Duration
	b.ResetTimer()
	for b.Loop() {
		start := processor(b)
		plain()
		between := processor(b)
		staged()
		without, with = without+between-start, with+processor(b)-between
	}
	b.ReportMetric(without.Seconds()*1e3/float64(b.N), "plain-ms")
	b.ReportMetric(with.Seconds()*1e3/float64(b.N), "staged-ms")
	b.ReportMetric(with.Seconds()/without.Seconds(), "ratio")
}

// both publishes 100 units of 10 templates to 1,000 clusters, with and without strategies.
func both(b *testing.B) (plain, staged *goesOut) {
	b.Helper()
	s := Units(1000, 100, 10)
	plain, staged = publishing(b, s), publishing(b, s)
	plain.edit(b, "policies/unit", Unbound, "{example.com/goes: too}")
	plain.publish(b)
	staged.bind(b, Strategy{Canary: true, Width: "100%"})
	return plain, staged
}

// BenchmarkStagesNoRun plans 100 units of 10 templates for 1,000 clusters, of which none goes out, with and without
// strategies: with nothing remembered, again, and after a commit about something else.
func BenchmarkStagesNoRun(b *testing.B) {
	plain, staged := both(b)
	measured(b, plain, staged)
	b.Run("commit", func(b *testing.B) {
		for _, g := range []*goesOut{plain, staged} {
			if err := os.WriteFile(filepath.Join(g.src, "other.yaml"), []byte(other), 0o600); err != nil {
				b.Fatal(err)
			}
			gitIn(b, g.src, "add", "-A")
			g.edit(b, "other", "n0", "n1")
			g.publish(b)
		}
		change := func(g *goesOut) func() {
			return func() {
				b.StopTimer()
				g.edit(b, "other", "key: n", "key: n1")
				b.StartTimer()
				g.publish(b)
			}
		}
		compare(b, change(plain), change(staged))
	})
}

// other is something that goes out at once.
const other = `apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: other}
data: {key: n0}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: other, namespace: other}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]
  placement: {clusterAffinity: {clusterNames: [c0007]}}
`

// BenchmarkStagesOpen plans 100 units of 10 templates for 1,000 clusters, all of which are going out, with and without
// strategies.
func BenchmarkStagesOpen(b *testing.B) {
	plain, staged := both(b)
	for _, g := range []*goesOut{plain, staged} {
		g.edit(b, "apps/unit", "tier: plain", "tier: fancy")
		g.publish(b)
	}
	if n := staged.open(b); n != 100 {
		b.Fatalf("%d runs are open", n)
	}
	measured(b, plain, staged)
}

// measured compares plans with nothing remembered, and plans that are made again.
func measured(b *testing.B, plain, staged *goesOut) {
	b.Helper()
	b.Run("cold", func(b *testing.B) {
		compare(b, func() { plain.begin(b); plain.plan(b) }, func() { staged.begin(b); staged.plan(b) })
	})
	b.Run("warm", func(b *testing.B) {
		plain.plan(b)
		staged.plan(b)
		compare(b, func() { plain.plan(b) }, func() { staged.plan(b) })
	})
}
