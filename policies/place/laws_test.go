package place

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// lawful are placements that the laws are held against.
func lawful() []string {
	all := []string{duplicate, `{replicaScheduling: {}}`, dynamically, aggregating}
	for _, p := range all[:4:4] {
		all = append(all,
			with(p, spreading("cluster 1..3")),
			with(p, spreading("region 1..2", "cluster 2..4")),
			with(p, spreading("region 2..3", "cluster 1..9")))
	}
	overflow := `clusterAffinities: [{affinityName: a, clusterNames: [c00, c01], overflowAffinities: [{affinityName: b}]}]`
	return append(all, with(dynamically, overflow), with(aggregating, overflow))
}

// world makes clusters of bytes: how much room, which region, and what is there.
func world(data []byte) (cs []karmada.Cluster, previous []karmada.TargetCluster) {
	for i, d := range data {
		name := fmt.Sprintf("c%02d", i)
		cs = append(cs, karmada.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       karmada.ClusterSpec{Region: string(rune('A' + d/8%4))},
			Status: karmada.ClusterStatus{ResourceSummary: &karmada.ResourceSummary{
				Allocatable: corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(int64(d%8), resource.DecimalSI)},
			}},
		})
		if d >= 192 {
			previous = append(previous, karmada.TargetCluster{Name: name, Replicas: int32(d / 8 % 4)})
		}
	}
	return cs, previous
}

// grown is the same fleet with more room in one cluster.
func grown(cs []karmada.Cluster, i int) []karmada.Cluster {
	cs = slices.Clone(cs)
	pods := cs[i].Status.ResourceSummary.Allocatable[corev1.ResourcePods]
	cs[i].Status.ResourceSummary = &karmada.ResourceSummary{
		Allocatable: corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(pods.Value()+3, resource.DecimalSI)},
	}
	return cs
}

func FuzzSchedule(f *testing.F) {
	f.Add([]byte{6, 12, 18, 33, 70}, uint8(9), uint8(2), uint8(0))
	f.Add([]byte{200, 211, 18, 33, 255, 7, 7}, uint8(13), uint8(3), uint8(1))
	f.Add([]byte{200, 200, 201, 15, 23}, uint8(2), uint8(9), uint8(2))
	f.Add([]byte{7, 15, 23, 31, 39}, uint8(30), uint8(17), uint8(3))
	placements := lawful()
	f.Fuzz(func(t *testing.T, data []byte, replicas, which, mode uint8) {
		if len(data) == 0 || len(data) > 24 {
			return
		}
		cs, previous := world(data)
		text := placements[int(which)%len(placements)]
		p := placement(t, text)
		r := workload(int32(replicas % 64))
		r.Fresh = mode&1 != 0
		if mode&2 != 0 {
			r.Previous = previous
		}
		s := compile(t, p, cs, SpreadKarmada)
		d := s.Schedule(r)
		holdsReplicas(t, s, r, d)

		slices.Reverse(cs)
		slices.Reverse(previous)
		if diff := cmp.Diff(d, compile(t, p, cs, SpreadKarmada).Schedule(r)); diff != "" {
			t.Errorf("%s: the order of clusters matters:\n%s", text, diff)
		}
		if s.spread.how == byBucket || d.Reason != Success {
			return
		}
		if more := compile(t, p, grown(cs, int(mode)%len(cs)), SpreadKarmada).Schedule(r); more.Reason != Success {
			t.Errorf("%s: with more room: %s", text, show(more))
		}
	})
}

// holdsReplicas checks that a decision gives every replica away, and to clusters
// that have room for it.
func holdsReplicas(t *testing.T, s *Scheduler, r Request, d Decision) {
	t.Helper()
	if d.Reason != Success || r.Replicas == 0 {
		return
	}
	var total int64
	q := s.newQuery(r)
	for _, target := range d.Targets {
		total += int64(target.Replicas)
		i, ok := s.index(target.Name)
		if !ok {
			t.Fatalf("%s is no cluster", target.Name)
		}
		available := free(s.clusters[i], q) + int64(max(q.before(i), 0))
		if s.strategy.byCapacity() && int64(target.Replicas) > available {
			t.Errorf("%s has %d replicas, and room for %d", target.Name, target.Replicas, available)
		}
		if s.strategy == duplicated && target.Replicas != r.Replicas {
			t.Errorf("%s has %d replicas, want %d", target.Name, target.Replicas, r.Replicas)
		}
	}
	if s.strategy != duplicated && total != int64(r.Replicas) {
		t.Errorf("%s: %d replicas in all, want %d", show(d), total, r.Replicas)
	}
}
