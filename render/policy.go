package render

import (
	"strings"

	"github.com/waybill-dev/waybill/render/namespaced"
	"github.com/waybill-dev/waybill/render/object"
)

// IsPolicy reports the objects that steer Karmada, or Waybill, and are never delivered. What Karmada's search
// and operator are told of is not for its control plane, which takes it for templates like any other (section
// A.3). Of KubeFleet's placements those are policies that are about roll-outs in stages.
func IsPolicy(r object.Ref) bool {
	switch r.Group {
	case "search.karmada.io", "operator.karmada.io":
		return false
	case namespaced.Placements:
		return namespaced.IsRollout(r.Kind)
	}
	return strings.HasSuffix(r.Group, ".karmada.io") || r.Group == "waybill.dev"
}
