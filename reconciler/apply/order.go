package apply

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The stages: what defines others, what others name, the rest, and what judges the rest.
const (
	definitions = iota
	classes
	rest
	webhooks
	stages
)

// namedByOthers are kinds, but for classes, that an API server or a controller wants to be
// there before what names them.
var namedByOthers = []string{"ClusterRole", "Role", "ServiceAccount", "ResourceQuota", "LimitRange"}

func stageOf(k schema.GroupKind) int {
	switch {
	case k == schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, k == schema.GroupKind{Kind: "Namespace"}:
		return definitions
	case slices.Contains(lastKinds, k.Kind):
		return webhooks
	case strings.HasSuffix(k.Kind, "Class"), slices.Contains(namedByOthers, k.Kind):
		return classes
	}
	return rest
}

// staged sorts actions into stages that are not empty. Within one they are in the order that
// Flux has for kinds.
func staged(actions []Action) [][]Action {
	rank := ranks(actions)
	slices.SortFunc(actions, func(a, b Action) int {
		return cmp.Or(cmp.Compare(rank[kindOf(a.Ref)], rank[kindOf(b.Ref)]), a.Ref.Compare(b.Ref))
	})
	all := make([][]Action, stages)
	for _, a := range actions {
		n := stageOf(kindOf(a.Ref))
		all[n] = append(all[n], a)
	}
	return slices.DeleteFunc(all, func(s []Action) bool { return len(s) == 0 })
}

// ranks numbers the kinds of actions in Flux's order.
func ranks(actions []Action) map[schema.GroupKind]int {
	seen := map[schema.GroupKind]int{}
	for _, a := range actions {
		seen[kindOf(a.Ref)] = 0
	}
	for i, k := range slices.SortedFunc(maps.Keys(seen), CompareKinds) {
		seen[k] = i
	}
	return seen
}
