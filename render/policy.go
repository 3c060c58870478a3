package render

import (
	"strings"

	"github.com/waybill-dev/waybill/render/object"
)

// IsPolicy reports the objects that steer Karmada, or Waybill, and are never delivered. What Karmada's search
// and operator are told of is not for its control plane, which takes it for templates like any other (section
// A.3). Of KubeFleet's placements those are policies that are about roll-outs in stages.
func IsPolicy(r object.Ref) bool {
	switch r.Group {
	case "search.karmada.io", "operator.karmada.io":
		return false
	case placementGroup:
		_, is := rolloutKinds[r.Kind]
		return is
	}
	return strings.HasSuffix(r.Group, ".karmada.io") || r.Group == "waybill.dev"
}

// placementGroup is the group of KubeFleet's placements.
const placementGroup = "placement.kubernetes-fleet.io"

// rolloutKinds are its kinds that are about roll-outs, and whether they have a namespace.
var rolloutKinds = map[string]bool{
	"ClusterStagedUpdateStrategy": false, "ClusterStagedUpdateRun": false, "ClusterApprovalRequest": false,
	"StagedUpdateStrategy": true, "StagedUpdateRun": true, "ApprovalRequest": true,
}
