package override

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// containersPath returns where an object of a kind, in any group, has the
// containers that overriders change; nil for a kind that has none for them. Init
// containers never are among them, nor is what a CronJob has (section B.3).
func containersPath(kind string) []string {
	switch kind {
	case "Pod":
		return []string{"spec", "containers"}
	case "ReplicaSet", "Deployment", "DaemonSet", "StatefulSet", "Job":
		return []string{"spec", "template", "spec", "containers"}
	default:
		return nil
	}
}

// containers calls edit for each container and its path.
func (a *applier) containers(edit func(path string, c *node) error) error {
	keys := containersPath(a.kind())
	if keys == nil {
		return nil
	}
	n, err := a.at(keys...)
	if n.isNull() || err != nil {
		return err
	}
	path := "/" + strings.Join(keys, "/")
	if n.open() != list {
		return fmt.Errorf("%s: want a list, got %s", path, n.typeName())
	}
	if err := a.spend(itemWork * len(n.items)); err != nil {
		return err
	}
	for i, c := range n.items {
		path := path + "/" + strconv.Itoa(i)
		if c.open() != mapping {
			return fmt.Errorf("%s: want a container, got %s", path, c.typeName())
		}
		if err := edit(path, c); err != nil {
			return err
		}
	}
	return nil
}

func (a *applier) command(o *karmada.CommandArgsOverrider) error { return a.words("command", o) }

func (a *applier) args(o *karmada.CommandArgsOverrider) error { return a.words("args", o) }

// words changes the command or the args of the containers named in o (section B.4).
func (a *applier) words(field string, o *karmada.CommandArgsOverrider) error {
	return a.containers(func(path string, c *node) error {
		if name, ok := c.fields["name"].text(); !ok || name != o.ContainerName {
			return nil
		}
		path += "/" + field
		n := c.fields[field]
		from := a.before(n)
		made := n.isNull()
		if made {
			n = &node{is: list}
			c.fields[field], from = n, absent{}
		}
		stringified, err := a.stringify(n)
		if err != nil {
			return located(path, err)
		}
		changed, err := a.overrideWords(n, o)
		if err == nil && (made || stringified || changed) {
			a.record(path, from, a.after(n))
		}
		return err
	})
}

// stringify makes strings of the items of a list, and reports whether one was none.
func (a *applier) stringify(n *node) (changed bool, err error) {
	if n.open() != list {
		return false, fmt.Errorf("want a list, got %s", n.typeName())
	}
	if n.words {
		return false, nil
	}
	for i, item := range n.items {
		if item.isNull() || item.is != closed {
			return false, fmt.Errorf("want a list of strings, got %s at %d", item.typeName(), i)
		}
		switch item.value.(type) {
		case []any, map[string]any:
			return false, fmt.Errorf("want a list of strings, got %s at %d", item.typeName(), i)
		case string:
		default:
			item.value, changed = fmt.Sprint(item.value), true
		}
	}
	n.words = true
	return changed, a.spend(itemWork * len(n.items))
}

// overrideWords changes a list of strings, and reports whether it did. An operator that is
// neither add nor remove changes nothing.
func (a *applier) overrideWords(n *node, o *karmada.CommandArgsOverrider) (changed bool, err error) {
	switch o.Operator {
	case karmada.OverriderOpAdd:
		for _, w := range o.Value {
			n.items = append(n.items, &node{value: w})
		}
		return len(o.Value) > 0, nil
	case karmada.OverriderOpRemove:
		if err := a.spend(itemWork * (len(n.items) + len(o.Value))); err != nil {
			return false, err
		}
		drop := make(map[string]bool, len(o.Value))
		for _, w := range o.Value {
			drop[w] = true
		}
		before := len(n.items)
		n.items = slices.DeleteFunc(n.items, func(item *node) bool {
			s, _ := item.text()
			return drop[s]
		})
		return len(n.items) < before, nil
	case karmada.OverriderOpReplace:
	}
	return false, nil
}
