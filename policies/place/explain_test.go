package place

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/karmada"
)

func TestExplainRejections(t *testing.T) {
	r := workload(1)
	r.Evicting = []string{"evicting"}
	cs := mixed()
	cs[6].Spec.Region = "eu"
	report := compile(t, placement(t, notUS), cs, SpreadKarmada).Explain(r)
	got := map[string]string{}
	for _, c := range report.Clusters {
		got[c.Name] = c.Rejected
	}
	want := map[string]string{
		"bare":     "region is empty, and a spread constraint needs it",
		"best":     "",
		"evicting": "the template is being evicted from it",
		"gone":     "the cluster is being deleted",
		"old":      "apps/v1 Deployment is not among status.apiEnablements",
		"tainted":  `taint "dedicated=infra:NoExecute" is not tolerated`,
		"us":       `field region is "us", want NotIn [us]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Rejected (-want +got):\n%s", diff)
	}
}

func TestExplainSpread(t *testing.T) {
	p := placement(t, with(dynamically, spreading("region 2..2", "cluster 3..3")))
	report := compile(t, p, clusters(t, regions), SpreadKarmada).Explain(moved(t, 8, "a1:1"))
	want := Report{
		Decision: Decision{Targets: targets(t, "a1:2 a2:2 b1:4"), Reason: Success, Message: "Binding has been scheduled successfully."},
		Clusters: []ClusterReport{
			{Name: "a1", Rank: 1, Score: 100, Available: 11, Group: "A", Chosen: true, Weight: 10, Seats: 2},
			{Name: "a2", Rank: 4, Available: 20, Group: "A", Chosen: true, Weight: 20, Seats: 2},
			{Name: "b1", Rank: 3, Available: 30, Group: "B", Chosen: true, Weight: 30, Seats: 4},
			{Name: "b2", Rank: 5, Available: 5, Group: "B"},
			{Name: "c1", Rank: 2, Available: 50, Group: "C"},
			{Name: "d1", Rank: 6, Available: 1, Group: "D"},
		},
		Groups: []GroupReport{
			{Name: "A", Clusters: 2, Score: 4050, Chosen: true},
			{Name: "B", Clusters: 2, Score: 4000, Chosen: true},
			{Name: "C", Clusters: 1, Score: 4000},
			{Name: "D", Clusters: 1, Score: 1000},
		},
	}
	want.Tried, report.Divisions = []Decision{want.Decision}, nil
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("Explain (-want +got):\n%s", diff)
	}
}

func TestExplainScores(t *testing.T) {
	constraints := spreading("region 2..2", "cluster 2..2")
	tests := []struct {
		name, placement string
		request         Request
		want            []int64 // of A, B, C and D
	}{
		{"divided, by room for a part of 20", with(dynamically, constraints), moved(t, 40, "d1:4"), []int64{20000, 20000, 20000, 5100}},
		{"duplicated, by clusters with room for 8", with(duplicate, constraints), moved(t, 8, "c1:4 d1:4"), []int64{2000, 1000, 1100, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []int64
			for _, g := range compile(t, placement(t, tt.placement), clusters(t, regions), SpreadKarmada).Explain(tt.request).Groups {
				got = append(got, g.Score)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("scores (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExplainGroups(t *testing.T) {
	p := placement(t, with(aggregating, `clusterAffinities: [
		{affinityName: near, clusterNames: [m1]},
		{affinityName: far, clusterNames: [m2], overflowAffinities: [{affinityName: farther, clusterNames: [m3]}]},
		{affinityName: never}]`))
	s := compile(t, p, clusters(t, "m1=1 m2=2 m3=3"), SpreadKarmada)
	report := s.Explain(workload(4))
	if report.Decision.Group != "far" || len(report.Tried) != 2 || report.Tried[0].Reason != Unschedulable || report.Tried[0].Group != "near" {
		t.Errorf("Decision = %+v after %+v, want far after near was short", report.Decision, report.Tried)
	}
	want := []ClusterReport{
		{Name: "m1", Rejected: `name "m1" is not among the 1 in clusterNames`},
		{Name: "m2", Rank: 1, Available: 2, Chosen: true, Weight: 2, Seats: 2},
		{Name: "m3", Overflow: "farther", Rank: 2, Available: 3, Chosen: true, Weight: 3, Seats: 2},
	}
	if diff := cmp.Diff(want, report.Clusters); diff != "" {
		t.Errorf("Clusters (-want +got):\n%s", diff)
	}
	if got := s.Explain(workload(0)).Clusters[0]; got.Available != math.MaxInt32 {
		t.Errorf("without replicas Available = %d, want no bound", got.Available)
	}
	missed := compile(t, placement(t, with(aggregating, `clusterAffinities: [{affinityName: a, clusterNames: [m1],
		overflowAffinities: [{affinityName: b, clusterNames: [m2]}]}]`)), clusters(t, "m2=2"), SpreadKarmada).Explain(workload(0))
	if got, want := missed.Clusters[0].Rejected, `only overflow affinity "b" matches, and there are no replicas to overflow`; got != want {
		t.Errorf("Rejected = %q, want %q", got, want)
	}
	short := compile(t, placement(t, with(dynamically, `clusterAffinities: [
		{affinityName: near, clusterNames: [m1], overflowAffinities: [{affinityName: nearer, clusterNames: [m2]}]},
		{affinityName: far, clusterNames: [m3]}]`)), clusters(t, "m1=1 m2=2 m3=9"), SpreadKarmada).Explain(workload(4))
	if len(short.Divisions) != 1 || short.Divisions[0].Replicas != 4 {
		t.Errorf("Divisions = %+v, want that of the group that was used alone", short.Divisions)
	}
}

func TestExplainDecidesAsSchedule(t *testing.T) {
	for _, text := range []string{duplicate, weighted(1, 2), dynamically, aggregating, with(duplicate, spreading("cluster 1..2"))} {
		s := compile(t, placement(t, text), clusters(t, "m1=6 m2=12 m3=18"), SpreadKarmada)
		for _, r := range []Request{workload(0), workload(9), moved(t, 9, "m2:3"), workload(99), {Requirements: &karmada.ReplicaRequirements{}}} {
			report := s.Explain(r)
			if diff := cmp.Diff(s.Schedule(r), report.Decision); diff != "" {
				t.Errorf("%s: (-Schedule +Explain):\n%s", text, diff)
			}
			if diff := cmp.Diff(report.Decision, report.Tried[0]); diff != "" {
				t.Errorf("%s: measuring more decides otherwise (-want +got):\n%s", text, diff)
			}
		}
	}
}
