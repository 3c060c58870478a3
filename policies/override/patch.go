package override

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// operation is one operation of an RFC 6902 patch.
type operation struct {
	operator  karmada.OverriderOperator
	path      string
	value     json.RawMessage
	missingOK bool // to remove what is not there is to do nothing
}

// encode returns the operation as the library has it. No value is null.
func (o *operation) encode() (jsonpatch.Operation, error) {
	switch o.operator {
	case karmada.OverriderOpAdd, karmada.OverriderOpRemove, karmada.OverriderOpReplace:
	default:
		return nil, fmt.Errorf("operator %q is none of add, remove and replace", o.operator)
	}
	value := json.RawMessage(bytes.TrimSpace(o.value))
	if len(value) == 0 {
		value = json.RawMessage("null")
	}
	if !json.Valid(value) {
		return nil, errors.New("the value is no valid JSON")
	}
	// The library crashes on a document that is null.
	if o.path == "" && value[0] != '{' && value[0] != '[' && o.operator != karmada.OverriderOpRemove {
		return nil, fmt.Errorf("a whole document cannot become %s", value)
	}
	kind, err := raw(string(o.operator))
	if err != nil {
		return nil, err
	}
	path, err := raw(o.path)
	if err != nil {
		return nil, err
	}
	return jsonpatch.Operation{"op": kind, "path": path, "value": &value}, nil
}

func raw(s string) (*json.RawMessage, error) {
	data, err := json.Marshal(s)
	return (*json.RawMessage)(&data), err
}

// patch applies operations to a JSON document, all or none. On error, failed is
// the index of the one that could not be applied.
func patch(doc []byte, ops []operation) (patched []byte, failed int, err error) {
	p := make(jsonpatch.Patch, len(ops))
	for i := range ops {
		if p[i], err = ops[i].encode(); err != nil {
			return nil, i, err
		}
	}
	for start := 0; start < len(p); {
		end := start + 1
		for end < len(p) && ops[end].missingOK == ops[start].missingOK {
			end++
		}
		options := jsonpatch.NewApplyOptions()
		options.AllowMissingPathOnRemove = ops[start].missingOK
		next, err := p[start:end].ApplyWithOptions(doc, options)
		if err != nil {
			return nil, start + firstFailing(doc, p[start:end], options), err
		}
		doc, start = next, end
	}
	return doc, 0, nil
}

// firstFailing returns the index of the operation at which p fails: the library
// does not say.
func firstFailing(doc []byte, p jsonpatch.Patch, options *jsonpatch.ApplyOptions) int {
	return sort.Search(len(p)-1, func(i int) bool {
		_, err := p[:i+1].ApplyWithOptions(doc, options)
		return err != nil
	})
}

// runs counts how often patch reads the whole document.
func runs(ops []operation) int {
	n := 1
	for i := 1; i < len(ops); i++ {
		if ops[i].missingOK != ops[i-1].missingOK {
			n++
		}
	}
	return n
}
