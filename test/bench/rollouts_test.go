package bench

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/report/listing"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/git"
)

// run is a run of a unit for clusters in one stage, of which some are healthy.
func run(unit, clusters, healthy int) rollouts.Rollout {
	at := metav1.NewTime(time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC))
	base, target := strings.Repeat("a1", 20), strings.Repeat("b2", 20)
	r := rollouts.Rollout{
		Unit:     rollouts.Unit{Namespace: fmt.Sprintf("unit-%04d", unit), Name: "unit"},
		Strategy: rollouts.Strategy{Name: "careful", Stages: []rollouts.Stage{{Name: "all", LabelSelector: &metav1.LabelSelector{}}}},
		Status: rollouts.Status{
			Run: strings.Repeat("8f", 16), Phase: rollouts.Updating, StartTime: at,
			Base:   rollouts.Version{Commit: base, Digest: strings.Repeat("51", 16)},
			Target: rollouts.Version{Commit: target, Digest: strings.Repeat("c0", 16)},
			Stages: []rollouts.StageStatus{{Name: "all", Phase: rollouts.Updating, StartTime: at, Deadline: at}},
		},
		Clusters: map[string]rollouts.Cluster{},
	}
	for i := range clusters {
		name := fmt.Sprintf("c%04d", i)
		is := rollouts.Cluster{Stage: "all", Shows: base, State: rollouts.Pending}
		if i < healthy {
			is = rollouts.Cluster{
				Stage: "all", Shows: target, State: rollouts.Healthy, Released: at, Since: at,
				Evidence: "waybill/status/" + name + "@77d077d077d0",
			}
		}
		r.Clusters[name] = is
	}
	return r
}

// BenchmarkGetRollouts reads the records of 1,000 units with 20 clusters each from a repository on disk and prints them, as
// waybill get rollouts does.
func BenchmarkGetRollouts(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "repo.git")
	if out, err := exec.CommandContext(b.Context(), "git", "init", "-q", "--bare", "-b", "main", dir).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	var c state.Content
	for u := range 1000 {
		c.Rollouts = append(c.Rollouts, run(u, 20, 7))
	}
	folder, err := state.Encode(c, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	write(b, opened(b, dir), git.Update{Branch: state.Branch, Tree: folder, Message: "m\n", When: time.Now(), Author: git.Author{Name: "a", Email: "a@example.com"}})
	b.ResetTimer()
	before := processor(b)
	for b.Loop() {
		head, ok, err := opened(b, dir).Branch(b.Context(), state.Branch)
		if err != nil || !ok {
			b.Fatal(ok, err)
		}
		all, unreadable := state.Rollouts(head.Tree)
		if len(all) != 1000 || len(unreadable) > 0 {
			b.Fatalf("%d are read, %v are not", len(all), unreadable)
		}
		list, err := (&listing.Lists{Rollouts: all, Now: time.Now()}).List(listing.Query{Kind: "rollouts"})
		if err != nil || len(list.Names()) != 1000 {
			b.Fatalf("%d are listed: %v", len(list.Names()), err)
		}
	}
	b.ReportMetric((processor(b)-before).Seconds()*1e3/float64(b.N), "cpu-ms")
}

// The record of a unit for 1,000 clusters in one stage is small however far its run is.
func TestTheRecordOfARunIsSmall(t *testing.T) {
	size := func(of rollouts.Rollout) (all int) {
		root, err := rollouts.Encode([]rollouts.Rollout{of}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range root.All() {
			if e.Blob == nil {
				continue
			}
			data, err := e.Blob.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			all += len(data)
		}
		return all
	}
	for _, healthy := range []int{0, 500, 1000} {
		n := size(run(0, 1000, healthy))
		if t.Logf("%d bytes where %d clusters are healthy", n, healthy); n > 200_000 {
			t.Errorf("the record has %d bytes where %d clusters are healthy; it may have 200 KB", n, healthy)
		}
	}
}

// BenchmarkRecords decodes the records of 100 units for 1,000 clusters, as they are and after one step of one, and encodes them.
func BenchmarkRecords(b *testing.B) {
	var all []rollouts.Rollout
	for u := range 100 {
		all = append(all, run(u, 1000, 100))
	}
	root, err := rollouts.Encode(all, nil)
	if err != nil {
		b.Fatal(err)
	}
	earlier := rollouts.Read(root, nil)
	all[7] = run(7, 1000, 110)
	next, err := rollouts.Encode(all, nil)
	if err != nil {
		b.Fatal(err)
	}
	for name, was := range map[string]*rollouts.Record{"cold": nil, "step": earlier} {
		b.Run(name, func(b *testing.B) {
			before := processor(b)
			for b.Loop() {
				r := rollouts.Read(next, was)
				again, err := rollouts.Encode(r.Rollouts, r)
				if err != nil || again.ID() != next.ID() {
					b.Fatal("it is written otherwise", err)
				}
			}
			b.ReportMetric((processor(b)-before).Seconds()*1e3/float64(b.N), "cpu-ms")
		})
	}
}
