package place

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// clusters reads a fleet from a line: each word is a name, how many pods the
// cluster has free, and optionally its region, zones and provider, as in
// "a1=10@eu/z1,z2/acme".
func clusters(tb testing.TB, line string) []karmada.Cluster {
	tb.Helper()
	word := regexp.MustCompile(`^(\w+)=(\d+)(?:@(\w*)(?:/([\w,]*)(?:/(\w*))?)?)?$`)
	var cs []karmada.Cluster
	for w := range strings.FieldsSeq(line) {
		m := word.FindStringSubmatch(w)
		if m == nil {
			tb.Fatalf("cluster %q: want name=pods@region/zones/provider", w)
		}
		c := karmada.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: m[1], Labels: map[string]string{"name": m[1]}},
			Spec:       karmada.ClusterSpec{Region: m[3], Provider: m[5]},
			Status: karmada.ClusterStatus{ResourceSummary: &karmada.ResourceSummary{
				Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse(m[2])},
			}},
		}
		if m[4] != "" {
			c.Spec.Zones = strings.Split(m[4], ",")
		}
		cs = append(cs, c)
	}
	return cs
}

// placement reads a placement as people write it.
func placement(tb testing.TB, text string) *karmada.Placement {
	tb.Helper()
	var p karmada.Placement
	if err := yaml.UnmarshalStrict([]byte(text), &p); err != nil {
		tb.Fatalf("placement %s: %v", text, err)
	}
	return &p
}

// targets reads "m1:3 m2:6".
func targets(tb testing.TB, line string) []karmada.TargetCluster {
	tb.Helper()
	var ts []karmada.TargetCluster
	for w := range strings.FieldsSeq(line) {
		name, n, _ := strings.Cut(w, ":")
		replicas, err := strconv.Atoi(n)
		if err != nil {
			tb.Fatalf("target %q: want name:replicas", w)
		}
		ts = append(ts, karmada.TargetCluster{Name: name, Replicas: int32(replicas)})
	}
	return ts
}

// show writes a decision as its targets, or as its reason and message.
func show(d Decision) string {
	if d.Reason != Success {
		return fmt.Sprintf("%s: %s", d.Reason, d.Message)
	}
	parts := make([]string, len(d.Targets))
	for i, t := range d.Targets {
		parts[i] = fmt.Sprintf("%s:%d", t.Name, t.Replicas)
	}
	return strings.Join(parts, " ")
}

func compile(tb testing.TB, p *karmada.Placement, cs []karmada.Cluster, mode Spread) *Scheduler {
	tb.Helper()
	s, err := Compile(p, fleet.New(cs), mode)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// row is a line of a table of decisions.
type row struct {
	name      string
	placement string
	fleet     string
	request   Request
	chosen    string // what the spread constraints left, in order; not looked at if empty
	want      string
}

func check(t *testing.T, rows []row, mode Spread) {
	t.Helper()
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			cs := clusters(t, tt.fleet)
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(cs), func(i, j int) { cs[i], cs[j] = cs[j], cs[i] })
			s := compile(t, placement(t, tt.placement), cs, mode)
			if got := show(s.Schedule(tt.request)); got != tt.want {
				t.Errorf("Schedule() = %s, want %s", got, tt.want)
			}
			if tt.chosen == "" {
				return
			}
			a := s.try(&s.groups[0], s.newQuery(tt.request))
			var chosen []string
			for _, c := range a.chosen {
				chosen = append(chosen, c.cluster.Name)
			}
			if got := strings.Join(chosen, " "); got != tt.chosen {
				t.Errorf("chosen: %s, want %s", got, tt.chosen)
			}
		})
	}
}

// workload asks for replicas, without requirements.
func workload(replicas int32) Request {
	return Request{APIVersion: "apps/v1", Kind: "Deployment", Replicas: replicas}
}

// moved asks for replicas of a template that is somewhere already.
func moved(tb testing.TB, replicas int32, previous string) Request {
	tb.Helper()
	r := workload(replicas)
	r.Previous = targets(tb, previous)
	return r
}

func fresh(tb testing.TB, replicas int32, previous string) Request {
	tb.Helper()
	r := moved(tb, replicas, previous)
	r.Fresh = true
	return r
}

const duplicate = `{replicaScheduling: {replicaSchedulingType: Duplicated}}`

// weighted divides by weights for m1, m2, …
func weighted(weights ...int) string {
	var list []string
	for i, w := range weights {
		list = append(list, fmt.Sprintf("{targetCluster: {clusterNames: [m%d]}, weight: %d}", i+1, w))
	}
	return fmt.Sprintf("{replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, "+
		"weightPreference: {staticWeightList: [%s]}}}", strings.Join(list, ", "))
}

// with adds fields to a placement.
func with(placement, fields string) string {
	return strings.TrimSuffix(placement, "}") + ", " + fields + "}"
}

// spreading constrains a field.
func spreading(constraints ...string) string {
	var list []string
	for _, c := range constraints {
		field, rest, _ := strings.Cut(c, " ")
		least, most, _ := strings.Cut(rest, "..")
		if key, ok := strings.CutPrefix(field, "label:"); ok {
			list = append(list, fmt.Sprintf("{spreadByLabel: %s, minGroups: %s, maxGroups: %s}", key, least, most))
			continue
		}
		list = append(list, fmt.Sprintf("{spreadByField: %s, minGroups: %s, maxGroups: %s}", field, least, most))
	}
	return "spreadConstraints: [" + strings.Join(list, ", ") + "]"
}

// TestStatic holds what Karmada's own functions answer.
func TestStatic(t *testing.T) {
	const two, three = "m1=10 m2=10", "m1=10 m2=10 m3=10"
	const equal = `{replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}`
	const empty = `{replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {}}}`
	zero := workload(0)
	zero.Requirements = &karmada.ReplicaRequirements{}
	check(t, []row{
		{name: "9 over 1:2", placement: weighted(1, 2), fleet: two, request: workload(9), want: "m1:3 m2:6"},
		{name: "9 over 1:3", placement: weighted(1, 3), fleet: two, request: workload(9), want: "m1:2 m2:7"},
		{name: "5 over 1:1", placement: weighted(1, 1), fleet: two, request: workload(5), want: "m1:3 m2:2"},
		{name: "3 over 10:1:1 leaves two clusters out", placement: weighted(10, 1, 1), fleet: three, request: workload(3), want: "m1:3"},
		{name: "1 over 1:2", placement: weighted(1, 2), fleet: two, request: workload(1), want: "m2:1"},
		{name: "a cluster without a weight has no part", placement: weighted(1, 2), fleet: three, request: workload(9), want: "m1:3 m2:6"},
		{
			name: "when no candidate has a weight all have the same", fleet: three, request: workload(9), want: "m1:3 m2:3 m3:3",
			placement: strings.ReplaceAll(weighted(1, 2), "[m", "[x"),
		},
		{
			name: "the largest of the entries that match counts", fleet: two, request: workload(10), want: "m1:5 m2:5",
			placement: `{replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {staticWeightList: [
				{targetCluster: {clusterNames: [m1]}, weight: 1}, {targetCluster: {clusterNames: [m1, m2]}, weight: 5}]}}}`,
		},
		{name: "no weight preference weighs all the same", placement: equal, fleet: three, request: workload(10), want: "m1:4 m2:3 m3:3"},
		{name: "an empty replicaScheduling is that", placement: `{replicaScheduling: {}}`, fleet: three, request: workload(10), want: "m1:4 m2:3 m3:3"},
		{name: "capacity does not count", placement: equal, fleet: three, request: workload(90), want: "m1:30 m2:30 m3:30"},
		{name: "what was before does not count", placement: weighted(1, 2), fleet: two, request: moved(t, 9, "m1:9"), want: "m1:3 m2:6"},
		{name: "no replicas with requirements go nowhere", placement: equal, fleet: three, request: zero, chosen: "m1 m2 m3", want: ""},
		{name: "no replicas without requirements go everywhere", placement: equal, fleet: three, request: workload(0), want: "m1:0 m2:0 m3:0"},
		{
			name: "spread constraints do not count", placement: with(weighted(1, 2), spreading("cluster 1..1")),
			fleet: three, request: workload(9), chosen: "m1 m2 m3", want: "m1:3 m2:6",
		},
		{
			name: "but with an empty weight preference they do", placement: with(empty, spreading("cluster 1..1")),
			fleet: three, request: workload(9), chosen: "m1", want: "m1:9",
		},
		{
			name: "and the division is equal", placement: with(empty, spreading("cluster 1..2")),
			fleet: three, request: workload(9), chosen: "m1 m2", want: "m1:5 m2:4",
		},
	}, SpreadKarmada)
}

// TestDuplicated holds what Karmada's own functions answer.
func TestDuplicated(t *testing.T) {
	const three = "m1=10 m2=10 m3=10"
	check(t, []row{
		{name: "every cluster gets all", placement: duplicate, fleet: three, request: workload(3), want: "m1:3 m2:3 m3:3"},
		{name: "no placement is that", placement: `{}`, fleet: three, request: workload(3), want: "m1:3 m2:3 m3:3"},
		{name: "capacity does not count", placement: duplicate, fleet: three, request: workload(50), want: "m1:50 m2:50 m3:50"},
		{
			name: "at most two: those with the most room", placement: with(duplicate, spreading("cluster 1..2")),
			fleet: "m1=5 m2=9 m3=7", request: workload(3), chosen: "m2 m3", want: "m2:3 m3:3",
		},
		{
			name: "at most two without replicas: by name", placement: with(duplicate, spreading("cluster 1..2")),
			fleet: "m1=5 m2=9 m3=7", request: workload(0), chosen: "m1 m2", want: "m1:0 m2:0",
		},
		{
			name: "at most two: where it is comes first", placement: with(duplicate, spreading("cluster 1..2")),
			fleet: "m1=5 m2=9 m3=7", request: moved(t, 3, "m3:3"), chosen: "m3 m2", want: "m2:3 m3:3",
		},
		{
			name: "a max that is not given wants none", placement: with(duplicate, "spreadConstraints: [{minGroups: 1}]"),
			fleet: three, request: workload(3),
			want: "SchedulerError: failed to assign replicas: no clusters available to schedule",
		},
		{
			name: "fewer clusters than min", placement: with(duplicate, spreading("cluster 4..4")),
			fleet: three, request: workload(3),
			want: "SchedulerError: failed to select clusters: the number of feasible clusters is less than spreadConstraint.MinGroups",
		},
	}, SpreadKarmada)
}

const (
	dynamically = `{replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {dynamicWeight: AvailableReplicas}}}`
	aggregating = `{replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}}`
)

// TestDynamic holds what Karmada's own functions answer.
func TestDynamic(t *testing.T) {
	const six = "m1=6 m2=12 m3=18"
	rows := []row{
		{name: "first 12", fleet: six, request: workload(12), chosen: "m3 m2 m1", want: "m1:2 m2:4 m3:6"},
		{name: "first 10", fleet: six, request: workload(10), want: "m1:2 m2:3 m3:5"},
		{name: "all there is room for", fleet: six, request: workload(36), want: "m1:6 m2:12 m3:18"},
		{
			name: "one more than there is room for", fleet: six, request: workload(37),
			want: "Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 36 are not enough to schedule.",
		},
		{name: "up from 12 to 15", fleet: six, request: moved(t, 15, "m1:2 m2:4 m3:6"), want: "m1:3 m2:5 m3:7"},
		{name: "up from 12 to 14", fleet: six, request: moved(t, 14, "m1:2 m2:4 m3:6"), want: "m1:2 m2:5 m3:7"},
		{name: "down from 12 to 5", fleet: six, request: moved(t, 5, "m1:2 m2:4 m3:6"), want: "m1:1 m2:2 m3:2"},
		{name: "down from 12 to 1", fleet: six, request: moved(t, 1, "m1:2 m2:4 m3:6"), want: "m3:1"},
		{name: "the same stays", fleet: six, request: moved(t, 12, "m1:2 m2:4 m3:6"), chosen: "m3 m2 m1", want: "m1:2 m2:4 m3:6"},
		{name: "afresh what was before does not count", fleet: six, request: fresh(t, 12, "m1:12"), chosen: "m1 m3 m2", want: "m1:5 m2:3 m3:4"},
		{
			name: "afresh with too little room", fleet: six, request: fresh(t, 40, "m1:1"),
			want: "Unschedulable: failed to assign replicas: failed to do fresh scale: Clusters available replicas 37 are not enough to schedule.",
		},
		{name: "what was in a lost cluster is given out again", fleet: six, request: moved(t, 12, "m0:6 m1:6"), chosen: "m1 m3 m2", want: "m1:7 m2:2 m3:3"},
		{name: "no room in two of three", fleet: "m1=0 m2=4 m3=0", request: workload(4), want: "m2:4"},
		{name: "one replica goes to the lower name", fleet: "m1=5 m2=5 m3=5", request: workload(1), want: "m1:1"},
		{name: "8 over equal room", fleet: "m1=5 m2=5 m3=5", request: workload(8), want: "m1:3 m2:3 m3:2"},
		{name: "best effort", fleet: "m1=1000 m2=1000 m3=1000", request: workload(6), want: "m1:2 m2:2 m3:2"},
		{name: "room without bound counts as room for all", fleet: "m1=4000000000 m2=6", request: workload(10), want: "m1:6 m2:4"},
		{name: "9 over 8 and 1", fleet: "m1=8 m2=1", request: workload(9), want: "m1:8 m2:1"},
		{name: "8 over 8 and 1", fleet: "m1=8 m2=1", request: workload(8), want: "m1:7 m2:1"},
		{name: "13 over 10 and four ones", fleet: "m1=10 m2=1 m3=1 m4=1 m5=1", request: workload(13), want: "m1:9 m2:1 m3:1 m4:1 m5:1"},
		{name: "4 over 10 and four ones", fleet: "m1=10 m2=1 m3=1 m4=1 m5=1", request: workload(4), want: "m1:4"},
	}
	for i := range rows {
		rows[i].placement = dynamically
	}
	check(t, rows, SpreadKarmada)
}

// TestAggregated holds what Karmada's own functions answer.
func TestAggregated(t *testing.T) {
	const six = "m1=6 m2=12 m3=18"
	rows := []row{
		{name: "12 fit into one", fleet: six, request: workload(12), chosen: "m3 m2 m1", want: "m3:12"},
		{name: "20 need two", fleet: six, request: workload(20), want: "m2:8 m3:12"},
		{name: "36 need all", fleet: six, request: workload(36), want: "m1:6 m2:12 m3:18"},
		{
			name: "37 do not fit", fleet: six, request: workload(37),
			want: "Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 36 are not enough to schedule.",
		},
		{name: "up where it is already", fleet: six, request: moved(t, 8, "m1:3"), chosen: "m1 m3 m2", want: "m1:8"},
		{name: "up where it is already, and one more", fleet: six, request: moved(t, 12, "m1:3"), want: "m1:5 m3:7"},
		{name: "down to two", fleet: six, request: moved(t, 6, "m1:5 m2:3 m3:2"), chosen: "m3 m2 m1", want: "m1:4 m2:2"},
		{name: "down to one", fleet: six, request: moved(t, 5, "m1:5 m2:3 m3:2"), want: "m1:5"},
		{name: "down from equal parts", fleet: six, request: moved(t, 5, "m1:4 m2:4"), chosen: "m2 m1 m3", want: "m1:3 m2:2"},
		{name: "down from equal parts, one of which will do", fleet: six, request: moved(t, 4, "m1:4 m2:4"), chosen: "m2 m1 m3", want: "m1:4"},
		{name: "afresh it may move", fleet: "m1=0 m2=12 m3=18", request: fresh(t, 6, "m1:6"), chosen: "m1 m3 m2", want: "m3:6"},
		{name: "equal room goes to the lower name", fleet: "m1=10 m2=10 m3=10", request: workload(8), want: "m1:8"},
		{name: "equal room, two needed", fleet: "m1=10 m2=10 m3=10", request: workload(15), want: "m1:8 m2:7"},
	}
	for i := range rows {
		rows[i].placement = aggregating
	}
	check(t, rows, SpreadKarmada)
}

// TestOverflow holds what Karmada's own functions answer, for m1 that overflows
// into m2 and then into m3.
func TestOverflow(t *testing.T) {
	const six = "m1=6 m2=12 m3=18"
	overflow := `clusterAffinities: [{affinityName: first, clusterNames: [m1], overflowAffinities: [
		{affinityName: second, clusterNames: [m1, m2]}, {affinityName: third}]}]`
	aggregated, dynamic := with(aggregating, overflow), with(dynamically, overflow)
	check(t, []row{
		{name: "4 fit", placement: aggregated, fleet: six, request: workload(4), chosen: "m1 m2 m3", want: "m1:4"},
		{name: "6 just fit", placement: aggregated, fleet: six, request: workload(6), want: "m1:6"},
		{name: "10 overflow once", placement: aggregated, fleet: six, request: workload(10), want: "m1:6 m2:4"},
		{name: "20 overflow twice", placement: aggregated, fleet: six, request: workload(20), want: "m1:6 m2:12 m3:2"},
		{name: "30 overflow twice", placement: aggregated, fleet: six, request: workload(30), want: "m1:6 m2:12 m3:12"},
		{
			name: "40 are too many", placement: aggregated, fleet: six, request: workload(40),
			want: "Unschedulable: failed to assign replicas: Clusters available replicas are not enough to schedule.",
		},
		{
			name: "scaling down empties the last first", placement: aggregated, fleet: "m1=0 m2=0 m3=16",
			request: moved(t, 10, "m1:6 m2:12 m3:2"), chosen: "m1 m2 m3", want: "m1:6 m2:4",
		},
		{name: "20 by room", placement: dynamic, fleet: six, request: workload(20), want: "m1:6 m2:12 m3:2"},
		{name: "without replicas nothing overflows", placement: aggregated, fleet: six, request: workload(0), want: "m1:0"},
	}, SpreadKarmada)
}

// TestTheGroupInUseDecides is a template that runs in a later group, which becomes too
// small for it. Karmada starts from that group, finds it too small, and leaves what runs.
func TestTheGroupInUseDecides(t *testing.T) {
	groups := with(aggregating, `clusterAffinities: [{affinityName: gone, clusterNames: [m9]}, {affinityName: here, clusterNames: [m1]}]`)
	inUse := func(replicas int32, group string) Request {
		r := moved(t, replicas, "m1:4")
		r.Group = group
		return r
	}
	s := compile(t, placement(t, groups), clusters(t, "m1=2 m2=9"), SpreadKarmada)
	d := s.Schedule(inUse(20, "here"))
	if d.Reason != Unschedulable || d.Group != "here" || len(d.Targets) != 1 {
		t.Errorf("scaled beyond its room: %s in group %q, targets %v", show(d), d.Group, d.Targets)
	}
	if d := s.Schedule(inUse(5, "here")); show(d) != "m1:5" {
		t.Errorf("scaled within its room: %s", show(d))
	}
	afresh := inUse(20, "here")
	afresh.Fresh = true
	if d := s.Schedule(afresh); d.Reason != Unschedulable || len(d.Targets) != 1 {
		t.Errorf("afresh, beyond its room: %s, targets %v", show(d), d.Targets)
	}
	for _, r := range []Request{inUse(20, ""), inUse(20, "no more"), fresh(t, 20, "m1:4")} {
		if d := s.Schedule(r); d.Reason != NoClusterFit || d.Group != r.Group {
			t.Errorf("in group %q the first group decides, not %s in group %q", r.Group, show(d), d.Group)
		}
	}
}

// Where work fails over, the group in use is tried first, then those behind it, and at last those before it; one that is no more is
// as none. In which group it ends is said also when none of them will do.
func TestOnwardFromTheGroupInUse(t *testing.T) {
	groups := with(dynamically, `clusterAffinities: [{affinityName: a, clusterNames: [m1]}, {affinityName: b, clusterNames: [m2]}, {affinityName: c, clusterNames: [m3]}]`)
	for _, tt := range []struct{ fleet, group, want, in string }{
		{"m1=9 m2=9 m3=9", "a", "m1:4", "a"},
		{"m1=9 m2=9 m3=9", "b", "m2:4", "b"},
		{"m1=9 m2=9 m3=9", "c", "m3:4", "c"},
		{"m1=9 m2=1 m3=9", "b", "m3:4", "c"},
		{"m1=9 m2=1 m3=1", "b", "m1:4", "a"},
		{"m1=9 m2=9 m3=1", "c", "m1:4", "a"},
		{"m1=1 m2=9 m3=1", "c", "m2:4", "b"},
		{"m1=9 m2=9 m3=9", "gone", "m1:4", "a"},
		{"m1=9 m2=9 m3=9", "", "m1:4", "a"},
		{"m1=1 m2=2 m3=3", "b", "Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 2 are not enough to schedule.", "b"},
	} {
		r := workload(4)
		r.Group, r.Onward = tt.group, true
		d := compile(t, placement(t, groups), clusters(t, tt.fleet), SpreadKarmada).Schedule(r)
		if is := show(d); is != tt.want || d.Group != tt.in {
			t.Errorf("from %q of %s it goes to %s by %q, want %s by %q", tt.group, tt.fleet, is, d.Group, tt.want, tt.in)
		}
	}
}

func TestPreviousInAnyOrder(t *testing.T) {
	s := compile(t, placement(t, aggregating), clusters(t, "m1=6 m2=12 m3=18"), SpreadKarmada)
	r := moved(t, 8, "m1:3 m2:1 m3:2")
	want := show(s.Schedule(r))
	slices.Reverse(r.Previous)
	if got := show(s.Schedule(r)); got != want {
		t.Errorf("previous targets reversed: got %s, want %s", got, want)
	}
}
