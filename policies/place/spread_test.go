package place

import (
	"strings"
	"testing"
)

const (
	fewClusters  = "SchedulerError: failed to select clusters: the number of clusters is less than the cluster spreadConstraint.MinGroups"
	fewRegions   = "SchedulerError: failed to select clusters: the number of feasible region is less than spreadConstraint.MinGroups"
	notSupported = "SchedulerError: failed to select clusters: just support cluster and region spread constraint"
)

// TestSpreadByCluster holds what Karmada's own functions answer.
func TestSpreadByCluster(t *testing.T) {
	const sixty = "m1=40 m2=30 m3=60"
	const ten = "m1=10 m2=10 m3=10"
	two, oneTwo := spreading("cluster 2..2"), spreading("cluster 1..2")
	check(t, []row{
		{name: "the roomiest two", placement: with(dynamically, oneTwo), fleet: sixty, request: workload(80), chosen: "m3 m1", want: "m1:32 m3:48"},
		{
			name: "a cluster that has it gives way to room", placement: with(dynamically, oneTwo), fleet: sixty,
			request: moved(t, 80, "m1:1 m2:1"), chosen: "m1 m3", want: "m1:33 m3:47",
		},
		{
			name: "too little in any two", placement: with(dynamically, oneTwo), fleet: sixty, request: workload(120),
			want: "SchedulerError: failed to select clusters: no enough resource when selecting 2 clusters",
		},
		{
			name: "a max that is not given selects none", placement: with(dynamically, "spreadConstraints: [{spreadByField: cluster}]"),
			fleet: sixty, request: workload(1),
			want: "SchedulerError: failed to select clusters: no enough resource when selecting 0 clusters",
		},
		{name: "max above what there is", placement: with(dynamically, spreading("cluster 1..5")), fleet: ten, request: workload(5), chosen: "m1 m2 m3", want: "m1:2 m2:2 m3:1"},
		{name: "aggregated fills the first of two", placement: with(aggregating, two), fleet: ten, request: workload(5), chosen: "m1 m2", want: "m1:5"},
		{name: "one replica for two clusters", placement: with(dynamically, two), fleet: ten, request: workload(1), chosen: "m1 m2", want: "m1:1"},
		{
			name: "exchanged from the last to the first", placement: with(aggregating, spreading("cluster 1..3")),
			fleet: "m1=1 m2=2 m3=3 m4=9 m5=8", request: moved(t, 20, "m1:1 m2:1 m3:1"),
			chosen: "m3 m5 m4", want: "m3:4 m4:8 m5:8",
		},
		{
			name: "of those with as much room the first is taken", placement: with(dynamically, oneTwo),
			fleet: "m1=1 m2=9 m3=9 m4=9", request: moved(t, 18, "m1:1 m2:1"), chosen: "m2 m3", want: "m2:10 m3:8",
		},
		{
			name: "only for one with more room", placement: with(dynamically, oneTwo),
			fleet: "m1=1 m2=9 m3=5", request: moved(t, 13, "m1:1"), chosen: "m3 m2", want: "m2:8 m3:5",
		},
	}, SpreadKarmada)
}

// regions are the clusters of the worked cases.
const regions = "a1=10@A a2=20@A b1=30@B b2=5@B c1=50@C d1=1@D"

// TestSpreadByRegion holds what Karmada's own functions answer.
func TestSpreadByRegion(t *testing.T) {
	tests := []struct {
		region, cluster       string
		replicas              int32
		previous              string
		chosen, dividedChosen string
		duplicated, dynamic   string
		aggregated            string
	}{
		{"2..2", "2..2", 8, "", "a2 b1", "", "a2:8 b1:8", "a2:3 b1:5", "b1:8"},
		{"2..2", "3..3", 8, "", "a2 b1 a1", "", "a1:8 a2:8 b1:8", "a1:1 a2:3 b1:4", "b1:8"},
		{"2..2", "2..4", 8, "", "a2 b1 a1 b2", "", "a1:8 a2:8 b1:8 b2:8", "a1:1 a2:2 b1:4 b2:1", "b1:8"},
		{"2..3", "5..6", 8, "", "a2 b1 c1 a1 b2", "", "a1:8 a2:8 b1:8 b2:8 c1:8", "a1:1 a2:1 b1:2 c1:4", "c1:8"},
		{"1..4", "1..1", 8, "", "a2", "", "a2:8", "a2:8", "a2:8"},
		{"3..4", "2..2", 8, "", "a2 b1 c1", "", "a2:8 b1:8 c1:8", "a2:2 b1:2 c1:4", "c1:8"},
		{"5..5", "5..5", 8, "", "", "", fewRegions, fewRegions, fewRegions},
		{"2..2", "6..6", 8, "", "", "", fewClusters, fewClusters, fewClusters},
		{"2..2", "2..2", 40, "", "c1 a2", "a2 b1", "a2:40 c1:40", "a2:16 b1:24", "a2:16 b1:24"},
		{"2..0", "2..2", 8, "", "", "", fewClusters, fewClusters, fewClusters},
		{"2..2", "2..0", 8, "", "a2 b1", "", "a2:8 b1:8", "a2:3 b1:5", "b1:8"},
		{"2..2", "2..2", 8, "c1:4 d1:4", "a2 c1", "c1 d1", "a2:8 c1:8", "c1:4 d1:4", "c1:4 d1:4"},
	}
	var rows []row
	for _, tt := range tests {
		name := "region " + tt.region + " cluster " + tt.cluster + " previously " + tt.previous
		constraints := spreading("region "+tt.region, "cluster "+tt.cluster)
		divided := tt.dividedChosen
		if divided == "" {
			divided = tt.chosen
		}
		r := moved(t, tt.replicas, tt.previous)
		rows = append(rows,
			row{"duplicated " + name, with(duplicate, constraints), regions, r, tt.chosen, tt.duplicated},
			row{"dynamic " + name, with(dynamically, constraints), regions, r, divided, tt.dynamic},
			row{"aggregated " + name, with(aggregating, constraints), regions, r, divided, tt.aggregated},
		)
	}
	check(t, rows, SpreadKarmada)
}

// TestSpreadByOther shows what Karmada knows and does not do.
func TestSpreadByOther(t *testing.T) {
	const zoned = "a1=10@A/z1 a2=20@A/z2 b1=30@B/z1 b2=5@B/z3 c1=50@C/z1 d1=1@D"
	check(t, []row{
		{name: "a zone beside a cluster constraint does not count", placement: with(duplicate, spreading("zone 2..2", "cluster 1..2")), fleet: zoned, request: workload(8), chosen: "c1 b1", want: "b1:8 c1:8"},
		{name: "but every cluster must have one", placement: with(duplicate, spreading("zone 1..9", "cluster 1..9")), fleet: zoned, request: workload(8), want: "a1:8 a2:8 b1:8 b2:8 c1:8"},
		{name: "even beside static weights", placement: with(`{replicaScheduling: {}}`, spreading("zone 1..9", "cluster 1..9")), fleet: "a1=1@A/z d1=1@D", request: workload(8), want: "a1:8"},
		{name: "a label alone acts, where Karmada fails", placement: with(duplicate, spreading("label:name 1..1")), fleet: "m1=1 m2=1 m3=1", request: workload(1), want: "m1:1"},
		{name: "a provider alone fails", placement: with(duplicate, spreading("provider 1..2")), fleet: "m1=1@r/z/acme", request: workload(8), want: notSupported},
		{name: "a label beside a cluster constraint does not count", placement: with(duplicate, spreading("label:nothing 1..2", "cluster 1..2")), fleet: regions, request: workload(8), chosen: "c1 b1", want: "b1:8 c1:8"},
	}, SpreadKarmada)
}

// TestSpreadStrict groups by what Karmada does not. For zones and providers the
// fleet is that of the worked regions, so that the answers are the same.
func TestSpreadStrict(t *testing.T) {
	inZones := strings.NewReplacer("@", "@x/").Replace(regions)
	inProviders := strings.NewReplacer("@", "@x/z/").Replace(regions)
	check(t, []row{
		{name: "zones, two clusters", placement: with(dynamically, spreading("zone 2..2", "cluster 2..2")), fleet: inZones, request: workload(8), chosen: "a2 b1", want: "a2:3 b1:5"},
		{name: "zones, four clusters", placement: with(dynamically, spreading("zone 2..2", "cluster 2..4")), fleet: inZones, request: workload(8), chosen: "a2 b1 a1 b2", want: "a1:1 a2:2 b1:4 b2:1"},
		{name: "providers", placement: with(duplicate, spreading("provider 2..2", "cluster 3..3")), fleet: inProviders, request: workload(8), chosen: "a2 b1 a1", want: "a1:8 a2:8 b1:8"},
		{name: "a cluster in several zones counts in the first", placement: with(duplicate, spreading("zone 2..2", "cluster 1..9")), fleet: "m1=9@r/z1,z2 m2=9@r/z2,z1 m3=9@r/z1", request: workload(1), want: "m1:1 m2:1 m3:1"},
		{name: "two zones are not one", placement: with(duplicate, spreading("zone 2..2", "cluster 1..9")), fleet: "m1=9@r/z1,z2 m2=9@r/z1", request: workload(1), want: strings.Replace(fewRegions, "region", "zone", 1)},
		{name: "a label without a cluster constraint takes all clusters of the chosen", placement: with(duplicate, spreading("label:name 2..2")), fleet: "m1=1 m2=1 m3=1", request: workload(1), want: "m1:1 m2:1"},
		{name: "a zone without a cluster constraint takes all of its clusters", placement: with(duplicate, spreading("zone 1..1")), fleet: "m1=9@r/z1 m2=9@r/z1 m3=9@r/z1 m4=1@r/z2", request: workload(1), want: "m1:1 m2:1 m3:1"},
		{name: "every cluster must have the label", placement: with(duplicate, spreading("label:nothing 1..1")), fleet: "m1=1 m2=1", request: workload(1), want: "NoClusterFit: 0/2 clusters are available: 2 cluster(s) did not have nothing property."},
		{name: "regions are as they were", placement: with(dynamically, spreading("region 2..2", "cluster 2..4")), fleet: regions, request: workload(8), want: "a1:1 a2:2 b1:4 b2:1"},
		{name: "static weights still make constraints moot", placement: with(`{replicaScheduling: {}}`, spreading("zone 2..2", "cluster 2..2")), fleet: inZones, request: workload(6), want: "a1:1 a2:1 b1:1 b2:1 c1:1 d1:1"},
	}, SpreadStrict)
}
