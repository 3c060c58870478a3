package hpa

import (
	"math/big"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/scale"
)

// ExternalAnnotation on a FederatedHPA says of external metrics with an average value that each cluster has a number of its
// own (local); otherwise they all see one number, of which each answers for its part.
const ExternalAnnotation = "waybill.dev/external-metrics"

// Local is the value of ExternalAnnotation.
const Local = "local"

// BoundsOf are the bounds that a FederatedHPA is written with.
func BoundsOf(f *karmada.FederatedHPA) scale.Bounds {
	b := scale.Bounds{Min: 1, Max: f.Spec.MaxReplicas}
	if f.Spec.MinReplicas != nil {
		b.Min = *f.Spec.MinReplicas
	}
	return b
}

// Make makes the HorizontalPodAutoscaler of a cluster with a share: labels, target, metrics and behavior are those of the
// FederatedHPA, which has its defaults. The result may be modified, and shares nothing with it.
func Make(f *karmada.FederatedHPA, s Share) map[string]any {
	spec := autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: f.Spec.ScaleTargetRef, MinReplicas: &s.Min, MaxReplicas: s.Max, Behavior: f.Spec.Behavior.DeepCopy(),
	}
	for i := range f.Spec.Metrics {
		spec.Metrics = append(spec.Metrics, metric(f, i, s))
	}
	if b := spec.Behavior; b != nil {
		rates(b.ScaleUp, s)
		rates(b.ScaleDown, s)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
	if err != nil {
		panic("hpa: a spec that was decoded does not encode: " + err.Error())
	}
	meta := map[string]any{"name": f.Name, "namespace": f.Namespace}
	if len(f.Labels) > 0 {
		labels := map[string]any{}
		for k, v := range f.Labels {
			labels[k] = v
		}
		meta["labels"] = labels
	}
	return map[string]any{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": meta, "spec": content}
}

// metric is a metric as a cluster has it. Averages over pods are what they are in each cluster. An external metric with an
// average value is one number for all clusters, divided by replicas: where a cluster has a part of the replicas, that part of
// the number belongs to it, so that its target is as much higher.
func metric(f *karmada.FederatedHPA, i int, s Share) autoscalingv2.MetricSpec {
	m := *f.Spec.Metrics[i].DeepCopy()
	isShared := m.Type == autoscalingv2.ExternalMetricSourceType && f.Annotations[ExternalAnnotation] != Local
	if isShared && m.External != nil && m.External.Target.AverageValue != nil {
		target := raised(*m.External.Target.AverageValue, s)
		m.External.Target.AverageValue = &target
	}
	return m
}

// raised is a quantity times all weights by the cluster's, rounded up to a thousandth.
func raised(q resource.Quantity, s Share) resource.Quantity {
	if s.Weight == s.All {
		return q
	}
	thousandths := new(big.Int).Mul(big.NewInt(q.MilliValue()), big.NewInt(s.All))
	up, rest := thousandths.QuoRem(thousandths, big.NewInt(s.Weight), new(big.Int))
	if rest.Sign() > 0 {
		up.Add(up, big.NewInt(1))
	}
	if !up.IsInt64() {
		return q // nothing is measured in such numbers
	}
	return *resource.NewMilliQuantity(up.Int64(), q.Format)
}

// rates divides the pods that may come or go at once. What is said in percent is so in each cluster.
func rates(r *autoscalingv2.HPAScalingRules, s Share) {
	if r == nil {
		return
	}
	for i := range r.Policies {
		if p := &r.Policies[i]; p.Type == autoscalingv2.PodsScalingPolicy {
			p.Value = s.of(p.Value)
		}
	}
}
