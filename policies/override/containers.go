package override

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// containersPath returns where an object of a kind, in any group, has the
// containers that overriders change; nil for a kind that has none for them. Init
// containers never are among them, nor is what a CronJob has (section B.3).
func containersPath(kind any) []string {
	switch kind {
	case "Pod":
		return []string{"spec", "containers"}
	case "ReplicaSet", "Deployment", "DaemonSet", "StatefulSet", "Job":
		return []string{"spec", "template", "spec", "containers"}
	default:
		return nil
	}
}

// containers replaces each container by what edit returns for it and its path; nil
// leaves it as it is.
func (a *applier) containers(edit func(path string, c map[string]any) (map[string]any, error)) error {
	keys := containersPath(a.obj["kind"])
	if keys == nil {
		return nil
	}
	path := "/" + strings.Join(keys, "/")
	v, err := valueAt(a.obj, keys...)
	if v == nil || err != nil {
		return err
	}
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("%s: want a list, got %s", path, typeName(v))
	}
	var changed []any
	for i, item := range list {
		path := path + "/" + strconv.Itoa(i)
		c, ok := item.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: want a container, got %s", path, typeName(item))
		}
		edited, err := edit(path, c)
		if err != nil {
			return err
		}
		if edited == nil {
			continue
		}
		if changed == nil {
			changed = slices.Clone(list)
		}
		changed[i] = edited
	}
	if changed != nil {
		a.obj = with(a.obj, changed, keys...)
	}
	return nil
}

func (a *applier) command(o *karmada.CommandArgsOverrider) error { return a.words("command", o) }

func (a *applier) args(o *karmada.CommandArgsOverrider) error { return a.words("args", o) }

// words changes the command or the args of the containers named in o (section B.4).
func (a *applier) words(field string, o *karmada.CommandArgsOverrider) error {
	return a.containers(func(path string, c map[string]any) (map[string]any, error) {
		if c["name"] != o.ContainerName {
			return nil, nil
		}
		path += "/" + field
		before, err := stringify(c[field])
		if err != nil {
			return nil, located(path, err)
		}
		after := overrideWords(before, o)
		old, ok := c[field].([]any)
		if ok && slices.Equal(old, after) {
			return nil, nil
		}
		if ok {
			a.record(path, old, after)
		} else {
			a.record(path, absent{}, after)
		}
		edited := maps.Clone(c)
		edited[field] = after
		return edited, nil
	})
}

// stringify returns the items of a list as strings; none for null.
func stringify(v any) ([]any, error) {
	if v == nil {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("want a list, got %s", typeName(v))
	}
	words := make([]any, len(list))
	for i, item := range list {
		switch item.(type) {
		case nil, []any, map[string]any:
			return nil, fmt.Errorf("want a list of strings, got %s at %d", typeName(item), i)
		}
		words[i] = fmt.Sprint(item)
	}
	return words, nil
}

// overrideWords returns a new list, which is empty, not nil, if nothing is left.
// An operator that is neither add nor remove changes nothing.
func overrideWords(words []any, o *karmada.CommandArgsOverrider) []any {
	after := make([]any, 0, len(words)+len(o.Value))
	for _, w := range words {
		if o.Operator == karmada.OverriderOpRemove && slices.Contains(o.Value, w.(string)) {
			continue
		}
		after = append(after, w)
	}
	if o.Operator == karmada.OverriderOpAdd {
		for _, w := range o.Value {
			after = append(after, w)
		}
	}
	return after
}
