package override

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// valueAt returns what stands at the end of path; nil where the path ends early.
func valueAt(obj map[string]any, path ...string) (any, error) {
	var v any = obj
	for i, key := range path {
		if v == nil {
			return nil, nil
		}
		m, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("/%s: want an object, got %s", strings.Join(path[:i], "/"), typeName(v))
		}
		v = m[key]
	}
	return v, nil
}

// with returns a copy of m in which v stands at the end of path. It copies the
// maps on the way, and makes those that are missing.
func with(m map[string]any, v any, path ...string) map[string]any {
	c := make(map[string]any, len(m)+1)
	maps.Copy(c, m)
	if len(path) > 1 {
		child, _ := m[path[0]].(map[string]any)
		v = with(child, v, path[1:]...)
	}
	c[path[0]] = v
	return c
}

// editString returns a copy of node in which edit has changed the string that
// tokens, keys and indices, lead to. It copies what is on the way.
func editString(node any, tokens []string, edit func(string) (string, error)) (any, error) {
	if len(tokens) == 0 {
		s, ok := node.(string)
		if !ok {
			return nil, fmt.Errorf("want a string, got %s", typeName(node))
		}
		return edit(s)
	}
	switch node := node.(type) {
	case map[string]any:
		child, ok := node[tokens[0]]
		if !ok {
			return nil, fmt.Errorf("there is no key %q", tokens[0])
		}
		edited, err := editString(child, tokens[1:], edit)
		if err != nil {
			return nil, err
		}
		c := maps.Clone(node)
		c[tokens[0]] = edited
		return c, nil
	case []any:
		i, err := strconv.Atoi(tokens[0])
		if err != nil {
			return nil, fmt.Errorf("%q is no index into a list", tokens[0])
		}
		if i < 0 || i >= len(node) {
			return nil, fmt.Errorf("index %d is outside a list of %d", i, len(node))
		}
		edited, err := editString(node[i], tokens[1:], edit)
		if err != nil {
			return nil, err
		}
		c := slices.Clone(node)
		c[i] = edited
		return c, nil
	default:
		return nil, fmt.Errorf("%s has no key %q", typeName(node), tokens[0])
	}
}

// pointerTokens splits a JSON pointer (RFC 6901).
func pointerTokens(pointer string) ([]string, error) {
	tokens, err := literalTokens(pointer)
	for i, t := range tokens {
		if strings.Contains(t, "~") {
			tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
		}
	}
	return tokens, err
}

// literalTokens splits a path at its slashes; nothing in it is escaped.
func literalTokens(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	rest, ok := strings.CutPrefix(path, "/")
	if !ok {
		return nil, fmt.Errorf("the path %q does not begin with a slash", path)
	}
	return strings.Split(rest, "/"), nil
}
