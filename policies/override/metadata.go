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
	v, err := valueAt(a.obj, "metadata", field)
	if err != nil {
		return err
	}
	old, ok := v.(map[string]any)
	if !ok && v != nil {
		return fmt.Errorf("%s: want an object, got %s", path, typeName(v))
	}
	changed := make(map[string]any, len(old)+len(o.Value))
	maps.Copy(changed, old)
	before := len(a.changes)
	for _, key := range slices.Sorted(maps.Keys(o.Value)) {
		if err := a.entryOf(changed, path, key, o); err != nil {
			return err
		}
	}
	if len(a.changes) > before {
		a.obj = with(a.obj, changed, "metadata", field)
	}
	return nil
}

// entryOf changes one label or annotation in m, and records it.
func (a *applier) entryOf(m map[string]any, path, key string, o *karmada.LabelAnnotationOverrider) error {
	path += "/" + pointerEscapes.Replace(key)
	was, exists := m[key]
	if !exists {
		was = absent{}
	}
	value := o.Value[key]
	switch {
	case o.Operator == karmada.OverriderOpRemove && exists:
		delete(m, key)
		a.record(path, was, absent{})
	case o.Operator == karmada.OverriderOpAdd, o.Operator == karmada.OverriderOpReplace && exists:
		if was != any(value) {
			m[key] = value
			a.record(path, was, value)
		}
	case o.Operator != karmada.OverriderOpRemove && o.Operator != karmada.OverriderOpReplace:
		return fmt.Errorf("%s: operator %q is none of add, remove and replace", path, o.Operator)
	}
	return nil
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")
