package interpret

import (
	"maps"
	"reflect"
	"slices"
)

// Path is where Default put a value, and which. It is for Undefault only.
type Path struct {
	way   []step // to the map
	key   string // in it
	value any    // what Default put there
	was   any    // what had stood there
	had   bool   // whether anything had
}

// A step goes down into a map by key or, where key is empty, into a list.
type step struct {
	key   string
	index int
	of    int // length of the list
	id    identity
}

// identity is the field by which people know an item of a list; zero for none.
type identity struct {
	key   string
	value any
}

func identityOf(item any) identity {
	m, _ := item.(map[string]any)
	for _, key := range []string{"name", "containerPort", "port"} {
		switch v := m[key].(type) {
		case string, int64:
			return identity{key, v}
		}
	}
	return identity{}
}

// Undefault takes away from obj the defaults that were added to it and that still
// have the value they were given, as long as an API server would make the same
// object of what is left. It keeps everything else, and what only the template
// before its change explains. The added are those of Default.
func Undefault(obj map[string]any, added []Path) map[string]any {
	if len(added) == 0 {
		return obj
	}
	want, _ := Default(obj)
	keep := make([]bool, len(added))
	for {
		out, taken := takeOut(obj, added, keep)
		got, _ := Default(out)
		if equal(got, want) {
			return out
		}
		again := false
		for _, i := range taken {
			if !equal(added[i].in(got), added[i].in(want)) {
				keep[i], again = true, true
			}
		}
		if !again { // a default that was removed would come back
			return obj
		}
	}
}

// takeOut returns a copy of obj without the added that it still has and need not
// keep, and their indices. The last goes first, so that a map that was added is
// empty again when its turn comes.
func takeOut(obj map[string]any, added []Path, keep []bool) (out map[string]any, taken []int) {
	out = clone(obj).(map[string]any)
	for i := len(added) - 1; i >= 0; i-- {
		p := &added[i]
		m := p.parent(out)
		v, ok := m[p.key]
		if keep[i] || !ok || !equal(v, p.value) {
			continue
		}
		if p.had {
			m[p.key] = p.was
		} else {
			delete(m, p.key)
		}
		taken = append(taken, i)
	}
	return out, taken
}

// in returns what stands at p in obj.
func (p *Path) in(obj map[string]any) any { return p.parent(obj)[p.key] }

// parent returns the map in obj that p was put into; nil if it is gone.
func (p *Path) parent(obj map[string]any) map[string]any {
	var node any = obj
	for _, s := range p.way {
		node = s.from(node)
	}
	m, _ := node.(map[string]any)
	return m
}

func (s *step) from(node any) any {
	if s.key != "" {
		m, _ := node.(map[string]any)
		return m[s.key]
	}
	list, _ := node.([]any)
	if s.index < len(list) && identityOf(list[s.index]) == s.id {
		return list[s.index]
	}
	var same any
	count := 0
	for _, item := range list {
		if s.id != (identity{}) && identityOf(item) == s.id {
			same = item
			count++
		}
	}
	if count == 0 && len(list) == s.of {
		return list[s.index] // the item was renamed
	}
	if count == 1 {
		return same
	}
	return nil
}

// UndefaultOf is Undefault for an object that was made from x by way of defaulted, which
// with added is Default(x). What the object shares with defaulted need not be looked at:
// where it differs in metadata and in the replicas of a workload alone, on which no
// default depends, the rest is what it was in x.
func UndefaultOf(x, defaulted, obj map[string]any, added []Path) map[string]any {
	if len(added) == 0 {
		return obj
	}
	inMetadata := func(p Path) bool {
		return len(p.way) == 0 && p.key == "metadata" || len(p.way) > 0 && p.way[0].key == "metadata"
	}
	if slices.ContainsFunc(added, inMetadata) || !differsIn(defaulted, obj, "metadata", "spec") {
		return Undefault(obj, added)
	}
	out := maps.Clone(x)
	out["metadata"] = obj["metadata"]
	if shared(defaulted["spec"], obj["spec"]) {
		return out
	}
	was, ok := defaulted["spec"].(map[string]any)
	is, hasSpec := obj["spec"].(map[string]any)
	own, hasOwn := x["spec"].(map[string]any)
	if !scaled(kindOf(obj)) || !ok || !hasSpec || !hasOwn || !differsIn(was, is, "replicas") {
		return Undefault(obj, added)
	}
	if !shared(was["replicas"], is["replicas"]) {
		own = maps.Clone(own)
		own["replicas"] = is["replicas"]
		out["spec"] = own
	}
	return out
}

// scaled reports a kind whose replicas are a field of their own.
func scaled(k kind) bool { return k == deployment || k == replicaSet || k == statefulSet }

// differsIn reports that two maps have the same keys and share all but some values.
func differsIn(a, b map[string]any, keys ...string) bool {
	if len(a) != len(b) {
		return false
	}
	for key, v := range b {
		was, ok := a[key]
		if !ok || !slices.Contains(keys, key) && !shared(was, v) {
			return false
		}
	}
	return true
}

// shared reports that two values are one: the same map or list, or equal scalars.
func shared(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Kind() != y.Kind() {
		return false
	}
	switch x.Kind() {
	case reflect.Map:
		return x.UnsafePointer() == y.UnsafePointer()
	case reflect.Slice:
		return x.Len() == y.Len() && x.UnsafePointer() == y.UnsafePointer()
	default:
		return a == b
	}
}
