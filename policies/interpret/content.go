package interpret

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// kind is an exact apiVersion and kind.
type kind struct{ apiVersion, name string }

func kindOf(obj map[string]any) kind {
	return kind{stringAt(obj, "apiVersion"), stringAt(obj, "kind")}
}

// at returns what stands at the end of path; nil where path leads nowhere.
func at(obj map[string]any, path ...string) any {
	var v any = obj
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

func mapAt(obj map[string]any, path ...string) map[string]any {
	m, _ := at(obj, path...).(map[string]any)
	return m
}

func listAt(obj map[string]any, path ...string) []any {
	list, _ := at(obj, path...).([]any)
	return list
}

func stringAt(obj map[string]any, path ...string) string {
	s, _ := at(obj, path...).(string)
	return s
}

// intAt reads an integer. It reports false where there is none; anything else than
// an integer is an error.
func intAt(obj map[string]any, path ...string) (n int64, found bool, err error) {
	switch v := at(obj, path...).(type) {
	case nil:
		return 0, false, nil
	case int64:
		return v, true, nil
	default:
		return 0, false, fmt.Errorf("reading %s: %#v is no integer", dotted(path), v)
	}
}

func dotted(path []string) string { return "." + strings.Join(path, ".") }

// with returns a copy of m in which v stands at the end of path. It copies the
// maps on the way, and makes those that are missing.
func with(m map[string]any, v any, path ...string) map[string]any {
	c := make(map[string]any, len(m)+1)
	maps.Copy(c, m)
	if len(path) > 1 {
		v = with(mapAt(m, path[0]), v, path[1:]...)
	}
	c[path[0]] = v
	return c
}

// without returns m without the keys of the map that path leads to. It copies the
// maps on the way, and nothing where there is nothing to remove.
func without(m map[string]any, path []string, keys ...string) map[string]any {
	if len(path) > 0 {
		child := mapAt(m, path[0])
		if child == nil {
			return m
		}
		return with(m, without(child, path[1:], keys...), path[0])
	}
	c := maps.Clone(m)
	for _, key := range keys {
		delete(c, key)
	}
	return c
}

// clone copies every map and list of a value.
func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for key, child := range v {
			c[key] = clone(child)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i, child := range v {
			c[i] = clone(child)
		}
		return c
	default:
		return v
	}
}

// equal compares decoded values.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, v := range a {
			if w, ok := b[key]; !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	default:
		return a == b
	}
}

// typed fills out, a pointer to a struct with JSON tags, from a decoded value. An
// error names the field.
func typed(v map[string]any, out any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(data, out)
}
