package facts

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// A binding says where its template goes: where it is decided to go, where something that needs it goes, and where it is left as it was.
func TestWhereABindingSaysThatItGoes(t *testing.T) {
	targets := func(names ...string) (all []karmada.TargetCluster) {
		for _, name := range names {
			all = append(all, karmada.TargetCluster{Name: name, Replicas: int32(len(name))})
		}
		return all
	}
	divided := &karmada.Placement{ReplicaScheduling: &karmada.ReplicaScheduling{ReplicaSchedulingType: karmada.ReplicaSchedulingTypeDivided}}
	duplicated := &karmada.Placement{ReplicaScheduling: &karmada.ReplicaScheduling{ReplicaSchedulingType: karmada.ReplicaSchedulingTypeDuplicated}}
	for name, tt := range map[string]struct {
		edit func(b *karmada.ResourceBinding)
		want string
	}{
		"nowhere":                         {func(*karmada.ResourceBinding) {}, ""},
		"where it is decided":             {func(b *karmada.ResourceBinding) { b.Spec.Clusters = targets("us", "asia") }, "asia 4, us 2"},
		"divided":                         {func(b *karmada.ResourceBinding) { b.Spec.Placement = divided }, "divided"},
		"duplicated":                      {func(b *karmada.ResourceBinding) { b.Spec.Placement = duplicated }, ""},
		"with a placement that says none": {func(b *karmada.ResourceBinding) { b.Spec.Placement = &karmada.Placement{} }, ""},
		"where it is needed, beside where it is decided": {func(b *karmada.ResourceBinding) {
			b.Spec.Clusters = targets("us")
			b.Spec.RequiredBy = []karmada.BindingSnapshot{{Namespace: "shop", Name: "web", Clusters: targets("eu", "us")}, {Name: "all", Clusters: targets("eu")}}
		}, "eu 0, us 2, needed by shop/web, needed by all"},
		"where it is left": {func(b *karmada.ResourceBinding) {
			b.Spec.Clusters = targets("us", "ap")
			b.Status.AggregatedStatus = []karmada.AggregatedStatusItem{{ClusterName: "eu", Applied: true}, {ClusterName: "us", AppliedMessage: "it is held"}}
		}, "ap 2, eu 0 left: it stays as it was published, kept, undecided, us 2 left: it is held"},
		"and is not placed": {func(b *karmada.ResourceBinding) {
			b.Status.Conditions = []metav1.Condition{{Type: "Scheduled", Status: metav1.ConditionFalse, Message: "none fits"}}
		}, "none fits"},
	} {
		b := &karmada.ResourceBinding{}
		tt.edit(b)
		is := templateOf("x.yaml", b, strings.Clone)
		var got []string
		for _, c := range is.Targets {
			said := fmt.Sprintf("%s %d", c.Cluster, c.Replicas)
			if c.Left != "" {
				said += " left: " + c.Left
			}
			got = append(got, said)
			if c.Kept {
				got = append(got, "kept")
			}
			if c.Undecided {
				got = append(got, "undecided")
			}
		}
		if is.Divided {
			got = append(got, "divided")
		}
		for _, by := range is.NeededBy {
			got = append(got, "needed by "+by)
		}
		if !is.Placed() {
			got = append(got, is.Scheduled.Message)
		}
		if said := strings.Join(got, ", "); said != tt.want {
			t.Errorf("%s: %s, want %s", name, said, tt.want)
		}
		if !slices.IsSortedFunc(is.Targets, func(a, b Target) int { return strings.Compare(a.Cluster, b.Cluster) }) {
			t.Errorf("%s: the order is %+v", name, is.Targets)
		}
	}
}
