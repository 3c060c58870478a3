package override

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

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
		ops[i] = operation{e.Operator, e.Path, e.Value, serverSets(e.Path)}
	}
	doc, err := json.Marshal(a.obj)
	if err != nil {
		return fmt.Errorf("encoding the object: %w", err)
	}
	patched, failed, err := patch(doc, ops)
	if err != nil {
		a.index = failed
		return located(ops[failed].path, err)
	}
	obj, err := decode(patched)
	if err != nil {
		a.index = max(0, slices.IndexFunc(ops, func(op operation) bool { return op.path == "" || op.path == "/kind" }))
		return located(ops[a.index].path, err)
	}
	a.secret = a.secret || obj["kind"] == "Secret"
	for i := range ops {
		a.index = i
		if err := a.recordOperation(&ops[i]); err != nil {
			return located(ops[i].path, err)
		}
	}
	a.obj = obj
	return nil
}

func decode(data []byte) (map[string]any, error) {
	var obj map[string]any
	if err := utiljson.Unmarshal(data, &obj); err != nil {
		return nil, fmt.Errorf("decoding the patched object: %w", err)
	}
	if kind, _ := obj["kind"].(string); kind == "" {
		return nil, errors.New("the patched object has no kind")
	}
	return obj, nil
}

// recordOperation records what an operation of a patch changes in the object as it
// is before the patch.
func (a *applier) recordOperation(op *operation) error {
	parent, old := lookup(a.obj, op.path)
	if op.operator == karmada.OverriderOpRemove {
		if old != any(absent{}) {
			a.record(op.path, old, absent{})
		}
		return nil
	}
	if _, inserted := parent.([]any); inserted && op.operator == karmada.OverriderOpAdd {
		old = absent{}
	}
	var value any
	if len(op.value) > 0 {
		if err := utiljson.Unmarshal(op.value, &value); err != nil {
			return fmt.Errorf("decoding the value: %w", err)
		}
	}
	if !reflect.DeepEqual(old, value) {
		a.record(op.path, old, value)
	}
	return nil
}

// lookup returns what a JSON pointer leads to, and what holds that; absent{} where
// it leads nowhere. As in patches, a negative index counts from a list's end.
func lookup(obj map[string]any, pointer string) (parent, v any) {
	tokens, err := pointerTokens(pointer)
	if err != nil {
		return absent{}, absent{}
	}
	parent, v = absent{}, obj
	for _, t := range tokens {
		parent, v = v, absent{}
		switch p := parent.(type) {
		case map[string]any:
			if child, ok := p[t]; ok {
				v = child
			}
		case []any:
			i, err := strconv.Atoi(t)
			if i < 0 {
				i += len(p)
			}
			if err == nil && i >= 0 && i < len(p) {
				v = p[i]
			}
		}
	}
	return parent, v
}

// serverSets reports whether a path leads to what an API server sets and a
// manifest lacks. Karmada patches objects that have it.
func serverSets(path string) bool {
	tokens, err := pointerTokens(path)
	if err != nil || len(tokens) == 0 {
		return false
	}
	if tokens[0] == "status" {
		return true
	}
	return tokens[0] == "metadata" && len(tokens) > 1 && slices.Contains(
		[]string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"}, tokens[1])
}
