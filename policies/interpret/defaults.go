package interpret

import (
	"slices"
	"strings"
)

// Default returns obj with the defaults that an API server gives to its exact
// apiVersion and kind (Karmada section T.1), and where they were added, in order,
// for Undefault. A kind without defaults, a custom resource among them, comes back
// as it is. What is misshapen, such as a spec that is a string, gets none.
func Default(obj map[string]any) (defaulted map[string]any, added []Path) {
	rules := defaults[kindOf(obj)]
	if rules == nil {
		return obj, nil
	}
	var d defaulter
	c := clone(obj)
	d.visit(rules, c)
	return c.(map[string]any), d.added
}

// A rule gives a default to one key of every map that a path leads to.
type rule struct {
	path  []string // keys from the root of the object; "*" is every item of a list
	key   string
	unset func(old any) bool
	// value returns the default in a map, which it must not modify; nil for none.
	value func(in map[string]any) any
}

func on(path, key string, unset func(any) bool, value func(map[string]any) any) rule {
	keys := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	return rule{path: keys, key: key, unset: unset, value: value}
}

// fill is the rule for a field that is a pointer, or a string: null and "" are not
// set, 0 and false are. An empty path is the object itself.
func fill(path, key string, v any) rule {
	return on(path, key, isEmpty, func(map[string]any) any { return v })
}

// positive is the rule for a number that is no pointer: 0 is not set either.
func positive(path, key string, n int64) rule {
	return on(path, key, isZero, func(map[string]any) any { return n })
}

// emptyMap is the rule for a map that is always there.
func emptyMap(path, key string) rule {
	return on(path, key, isNull, func(map[string]any) any { return map[string]any{} })
}

// depends is the rule for a default that depends on the map it is put into.
func depends(path, key string, value func(in map[string]any) any) rule {
	return on(path, key, isEmpty, value)
}

// forced is depends for a value that replaces one that is set.
func forced(path, key string, value func(in map[string]any) any) rule {
	return on(path, key, func(any) bool { return true }, value)
}

func isNull(v any) bool { return v == nil }

func isEmpty(v any) bool { return v == nil || v == "" }

func isZero(v any) bool { return v == int64(0) || isEmpty(v) }

// A node holds the rules for the maps, and what is below them, at one path.
type node struct {
	rules    []rule // in the order in which they apply
	children []child
}

type child struct {
	key string // or "*"
	*node
}

// arranged puts rules where they apply, so that each map of an object is visited
// once. It keeps the order of the rules of one map; those of others do not matter,
// as a default depends on nothing but its map.
func arranged(kinds map[kind][]rule) map[kind]*node {
	out := make(map[kind]*node, len(kinds))
	for k, rules := range kinds {
		root := &node{}
		for _, r := range rules {
			n := root
			for _, key := range r.path {
				n = n.child(key)
			}
			n.rules = append(n.rules, r)
		}
		out[k] = root
	}
	return out
}

func (n *node) child(key string) *node {
	for _, c := range n.children {
		if c.key == key {
			return c.node
		}
	}
	c := child{key, &node{}}
	n.children = append(n.children, c)
	return c.node
}

// defaulter applies rules to an object that it may modify.
type defaulter struct {
	way   []step // to the value in hand
	added []Path
}

// visit applies the rules of n to v, and those below n to what is below v.
func (d *defaulter) visit(n *node, v any) {
	switch v := v.(type) {
	case map[string]any:
		d.fill(n.rules, v)
		for _, c := range n.children {
			if below, ok := v[c.key]; ok {
				d.down(c.node, below, step{key: c.key})
			}
		}
	case []any:
		for _, c := range n.children {
			if c.key != "*" {
				continue
			}
			for i, item := range v {
				d.down(c.node, item, step{index: i, of: len(v), id: identityOf(item)})
			}
		}
	}
}

func (d *defaulter) down(n *node, v any, s step) {
	d.way = append(d.way, s)
	d.visit(n, v)
	d.way = d.way[:len(d.way)-1]
}

func (d *defaulter) fill(rules []rule, m map[string]any) {
	var way []step
	for i := range rules {
		r := &rules[i]
		old, had := m[r.key]
		if !r.unset(old) {
			continue
		}
		v := r.value(m)
		if v == nil || equal(v, old) {
			continue
		}
		m[r.key] = clone(v)
		if way == nil {
			way = slices.Clone(d.way)
		}
		d.added = append(d.added, Path{way: way, key: r.key, value: v, was: old, had: had})
	}
}
