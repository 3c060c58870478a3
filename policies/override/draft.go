package override

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// draft is an object that overriders change. What they reach is opened, a level at a time,
// and changed in place; the rest stays the object's own.
type draft struct {
	root    *node
	changed bool // anything
	plain   bool // numbers are as JSON has them, but in fresh
	fresh   []*node
	work    int // that overriders did so far; see spend
}

// node is a value: as long as it is closed, the one of the object; then its fields or its
// items.
type node struct {
	value  any
	fields map[string]*node
	items  []*node
	is     shape
	words  bool // each item is known to be a string
}

type shape int

const (
	closed shape = iota
	mapping
	list
)

func newDraft(obj map[string]any) *draft { return &draft{root: &node{value: obj}} }

// object returns the result; nothing that was not changed is copied.
func (d *draft) object() map[string]any {
	obj, _ := d.root.current().(map[string]any)
	return obj
}

// current returns what a node is now.
func (n *node) current() any {
	switch n.is {
	case mapping:
		m := make(map[string]any, len(n.fields))
		for key, child := range n.fields {
			m[key] = child.current()
		}
		return m
	case list:
		l := make([]any, len(n.items))
		for i, item := range n.items {
			l[i] = item.current()
		}
		return l
	case closed:
	}
	return n.value
}

// makePlain makes numbers what they are once they were written as JSON and read again.
func (d *draft) makePlain() {
	if !d.plain {
		d.root.makePlain()
	}
	for _, n := range d.fresh {
		n.makePlain()
	}
	d.plain, d.fresh = true, nil
}

func (n *node) makePlain() {
	for _, child := range n.fields {
		child.makePlain()
	}
	for _, item := range n.items {
		item.makePlain()
	}
	if n.is == closed {
		n.value, _ = plain(n.value)
	}
}

// plain returns a value with plain numbers: a float that is a whole one is an integer. It
// reports whether that is another value.
func plain(v any) (any, bool) {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) {
			if i, err := strconv.ParseInt(strconv.FormatFloat(v, 'f', -1, 64), 10, 64); err == nil {
				return i, true
			}
		}
	case []any:
		return plainList(v)
	case map[string]any:
		return plainMap(v)
	}
	return v, false
}

func plainList(l []any) (any, bool) {
	var out []any
	for i, item := range l {
		p, other := plain(item)
		if other && out == nil {
			out = slices.Clone(l)
		}
		if other {
			out[i] = p
		}
	}
	if out == nil {
		return l, false
	}
	return out, true
}

func plainMap(m map[string]any) (any, bool) {
	var out map[string]any
	for key, item := range m {
		p, other := plain(item)
		if other && out == nil {
			out = maps.Clone(m)
		}
		if other {
			out[key] = p
		}
	}
	if out == nil {
		return m, false
	}
	return out, true
}

// open opens a map or a list. It reports what the node is then.
func (n *node) open() shape {
	if n.is != closed {
		return n.is
	}
	switch v := n.value.(type) {
	case map[string]any:
		n.fields = make(map[string]*node, len(v))
		children := make([]node, len(v))
		for key, child := range v {
			children[0].value = child
			n.fields[key] = &children[0]
			children = children[1:]
		}
		n.is, n.value = mapping, nil
	case []any:
		n.items = make([]*node, len(v))
		children := make([]node, len(v))
		for i, child := range v {
			children[i].value = child
			n.items[i] = &children[i]
		}
		n.is, n.value = list, nil
	}
	return n.is
}

// isNull reports whether there is nothing.
func (n *node) isNull() bool { return n == nil || n.is == closed && n.value == nil }

// text returns the string that a node is.
func (n *node) text() (string, bool) {
	if n == nil || n.is != closed {
		return "", false
	}
	s, ok := n.value.(string)
	return s, ok
}

// typeName names the JSON type of a node in a sentence.
func (n *node) typeName() string {
	switch n.is {
	case mapping:
		return typeName(map[string]any(nil))
	case list:
		return typeName([]any(nil))
	case closed:
	}
	return typeName(n.value)
}

// at returns what stands at the end of path; nil where the path ends early.
func (d *draft) at(path ...string) (*node, error) {
	n := d.root
	for i, key := range path {
		if n.isNull() {
			return nil, nil
		}
		if n.open() != mapping {
			return nil, fmt.Errorf("/%s: want an object, got %s", strings.Join(path[:i], "/"), n.typeName())
		}
		n = n.fields[key]
	}
	return n, nil
}

// put makes a value stand at the end of path, and the maps on the way that are missing.
func (d *draft) put(v any, path ...string) {
	n := d.root
	for _, key := range path[:len(path)-1] {
		child := n.fields[key]
		if child.isNull() {
			child = &node{is: mapping, fields: map[string]*node{}}
		}
		n.open()
		n.fields[key] = child
		n = child
	}
	n.open()
	n.fields[path[len(path)-1]] = &node{value: v}
	d.changed = true
}

// child returns what a key or an index leads to.
func (n *node) child(token string) (*node, error) {
	switch n.open() {
	case mapping:
		child, ok := n.fields[token]
		if !ok {
			return nil, fmt.Errorf("there is no key %q", token)
		}
		return child, nil
	case list:
		i, err := strconv.Atoi(token)
		if err != nil {
			return nil, fmt.Errorf("%q is no index into a list", token)
		}
		if i < 0 || i >= len(n.items) {
			return nil, fmt.Errorf("index %d is outside a list of %d", i, len(n.items))
		}
		return n.items[i], nil
	case closed:
	}
	return nil, fmt.Errorf("%s has no key %q", n.typeName(), token)
}

// edit changes the string that tokens, keys and indices, lead to.
func (d *draft) edit(tokens []string, change func(string) (string, error)) (before, after string, err error) {
	n := d.root
	for _, t := range tokens {
		if n, err = n.child(t); err != nil {
			return "", "", err
		}
	}
	before, ok := n.text()
	if !ok {
		return "", "", fmt.Errorf("want a string, got %s", n.typeName())
	}
	if after, err = change(before); err == nil && after != before {
		n.value, d.changed = after, true
	}
	return before, after, err
}

// What overriders do to one object costs, about, a nanosecond a step. Where that grows with
// both the object and the overriders it is counted.
const (
	mostWork  = 1 << 30
	itemWork  = 1   // an item that is looked at or moved
	imageWork = 256 // an image that is taken apart
	jsonWork  = 32  // a byte of JSON that is read and written
	yamlWork  = 256 // a byte of YAML
)

var errWork = errors.New("the overriders for this object do too much to it; let fewer of them do the same, as one fieldOverrider with many operations does")

// spend counts work, and refuses what is too much.
func (d *draft) spend(work int) error {
	if d.work += work; d.work > mostWork {
		return errWork
	}
	return nil
}
