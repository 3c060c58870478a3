package bench

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/registration"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// inSteps is one unit of 10 templates for 1,000 clusters that goes out by 10 clusters at once, whose statuses are on branches: the
// first 10 clusters are released.
func inSteps(b *testing.B) *goesOut {
	b.Helper()
	g := publishing(b, Units(1000, 1, 10))
	g.bind(b, Strategy{Width: "10"})
	heads, err := g.Target.Heads(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var all []string
	for branch := range heads {
		if name, ok := strings.CutPrefix(branch, "waybill/cluster/"); ok {
			all = append(all, name)
		}
	}
	g.well(b, all)
	g.edit(b, "apps/unit", "tier: plain", "tier: fancy")
	g.publish(b)
	if n := len(g.awaited(b)); n != 10 {
		b.Fatalf("%d clusters are released", n)
	}
	return g
}

// record is what is recorded of the unit.
func (g *goesOut) record(b *testing.B) *rollouts.Rollout {
	b.Helper()
	head, _, err := g.Target.Branch(b.Context(), state.Branch)
	if err != nil {
		b.Fatal(err)
	}
	all, unreadable := state.Rollouts(head.Tree)
	if len(all) != 1 || len(unreadable) > 0 {
		b.Fatalf("%d records are read, %v are not", len(all), unreadable)
	}
	return &all[0]
}

// awaited are the clusters that were released, and of which nothing is known yet.
func (g *goesOut) awaited(b *testing.B) (names []string) {
	b.Helper()
	for name, c := range g.record(b).Clusters {
		if c.State == rollouts.Released {
			names = append(names, name)
		}
	}
	return names
}

// well has clusters say that all is applied as it is published, and healthy.
func (g *goesOut) well(b *testing.B, clusters []string) {
	b.Helper()
	heads, err := g.Target.Heads(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var updates []git.Update
	for _, name := range clusters {
		h, _, err := g.Target.Branch(b.Context(), "waybill/cluster/"+name)
		if err != nil {
			b.Fatal(err)
		}
		updates = append(updates, git.Update{
			Branch: status.Prefix + name, Old: heads[status.Prefix+name], Tree: g.healthy(b, name, &h), Message: "applied\n",
			When: g.now, Author: git.Author{Name: "a", Email: "a@example.com"},
		})
	}
	if _, err := g.Target.Publish(b.Context(), updates); err != nil {
		b.Fatal(err)
	}
}

// healthy is what the status branch of a cluster says that is at the head of its branch.
func (g *goesOut) healthy(b *testing.B, name string, h *git.Head) *files.Folder {
	b.Helper()
	s := status.Cluster{Objects: map[object.Ref]*status.Object{}, Summary: status.Summary{
		Name: name, Branch: "waybill/cluster/" + name, Commit: h.Commit, Verdict: status.Verdict{Reason: status.Applied}, Since: g.now,
	}}
	for path, e := range h.Tree.All() {
		if !strings.HasPrefix(path, tree.ManifestDir+"/") {
			continue
		}
		data, err := e.Blob.Bytes()
		if err != nil {
			b.Fatal(err)
		}
		o := object.Decode(path, data).Objects[0]
		_, version := object.GroupVersion(o.APIVersion())
		s.Objects[o.Ref()] = &status.Object{
			Version: version, Applied: status.Application{Phase: status.PhaseApplied, Commit: h.Commit, Since: g.now},
			Health: status.Health{State: karmada.ResourceHealthy, Since: g.now},
		}
	}
	return status.Summarize(s)
}

// BenchmarkOneStep makes a step of one unit in 10 of 1,000 clusters whose statuses changed: it reads them, plans and pushes. After
// 90 steps the unit is all but out. It counts the bytes of the files that it writes to the state branch, too.
func BenchmarkOneStep(b *testing.B) {
	g := inSteps(b)
	var took time.Duration
	n, written := 0, 0
	for b.Loop() {
		b.StopTimer()
		g.well(b, g.awaited(b))
		was := g.state(b)
		b.StartTimer()
		before := processor(b)
		g.publish(b)
		took += processor(b) - before
		b.StopTimer()
		written += bytesOf(b, was, g.state(b))
		n++
		b.StartTimer()
	}
	b.StopTimer()
	if is := len(g.awaited(b)); is != 10 {
		b.Fatalf("after %d steps %d clusters are released", n, is)
	}
	b.ReportMetric(took.Seconds()*1e3/float64(n), "cpu-ms")
	b.ReportMetric(float64(written)/1e3/float64(n), "state-KB")
}

// state is what the state branch has.
func (g *goesOut) state(b *testing.B) *files.Folder {
	b.Helper()
	h, _, err := g.Target.Branch(b.Context(), state.Branch)
	if err != nil {
		b.Fatal(err)
	}
	return h.Tree
}

// bytesOf is how many bytes the files have, before anything is compressed, that differ from one tree to the next.
func bytesOf(b *testing.B, from, to *files.Folder) (n int) {
	b.Helper()
	for d := range files.Diff(from, to) {
		if d.New.Blob == nil {
			continue
		}
		data, err := d.New.Blob.Bytes()
		if err != nil {
			b.Fatal(err)
		}
		n += len(data)
	}
	return n
}

// BenchmarkWholeRun takes a unit to 1,000 clusters, 10 at once, and counts the commits of the state branch and the bytes by which the
// repository has grown that is published to, without those of statuses.
func BenchmarkWholeRun(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		g := inSteps(b)
		first := g.stateCommits(b)
		var grown, statuses int64
		start := size(b, g.bare)
		b.StartTimer()
		for steps := 0; g.open(b) > 0; steps++ {
			if steps > 200 {
				b.Fatal("the run does not end")
			}
			before := size(b, g.bare)
			g.well(b, g.awaited(b))
			statuses += size(b, g.bare) - before
			g.publish(b)
		}
		grown = size(b, g.bare) - start - statuses
		b.ReportMetric(float64(g.stateCommits(b)-first+1), "state-commits")
		b.ReportMetric(float64(grown)/1e6, "MB")
	}
}

// stateCommits counts the commits of the state branch.
func (g *goesOut) stateCommits(b *testing.B) (n int) {
	b.Helper()
	h, _, err := g.Target.Branch(b.Context(), state.Branch)
	for ; err == nil; h, err = g.Target.Commit(b.Context(), h.Parent) {
		if n++; h.Parent.IsZero() {
			return n
		}
	}
	b.Fatal(err)
	return 0
}

// size is how many bytes the files of a folder have.
func size(b *testing.B, dir string) (bytes int64) {
	b.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return bytes
}

// BenchmarkFacts reads the status branches of 1,000 clusters as evidence, of which 10 changed.
func BenchmarkFacts(b *testing.B) {
	g := inSteps(b)
	s, err := g.Source.Snapshot(b.Context(), "main", "")
	if err != nil {
		b.Fatal(err)
	}
	src, err := render.Load(b.Context(), s, render.With{Cache: g.Cache})
	if err != nil {
		b.Fatal(err)
	}
	clusters := registration.Registered(src.Objects, nil)
	r := g.Reports()
	ten := g.awaited(b)
	read := func() int {
		heads, err := g.Target.Heads(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		seen, err := r.Seen(b.Context(), heads, func() ([]*karmada.Cluster, error) { return clusters, nil })
		if err != nil {
			b.Fatal(err)
		}
		return len(seen)
	}
	if n := read(); n != 1000 {
		b.Fatalf("%d clusters say something", n)
	}
	var took time.Duration
	n := 0
	for b.Loop() {
		b.StopTimer()
		g.now = g.now.Add(time.Second)
		g.well(b, ten)
		b.StartTimer()
		before := processor(b)
		read()
		took += processor(b) - before
		n++
	}
	b.ReportMetric(took.Seconds()*1e3/float64(n), "cpu-ms")
}

// BenchmarkFailoverInMidRun plans when one of 1,000 clusters is lost in mid-run, with nothing remembered: beside a plan of the
// same without a run it evaluates the base, which is to cost no more than the unit does.
func BenchmarkFailoverInMidRun(b *testing.B) {
	plain, open := publishing(b, Units(1000, 1, 100)), publishing(b, Units(1000, 1, 100))
	open.bind(b, Strategy{Width: "10"})
	for _, g := range []*goesOut{plain, open} {
		g.edit(b, "apps/unit", "tier: plain", "tier: fancy")
		g.publish(b)
		g.loses(b)
	}
	if n := open.open(b); n != 1 {
		b.Fatalf("%d runs are open", n)
	}
	compare(b, func() { plain.begin(b); plain.plan(b) }, func() { open.begin(b); open.plan(b) })
}

// loses has the source register the last cluster no longer.
func (g *goesOut) loses(b *testing.B) {
	b.Helper()
	file := filepath.Join(g.src, "fleet/clusters-0.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	text := strings.TrimSuffix(strings.TrimSpace(string(data)), "---")
	if err := os.WriteFile(file, []byte(text[:strings.LastIndex(text, "---")]), 0o600); err != nil {
		b.Fatal(err)
	}
	gitIn(b, g.src, "commit", "-qam", "a cluster is lost")
}
