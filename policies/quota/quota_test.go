package quota_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/quota"
)

func list(name, quantity string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(quantity)}
}

func TestExceeding(t *testing.T) {
	for _, tt := range []struct {
		name, overall string
		demands       string // "BEFORE>NOW" replicas of one CPU each
		want          string // one letter a demand: is it over?
	}{
		{"all fits", "cpu", "0>2 0>2", "--"},
		{"the last one is over", "cpu", "0>3 0>2", "-x"},
		{"requests.cpu is the same limit", "requests.cpu", "0>3 0>2", "-x"},
		{"another resource is not limited", "memory", "0>3 0>2", "--"},
		{"what runs is not displaced by what is new", "cpu", "0>3 2>2", "x-"},
		{"what runs is not displaced by what grows", "cpu", "1>3 2>2", "x-"},
		{"what is over counts with what it was", "cpu", "1>6 0>3 0>1", "x-x"},
		{"what shrinks makes room", "cpu", "0>3 4>1", "--"},
		{"what runs and is over stays over", "cpu", "5>5 0>1", "xx"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var demands []quota.Demand
			for d := range strings.FieldsSeq(tt.demands) {
				var before, now int64
				if _, err := fmt.Sscanf(d, "%d>%d", &before, &now); err != nil {
					t.Fatal(err)
				}
				demands = append(demands, quota.Demand{Replica: list("cpu", "1"), Before: before, Now: now})
			}
			var got strings.Builder
			for _, over := range quota.Exceeding(list(tt.overall, "4"), demands) {
				switch {
				case over == "":
					got.WriteByte('-')
				case strings.HasPrefix(over, "requested cpu="):
					got.WriteByte('x')
				default:
					t.Errorf("it says %q", over)
				}
			}
			if got.String() != tt.want {
				t.Errorf("over are %s, want %s", got.String(), tt.want)
			}
		})
	}
}

func TestTheLastAssignmentOfAClusterCounts(t *testing.T) {
	q := &karmada.FederatedResourceQuota{}
	q.Name, q.Namespace = "q", "a"
	q.Spec.StaticAssignments = []karmada.StaticClusterAssignment{
		{ClusterName: "eu", Hard: list("cpu", "1")}, {ClusterName: "us", Hard: list("cpu", "2")}, {ClusterName: "eu", Hard: list("cpu", "3000m")},
	}
	of := func(cpu string) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "ResourceQuota",
			"metadata": map[string]any{"name": "q", "namespace": "a", "labels": map[string]any{"karmada.io/managed": "true"}},
			"spec":     map[string]any{"hard": map[string]any{"cpu": cpu}},
		}
	}
	want := []quota.Assignment{{"eu", of("3")}, {"us", of("2")}}
	if d := cmp.Diff(want, quota.Assignments(q)); d != "" {
		t.Error(d)
	}
}
