package place

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// thousand is 1,000 clusters of different sizes in ten regions.
func thousand() []karmada.Cluster {
	cs := make([]karmada.Cluster, 1000)
	var apis []karmada.APIEnablement
	for i := range 40 {
		apis = append(apis, karmada.APIEnablement{GroupVersion: fmt.Sprintf("group%d/v1", i), Resources: []karmada.APIResource{{Kind: "Kind"}}})
	}
	apis = append(apis, karmada.APIEnablement{GroupVersion: "apps/v1", Resources: []karmada.APIResource{{Kind: "Deployment"}}})
	for i := range cs {
		cs[i] = karmada.Cluster{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cluster-%04d", i), Labels: map[string]string{"env": "prod"}},
			Spec: karmada.ClusterSpec{
				Region: fmt.Sprintf("region-%d", i%10),
				Taints: []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}},
			},
			Status: karmada.ClusterStatus{APIEnablements: apis, ResourceSummary: &karmada.ResourceSummary{
				Allocatable: corev1.ResourceList{
					corev1.ResourceCPU:    *resource.NewQuantity(int64(8+i*7919%120), resource.DecimalSI),
					corev1.ResourceMemory: *resource.NewQuantity(int64(32+i*104729%480)<<30, resource.BinarySI),
					corev1.ResourcePods:   resource.MustParse("440"),
				},
			}},
		}
	}
	return cs
}

func BenchmarkSchedule(b *testing.B) {
	common := `clusterAffinity: {labelSelector: {matchLabels: {env: prod}}}, clusterTolerations: [{operator: Exists}]`
	constraints := spreading("region 3..8", "cluster 20..1000")
	few := spreading("region 2..5", "cluster 10..40")
	for _, bb := range []struct {
		name, placement string
		replicas        int32
	}{
		{"region spread dynamic", with(with(dynamically, common), constraints), 3000},
		{"region spread dynamic, few replicas", with(with(dynamically, common), few), 30},
		{"region spread aggregated", with(with(aggregating, common), constraints), 3000},
		{"cluster spread dynamic", with(with(dynamically, common), spreading("cluster 1..500")), 3000},
		{"dynamic", with(dynamically, common), 3000},
		{"static", with(`{replicaScheduling: {}}`, common), 3000},
		{"duplicated", with(duplicate, common), 3},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s := compile(b, placement(b, bb.placement), thousand(), SpreadKarmada)
			r := workload(bb.replicas)
			r.Requirements = &karmada.ReplicaRequirements{ResourceRequest: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi"),
			}}
			if d := s.Schedule(r); d.Reason != Success {
				b.Fatal(d.Message)
			}
			b.ReportAllocs()
			for b.Loop() {
				s.Schedule(r)
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	p := placement(b, with(dynamically, `clusterAffinity: {labelSelector: {matchLabels: {env: prod}}}, clusterTolerations: [{operator: Exists}]`))
	f := fleet.New(thousand())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(p, f, SpreadKarmada); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCombine searches where every path of 50 regions matters.
func BenchmarkCombine(b *testing.B) {
	options := make([]option, 50)
	for i := range options {
		options[i] = option{clusters: 7 + i*i%13, score: int64(i * 37 % 101)}
	}
	b.ReportAllocs()
	for b.Loop() {
		combine(options, bounds{2, 50}, 400)
	}
}
