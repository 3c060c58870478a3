package compare

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan"
)

// amounts are quantities as "cpu=4 pods=10".
func amounts(text string) corev1.ResourceList {
	all := corev1.ResourceList{}
	for part := range strings.FieldsSeq(text) {
		name, quantity, _ := strings.Cut(part, "=")
		all[corev1.ResourceName(name)] = resource.MustParse(quantity)
	}
	return all
}

// cluster is one with what its nodes have, and what is in use and about to be.
func cluster(name, allocatable, allocated, allocating string) karmada.Cluster {
	return karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: karmada.ClusterStatus{ResourceSummary: &karmada.ResourceSummary{
		Allocatable: amounts(allocatable), Allocated: amounts(allocated), Allocating: amounts(allocating),
	}}}
}

// placed is a workload in clusters, each with so many replicas.
func placed(t *testing.T, name, asks string, targets ...karmada.TargetCluster) plan.Decision {
	t.Helper()
	return plan.Decision{
		Template: &template.Template{Variant: template.Variant{Object: one(t, "web.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: "+name+", namespace: a}\n")}},
		Size:     interpret.Size{Requirements: &karmada.ReplicaRequirements{ResourceRequest: amounts(asks)}}, Targets: targets,
	}
}

func TestWhatNoLongerFits(t *testing.T) {
	of := func(decisions []plan.Decision, clusters ...karmada.Cluster) *plan.Plan {
		p := &plan.Plan{Decisions: decisions}
		p.Expanded.Policies = &index.Policies{Fleet: fleet.New(clusters)}
		return p
	}
	eu := func(n int32) karmada.TargetCluster { return karmada.TargetCluster{Name: "eu", Replicas: n} }
	web := []plan.Decision{placed(t, "small", "cpu=500m", eu(2)), placed(t, "web", "cpu=1", eu(3), karmada.TargetCluster{Name: "us", Replicas: 90})}
	idle := []plan.Decision{placed(t, "idle", "memory=1Gi", eu(1)), placed(t, "settings", "", eu(0))}
	idle[1].Size.Requirements = nil
	more := []plan.Decision{placed(t, "web", "cpu=1", eu(5))}
	for _, tt := range []struct {
		name       string
		base, head *plan.Plan
		scope      Scope
		want       string
	}{
		{"less than it had", of(web, cluster("eu", "cpu=6", "", "")), of(web, cluster("eu", "cpu=3", "", "")), Scope{}, "eu: 4 of cpu for 3: web 3, small 1"},
		{"just enough", of(web, cluster("eu", "cpu=6", "", "")), of(web, cluster("eu", "cpu=4", "", "")), Scope{}, ""},
		{"as little as before", of(web, cluster("eu", "cpu=3", "", "")), of(web, cluster("eu", "cpu=3", "", "")), Scope{}, ""},
		{"pods", of(web, cluster("eu", "pods=9", "", "")), of(web, cluster("eu", "pods=4", "", "")), Scope{}, "eu: 5 of pods for 4: web 3, small 2"},
		{"a resource that was not told", of(web, cluster("eu", "pods=9", "", "")), of(web, cluster("eu", "pods=9 cpu=1", "", "")), Scope{}, "eu: 4 of cpu for 1: web 3, small 1"},
		{"what is in use", of(web, cluster("eu", "cpu=20", "cpu=6", "cpu=2")), of(web, cluster("eu", "cpu=7", "cpu=6", "cpu=2")), Scope{}, "eu: 8 of cpu for 7: web 3, small 1"},
		{"what is in use, and what comes", of(web, cluster("eu", "cpu=20", "cpu=6", "")), of(more, cluster("eu", "cpu=6", "cpu=6", "")), Scope{}, "eu: 7 of cpu for 6: web 5"},
		{"what is in use, and what goes", of(more, cluster("eu", "cpu=20", "cpu=6", "")), of(web, cluster("eu", "cpu=5", "cpu=6", "")), Scope{}, ""},
		{"another cluster is looked at", of(web, cluster("eu", "cpu=6", "", "")), of(web, cluster("eu", "cpu=3", "", "")), Scope{Clusters: []string{"us"}}, ""},
		{"a new cluster", of(nil, cluster("us", "cpu=6", "", "")), of(web, cluster("us", "cpu=6", "", ""), cluster("eu", "cpu=3", "", "")), Scope{}, ""},
		{"what asks for nothing of it", of(nil, cluster("eu", "cpu=6", "", "")), of(append(idle, web...), cluster("eu", "cpu=3", "", "")), Scope{}, "eu: 4 of cpu for 3: web 3, small 1"},
		{"nothing is known of a cluster", of(web, karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}), of(web, karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}), Scope{}, ""},
		{"nothing is known", &plan.Plan{}, of(web, cluster("eu", "cpu=3", "", "")), Scope{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var all []string
			for _, s := range short(tt.base, tt.head, &tt.scope) {
				var by []string
				for _, l := range s.By {
					by = append(by, l.Object.Name+" "+l.Asked)
				}
				all = append(all, s.Cluster+": "+s.Asked+" of "+s.Resource+" for "+s.Has+": "+strings.Join(by, ", "))
			}
			if got := strings.Join(all, "; "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
