package hpa_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/hpa"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/policies/scale"
)

// weighing names weights a, b and so on.
func weighing(weights ...int64) (all []place.Weight) {
	for i, w := range weights {
		all = append(all, place.Weight{Name: string(rune('a' + i)), Weight: w})
	}
	return all
}

// bounds prints shares in the order of names.
func bounds(shares map[string]hpa.Share) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		all = append(all, fmt.Sprintf("%s %d..%d", name, shares[name].Min, shares[name].Max))
	}
	return strings.Join(all, ", ")
}

func TestDivide(t *testing.T) {
	for _, tt := range []struct {
		min, max int32
		weights  []int64
		want     string
	}{
		{4, 20, []int64{5, 3, 2}, "a 2..10, b 1..6, c 1..4"},
		{2, 10, []int64{4, 1}, "a 1..8, b 1..2"},
		{4, 20, []int64{1, 1, 1}, "a 2..7, b 1..7, c 1..6"},
		{1, 20, []int64{1, 1, 1}, "a 1..7, b 1..7, c 1..6"},
		{1, 2, []int64{1, 3, 2}, "b 1..1, c 1..1"},
		{2, 2, []int64{1, 1, 1}, "a 1..1, b 1..1"},
		{3, 100, []int64{98, 1, 1}, "a 1..98, b 1..1, c 1..1"},
		{8, 20, []int64{5, 3, 2}, "a 4..10, b 2..6, c 2..4"},
		{1, 9, []int64{1, 0}, "a 1..9"},
		{1, 9, nil, ""},
	} {
		got := bounds(hpa.Divide(scale.Bounds{Min: tt.min, Max: tt.max}, weighing(tt.weights...)))
		if got != tt.want {
			t.Errorf("%d..%d by %v is %s\nwant %s", tt.min, tt.max, tt.weights, got, tt.want)
		}
	}
}

// TestSharesWeighAsTheirClustersDo: of all that have a share, and none more than a weight may be.
func TestSharesWeighAsTheirClustersDo(t *testing.T) {
	for _, tt := range []struct {
		weights []int64
		want    map[string]int64
		all     int64
	}{
		{[]int64{5, 3, 2}, map[string]int64{"a": 5, "b": 3, "c": 2}, 10},
		{[]int64{5, 0, 2}, map[string]int64{"a": 5, "c": 2}, 7},
		{[]int64{2 * place.MaxWeight, place.MaxWeight}, map[string]int64{"a": place.MaxWeight, "b": place.MaxWeight}, 2 * place.MaxWeight},
	} {
		got := map[string]int64{}
		for name, s := range hpa.Divide(scale.Bounds{Min: 1, Max: 20}, weighing(tt.weights...)) {
			if got[name] = s.Weight; s.All != tt.all {
				t.Errorf("by %v all weigh %d for %s, want %d", tt.weights, s.All, name, tt.all)
			}
		}
		if !maps.Equal(got, tt.want) {
			t.Errorf("by %v they weigh %v, want %v", tt.weights, got, tt.want)
		}
	}
}

// FuzzDivide holds that no replica is lost or made, that no least is above a most, and that equal input is answered alike.
func FuzzDivide(f *testing.F) {
	f.Add(int32(4), int32(20), []byte{5, 3, 2})
	f.Add(int32(1), int32(2), []byte{1, 1, 1, 1})
	f.Add(int32(9), int32(9), []byte{0, 200, 3})
	f.Fuzz(func(t *testing.T, least, most int32, data []byte) {
		least, most = 1+abs(least)%1000, 1+abs(most)%1000
		if least > most || len(data) > 26 {
			return
		}
		var weights []int64
		clusters := int64(0)
		for _, d := range data {
			weights = append(weights, int64(d))
			if d > 0 {
				clusters++
			}
		}
		b := scale.Bounds{Min: least, Max: most}
		shares := hpa.Divide(b, weighing(weights...))
		var mins, maxs, all int64
		for name, s := range shares {
			mins, maxs, all = mins+int64(s.Min), maxs+int64(s.Max), all+s.Weight
			if s.Min < 1 || s.Min > s.Max {
				t.Errorf("%s has %d..%d", name, s.Min, s.Max)
			}
		}
		for name, s := range shares {
			if s.All != all {
				t.Errorf("%s says that all weigh %d, and they weigh %d", name, s.All, all)
			}
		}
		want := min(clusters, int64(most))
		if int64(len(shares)) != want {
			t.Errorf("%d of %d clusters have a share of %d..%d", len(shares), clusters, least, most)
		}
		if clusters > 0 && maxs != int64(most) {
			t.Errorf("the most of %d..%d by %v is %d in all", least, most, weights, maxs)
		}
		if clusters > 0 && mins != max(int64(least), want) {
			t.Errorf("the least of %d..%d by %v is %d in all", least, most, weights, mins)
		}
		turned := weighing(weights...)
		slices.Reverse(turned)
		if again := hpa.Divide(b, turned); !reflect.DeepEqual(again, shares) {
			t.Errorf("in another order it is %v, not %v", again, shares)
		}
	})
}

func abs(n int32) int32 {
	if n < 0 {
		return -(n + 1)
	}
	return n
}

func TestMake(t *testing.T) {
	const spec = `
metadata: {name: api, namespace: shop, labels: {app: api}, annotations: {note: no}}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: api}
  maxReplicas: 20
  metrics:
  - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}
  - {type: External, external: {metric: {name: queue}, target: {type: AverageValue, averageValue: "30"}}}
  - {type: External, external: {metric: {name: all}, target: {type: Value, value: "30"}}}
  behavior:
    scaleUp: {policies: [{type: Pods, value: 10, periodSeconds: 15}, {type: Percent, value: 100, periodSeconds: 15}]}
    scaleDown: {policies: [{type: Pods, value: 7, periodSeconds: 60}]}
`
	made := func(annotation string, s hpa.Share) string {
		var f karmada.FederatedHPA
		if err := yaml.UnmarshalStrict([]byte(spec), &f); err != nil {
			t.Fatal(err)
		}
		if annotation != "" {
			f.Annotations[hpa.ExternalAnnotation] = annotation
		}
		before := f.Spec.Behavior.DeepCopy()
		out, err := yaml.Marshal(hpa.Make(&f, s))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(f.Spec.Behavior, before) {
			t.Errorf("the rates of what it was made from are %+v", f.Spec.Behavior)
		}
		return string(out)
	}
	got := made("", hpa.Share{Bounds: scale.Bounds{Min: 1, Max: 6}, Weight: 3, All: 10})
	const want = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  labels:
    app: api
  name: api
  namespace: shop
spec:
  behavior:
    scaleDown:
      policies:
      - periodSeconds: 60
        type: Pods
        value: 2
    scaleUp:
      policies:
      - periodSeconds: 15
        type: Pods
        value: 3
      - periodSeconds: 15
        type: Percent
        value: 100
  maxReplicas: 6
  metrics:
  - resource:
      name: cpu
      target:
        averageUtilization: 60
        type: Utilization
    type: Resource
  - external:
      metric:
        name: queue
      target:
        averageValue: "100"
        type: AverageValue
    type: External
  - external:
      metric:
        name: all
      target:
        type: Value
        value: "30"
    type: External
  minReplicas: 1
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: api
`
	if got != want {
		t.Errorf("it is\n%s", got)
	}
	for _, tt := range []struct {
		annotation  string
		weight, all int64
		pods        int
		external    string
	}{
		{"", 1, 1, 10, `"30"`},
		{"", 7, 10, 7, "42858m"}, // 42857.14 thousandths, rounded up
		{"", 1, 1000, 1, "30k"},
		{"", 1, 4, 3, `"120"`}, // 2.5 pods, rounded up
		{hpa.Local, 3, 10, 3, `"30"`},
		{"", 1 << 48, 1 << 49, 5, `"60"`},
	} {
		got := made(tt.annotation, hpa.Share{Bounds: scale.Bounds{Min: 1, Max: 6}, Weight: tt.weight, All: tt.all})
		if !strings.Contains(got, fmt.Sprintf("value: %d\n      - periodSeconds: 15\n        type: Percent\n        value: 100", tt.pods)) ||
			!strings.Contains(got, "averageValue: "+tt.external+"\n") {
			t.Errorf("with %d of %d, and %q: want %d pods and %s\n%s", tt.weight, tt.all, tt.annotation, tt.pods, tt.external, got)
		}
	}
}

// TestMakeOfLittle: of what a FederatedHPA does not say its HorizontalPodAutoscaler says nothing either.
func TestMakeOfLittle(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{"", ""},
		{"behavior: {}", "  behavior: {}\n"},
		{
			"metrics: [{type: External}, {type: Resource, external: {metric: {name: q}, target: {type: AverageValue, averageValue: 3}}}]",
			"  metrics:\n  - type: External\n  - external:\n      metric:\n        name: q\n      target:\n        averageValue: \"3\"\n        type: AverageValue\n    type: Resource\n",
		},
		{ // in which nothing is measured
			"metrics: [{type: External, external: {metric: {name: q}, target: {type: AverageValue, averageValue: 9P}}}]",
			"  metrics:\n  - external:\n      metric:\n        name: q\n      target:\n        averageValue: 9P\n        type: AverageValue\n    type: External\n",
		},
	} {
		var f karmada.FederatedHPA
		text := "metadata: {name: api, namespace: shop}\nspec:\n  scaleTargetRef: {kind: Deployment, name: api}\n  maxReplicas: 20\n  " + tt.spec + "\n"
		if err := yaml.UnmarshalStrict([]byte(text), &f); err != nil {
			t.Fatal(err)
		}
		out, err := yaml.Marshal(hpa.Make(&f, hpa.Share{Bounds: scale.Bounds{Min: 1, Max: 6}, Weight: 1, All: 10}))
		behavior, metrics := "", tt.want
		if strings.HasPrefix(tt.want, "  behavior") {
			behavior, metrics = tt.want, ""
		}
		want := "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: api\n  namespace: shop\nspec:\n" + behavior +
			"  maxReplicas: 6\n" + metrics + "  minReplicas: 1\n  scaleTargetRef:\n    kind: Deployment\n    name: api\n"
		if string(out) != want || err != nil {
			t.Errorf("of %q it is\n%s", tt.spec, out)
		}
	}
	three := int32(3)
	for _, tt := range []struct {
		least *int32
		want  scale.Bounds
	}{{nil, scale.Bounds{Min: 1, Max: 9}}, {&three, scale.Bounds{Min: 3, Max: 9}}} {
		if got := hpa.BoundsOf(&karmada.FederatedHPA{Spec: karmada.FederatedHPASpec{MinReplicas: tt.least, MaxReplicas: 9}}); got != tt.want {
			t.Errorf("its bounds are %v, want %v", got, tt.want)
		}
	}
}
