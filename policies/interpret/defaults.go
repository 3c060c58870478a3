package interpret

import (
	"reflect"
	"slices"
	"strings"
)

// Default returns obj with the defaults that an API server gives to its exact
// apiVersion and kind (Karmada section T0.1), and where they were added, in order,
// for Undefault. A kind without defaults, a custom resource among them, comes back
// as it is. What is misshapen, such as a spec that is a string, gets none.
func Default(obj map[string]any) (defaulted map[string]any, added []Path) {
	rules := defaults[kindOf(obj)]
	if rules == nil {
		return obj, nil
	}
	d := defaulter{}
	c := clone(obj)
	for i := range rules {
		d.apply(&rules[i], c, rules[i].at)
	}
	return c.(map[string]any), d.added
}

// A rule gives a default to one key of every map that a path leads to.
type rule struct {
	at    []string // keys from the root of the object; "*" is every item of a list
	key   string
	unset func(old any) bool
	// value returns the default in a map, which it must not modify; nil for none.
	value func(in map[string]any) any
}

func on(path, key string, unset func(any) bool, value func(map[string]any) any) rule {
	return rule{at: strings.FieldsFunc(path, func(r rune) bool { return r == '/' }), key: key, unset: unset, value: value}
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

// object is the rule for a map that is always there.
func object(path, key string) rule {
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

// defaulter applies rules to an object that it may modify.
type defaulter struct {
	way   []step // to the map in hand
	added []Path
}

func (d *defaulter) apply(r *rule, node any, path []string) {
	if len(path) == 0 {
		if m, ok := node.(map[string]any); ok {
			d.set(r, m)
		}
		return
	}
	if path[0] == "*" {
		list, _ := node.([]any)
		for i, item := range list {
			d.down(step{index: i, of: len(list), id: identityOf(item)}, r, item, path[1:])
		}
		return
	}
	m, _ := node.(map[string]any)
	if child, ok := m[path[0]]; ok {
		d.down(step{key: path[0]}, r, child, path[1:])
	}
}

func (d *defaulter) down(s step, r *rule, node any, path []string) {
	d.way = append(d.way, s)
	d.apply(r, node, path)
	d.way = d.way[:len(d.way)-1]
}

func (d *defaulter) set(r *rule, m map[string]any) {
	old, had := m[r.key]
	if !r.unset(old) {
		return
	}
	v := r.value(m)
	if v == nil || reflect.DeepEqual(v, old) {
		return
	}
	m[r.key] = clone(v)
	d.added = append(d.added, Path{way: slices.Clone(d.way), key: r.key, value: v, was: old, had: had})
}
