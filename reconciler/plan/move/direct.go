package move

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/waybill-dev/waybill/render/object"
)

// Annotation of an object, of the release that renders it, or of the policy that sends it, says by AnnotationDirect that
// nothing is waited for when it moves.
const (
	Annotation       = "waybill.dev/move"
	AnnotationDirect = "direct"
)

// Direct is why nothing is waited for; empty if something is.
type Direct string

// The reasons.
const (
	Asked       Direct = "it has the annotation " + Annotation + ": " + AnnotationDirect
	OnceOnly    Direct = "it must not run twice"
	NeededByOne Direct = "what needs it must not run twice, or is told to move directly"
	Unwatched   Direct = "nobody says how its copies are, and publish.moves.wait is 0s"
)

// runsOnce are the kinds of which a second copy does harm, be it for a while: they write the same data elsewhere, or do
// the same work again.
var runsOnce = map[object.GroupKind]bool{
	{Group: "apps", Kind: "StatefulSet"}: true, {Kind: "PersistentVolumeClaim"}: true, {Kind: "PersistentVolume"}: true,
	{Group: "batch", Kind: "Job"}: true, {Group: "batch", Kind: "CronJob"}: true,
}

// DirectOf says why nothing is waited for when an object with some content moves, for its own sake; annotations are its
// own, and those of what sends it.
func DirectOf(r object.Ref, content map[string]any, annotations ...map[string]string) Direct {
	for _, a := range annotations {
		if a[Annotation] == AnnotationDirect {
			return Asked
		}
	}
	if runsOnce[object.GroupKind{Group: r.Group, Kind: r.Kind}] || r.Group == "apps" && r.Kind == "Deployment" && isRecreated(content) {
		return OnceOnly
	}
	return ""
}

// isRecreated reports a Deployment whose pods are never two versions at a time.
func isRecreated(content map[string]any) bool {
	spec, _ := content["spec"].(map[string]any)
	strategy, _ := spec["strategy"].(map[string]any)
	return strategy["type"] == string(appsv1.RecreateDeploymentStrategyType)
}
