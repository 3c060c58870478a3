package clusters_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/ssa"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/waybill-dev/waybill/reconciler/apply"
)

// Kinds are applied in Flux's order: those that its library has, those of Kubernetes, and others.
func TestTheOrderOfKindsIsFluxs(t *testing.T) {
	kinds := []schema.GroupKind{{Kind: "Farm"}, {Group: "example.com", Kind: "Farm"}, {Group: "example.com", Kind: "Secret"}}
	for _, kind := range slices.Concat(ssa.ReconcileOrder.First, ssa.ReconcileOrder.Last) {
		kinds = append(kinds, schema.GroupKind{Kind: kind})
	}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		kinds = append(kinds, gvk.GroupKind())
	}
	slices.SortFunc(kinds, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	kinds = slices.Compact(kinds) // most have several versions
	for _, a := range kinds {
		for _, b := range kinds {
			if got, want := apply.CompareKinds(a, b) < 0, ssa.IsLessThan(a, b); got != want {
				t.Fatalf("%v before %v: %t, and %t in Flux", a, b, got, want)
			}
		}
	}
}
