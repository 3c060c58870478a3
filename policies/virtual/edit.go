package virtual

import (
	"maps"
	"strings"
)

// path leads to fields of a manifest. A step is a key, "[]" for each item of a list, or "{}" for
// each value of a map.
type path []string

// parsePath reads a path as people write it: spec.rules[].backendRefs[].namespace.
func parsePath(text string) (p path) {
	for step := range strings.SplitSeq(text, ".") {
		key, isList := strings.CutSuffix(step, "[]")
		p = append(p, key)
		if isList {
			p = append(p, "[]")
		}
	}
	return p
}

// edit returns v in which f has changed what stands at a path, and reports whether anything was
// changed. It copies what it changes, and nothing else; what is not there is passed over.
func edit(v any, p path, f func(any) (any, bool)) (any, bool) {
	if len(p) == 0 {
		return f(v)
	}
	switch v := v.(type) {
	case []any:
		if p[0] == "[]" {
			return editList(v, p[1:], f)
		}
	case map[string]any:
		if p[0] != "{}" {
			return editKey(v, p[0], p[1:], f)
		}
		changed := false
		for key := range v {
			next, ok := editKey(v, key, p[1:], f)
			v, changed = next, changed || ok
		}
		return v, changed
	}
	return v, false
}

func editList(list []any, rest path, f func(any) (any, bool)) ([]any, bool) {
	copied := false
	for i := range list {
		next, ok := edit(list[i], rest, f)
		if !ok {
			continue
		}
		if !copied {
			list, copied = append([]any(nil), list...), true
		}
		list[i] = next
	}
	return list, copied
}

func editKey(m map[string]any, key string, rest path, f func(any) (any, bool)) (map[string]any, bool) {
	was, there := m[key]
	if !there {
		return m, false
	}
	next, ok := edit(was, rest, f)
	if !ok {
		return m, false
	}
	m = maps.Clone(m)
	m[key] = next
	return m, true
}

// textAt returns the text at a path of keys; empty where there is none.
func textAt(v any, keys ...string) string {
	for _, key := range keys {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	s, _ := v.(string)
	return s
}
