package apply

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// RecreateAnnotation asks that an object is deleted and created anew where a server does not
// let a field of it change. So do the annotations of Flux and Argo CD for that, so that a
// branch means the same whoever applies it.
const RecreateAnnotation = "waybill.dev/recreate"

const (
	fluxForce   = "kustomize.toolkit.fluxcd.io/force"
	syncOptions = "argocd.argoproj.io/sync-options"
)

// Renewal says when an object is deleted to be created anew.
type Renewal int

// Never, if the server refuses to change it, or whatever it is.
const (
	RenewNever Renewal = iota
	RenewRefused
	RenewFirst
)

// renewal is what a manifest asks for.
func renewal(o *Object) Renewal {
	options := strings.FieldsFunc(annotation(o.Manifest, syncOptions), func(r rune) bool { return r == ',' || r == ' ' })
	asks := annotation(o.Manifest, RecreateAnnotation) == "true" ||
		strings.EqualFold(annotation(o.Manifest, fluxForce), "enabled") || slices.Contains(options, "Force=true")
	if asks && Recreatable(o) {
		return RenewRefused
	}
	return RenewNever
}

// lasting are kinds with which more would go than the object: what is in a Namespace, the
// objects of a kind, data.
var lasting = []schema.GroupKind{
	{Kind: "Namespace"}, {Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, {Kind: "PersistentVolumeClaim"}, {Kind: "PersistentVolume"},
}

// Recreatable reports whether an object, as its manifest has it or as it is live, may be deleted to be created anew.
func Recreatable(o *Object) bool { return !slices.Contains(lasting, o.Kind()) && !deletesVolumes(o) }

// deletesVolumes reports a StatefulSet with which its PersistentVolumeClaims go.
func deletesVolumes(o *Object) bool {
	spec, _ := o.Manifest["spec"].(map[string]any)
	retention, _ := spec["persistentVolumeClaimRetentionPolicy"].(map[string]any)
	return o.Kind() == schema.GroupKind{Group: "apps", Kind: "StatefulSet"} && retention["whenDeleted"] == "Delete"
}
