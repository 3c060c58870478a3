package place

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

func TestExplainTellsEverySeat(t *testing.T) {
	var clusters []karmada.Cluster
	for _, name := range []string{"a", "b", "c"} {
		c := karmada.Cluster{}
		c.Name = name
		clusters = append(clusters, c)
	}
	p := &karmada.Placement{ReplicaScheduling: &karmada.ReplicaScheduling{
		ReplicaSchedulingType: karmada.ReplicaSchedulingTypeDivided,
		WeightPreference: &karmada.ClusterPreferences{StaticWeightList: []karmada.StaticClusterWeight{
			{TargetCluster: karmada.ClusterAffinity{ClusterNames: []string{"a"}}, Weight: 3},
			{TargetCluster: karmada.ClusterAffinity{ClusterNames: []string{"b"}}, Weight: 1},
		}},
	}}
	s, err := Compile(p, fleet.New(clusters), SpreadKarmada)
	if err != nil {
		t.Fatal(err)
	}
	r := s.Explain(Request{Replicas: 4})
	want := []Division{{Replicas: 4, Rounds: []Round{
		{"a", 3, 1, "b", 1, 1}, {"b", 1, 1, "a", 3, 3}, {"a", 3, 3, "b", 1, 3}, {"a", 3, 5, "b", 1, 3},
	}}}
	if d := cmp.Diff(want, r.Divisions); d != "" {
		t.Error(d)
	}
	seats := map[string]int64{}
	for _, round := range r.Divisions[0].Rounds {
		seats[round.Cluster]++
	}
	for _, c := range r.Clusters {
		if c.Seats != seats[c.Name] {
			t.Errorf("%s has %d seats, and %d in the rounds", c.Name, c.Seats, seats[c.Name])
		}
	}
}
