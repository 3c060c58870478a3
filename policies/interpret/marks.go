package interpret

import (
	"maps"

	"github.com/waybill-dev/waybill/render/object"
)

// What delivered manifests carry for those who apply them: the label by which Karmada, and
// so Waybill, knows what it may change or delete, what happens to an object that is there
// already, where it differs from the default, that an object stays in its cluster when it is
// no longer sent there, and which HorizontalPodAutoscaler decides the replicas of a workload,
// so that whoever applies it leaves them to that.
const (
	ManagedLabel       = "karmada.io/managed"
	conflictAnnotation = "work.karmada.io/conflict-resolution"
	PreserveAnnotation = "waybill.dev/preserve-resources-on-deletion"
	ScalerAnnotation   = "waybill.dev/autoscaler"
)

// Marks is how an object is treated that a cluster has already, or that is no longer sent. Scaler is the name of the
// HorizontalPodAutoscaler that decides its replicas; empty for none.
type Marks struct {
	Overwrite, Preserve bool
	Scaler              string
}

// Overwrites reports whether an object takes over what a cluster has already: as the
// template's annotation says, else as the policies that send it do (Karmada section D.3).
func Overwrites(template *object.Object, byPolicy bool) bool {
	switch template.Annotations()[conflictAnnotation] {
	case "overwrite":
		return true
	case "abort":
		return false
	}
	return byPolicy
}

// Marked returns content with what delivered manifests carry.
func Marked(content map[string]any, m Marks) map[string]any {
	out := maps.Clone(content)
	meta, _ := content["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	meta["labels"] = withKey(meta["labels"], ManagedLabel, "true")
	if m.Overwrite {
		meta["annotations"] = withKey(meta["annotations"], conflictAnnotation, "overwrite")
	}
	if m.Preserve {
		meta["annotations"] = withKey(meta["annotations"], PreserveAnnotation, "true")
	}
	if m.Scaler != "" {
		meta["annotations"] = withKey(meta["annotations"], ScalerAnnotation, m.Scaler)
	}
	out["metadata"] = meta
	return out
}

// withKey returns a copy of m, a map or nothing, in which key has a value.
func withKey(m any, key, value string) map[string]any {
	old, _ := m.(map[string]any)
	out := make(map[string]any, len(old)+1)
	maps.Copy(out, old)
	out[key] = value
	return out
}
