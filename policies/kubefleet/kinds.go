package kubefleet

import (
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// Group is the API group of KubeFleet's placements.
const Group = "placement.kubernetes-fleet.io"

// The kinds of strategies: for what ClusterPropagationPolicies and all PropagationPolicies claim, and for
// what the PropagationPolicies of one namespace claim.
const (
	ClusterKind    = "ClusterStagedUpdateStrategy"
	NamespacedKind = "StagedUpdateStrategy"
)

// versions are those in which strategies are read. Their fields are equal.
var versions = []string{Group + "/v1beta1", Group + "/v1"}

// IsStrategy reports an object of a kind that Read reads, in any version.
func IsStrategy(r object.Ref) bool {
	return r.Group == Group && (r.Kind == ClusterKind || r.Kind == NamespacedKind)
}

// Refusal says why an object is refused, if it is one of KubeFleet's runs or requests for approval.
func Refusal(o *object.Object) (diag.Diagnostic, bool) {
	r := o.Ref()
	if r.Group != Group {
		return diag.Diagnostic{}, false
	}
	d := diag.Diagnostic{Code: diag.NotAPolicy, Severity: diag.Error, Pos: o.Origin()}
	switch kind := strings.TrimPrefix(r.Kind, "Cluster"); kind {
	case "StagedUpdateRun":
		d.Message = title(r) + ": runs are made by Waybill for every change, and not read from files"
		d.Hint = "remove the file; to hold one: waybill rollout stop UNIT"
	case "ApprovalRequest":
		d.Message = title(r) + ": an approval is a command, and not read from files"
		d.Hint = "remove the file; approve with: waybill rollout approve UNIT STAGE"
	default:
		return diag.Diagnostic{}, false
	}
	return d, true
}

// title is the kind and name of an object, as people say them.
func title(r object.Ref) string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}
