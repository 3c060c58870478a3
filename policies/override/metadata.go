package override

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
)

func (a *applier) labels(o *karmada.LabelAnnotationOverrider) error { return a.metadata("labels", o) }

func (a *applier) annotations(o *karmada.LabelAnnotationOverrider) error {
	return a.metadata("annotations", o)
}

// metadata changes labels or annotations of the object itself, not of its pod
// template (section B.5). Only add makes what is not there, the map included.
func (a *applier) metadata(field string, o *karmada.LabelAnnotationOverrider) error {
	path := "/metadata/" + field
	n, err := a.at("metadata", field)
	if err != nil {
		return err
	}
	if !n.isNull() && n.open() != mapping {
		return fmt.Errorf("%s: want an object, got %s", path, n.typeName())
	}
	made := n.isNull()
	if made {
		n = &node{is: mapping, fields: map[string]*node{}}
	}
	for _, key := range slices.Sorted(maps.Keys(o.Value)) {
		if err := a.entryOf(n, path, key, o); err != nil {
			return err
		}
	}
	if made && len(n.fields) > 0 {
		a.put(nil, "metadata", field)
		a.root.fields["metadata"].fields[field] = n
	}
	return nil
}

// entryOf changes one label or annotation in n, and records it.
func (a *applier) entryOf(n *node, path, key string, o *karmada.LabelAnnotationOverrider) error {
	path += "/" + pointerEscapes.Replace(key)
	was, exists := n.fields[key]
	value := o.Value[key]
	switch {
	case o.Operator == karmada.OverriderOpRemove && exists:
		delete(n.fields, key)
		a.record(path, a.before(was), absent{})
	case o.Operator == karmada.OverriderOpAdd, o.Operator == karmada.OverriderOpReplace && exists:
		if text, ok := was.text(); !ok || text != value {
			n.fields[key] = &node{value: value}
			a.record(path, a.before(was), value)
		}
	case o.Operator != karmada.OverriderOpRemove && o.Operator != karmada.OverriderOpReplace:
		return fmt.Errorf("%s: operator %q is none of add, remove and replace", path, o.Operator)
	}
	return nil
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")
