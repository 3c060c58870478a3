package place

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

func TestUntolerated(t *testing.T) {
	taint := corev1.Taint{Key: "dedicated", Value: "infra", Effect: corev1.TaintEffectNoSchedule}
	executing := corev1.Taint{Key: "gpu", Effect: corev1.TaintEffectNoExecute}
	tests := []struct {
		name        string
		taints      []corev1.Taint
		tolerations []corev1.Toleration
		want        string
	}{
		{"no taint", nil, nil, ""},
		{"a taint", []corev1.Taint{taint}, nil, "dedicated=infra:NoSchedule"},
		{"NoExecute keeps out too", []corev1.Taint{executing}, nil, "gpu:NoExecute"},
		{"PreferNoSchedule does not", []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectPreferNoSchedule}}, nil, ""},
		{"the first that is not tolerated", []corev1.Taint{taint, executing}, []corev1.Toleration{{Key: "dedicated", Operator: "Exists"}}, "gpu:NoExecute"},
		{"Equal with the value", []corev1.Taint{taint}, []corev1.Toleration{{Key: "dedicated", Operator: "Equal", Value: "infra"}}, ""},
		{"no operator means Equal", []corev1.Taint{taint}, []corev1.Toleration{{Key: "dedicated", Value: "infra"}}, ""},
		{"Equal with another value", []corev1.Taint{taint}, []corev1.Toleration{{Key: "dedicated", Value: "web"}}, "dedicated=infra:NoSchedule"},
		{"Exists without a key", []corev1.Taint{taint, executing}, []corev1.Toleration{{Operator: "Exists"}}, ""},
		{"another key", []corev1.Taint{taint}, []corev1.Toleration{{Key: "gpu", Operator: "Exists"}}, "dedicated=infra:NoSchedule"},
		{"another effect", []corev1.Taint{taint}, []corev1.Toleration{{Key: "dedicated", Operator: "Exists", Effect: "NoExecute"}}, "dedicated=infra:NoSchedule"},
		{"the same effect", []corev1.Taint{taint}, []corev1.Toleration{{Key: "dedicated", Operator: "Exists", Effect: "NoSchedule"}}, ""},
		{"Gt is refused by Karmada", []corev1.Taint{{Key: "n", Value: "5", Effect: "NoSchedule"}}, []corev1.Toleration{{Key: "n", Operator: "Gt", Value: "3"}}, "n=5:NoSchedule"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if found := untolerated(tt.taints, tt.tolerations); found != nil {
				got = found.ToString()
			}
			if got != tt.want {
				t.Errorf("untolerated() = %q, want %q", got, tt.want)
			}
		})
	}
}

// mixed has one cluster for each filter, and one that passes them all.
func mixed() []karmada.Cluster {
	served := []karmada.APIEnablement{{GroupVersion: "apps/v1", Resources: []karmada.APIResource{{Name: "deployments", Kind: "Deployment"}}}}
	var cs []karmada.Cluster
	for _, name := range []string{"bare", "evicting", "gone", "old", "tainted", "us"} {
		cs = append(cs, karmada.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       karmada.ClusterSpec{Region: "eu"},
			Status:     karmada.ClusterStatus{APIEnablements: served},
		})
	}
	cs[0].Spec.Region = ""
	cs[2].DeletionTimestamp = &metav1.Time{}
	cs[3].Status.APIEnablements = []karmada.APIEnablement{{GroupVersion: "v1"}}
	cs[4].Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "infra", Effect: corev1.TaintEffectNoExecute}}
	cs[5].Spec.Region = "us"
	return append(cs, karmada.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "best"},
		Spec:       karmada.ClusterSpec{Zone: "z"},
	})
}

const notUS = `{clusterAffinity: {fieldSelector: {matchExpressions: [{key: region, operator: NotIn, values: [us]}]}},
	spreadConstraints: [{spreadByField: region, minGroups: 1, maxGroups: 9}, {spreadByField: cluster, minGroups: 1, maxGroups: 9}]}`

func TestFilters(t *testing.T) {
	cs := mixed()
	cs[6].Spec.Region = "eu"
	evicting := func(r Request) Request {
		r.Evicting = []string{"evicting"}
		return r
	}
	alsoServed := func(r Request, name string) Request {
		r.AlsoServed = func(cluster string) bool { return cluster == name }
		return r
	}
	tests := []struct {
		name    string
		request Request
		want    string
	}{
		{"each filter keeps one out", evicting(workload(1)), "best:1"},
		{"a cluster that gets the kind too", alsoServed(evicting(workload(1)), "old"), "best:1 old:1"},
		{"kinds and taints do not drive out", evicting(moved(t, 1, "old:1 tainted:1 us:1 bare:1 gone:1")), "best:1 old:1 tainted:1"},
		{"eviction does", evicting(moved(t, 1, "evicting:1")), "best:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := compile(t, placement(t, notUS), cs, SpreadKarmada)
			if got := show(s.Schedule(tt.request)); got != tt.want {
				t.Errorf("Schedule() = %s, want %s", got, tt.want)
			}
		})
	}
}

// TestWhatIsFullGetsNoMore holds clusters in which replicas find no node: they keep what they have.
func TestWhatIsFullGetsNoMore(t *testing.T) {
	full := func(r Request) Request {
		r.Full = []string{"m1"}
		return r
	}
	check(t, []row{
		{name: "what is more goes elsewhere", placement: dynamically, fleet: "m1=50 m2=10", request: full(moved(t, 8, "m1:2 m2:2")), want: "m1:2 m2:6"},
		{name: "and nothing comes anew", placement: dynamically, fleet: "m1=50 m2=10", request: full(workload(6)), want: "m2:6"},
		{name: "nor together", placement: aggregating, fleet: "m1=50 m2=10", request: full(moved(t, 8, "m1:2")), want: "m1:2 m2:6"},
		{name: "it does not stand for room", placement: dynamically, fleet: "m1=50 m2=2", request: full(moved(t, 8, "m1:2 m2:2")), want: "Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 2 are not enough to schedule."},
		{name: "less is divided as ever", placement: dynamically, fleet: "m1=50 m2=10", request: full(moved(t, 4, "m1:4 m2:4")), want: "m1:2 m2:2"},
		{name: "afresh it weighs what it has", placement: dynamically, fleet: "m1=50 m2=10", request: full(fresh(t, 6, "m1:5 m2:1")), want: "m1:2 m2:4"},
	}, SpreadKarmada)
}

func TestNoClusterFits(t *testing.T) {
	cs := mixed()
	cs = append(cs, karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "us-2"}, Spec: karmada.ClusterSpec{Region: "us"}})
	tests := []struct {
		name     string
		clusters []karmada.Cluster
		want     string
	}{
		{
			"the reasons are counted", cs,
			"NoClusterFit: 0/8 clusters are available: 1 cluster(s) did not have the API resource, " +
				"1 cluster(s) had untolerated taint {dedicated=infra:NoExecute}, 1 cluster(s) is in the process of eviction, " +
				"2 cluster(s) did not have region property, 2 cluster(s) did not match the placement cluster affinity constraint.",
		},
		{"an empty fleet", nil, "NoClusterFit: 0/0 clusters are available."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := moved(t, 1, "elsewhere:1")
			r.Evicting = []string{"evicting"}
			d := compile(t, placement(t, notUS), tt.clusters, SpreadKarmada).Schedule(r)
			if got := show(d); got != tt.want {
				t.Errorf("Schedule() = %s, want %s", got, tt.want)
			}
			if d.Targets != nil {
				t.Errorf("Targets = %v, want none: nothing fits", d.Targets)
			}
		})
	}
}

func TestFailureKeepsPrevious(t *testing.T) {
	tests := []struct{ name, placement string }{
		{"too little room", dynamically},
		{"a spread constraint that cannot be met", with(duplicate, spreading("cluster 3..3"))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := compile(t, placement(t, tt.placement), clusters(t, "m1=1 m2=1"), SpreadKarmada)
			d := s.Schedule(moved(t, 50, "m2:4 m1:1 m0:2"))
			if diff := cmp.Diff(targets(t, "m0:2 m1:1 m2:4"), d.Targets); diff != "" {
				t.Errorf("Targets (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWorkloads(t *testing.T) {
	needs := &karmada.ReplicaRequirements{}
	tests := []struct {
		name    string
		request Request
		want    string
	}{
		{"replicas make a workload", Request{Replicas: 2}, "m1:1 m2:1"},
		{"one component is a workload", Request{Replicas: 2, Components: 1}, "m1:1 m2:1"},
		{"several components are none", Request{Requirements: needs, Components: 2}, "m1:0 m2:0"},
		{"no replicas and no requirements are none", Request{}, "m1:0 m2:0"},
		{"requirements without replicas are one, which goes nowhere", Request{Requirements: needs}, ""},
		{"and leaves where it is", Request{Requirements: needs, Previous: targets(t, "m1:3")}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := compile(t, placement(t, dynamically), clusters(t, "m1=9 m2=9"), SpreadKarmada)
			if got := show(s.Schedule(tt.request)); got != tt.want {
				t.Errorf("Schedule() = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestGroups(t *testing.T) {
	const groups = `clusterAffinities: [{affinityName: near, clusterNames: [m1]}, {affinityName: far, clusterNames: [m2, m3]}]`
	tests := []struct {
		name, placement, fleet string
		replicas               int32
		group, want            string
	}{
		{"the first that has room", with(dynamically, groups), "m1=9 m2=9 m3=9", 4, "near", "m1:4"},
		{"the next when it has too little", with(dynamically, groups), "m1=9 m2=9 m3=9", 12, "far", "m2:6 m3:6"},
		{"the next when nothing fits", with(duplicate, groups), "m0=9 m2=9 m3=9", 1, "far", "m2:1 m3:1"},
		{"duplicated is never short", with(duplicate, groups), "m1=9 m2=99", 50, "near", "m1:50"},
		{
			"none: the first tells why", with(dynamically, groups), "m1=1 m2=2", 12, "",
			"Unschedulable: failed to assign replicas: failed to scale up: Clusters available replicas 1 are not enough to schedule.",
		},
		{
			"none, and nothing fits the first", with(dynamically, groups), "m2=2", 12, "",
			"NoClusterFit: 0/1 clusters are available: 1 cluster(s) did not match the placement cluster affinity constraint.",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := compile(t, placement(t, tt.placement), clusters(t, tt.fleet), SpreadKarmada).Schedule(workload(tt.replicas))
			if got := show(d); got != tt.want || d.Group != tt.group {
				t.Errorf("Schedule() = %s by %q, want %s by %q", got, d.Group, tt.want, tt.group)
			}
		})
	}
}

// without asks the same where one cluster may not have the template.
func without(cluster string, r Request) Request {
	r.Only = func(name string) bool { return name != cluster }
	return r
}

func TestSettled(t *testing.T) {
	freshly := moved(t, 3, "m1:1 m2:2")
	freshly.Fresh = true
	tests := []struct {
		name, placement string
		request         Request
		want            bool
	}{
		{"replicas that add up are left alone", dynamically, moved(t, 3, "m1:1 m2:2"), true},
		{"static weights too", `{replicaScheduling: {}}`, moved(t, 3, "m1:1 m2:2"), true},
		{"other replicas are not", dynamically, moved(t, 4, "m1:1 m2:2"), false},
		{"nor without a decision before", dynamically, workload(3), false},
		{"nor when a cluster is gone", dynamically, moved(t, 3, "m1:1 m9:2"), false},
		{"nor when asked for afresh", dynamically, freshly, false},
		{"nor when one may not have it any more", dynamically, without("m2", moved(t, 3, "m1:1 m2:2")), false},
		{"whatever became of others", dynamically, without("m3", moved(t, 3, "m1:1 m2:2")), true},
		{"nor what is duplicated", duplicate, moved(t, 3, "m1:3 m2:3"), false},
		{"nor what is no workload", dynamically, moved(t, 0, "m1:0 m2:0"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := compile(t, placement(t, tt.placement), clusters(t, "m1=0 m2=0"), SpreadKarmada)
			if got := s.Settled(tt.request); got != tt.want {
				t.Errorf("Settled() = %v, want %v", got, tt.want)
			}
		})
	}
}

// TestWhatIsInAClusterThatIsDeletedIsNotSettled: it is divided among the others.
func TestWhatIsInAClusterThatIsDeletedIsNotSettled(t *testing.T) {
	all := clusters(t, "m1=0 m2=0")
	all[1].DeletionTimestamp = &metav1.Time{Time: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	s := compile(t, placement(t, dynamically), all, SpreadKarmada)
	if s.Settled(moved(t, 3, "m1:1 m2:2")) {
		t.Error("replicas stay in a cluster that is deleted")
	}
	if !s.Settled(moved(t, 3, "m1:3")) {
		t.Error("a cluster that is deleted has others divided anew")
	}
}

func TestCompileRefuses(t *testing.T) {
	tests := []struct{ name, placement, want string }{
		{"a type", `{replicaScheduling: {replicaSchedulingType: Halved}}`, `replicaSchedulingType "Halved": want Duplicated or Divided`},
		{"a preference", `{replicaScheduling: {replicaDivisionPreference: Fair}}`, `replicaDivisionPreference "Fair": want Aggregated or Weighted`},
		{"a dynamic weight", `{replicaScheduling: {weightPreference: {dynamicWeight: Luck}}}`, `dynamicWeight "Luck": want AvailableReplicas`},
		{"a spread field", `{spreadConstraints: [{spreadByField: rack}]}`, `compiling spreadConstraints[0]: spreadByField "rack": want cluster, region, zone or provider`},
		{"two groupings", `{` + spreading("region 1..2", "zone 1..2") + `}`, "spreading strictly by region and zone: only one of them can group clusters"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Compile(placement(t, tt.placement), fleet.Fleet{}, SpreadStrict)
			if err == nil || err.Error() != tt.want {
				t.Errorf("Compile() error = %v, want %s", err, tt.want)
			}
		})
	}
	weighed := compile(t, placement(t, `{replicaScheduling: {replicaSchedulingType: Divided, weightPreference: {staticWeightList: [
		{weight: 1, targetCluster: {clusterNames: [m1]}}, {weight: 9, targetCluster: {fieldSelector: {matchExpressions: [{key: size, operator: In, values: [s]}]}}}]}}}`),
		clusters(t, "m1=1 m2=1"), SpreadKarmada)
	if got := show(weighed.Schedule(workload(4))); got != "m1:4" {
		t.Errorf("a weight of clusters that cannot be read: Schedule() = %s, want m1:4", got)
	}
	s, err := Compile(nil, fleet.New(clusters(t, "m1=1")), SpreadKarmada)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(s.Schedule(workload(2))); got != "m1:2" {
		t.Errorf("no placement at all: Schedule() = %s, want m1:2", got)
	}
}
