package apply

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fieldSets are sets of fields as a server writes them (FieldsV1): trees of names with a
// prefix, which is f: for a field, k: for an element of a list by its keys, and v: for one by
// its value.
type fieldSets []map[string]any

// ignored lists the fields of a manifest that others decide, by the source's config.
func (m *maker) ignored(o *Object, live *metav1.PartialObjectMetadata) [][]string {
	var paths [][]string
	for i := range m.in.Options.Ignore {
		d := &m.in.Options.Ignore[i]
		if !d.Matches(o.Ref.Group, o.Ref.Kind, o.Ref.Namespace, o.Ref.Name) {
			continue
		}
		all := fieldsOf(live, func(metav1.ManagedFieldsEntry) bool { return true })
		for _, path := range d.Paths() {
			paths = append(paths, all.whole(o.Manifest, path))
		}
		for _, e := range live.ManagedFields {
			var set map[string]any
			if !slices.Contains(d.ManagedFieldsManagers, e.Manager) || e.FieldsV1 == nil || json.Unmarshal(e.FieldsV1.GetRawBytes(), &set) != nil {
				continue
			}
			paths = append(paths, leaves(o.Manifest, set, nil)...)
		}
	}
	return paths
}

// own reports whether one of the sets has a field. A path leads through lists by the indices
// of the manifest.
func (s fieldSets) own(manifest map[string]any, path []string) bool {
	return slices.ContainsFunc(s, func(set map[string]any) bool {
		var at any = manifest
		for _, name := range path {
			key := member(at, set, name)
			next, ok := set[key].(map[string]any)
			if !ok {
				return false
			}
			set, at = next, child(at, name)
		}
		return true
	})
}

// whole returns a path that ends at the first list whose elements have no owners of their own:
// such a list is one field.
func (s fieldSets) whole(manifest map[string]any, path []string) []string {
	var at any = manifest
	for n, name := range path {
		if list, ok := at.([]any); ok && !s.divides(manifest, path[:n], list) {
			return path[:n]
		}
		at = child(at, name)
	}
	return path
}

// divides reports whether a set has elements of a list.
func (s fieldSets) divides(manifest map[string]any, path []string, list []any) bool {
	for i := range list {
		if s.own(manifest, append(slices.Clip(path), strconv.Itoa(i))) {
			return true
		}
	}
	return false
}

// leaves lists the fields of a set that a manifest has.
func leaves(at any, set map[string]any, path []string) [][]string {
	var all [][]string
	each := func(name string, value any) {
		below, ok := set[member(at, set, name)].(map[string]any)
		if !ok {
			return
		}
		here := append(slices.Clip(path), name)
		deeper := leaves(value, below, here)
		if isLeaf := len(below) == 0; isLeaf {
			deeper = [][]string{here}
		}
		all = append(all, deeper...)
	}
	switch at := at.(type) {
	case map[string]any:
		for name, value := range at {
			each(name, value)
		}
	case []any:
		for i, value := range at {
			each(strconv.Itoa(i), value)
		}
	}
	slices.SortFunc(all, slices.Compare)
	return all
}

// member returns what a set calls a member of what a manifest has: a field, or an element.
func member(at any, set map[string]any, name string) string {
	if _, ok := at.([]any); !ok {
		return "f:" + name
	}
	element := child(at, name)
	for key := range set {
		var want any
		switch prefix, text, _ := strings.Cut(key, ":"); {
		case json.Unmarshal([]byte(text), &want) != nil:
		case prefix == "v" && same(want, element), prefix == "k" && hasKeys(element, want):
			return key
		}
	}
	return ""
}

// hasKeys reports whether an element has the keys by which a list tells its elements apart. One
// that the manifest lacks has its default, as the protocol of a port.
func hasKeys(element, keys any) bool {
	fields, _ := element.(map[string]any)
	wanted, _ := keys.(map[string]any)
	n := 0
	for name, value := range wanted {
		if is, ok := fields[name]; ok && !same(is, value) {
			return false
		} else if ok {
			n++
		}
	}
	return n > 0
}

// same compares scalars, of which numbers may be of different types.
func same(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && string(x) == string(y)
}

// child returns a member of a map or a list; nil where there is none.
func child(at any, name string) any {
	switch at := at.(type) {
	case map[string]any:
		return at[name]
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(at) {
			return at[i]
		}
	}
	return nil
}

// has reports whether a manifest has a field.
func has(manifest map[string]any, path []string) bool {
	var at any = manifest
	for _, name := range path[:len(path)-1] {
		at = child(at, name)
	}
	if content, ok := at.(map[string]any); ok {
		_, ok = content[path[len(path)-1]]
		return ok
	}
	return child(at, path[len(path)-1]) != nil
}

// Fill returns a manifest with a field as it is in a live object, of which managed are the fields
// by manager. The elements of a list are those of the manifest, wherever they are in the live
// one. It is false if the field cannot be told. The manifest is not changed.
func Fill(manifest, live map[string]any, managed []metav1.ManagedFieldsEntry, path []string) (map[string]any, bool) {
	sets := fieldsOf(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ManagedFields: managed}}, nil)
	filled, ok := sets.fill(manifest, live, path).(map[string]any)
	return filled, ok
}

// fill returns what a manifest has at a place with a field as it is live; nil if it cannot be told.
func (s fieldSets) fill(at, live any, path []string) any {
	var below fieldSets
	var key string
	for _, set := range s {
		if k := member(at, set, path[0]); k != "" {
			if next, ok := set[k].(map[string]any); ok {
				below, key = append(below, next), k
			}
		}
	}
	value := child(live, path[0])
	list, isList := at.([]any)
	if isList {
		value = elementOf(live, key)
	}
	if len(path) > 1 {
		value = below.fill(child(at, path[0]), value, path[1:])
	}
	if value == nil {
		return nil
	}
	if isList {
		i, _ := strconv.Atoi(path[0]) // a member has a key
		list = slices.Clone(list)
		list[i] = value
		return list
	}
	content, _ := at.(map[string]any)
	if content = maps.Clone(content); content == nil {
		content = map[string]any{}
	}
	content[path[0]] = value
	return content
}

// elementOf returns the element of a live list that a set calls so.
func elementOf(live any, key string) any {
	list, _ := live.([]any)
	for i := range list {
		if member(list, map[string]any{key: nil}, strconv.Itoa(i)) != "" {
			return list[i]
		}
	}
	return nil
}

// Without returns content without fields. What it shares with content is not changed. Of two
// elements of one list the later one goes first, so that each is where its path says.
func Without(content map[string]any, paths [][]string) map[string]any {
	paths = slices.Clone(paths)
	slices.SortStableFunc(paths, func(a, b []string) int { return slices.CompareFunc(b, a, byIndex) })
	for _, path := range paths {
		content, _ = without(content, path).(map[string]any)
	}
	return content
}

// byIndex compares names, and indices by their number.
func byIndex(a, b string) int {
	x, err := strconv.Atoi(a)
	y, err2 := strconv.Atoi(b)
	if err == nil && err2 == nil {
		return x - y
	}
	return strings.Compare(a, b)
}

func without(at any, path []string) any {
	switch content := at.(type) {
	case map[string]any:
		if _, ok := content[path[0]]; !ok {
			return at
		}
		content = maps.Clone(content)
		if len(path) == 1 {
			delete(content, path[0])
		} else {
			content[path[0]] = without(content[path[0]], path[1:])
		}
		return content
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(content) {
			return at
		}
		content = slices.Clone(content)
		if len(path) == 1 {
			return slices.Delete(content, i, i+1)
		}
		content[i] = without(content[i], path[1:])
		return content
	}
	return at
}
