package override

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// plaintext applies all entries as one RFC 6902 patch (section B.6).
func (a *applier) plaintext(entries []karmada.PlaintextOverrider) error {
	if len(entries) == 0 {
		return nil
	}
	ops := make([]operation, len(entries))
	for i, e := range entries {
		ops[i] = operation{operator: e.Operator, path: e.Path, value: e.Value, missingOK: serverSets(e.Path)}
	}
	for i := range ops {
		a.index = i
		if _, err := ops[i].encode(); err != nil {
			return located(ops[i].path, err)
		}
	}
	was := a.standing(ops)
	a.makePlain()
	if err := a.patch(ops); err != nil {
		return located(ops[a.index].path, err)
	}
	if a.kind() == "" {
		a.index = lastAt(ops, "", "/kind")
		return located(ops[a.index].path, errors.New("the patched object has no kind"))
	}
	a.secret = a.secret || a.kind() == "Secret"
	for i, w := range was {
		a.index = i
		if !reflect.DeepEqual(w.from, w.to) {
			a.record(ops[i].path, w.from, w.to)
		}
	}
	return nil
}

// lastAt returns the index of the last operation that is at one of some paths: what stands there is by that one.
func lastAt(ops []operation, paths ...string) int {
	for i, op := range slices.Backward(ops) {
		if slices.Contains(paths, op.path) {
			return i
		}
	}
	return 0
}

// patch applies the operations of a patch, and says in index which one fails.
func (a *applier) patch(ops []operation) error {
	a.changed = true
	if slices.ContainsFunc(ops, func(op operation) bool { return op.path == "" || slices.Contains(strings.Split(op.path, "/")[1:], "") }) {
		return a.patchWhole(ops)
	}
	for i := range ops {
		a.index = i
		if err := a.operate(&ops[i]); err != nil {
			return err
		}
	}
	return nil
}

// patchWhole applies operations of which one is of the whole document, or leads through
// empty keys, with which the library does what it does.
func (a *applier) patchWhole(ops []operation) error {
	doc, err := json.Marshal(a.object())
	if err != nil {
		a.index = 0
		return fmt.Errorf("encoding the object: %w", err)
	}
	if err := a.spend(jsonWork * len(doc) * runs(ops)); err != nil {
		return err
	}
	patched, failed, err := patch(doc, ops)
	if err != nil {
		a.index = failed
		return err
	}
	var obj map[string]any
	if err := utiljson.Unmarshal(patched, &obj); err != nil {
		a.index = lastAt(ops, "")
		return fmt.Errorf("decoding the patched object: %w", err)
	}
	a.root, a.plain, a.fresh = &node{value: obj}, false, nil
	return nil
}

// operate applies one operation, as the library does (RFC 6902).
func (a *applier) operate(op *operation) error {
	var value any
	if op.operator != karmada.OverriderOpRemove && len(op.value) > 0 {
		if err := utiljson.Unmarshal(op.value, &value); err != nil {
			return fmt.Errorf("decoding the value: %w", err)
		}
	}
	tokens, err := pointerTokens(op.path)
	var parent *node
	if err == nil {
		parent = a.root.follow(tokens[:len(tokens)-1])
	}
	if parent == nil {
		return op.missingPath()
	}
	key, put := tokens[len(tokens)-1], &node{value: value}
	if op.operator != karmada.OverriderOpRemove {
		a.fresh = append(a.fresh, put)
	}
	if parent.is == mapping {
		return op.inMapping(parent, key, put)
	}
	if err := a.spend(itemWork * len(parent.items) / 8); err != nil { // what is moved is pointers
		return err
	}
	return op.inList(parent, key, put)
}

// follow returns the map or the list that keys and indices lead to; nil where they do not.
func (n *node) follow(tokens []string) *node {
	for _, t := range tokens {
		switch n.open() {
		case mapping:
			n = n.fields[t]
		case list:
			i, err := strconv.Atoi(t)
			if i < 0 {
				i += len(n.items)
			}
			if err != nil || i < 0 || i >= len(n.items) {
				return nil
			}
			n = n.items[i]
		case closed:
			return nil
		}
		if n == nil {
			return nil
		}
	}
	if n.open() == closed {
		return nil
	}
	return n
}

func (o *operation) missingPath() error {
	switch {
	case o.operator == karmada.OverriderOpRemove && o.missingOK:
		return nil
	case o.operator == karmada.OverriderOpReplace:
		return fmt.Errorf("replace operation does not apply: doc is missing path: %s: %w", o.path, jsonpatch.ErrMissing)
	}
	return fmt.Errorf("%s operation does not apply: doc is missing path: \"%s\": %w", o.operator, o.path, jsonpatch.ErrMissing)
}

func (o *operation) inMapping(n *node, key string, put *node) error {
	_, ok := n.fields[key]
	switch {
	case o.operator == karmada.OverriderOpAdd, o.operator == karmada.OverriderOpReplace && ok:
		n.fields[key] = put
	case o.operator == karmada.OverriderOpReplace:
		return o.missingKey()
	case ok:
		delete(n.fields, key)
	case !o.missingOK:
		return fmt.Errorf("error in remove for path: '%s': unable to remove nonexistent key: %s: %w", o.path, key, jsonpatch.ErrMissing)
	}
	return nil
}

func (o *operation) missingKey() error {
	return fmt.Errorf("replace operation does not apply: doc is missing key: %s: %w", o.path, jsonpatch.ErrMissing)
}

func (o *operation) inList(n *node, key string, put *node) error {
	n.words = false
	size := len(n.items)
	if o.operator == karmada.OverriderOpAdd {
		size++
	}
	i, err := strconv.Atoi(key)
	if key == "-" && o.operator == karmada.OverriderOpAdd {
		i, err = size-1, nil
	}
	at := i
	if at < 0 {
		at += size
	}
	outside := at < 0 || at >= size
	switch {
	case o.operator == karmada.OverriderOpReplace && (err != nil || outside):
		return o.missingKey()
	case o.operator == karmada.OverriderOpAdd && err != nil:
		return fmt.Errorf("error in add for path: '%s': value was not a proper array index: '%s': %w", o.path, key, err)
	case err != nil:
		return fmt.Errorf("error in remove for path: '%s': %w", o.path, err)
	case outside && o.operator == karmada.OverriderOpRemove && o.missingOK:
	case outside:
		return fmt.Errorf("error in %s for path: '%s': Unable to access invalid index: %d: %w", o.operator, o.path, i, jsonpatch.ErrInvalidIndex)
	case o.operator == karmada.OverriderOpAdd:
		n.items = slices.Insert(n.items, at, put)
	case o.operator == karmada.OverriderOpReplace:
		n.items[at] = put
	default:
		n.items = slices.Delete(n.items, at, at+1)
	}
	return nil
}

// standing is what an operation of a patch changes: what stood there before the whole
// patch, and what it writes.
type standing struct{ from, to any }

// standing returns what operations change; nothing if nobody is told.
func (a *applier) standing(ops []operation) []standing {
	if !a.explains {
		return nil
	}
	out := make([]standing, len(ops))
	for i := range ops {
		out[i] = a.standingAt(&ops[i])
	}
	return out
}

func (a *applier) standingAt(op *operation) standing {
	parent, n := a.lookup(op.path)
	s := standing{from: a.before(n), to: absent{}}
	if op.operator == karmada.OverriderOpRemove {
		return s
	}
	if parent != nil && parent.is == list && op.operator == karmada.OverriderOpAdd {
		s.from = absent{}
	}
	s.to = nil
	_ = utiljson.Unmarshal(op.value, &s.to) // none is null, and the patch says what is wrong with it
	return s
}

// lookup returns what a JSON pointer leads to, and what holds that; nil where it leads
// nowhere. As in patches, a negative index counts from a list's end.
func (a *applier) lookup(pointer string) (parent, n *node) {
	tokens, err := pointerTokens(pointer)
	if err != nil {
		return nil, nil
	}
	if len(tokens) == 0 {
		return nil, a.root
	}
	if parent = a.root.follow(tokens[:len(tokens)-1]); parent == nil {
		return nil, nil
	}
	key := tokens[len(tokens)-1]
	if parent.is == mapping {
		return parent, parent.fields[key]
	}
	i, err := strconv.Atoi(key)
	if i < 0 {
		i += len(parent.items)
	}
	if err != nil || i < 0 || i >= len(parent.items) {
		return parent, nil
	}
	return parent, parent.items[i]
}

// serverSets reports whether a path leads to what an API server sets and a
// manifest lacks. Karmada patches objects that have it.
func serverSets(path string) bool {
	tokens, _ := pointerTokens(path)
	if len(tokens) == 0 {
		return false
	}
	if tokens[0] == "status" {
		return true
	}
	return tokens[0] == "metadata" && len(tokens) > 1 && slices.Contains(
		[]string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"}, tokens[1])
}
