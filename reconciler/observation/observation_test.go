package observation_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/observation"
)

// list makes a list of resources, such as "cpu=8 memory=31Gi".
func list(text string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for f := range strings.FieldsSeq(text) {
		name, q, _ := strings.Cut(f, "=")
		l[corev1.ResourceName(name)] = resource.MustParse(q)
	}
	return l
}

// node makes a node that is ready.
func node(allocatable string) observation.Node {
	return observation.NodeOf(&corev1.Node{Status: corev1.NodeStatus{
		Allocatable: list(allocatable), Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}})
}

// pod makes a pod with a container that requests something.
func pod(on, requests string) observation.Pod {
	return observation.PodOf(&corev1.Pod{Spec: corev1.PodSpec{NodeName: on, Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: list(requests)}}}}})
}

func usage(nodes map[string]observation.Node, pods ...observation.Pod) observation.Usage {
	u := observation.Usage{Nodes: nodes, Pods: map[string]observation.Pod{}}
	for i, p := range pods {
		u.Pods[strconv.Itoa(i)] = p
	}
	return u
}

// is lists resources as people write them.
func is(l corev1.ResourceList) string {
	var all []string
	for name, q := range l {
		all = append(all, string(name)+"="+q.String())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestWhatAPodRequests(t *testing.T) {
	container := func(requests string) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: list(requests)}}
	}
	for _, tt := range []struct {
		name string
		spec corev1.PodSpec
		want string
	}{
		{"nothing", corev1.PodSpec{Containers: []corev1.Container{container("")}}, "pods=1"},
		{"its containers together", corev1.PodSpec{Containers: []corev1.Container{container("cpu=100m"), container("cpu=1 memory=1Gi")}}, "cpu=1100m memory=1Gi pods=1"},
		{"an init container if that is more", corev1.PodSpec{InitContainers: []corev1.Container{container("cpu=2"), container("memory=1Mi")}, Containers: []corev1.Container{container("cpu=1 memory=1Gi")}}, "cpu=2 memory=1Gi pods=1"},
		{"its overhead", corev1.PodSpec{Overhead: list("cpu=250m"), Containers: []corev1.Container{container("cpu=1")}}, "cpu=1250m pods=1"},
		{"no limits", corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: list("cpu=1")}}}}, "pods=1"},
	} {
		u := usage(nil, observation.PodOf(&corev1.Pod{Spec: tt.spec}))
		if got := is(u.Room(nil).Resources.Allocating); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestRoomIsSummedUpOverAllNodes(t *testing.T) {
	ended := pod("a", "cpu=1")
	ended.Ended = true
	unready := node("cpu=4 memory=8Gi pods=110 nvidia.com/gpu=1")
	unready.Ready = false
	u := usage(map[string]observation.Node{"a": node("cpu=3920m memory=16131904Ki pods=110"), "b": unready},
		pod("a", "cpu=950m memory=290Mi"), pod("b", "cpu=1"), pod("gone", "cpu=1"), pod("", "cpu=2"), ended)
	r := u.Room(nil)
	got := fmt.Sprintf("%d of %d; %s; %s; %s", r.Nodes.ReadyNum, r.Nodes.TotalNum, is(r.Resources.Allocatable), is(r.Resources.Allocated), is(r.Resources.Allocating))
	want := "1 of 2; cpu=7920m memory=24520512Ki nvidia.com/gpu=1 pods=220; cpu=2950m memory=290Mi pods=3; cpu=2 pods=1"
	if got != want || r.Resources.AllocatableModelings != nil {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestNodesAreCountedByGrade has the figures of section A.13: what Karmada's estimator answers.
func TestNodesAreCountedByGrade(t *testing.T) {
	models := karmada.DefaultResourceModels()
	gpu := []karmada.ResourceModel{{Grade: 0, Ranges: []karmada.ResourceModelRange{{Name: "nvidia.com/gpu", Min: resource.MustParse("0")}}}, {Grade: 1, Ranges: []karmada.ResourceModelRange{{Name: "nvidia.com/gpu", Min: resource.MustParse("1")}}}}
	full := node("cpu=64 memory=512Gi pods=1")
	for _, tt := range []struct {
		name   string
		models []karmada.ResourceModel
		nodes  []observation.Node
		pods   []observation.Pod
		want   string
	}{
		{"8c/32Gi", models, []observation.Node{node("cpu=8 memory=32Gi pods=110")}, nil, "3:1"},
		{"7.9c/31Gi", models, []observation.Node{node("cpu=7900m memory=31Gi pods=110")}, nil, "2:1"},
		{"3 of 4c/16Gi", models, []observation.Node{node("cpu=4 memory=16Gi pods=110"), node("cpu=4 memory=16Gi pods=110"), node("cpu=4 memory=16Gi pods=110")}, nil, "2:3"},
		{"0.9c/3Gi", models, []observation.Node{node("cpu=900m memory=3Gi pods=110")}, nil, "0:1"},
		{"what pods request is not free", models, []observation.Node{node("cpu=8 memory=32Gi pods=110")}, []observation.Pod{pod("0", "cpu=5 memory=1Gi")}, "2:1"},
		{"more is requested than there is", models, []observation.Node{node("cpu=8 memory=32Gi pods=110")}, []observation.Pod{pod("0", "cpu=9")}, "0:1"},
		{"a node without a free pod is passed over", models, []observation.Node{full, node("cpu=8 memory=32Gi pods=110"), full}, []observation.Pod{pod("0", ""), pod("2", "")}, "3:1"},
		{"the largest", models, []observation.Node{node("cpu=1000 memory=9000Gi pods=110")}, nil, "8:1"},
		{"Karmada does not know the resource", gpu, []observation.Node{node("nvidia.com/gpu=8 pods=110")}, nil, "0:1"},
		{"no nodes", models, nil, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			nodes := map[string]observation.Node{}
			for i, n := range tt.nodes {
				nodes[strconv.Itoa(i)] = n
			}
			u := usage(nodes, tt.pods...)
			counted := u.Room(tt.models).Resources.AllocatableModelings
			if len(counted) != len(tt.models) {
				t.Fatalf("%d grades of %d models", len(counted), len(tt.models))
			}
			var got []string
			for _, m := range counted {
				if m.Count > 0 {
					got = append(got, fmt.Sprintf("%d:%d", m.Grade, m.Count))
				}
			}
			if is := strings.Join(got, " "); is != tt.want {
				t.Errorf("got %s, want %s", is, tt.want)
			}
		})
	}
}

// step is a look at a cluster some seconds after the first.
type step struct {
	at     int
	health observation.Health
	want   string // the condition Ready that is recorded, and since when
}

func TestReadyChangesAfterTheThreshold(t *testing.T) {
	const up, sick, down = observation.Healthy, observation.Unhealthy, observation.Unreachable
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, steps := range map[string][]step{
		"what is seen first holds":          {{0, up, "ClusterReady 0"}},
		"so does a failure":                 {{0, down, "ClusterNotReachable 0"}, {10, sick, "ClusterNotReachable 0"}},
		"a short failure is nothing":        {{0, up, "ClusterReady 0"}, {10, down, "ClusterReady 0"}, {30, down, "ClusterReady 0"}, {39, up, "ClusterReady 0"}, {40, down, "ClusterReady 0"}, {69, down, "ClusterReady 0"}},
		"a long one counts":                 {{0, up, "ClusterReady 0"}, {10, down, "ClusterReady 0"}, {20, sick, "ClusterReady 0"}, {40, sick, "ClusterNotReady 40"}, {50, down, "ClusterNotReady 40"}},
		"so does a recovery, once it lasts": {{0, down, "ClusterNotReachable 0"}, {10, up, "ClusterNotReachable 0"}, {39, up, "ClusterNotReachable 0"}, {40, up, "ClusterReady 40"}},
	} {
		t.Run(name, func(t *testing.T) {
			var tr observation.Tracker
			var recorded *karmada.ClusterStatus
			for _, s := range steps {
				recorded, _ = tr.Next(recorded, observation.Facts{Health: s.health}, start.Add(time.Duration(s.at)*time.Second))
				c := recorded.Conditions[0]
				if got := fmt.Sprint(c.Reason, " ", int(c.LastTransitionTime.Sub(start).Seconds())); got != s.want || len(recorded.Conditions) != 1 {
					t.Errorf("after %d s: %s, want %s", s.at, got, s.want)
				}
			}
			var fresh observation.Tracker // another process
			after := start.Add(time.Hour)
			other := observation.Facts{Health: up}
			if recorded.Conditions[0].Status == metav1.ConditionTrue {
				other.Health = down
			}
			for _, s := range []int{0, 10, 20} {
				if next, _ := fresh.Next(recorded, other, after.Add(time.Duration(s)*time.Second)); next != recorded {
					t.Errorf("who starts anew does not wait: %+v", next)
				}
			}
			if next, c := fresh.Next(recorded, other, after.Add(30*time.Second)); next == recorded || !c.Soon {
				t.Error("who starts anew waits for ever")
			}
		})
	}
}

// healthy are the facts of a cluster that has room.
func healthy(u observation.Usage) observation.Facts {
	room := u.Room(nil)
	served := observation.ServedBy("v1.35.0", []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods", Kind: "Pod"}, {Name: "pods/log", Kind: "Pod"}, {Name: "configmaps", Kind: "ConfigMap"}}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{{Name: "deployments", Kind: "Deployment"}}},
	}, nil)
	return observation.Facts{Health: observation.Healthy, Served: served, Room: &room}
}

// look is a look at a cluster, and what changes by it.
type look struct {
	name string
	now  observation.Facts
	want []string
}

// steady reports that no condition waits for its time.
func (l *look) steady() bool {
	s := l.now.Served
	return l.now.Health == observation.Healthy && (s == nil || len(s.APIs) > 1 && len(s.Failed) == 0 && s.Version == "v1.35.0")
}

func TestWhatIsRecorded(t *testing.T) {
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	nodes := map[string]observation.Node{"a": node("cpu=20 memory=64Gi pods=110")}
	var tr observation.Tracker
	first, _ := tr.Next(nil, healthy(usage(nodes, pod("a", "cpu=1"))), start)
	if got := fmt.Sprint(first.KubernetesVersion, first.APIEnablements, is(first.ResourceSummary.Allocatable), "; ", is(first.ResourceSummary.Allocated), *first.NodeSummary); got !=
		"v1.35.0[{apps/v1 [{deployments Deployment}]} {v1 [{configmaps ConfigMap} {pods Pod}]}]cpu=20 memory=64Gi pods=110; cpu=1568m pods=6{1 1}" {
		t.Errorf("first: %s", got)
	}
	full := func() observation.Facts { return healthy(usage(nodes, pod("a", "cpu=1"))) }
	for _, tt := range []look{
		{"nothing", full(), nil},
		{"a little less is free", healthy(usage(nodes, pod("a", "cpu=1500m"), pod("a", "memory=0"))), nil},
		{"a little more is free", healthy(usage(nodes, pod("a", "cpu=10m"))), nil},
		{"less is free", healthy(usage(nodes, pod("a", "cpu=5"))), []string{"room"}},
		{"a pod waits for a node", healthy(usage(nodes, pod("", "cpu=5"))), []string{"room"}},
		{"a node more", healthy(usage(map[string]observation.Node{"a": nodes["a"], "b": nodes["a"]}, pod("a", "cpu=1"))), []string{"room"}},
		{"no nodes", healthy(usage(nil)), []string{"room"}},
		{"a resource more", healthy(usage(map[string]observation.Node{"a": node("cpu=20 memory=64Gi pods=110 x.io/y=0")}, pod("a", "cpu=1"))), []string{"room"}},
		{"a node is not ready", healthy(usage(map[string]observation.Node{"a": {Allocatable: nodes["a"].Allocatable}}, pod("a", "cpu=1"))), nil},
		{"nodes and pods are not known", observation.Facts{Health: observation.Healthy, Served: full().Served}, nil},
		{"nodes may not be listed", observation.Facts{Health: observation.Healthy, Refused: "nodes may not be listed"}, []string{"nodes may not be listed"}},
		{"it does not answer", observation.Facts{Health: observation.Unreachable, Served: &observation.Served{}, Room: &observation.Room{}}, nil},
		{"a version", observation.Facts{Health: observation.Healthy, Served: &observation.Served{Version: "v1.36.0", APIs: full().Served.APIs}}, nil},
		{"a kind less", observation.Facts{Health: observation.Healthy, Served: &observation.Served{Version: "v1.35.0", APIs: full().Served.APIs[:1]}}, nil},
		{"a group that does not answer", observation.Facts{Health: observation.Healthy, Served: &observation.Served{Version: "v1.35.0", APIs: full().Served.APIs[:1], Failed: []string{"v1"}}}, nil},
		{"nothing is said of what it serves", observation.Facts{Health: observation.Healthy, Served: &observation.Served{Version: "v1.35.0"}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := tr
			next, change := tr.Next(first, tt.now, start.Add(time.Minute))
			if d := cmp.Diff(tt.want, change.Words); d != "" || (next == first) != (tt.want == nil) {
				t.Error(d)
			}
			if again, c := tr.Next(next, tt.now, start.Add(2*time.Minute)); again != next && tt.steady() {
				t.Errorf("what was recorded is not what is there: %v", c.Words)
			}
		})
	}
	refused, _ := tr.Next(first, observation.Facts{Health: observation.Healthy, Refused: "no"}, start)
	if back, c := tr.Next(refused, full(), start); len(c.Words) != 1 || cmp.Diff(first, back) != "" {
		t.Errorf("it may be looked at again: %v, %s", c.Words, cmp.Diff(first, back))
	}
}

// TestWhatIsServedNoMoreStaysForAWhile has an API server that starts, and does not name all kinds
// at once, and one of two that are upgraded: charts render by what is recorded, and what they do
// not render any more is deleted.
func TestWhatIsServedNoMoreStaysForAWhile(t *testing.T) {
	all := func(names string) *observation.Served {
		var lists []*metav1.APIResourceList
		for name := range strings.FieldsSeq(names) {
			gv, kinds, _ := strings.Cut(name, ":")
			l := &metav1.APIResourceList{GroupVersion: gv}
			for k := range strings.SplitSeq(kinds, ",") {
				l.APIResources = append(l.APIResources, metav1.APIResource{Name: k, Kind: k})
			}
			lists = append(lists, l)
		}
		return observation.ServedBy("v1.35.0", lists, nil)
	}
	newer := all("x/v1:c v1:b,b/status,a")
	newer.Version = "v1.36.0"
	var tr observation.Tracker
	recorded, _ := tr.Next(nil, observation.Facts{Health: observation.Healthy, Served: all("v1:a,b x/v1:c")}, time.Unix(0, 0))
	for _, tt := range []struct {
		at   int64
		now  *observation.Served
		want string
	}{
		{10, all("v1:a"), "v1.35.0 [{v1 [{a a} {b b}]} {x/v1 [{c c}]}]"},
		{39, all("v1:a x/v1:c"), "v1.35.0 [{v1 [{a a} {b b}]} {x/v1 [{c c}]}]"},
		{40, all("v1:a y/v1:d"), "v1.35.0 [{v1 [{a a}]} {x/v1 [{c c}]} {y/v1 [{d d}]}]"}, // b is missed for long, and d is new
		{69, all("v1:a,b y/v1:d"), "v1.35.0 [{v1 [{a a} {b b}]} {x/v1 [{c c}]} {y/v1 [{d d}]}]"},
		{70, all("v1:a,b"), "v1.35.0 [{v1 [{a a} {b b}]} {y/v1 [{d d}]}]"},
		{80, newer, "v1.35.0 [{v1 [{a a} {b b}]} {x/v1 [{c c}]} {y/v1 [{d d}]}]"},
		{90, all("v1:a,b x/v1:c"), "v1.35.0 [{v1 [{a a} {b b}]} {x/v1 [{c c}]} {y/v1 [{d d}]}]"},
		{110, newer, "v1.35.0 [{v1 [{a a} {b b}]} {x/v1 [{c c}]}]"},
		{140, newer, "v1.36.0 [{v1 [{a a} {b b}]} {x/v1 [{c c}]}]"},
		{150, &observation.Served{}, "v1.36.0 [{v1 [{a a} {b b}]} {x/v1 [{c c}]}]"},
		{200, &observation.Served{}, "v1.36.0 [{v1 [{a a} {b b}]} {x/v1 [{c c}]}]"}, // it does not say
		{210, &observation.Served{APIs: newer.APIs, Failed: []string{"v1"}}, "v1.36.0 [{v1 [{a a} {b b}]} {x/v1 [{c c}]}]"},
	} {
		recorded, _ = tr.Next(recorded, observation.Facts{Health: observation.Healthy, Served: tt.now}, time.Unix(tt.at, 0))
		if got := fmt.Sprint(recorded.KubernetesVersion, " ", recorded.APIEnablements); got != tt.want {
			t.Errorf("after %d s: %s, want %s", tt.at, got, tt.want)
		}
	}
}

func TestNothingIsSeenOfAClusterUntilItIsReady(t *testing.T) {
	start := time.Unix(0, 0)
	facts := healthy(usage(map[string]observation.Node{"a": node("cpu=20 pods=110")}))
	var tr observation.Tracker
	recorded, _ := tr.Next(nil, observation.Facts{Health: observation.Unreachable}, start)
	for _, s := range []int{10, 39} {
		if next, c := tr.Next(recorded, facts, start.Add(time.Duration(s)*time.Second)); next != recorded {
			t.Errorf("after %d s: %v", s, c.Words)
		}
	}
	if next, c := tr.Next(recorded, facts, start.Add(40*time.Second)); next.ResourceSummary == nil || next.KubernetesVersion == "" || !c.Soon {
		t.Errorf("once it is ready: %v", c.Words)
	}
}

// FuzzRecorded holds the laws of what is recorded of room: it is a fixed point; decisions see no
// more than is free, and four fifths of it at least; and no change within these bounds is seen.
func FuzzRecorded(f *testing.F) {
	f.Add(int64(1000), int64(17), int64(3))
	f.Add(int64(64<<30), int64(63<<30), int64(1<<30))
	f.Add(int64(16), int64(16), int64(-5))
	f.Fuzz(func(t *testing.T, offered, taken, change int64) {
		offered, taken = offered&(1<<50-1), taken&(1<<50-1)
		room := func(taken int64) observation.Facts {
			u := observation.Usage{
				Nodes: map[string]observation.Node{"n": {Allocatable: observation.Amounts{"cpu": offered, "memory": offered, "pods": 110}}},
				Pods:  map[string]observation.Pod{"p": {Node: "n", Requests: observation.Amounts{"cpu": taken, "memory": taken}}},
			}
			r := u.Room(karmada.DefaultResourceModels())
			return observation.Facts{Health: observation.Healthy, Room: &r}
		}
		var tr observation.Tracker
		now := time.Unix(0, 0)
		facts := room(taken)
		recorded, _ := tr.Next(nil, facts, now)
		if next, c := tr.Next(recorded, facts, now); next != recorded {
			t.Fatalf("it is no fixed point: %v", c.Words)
		}
		seen, is := fleet.Free(recorded.ResourceSummary), fleet.Free(&facts.Room.Resources)
		for name, free := range is {
			if r := seen[name]; free > 0 && (r > free || r < free-free/5-1) || free <= 0 && r > 0 {
				t.Errorf("of %d %s that are free, decisions see %d", free, name, r)
			}
		}
		other := room(max(taken+change%(1<<50), 0))
		next, _ := tr.Next(recorded, other, now)
		within := true
		for name, free := range fleet.Free(&other.Room.Resources) {
			r, v := max(seen[name], 0), max(free, 0)
			within = within && r <= v && v-r <= r/4
		}
		sameGrade := cmp.Equal(facts.Room.Resources.AllocatableModelings, other.Room.Resources.AllocatableModelings)
		if within && sameGrade && next != recorded {
			t.Errorf("%d of %d and %d are recorded apart", taken, offered, taken+change)
		}
		if !within && next == recorded {
			t.Errorf("%d of %d and %d are not told apart", taken, offered, taken+change)
		}
	})
}

// TestANodeThatHoversAtTheBoundOfItsGradeChangesNothing counts what is recorded while what is
// free on a node goes up and down.
func TestANodeThatHoversAtTheBoundOfItsGradeChangesNothing(t *testing.T) {
	now := time.Unix(0, 0)
	models := karmada.DefaultResourceModels()
	var tr observation.Tracker
	var recorded *karmada.ClusterStatus
	records := 0
	for i := range 100 {
		u := usage(map[string]observation.Node{"a": node("cpu=16 memory=64Gi pods=110"), "b": node("cpu=64 memory=256Gi pods=110")}, pod("a", fmt.Sprintf("cpu=%dm", 8000+i%2)))
		r := u.Room(models)
		next, _ := tr.Next(recorded, observation.Facts{Health: observation.Healthy, Room: &r}, now)
		if next != recorded {
			recorded = next
			records++
		}
	}
	if records != 1 {
		t.Errorf("it is recorded %d times", records)
	}
	u := usage(map[string]observation.Node{"a": node("cpu=16 memory=64Gi pods=110"), "b": node("cpu=64 memory=256Gi pods=110")}, pod("a", "cpu=10"))
	r := u.Room(models)
	if next, _ := tr.Next(recorded, observation.Facts{Health: observation.Healthy, Room: &r}, now); next == recorded {
		t.Error("a node that leaves its grade is not seen")
	}
}
