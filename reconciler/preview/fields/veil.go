package fields

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// veiled stands for a value that nobody may see. Values that are equal are equal when they are veiled, so
// that it is told that one changes.
type veiled [sha256.Size]byte

func veil(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		panic("fields: a value of a manifest is no JSON: " + err.Error())
	}
	return veiled(sha256.Sum256(data))
}

// Veil returns a manifest for Diff in which every value is veiled that differs from that of its twin: the same
// manifest as it is with other values of Secrets and with other draws. Where the keys of a map differ, or how
// many items a list has, all of it is veiled, since these may be made of secrets, too.
func Veil(content, twin map[string]any) map[string]any {
	if !sameKeys(content, twin) {
		return VeilAll(content)
	}
	out, _ := veilUnlike(content, twin).(map[string]any)
	return out
}

// VeilAll returns a manifest for Diff of which nothing is shown but its API version and its kind.
func VeilAll(content map[string]any) map[string]any {
	out := make(map[string]any, len(content))
	for key, v := range content {
		if out[key] = v; key != "apiVersion" && key != "kind" {
			out[key] = veil(v)
		}
	}
	return out
}

func veilUnlike(v, twin any) any {
	switch v := v.(type) {
	case map[string]any:
		if other, ok := twin.(map[string]any); ok && sameKeys(v, other) {
			out := make(map[string]any, len(v))
			for key, item := range v {
				out[key] = veilUnlike(item, other[key])
			}
			return out
		}
	case []any:
		if other, ok := twin.([]any); ok && len(v) == len(other) {
			out := make([]any, len(v))
			for i, item := range v {
				out[i] = veilUnlike(item, other[i])
			}
			return out
		}
	default:
		if reflect.DeepEqual(v, twin) {
			return v
		}
	}
	return veil(v)
}

func sameKeys(a, b map[string]any) bool {
	return slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
}
