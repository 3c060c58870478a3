package compare

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/object"
)

// said are causes in a line.
func said(causes []preview.Cause) string {
	var all []string
	for _, cause := range causes {
		all = append(all, cause.String())
	}
	return strings.Join(all, "; ")
}

// TestWhatAnEditSays: the values of a policy are told where they are short and plain, and those of other objects are not.
func TestWhatAnEditSays(t *testing.T) {
	policy := func(spec string) *object.Object {
		return one(t, "p.yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p}\nspec: {a: 1"+spec+"}\n")
	}
	long, longer := strings.Repeat("x", 60), strings.Repeat("x", 61)
	for _, tt := range []struct {
		name         string
		before, then string
		open, closed string
	}{
		{"a text", ", v: one", ", v: two", "spec.v goes from one to two", "spec.v changes"},
		{"a number", ", v: 1", ", v: 2", "spec.v goes from 1 to 2", "spec.v changes"},
		{"a fraction", ", v: 1.5", ", v: 2", "spec.v goes from 1.5 to 2", "spec.v changes"},
		{"a switch", ", v: false", ", v: true", "spec.v goes from false to true", "spec.v changes"},
		{"one that comes", "", ", v: one", "spec.v is one", "spec.v is added"},
		{"one that goes", ", v: one", "", "spec.v is no longer one", "spec.v is removed"},
		{"a list that comes", "", ", v: [one]", "spec.v is added", "spec.v is added"},
		{"a list that goes", ", v: [one]", "", "spec.v is removed", "spec.v is removed"},
		{"an empty text", ", v: one", ", v: ''", "spec.v changes", "spec.v changes"},
		{"an empty text that was", ", v: ''", ", v: one", "spec.v changes", "spec.v changes"},
		{"as long as is told", ", v: one", ", v: " + long, "spec.v goes from one to " + long, "spec.v changes"},
		{"too long", ", v: one", ", v: " + longer, "spec.v changes", "spec.v changes"},
		{"three", ", v: 1, w: 1, x: 1", ", v: 2, w: 2, x: 2", "spec.v goes from 1 to 2; p: spec.w goes from 1 to 2; p: spec.x goes from 1 to 2", "spec.v changes; p: spec.w changes; p: spec.x changes"},
		{"four", ", v: 1, w: 1, x: 1, y: 1", ", v: 2, w: 2, x: 2, y: 2", "spec.v goes from 1 to 2; p: spec.w goes from 1 to 2; p: spec.x goes from 1 to 2; p: and 1 more fields", "spec.v changes; p: spec.w changes; p: spec.x changes; p: and 1 more fields"},
	} {
		e := edit{base: policy(tt.before), head: policy(tt.then), what: "p"}
		for _, open := range []bool{true, false} {
			want := "p: " + tt.closed
			if e.open = open; open {
				want = "p: " + tt.open
			}
			var all []string
			for _, cause := range e.causes() {
				all = append(all, cause.Message)
			}
			if got := strings.Join(all, "; "); got != want {
				t.Errorf("%s, open %t: it says %q, want %q", tt.name, open, got, want)
			}
		}
	}
}

// TestWhatAnEditOfAClusterSays: where it is and what it carries is told, and what it is reached by is not.
func TestWhatAnEditOfAClusterSays(t *testing.T) {
	at := func(text string) *object.Object {
		return one(t, "eu.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu"+text+"\n")
	}
	for _, tt := range []struct {
		name       string
		base, head *object.Object
		want       string
	}{
		{"a new one", nil, at("}"), "Cluster eu is new (eu.yaml:1)"},
		{"one that is gone", at("}"), nil, "Cluster eu is no longer registered (eu.yaml:1)"},
		{"a label", at("}"), at(", labels: {a: b}}"), "Cluster eu: metadata.labels is added (eu.yaml:3)"},
		{"how it is reached", at("}\nspec: {apiEndpoint: a}"), at("}\nspec: {apiEndpoint: b}"), "Cluster eu changes (eu.yaml:1)"},
		{"where it is", at("}\nspec: {region: a, zone: a, provider: a}"), at("}\nspec: {region: b, zone: b, provider: b}"), "Cluster eu: spec.provider goes from a to b (eu.yaml:4); Cluster eu: spec.region goes from a to b (eu.yaml:4); Cluster eu: spec.zone goes from a to b (eu.yaml:4)"},
		{"both", at("}\nspec: {apiEndpoint: a, region: a}"), at("}\nspec: {apiEndpoint: b, region: b}"), "Cluster eu: spec.region goes from a to b (eu.yaml:4)"},
		{"a taint", at("}\nspec: {zones: [a]}"), at("}\nspec: {zones: [a], taints: [{key: k}]}"), "Cluster eu: spec.taints is added (eu.yaml:4)"},
		{"its zones, and its models", at("}\nspec: {zones: [a], resourceModels: [{grade: 1}]}"), at("}\n"), "Cluster eu: spec.resourceModels is removed (eu.yaml:4); Cluster eu: spec.zones is removed (eu.yaml:4)"},
		{"a secret of it", at("}\nspec: {secretRef: {name: a}}"), at("}\nspec: {secretRef: {name: b}}"), "Cluster eu changes (eu.yaml:1)"},
	} {
		if got := said(clusterEdit(edit{base: tt.base, head: tt.head, what: "Cluster eu"})); got != tt.want {
			t.Errorf("%s: it says %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestWhatSteersOtherwise: objects that differ are told from those that do not, by kind, and in the order of names.
func TestWhatSteersOtherwise(t *testing.T) {
	at := func(kind, name, spec string) *object.Object {
		return one(t, name+".yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: "+kind+"\nmetadata: {name: "+name+", namespace: a}\nspec: {a: "+spec+"}\n")
	}
	of := func(version string) *plan.Plan {
		p := &index.Policies{}
		p.Set.Propagation = []*policies.Propagation{{Object: at("PropagationPolicy", "p", version)}, {Object: at("PropagationPolicy", "same", "1")}}
		p.Set.Override = []*policies.Override{{Object: at("OverridePolicy", "o", version)}, {Object: at("OverridePolicy", "same", "1")}}
		p.Set.Clusters = []policies.Cluster{{Object: at("Cluster", "c", version)}, {Object: at("Cluster", "same", "1")}}
		p.Set.Taints = []policies.Located[karmada.ClusterTaintPolicy]{{Object: at("ClusterTaintPolicy", "t", version)}, {Object: at("ClusterTaintPolicy", "same", "1")}}
		p.Set.Quotas = []policies.Located[karmada.FederatedResourceQuota]{{Object: at("FederatedResourceQuota", "q", version)}}
		p.Set.Rebalancers = []policies.Located[karmada.WorkloadRebalancer]{{Object: at("WorkloadRebalancer", "r", version)}}
		p.Set.Scalers = []policies.Located[karmada.CronFederatedHPA]{{Object: at("CronFederatedHPA", "s", version)}}
		p.Set.Autoscalers = []policies.Located[karmada.FederatedHPA]{{Object: at("FederatedHPA", "f", version)}}
		p.Set.Remedies = []policies.Located[karmada.Remedy]{{Object: at("Remedy", "y", version)}}
		p.Set.Customizations = []policies.Located[karmada.ResourceInterpreterCustomization]{{Object: at("ResourceInterpreterCustomization", "i", version)}}
		out := &plan.Plan{}
		out.Expanded.Policies = p
		return out
	}
	none := &plan.Plan{}
	for _, tt := range []struct {
		name       string
		base, head *plan.Plan
		ends       string // of what is said of each
		twice      bool   // what is called same is told, too
	}{
		{"edited", of("1"), of("2"), " changes", false},
		{"nothing", of("1"), of("1"), "", false},
		{"all comes", none, of("1"), " is new", true},
		{"all goes", of("1"), none, " is gone", true},
	} {
		e := newEdits(tt.base, tt.head)
		n := 0
		if tt.ends != "" {
			n = 1
		}
		if tt.twice {
			n = 2
		}
		if len(e.policies) != n || len(e.overrides) != n || len(e.clusters) != n {
			t.Errorf("%s: there are %d policies, %d overrides and %d clusters, want %d of each", tt.name, len(e.policies), len(e.overrides), len(e.clusters), n)
		}
		for r, x := range e.policies {
			if !x.open || x.one().Ref() != r {
				t.Errorf("%s: %v is %+v", tt.name, r, x)
			}
		}
		for name, x := range e.clusters {
			if x.one().Ref().Name != name {
				t.Errorf("%s: the cluster %s is %+v", tt.name, name, x)
			}
		}
		var all []string
		for _, x := range e.others {
			for _, cause := range x.causes() {
				if name := x.one().Ref().Name; name != "same" && strings.HasSuffix(cause.Message, tt.ends) {
					all = append(all, name)
				}
			}
		}
		want := []string{"t", "q", "r", "s", "f", "y", "i"}
		if n == 0 {
			want = nil
		}
		if !slices.Equal(all, want) {
			t.Errorf("%s: of the others there are %v, want %v", tt.name, all, want)
		}
	}
}
