package fleet_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// cluster is eu-1: labelled env=prod, in region eu of provider acme, in two zones.
func cluster() karmada.Cluster {
	return karmada.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: "eu-1", Labels: map[string]string{"env": "prod"}},
		Spec:       karmada.ClusterSpec{Provider: "acme", Region: "eu", Zones: []string{"eu-1a", "eu-1b"}},
	}
}

func TestNewSortsByName(t *testing.T) {
	given := []karmada.Cluster{
		{ObjectMeta: metav1.ObjectMeta{Name: "c"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "b"}},
	}
	f := fleet.New(given)
	var got []string
	for _, c := range f.Clusters() {
		got = append(got, c.Name)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" {
		t.Errorf("Clusters() (-want +got):\n%s", diff)
	}
	if given[0].Name != "c" {
		t.Error("New changed the caller's slice")
	}
	if c, ok := f.Lookup("b"); !ok || c.Name != "b" || c.Source.Name != "b" {
		t.Errorf("Lookup(b) = %v, %v", c, ok)
	}
	if c, ok := f.Lookup("bb"); ok {
		t.Errorf("Lookup(bb) = %v, want nothing", c)
	}
	if c, ok := (fleet.Fleet{}).Lookup("a"); ok {
		t.Errorf("Lookup in the empty fleet = %v, want nothing", c)
	}
}

func TestZones(t *testing.T) {
	tests := []struct {
		name  string
		zone  string
		zones []string
		want  []string
	}{
		{name: "none given"},
		{name: "the deprecated zone is migrated", zone: "z1", want: []string{"z1"}},
		{name: "zones are kept", zones: []string{"z2", "z1"}, want: []string{"z2", "z1"}},
		{name: "zones win over zone", zone: "z3", zones: []string{"z1"}, want: []string{"z1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fleet.New([]karmada.Cluster{{Spec: karmada.ClusterSpec{Zone: tt.zone, Zones: tt.zones}}}).Clusters()[0]
			if diff := cmp.Diff(tt.want, c.Zones); diff != "" {
				t.Errorf("Zones (-want +got):\n%s", diff)
			}
		})
	}
}

func TestServes(t *testing.T) {
	known := karmada.Cluster{Status: karmada.ClusterStatus{APIEnablements: []karmada.APIEnablement{
		{GroupVersion: "apps/v1", Resources: []karmada.APIResource{{Name: "deployments", Kind: "Deployment"}}},
	}}}
	tests := []struct {
		name             string
		cluster          karmada.Cluster
		apiVersion, kind string
		want             bool
	}{
		{"a listed kind is served", known, "apps/v1", "Deployment", true},
		{"a kind of the same group that is not listed is not", known, "apps/v1", "DaemonSet", false},
		{"another version is not", known, "apps/v1beta1", "Deployment", false},
		{"a cluster without a list serves everything", karmada.Cluster{}, "apps/v1", "DaemonSet", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fleet.New([]karmada.Cluster{tt.cluster}).Clusters()[0]
			if got := c.Serves(tt.apiVersion, tt.kind); got != tt.want {
				t.Errorf("Serves(%s, %s) = %v, want %v", tt.apiVersion, tt.kind, got, tt.want)
			}
		})
	}
}

// TestFacts holds what others ask of a cluster beside its policy.
func TestFacts(t *testing.T) {
	ready := func(status metav1.ConditionStatus) karmada.Cluster {
		return karmada.Cluster{Status: karmada.ClusterStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: status}}}}
	}
	virtual := ready("True")
	virtual.Name, virtual.Annotations = "part", map[string]string{karmada.VirtualOfAnnotation: "big"}
	own := karmada.Cluster{Status: karmada.ClusterStatus{APIEnablements: []karmada.APIEnablement{
		{GroupVersion: "v1"}, {GroupVersion: "apps/v1", Resources: []karmada.APIResource{{Name: "deployments", Kind: "Deployment"}}},
	}}}
	own.Name = "own"
	for _, tt := range []struct {
		cluster karmada.Cluster
		want    string // its API server, whether it is not ready, and what it serves
	}{
		{ready("True"), " false []"},
		{ready("False"), " true []"},
		{ready("Unknown"), " true []"},
		{virtual, "big false []"},
		{own, "own false [v1 apps/v1 apps/v1/Deployment]"},
	} {
		c := fleet.New([]karmada.Cluster{tt.cluster}).Clusters()[0]
		if got := fmt.Sprint(c.Server(), " ", c.IsUnready(), " ", c.APIVersions()); got != tt.want {
			t.Errorf("of %+v it says %s, want %s", tt.cluster, got, tt.want)
		}
	}
}

func fields(key string, op corev1.NodeSelectorOperator, values ...string) *karmada.ClusterAffinity {
	return &karmada.ClusterAffinity{FieldSelector: &karmada.FieldSelector{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}},
	}}
}

func expression(key string, op metav1.LabelSelectorOperator, values ...string) *karmada.ClusterAffinity {
	return &karmada.ClusterAffinity{LabelSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: op, Values: values}},
	}}
}

func TestMatcher(t *testing.T) {
	const in, notIn = corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn
	labelled := &metav1.LabelSelector{MatchLabels: map[string]string{"env": "prod"}}
	bare := karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "bare"}}
	regionless := cluster()
	regionless.Spec.Region = ""
	tests := []struct {
		name     string
		affinity *karmada.ClusterAffinity
		cluster  karmada.Cluster
		why      string // empty: it matches
	}{
		{"no affinity matches every cluster", nil, cluster(), ""},
		{"an empty affinity matches every cluster", &karmada.ClusterAffinity{}, cluster(), ""},
		{"a listed name matches", &karmada.ClusterAffinity{ClusterNames: []string{"us-1", "eu-1"}}, cluster(), ""},
		{
			"a name that is not listed does not match", &karmada.ClusterAffinity{ClusterNames: []string{"us-1"}}, cluster(),
			`name "eu-1" is not among the 1 in clusterNames`,
		},
		{
			"exclude wins over clusterNames",
			&karmada.ClusterAffinity{ClusterNames: []string{"eu-1"}, ExcludeClusters: []string{"eu-1"}}, cluster(),
			`name "eu-1" is excluded`,
		},
		{"exclude of another leaves the cluster alone", &karmada.ClusterAffinity{ExcludeClusters: []string{"us-1"}}, cluster(), ""},
		{"matchLabels match", &karmada.ClusterAffinity{LabelSelector: labelled}, cluster(), ""},
		{"an empty label selector matches", &karmada.ClusterAffinity{LabelSelector: &metav1.LabelSelector{}}, bare, ""},
		{
			"matchLabels want the label", &karmada.ClusterAffinity{LabelSelector: labelled}, bare,
			"label env is missing, want In [prod]",
		},
		{"label In", expression("env", "In", "dev", "prod"), cluster(), ""},
		{"label In of others", expression("env", "In", "test", "dev"), cluster(), `label env is "prod", want In [dev test]`},
		{"label NotIn", expression("env", "NotIn", "prod"), cluster(), `label env is "prod", want NotIn [prod]`},
		{"label NotIn holds without the label", expression("tier", "NotIn", "core"), cluster(), ""},
		{"label Exists", expression("tier", "Exists"), cluster(), "label tier is missing, want Exists"},
		{"label DoesNotExist", expression("env", "DoesNotExist"), cluster(), `label env is "prod", want DoesNotExist`},
		{"provider In", fields("provider", in, "acme"), cluster(), ""},
		{"provider NotIn", fields("provider", notIn, "acme"), cluster(), `field provider is "acme", want NotIn [acme]`},
		{"region In", fields("region", in, "us", "eu"), cluster(), ""},
		{"region In of others", fields("region", in, "us"), cluster(), `field region is "eu", want In [us]`},
		{"an empty region is in no list", fields("region", in, "us", ""), bare, "field region is empty, want In [us ]"},
		{"an empty region is out of every list", fields("region", notIn, "us"), bare, ""},
		{"zone In when one of the zones is listed", fields("zone", in, "eu-1b"), cluster(), ""},
		{"zone In when none is listed", fields("zone", in, "eu-2a"), cluster(), "field zone is [eu-1a eu-1b], want In [eu-2a]"},
		{"zone NotIn when one of the zones is listed", fields("zone", notIn, "eu-1b"), cluster(), "field zone is [eu-1a eu-1b], want NotIn [eu-1b]"},
		{"a region that is not given, of what has zones", fields("region", in, "eu"), regionless, "field region is empty, want In [eu]"},
		{"no zones are in no list", fields("zone", in, "eu-1b"), bare, "field zone is empty, want In [eu-1b]"},
		{"no zones are out of every list", fields("zone", notIn, "eu-1b"), bare, ""},
		{
			"all that is given must hold",
			&karmada.ClusterAffinity{LabelSelector: labelled, FieldSelector: fields("region", in, "us").FieldSelector, ClusterNames: []string{"eu-1"}},
			cluster(), `field region is "eu", want In [us]`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := fleet.Compile(tt.affinity)
			c := fleet.New([]karmada.Cluster{tt.cluster}).Clusters()[0]
			if got := m.Why(c); got != tt.why {
				t.Errorf("Why() = %q, want %q", got, tt.why)
			}
			if got, want := m.Matches(c), tt.why == ""; got != want {
				t.Errorf("Matches() = %v, want %v", got, want)
			}
		})
	}
}

// TestMatcherAsUnchecked has what Karmada does not look at everywhere before it
// matches clusters by it.
func TestMatcherAsUnchecked(t *testing.T) {
	bare := karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "bare"}}
	for _, tt := range []struct {
		name       string
		affinity   *karmada.ClusterAffinity
		eu1, empty bool
	}{
		{"a field that clusters do not have", fields("color", corev1.NodeSelectorOpIn, "red"), false, false},
		{"not in a field that clusters do not have", fields("color", corev1.NodeSelectorOpNotIn, "red"), true, true},
		{"a field that there is", fields("region", corev1.NodeSelectorOpExists), true, false},
		{"a field that there is not", fields("provider", corev1.NodeSelectorOpDoesNotExist), false, true},
		{"zones that there are", fields("zone", corev1.NodeSelectorOpExists), true, false},
		{"zones that there are not", fields("zone", corev1.NodeSelectorOpDoesNotExist), false, true},
		{"zones in numbers", fields("zone", corev1.NodeSelectorOpGt, "1"), false, false},
		{"an operator that is none", fields("region", "Like", "eu"), false, false},
		{"a field in no list", fields("region", corev1.NodeSelectorOpIn), false, false},
		{"a field out of no list", fields("region", corev1.NodeSelectorOpNotIn), false, false},
		{"zones in no list", fields("zone", corev1.NodeSelectorOpIn), false, false},
		{"zones out of no list", fields("zone", corev1.NodeSelectorOpNotIn), true, true},
		{"a value that no label has", fields("region", corev1.NodeSelectorOpNotIn, "b c"), false, false},
		{"a label operator that is none", expression("env", "Like", "p"), false, false},
		{"a label out of no list", expression("env", "NotIn"), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := fleet.Compile(tt.affinity)
			f := fleet.New([]karmada.Cluster{bare, cluster()}).Clusters()
			for i, want := range []bool{tt.empty, tt.eu1} {
				if got := m.Matches(f[i]); got != want || got == (m.Why(f[i]) != "") {
					t.Errorf("%s matches: %t, want %t; %q", f[i].Name, got, want, m.Why(f[i]))
				}
			}
		})
	}
	m := fleet.Compile(expression("env", "Like", "p"))
	const want = `labelSelector cannot be read: "Like" is not a valid label selector operator`
	if got := m.Why(fleet.New([]karmada.Cluster{bare}).Clusters()[0]); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMatchesDoesNotAllocate(t *testing.T) {
	m := fleet.Compile(&karmada.ClusterAffinity{
		LabelSelector:   &metav1.LabelSelector{MatchLabels: map[string]string{"env": "prod"}},
		FieldSelector:   fields("zone", corev1.NodeSelectorOpIn, "eu-2a").FieldSelector,
		ClusterNames:    []string{"eu-1"},
		ExcludeClusters: []string{"us-1"},
	})
	c := fleet.New([]karmada.Cluster{cluster()}).Clusters()[0]
	if n := testing.AllocsPerRun(100, func() { m.Matches(c) }); n > 0 {
		t.Errorf("Matches allocates %v times, want 0", n)
	}
}
