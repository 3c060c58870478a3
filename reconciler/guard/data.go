package guard

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// HoldsData reports whether data that no manifest has would be deleted with an object, of which a cluster
// has a manifest: what is in a Namespace, the objects of a definition, volumes, and those that a
// StatefulSet deletes with itself.
func HoldsData(r object.Ref, has *files.Blob) bool {
	switch (object.GroupKind{Group: r.Group, Kind: r.Kind}) {
	case object.GroupKind{Kind: "Namespace"}, object.GroupKind{Kind: "PersistentVolumeClaim"}, object.GroupKind{Kind: "PersistentVolume"},
		object.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
		return true
	case object.GroupKind{Group: "apps", Kind: "StatefulSet"}:
		return deletesVolumes(has)
	}
	return false
}

// deletesVolumes reports whether a StatefulSet deletes its volumes with itself; one that cannot be read may.
func deletesVolumes(has *files.Blob) bool {
	if has == nil {
		return false
	}
	content, err := object.ReadCanonical(has)
	if err != nil {
		return true
	}
	spec, _ := content["spec"].(map[string]any)
	retention, _ := spec["persistentVolumeClaimRetentionPolicy"].(map[string]any)
	return retention["whenDeleted"] == string(appsv1.DeletePersistentVolumeClaimRetentionPolicyType)
}
