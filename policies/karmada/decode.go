package karmada

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	strictjson "sigs.k8s.io/json"

	"github.com/waybill-dev/waybill/render/diag"
)

// Decode makes an object of a kind that is Known from JSON, as an API server with
// strict field validation does: names are compared to the letter, and a field that
// is unknown, written twice or of the wrong type is a FieldError.
//
// The object is a pointer to the kind's type, such as *PropagationPolicy for both
// that kind and ClusterPropagationPolicy, with the apiVersion and kind that were
// asked for. It is nil when data is no object of the kind: not JSON, not known, or
// of the wrong type anywhere, for then its rules say nothing. Everything else that
// is wrong, package validate says.
func Decode(apiVersion, kind string, data []byte) (any, []FieldError) {
	// Clusters alone are behind an API server of Karmada's own, without a schema.
	fs := shaper{schema: apiVersion != clusterGroup}
	known, ok := kinds[gvk{apiVersion, kind}]
	if !ok {
		fs.fail(nil, diag.UnknownKind, fmt.Sprintf("%s %s is not a kind of Karmada's", apiVersion, kind), "")
		return nil, fs.findings
	}
	x := known.make()
	doc, ok := fs.read(x, data)
	if doc != nil && doc["spec"] == nil && (gvk{apiVersion, kind}) == clusterOverride {
		fs.fail(field{"spec"}, diag.RequiredField, "is required", "write overrideRules below it")
	}
	if !ok {
		return nil, fs.findings
	}
	x.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	return x, fs.findings
}

// Read fills x, a pointer to a type of a CustomResourceDefinition, from JSON as Decode does, and reports whether data is of that type.
func Read(x any, data []byte) (wrong []FieldError, ok bool) {
	fs := shaper{schema: true}
	_, ok = fs.read(x, data)
	return fs.findings, ok
}

// read fills x, and returns the JSON; nil where it is no object.
func (fs *shaper) read(x any, data []byte) (doc map[string]any, ok bool) {
	if doc = document(data); doc == nil {
		fs.fail(nil, diag.Malformed, "is not a JSON object", "")
		return nil, false
	}
	fs.shape(reflect.TypeOf(x).Elem(), doc, nil)
	if slices.ContainsFunc(fs.findings, func(e FieldError) bool { return e.Code == diag.WrongType }) {
		return doc, false
	}
	strict, err := strictjson.UnmarshalStrict(data, x)
	if err != nil {
		fs.fail(nil, diag.WrongType, err.Error(), "")
		return doc, false
	}
	fs.duplicates(doc, strict)
	return doc, true
}

// clusterOverride must have a spec, which may be empty. That of an OverridePolicy a
// webhook writes.
var clusterOverride = gvk{policyGroup, "ClusterOverridePolicy"}

// document reads a JSON object with its numbers as they are written, or nil.
func document(data []byte) map[string]any {
	var doc any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if !json.Valid(data) || d.Decode(&doc) != nil {
		return nil
	}
	object, _ := doc.(map[string]any)
	return object
}

// duplicates takes the fields that are written twice from what strict decoding
// found; shape has the rest already, with paths.
func (fs *findings) duplicates(doc any, strict []error) {
	for _, err := range strict {
		var at strictjson.FieldError
		if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), "duplicate") {
			continue
		}
		path, _ := locate(doc, at.FieldPath())
		fs.fail(path, diag.DuplicateField, "is written twice; the second would win", "remove one")
	}
}

// locate finds the path that is printed as a.b[0].c in the document it is of.
// Keys may hold dots themselves.
func locate(doc any, printed string) (path field, ok bool) {
	if printed == "" {
		return nil, true
	}
	switch doc := doc.(type) {
	case map[string]any:
		printed = strings.TrimPrefix(printed, ".")
		for _, key := range slices.Sorted(maps.Keys(doc)) {
			rest, ok := strings.CutPrefix(printed, key)
			if !ok || rest != "" && rest[0] != '.' && rest[0] != '[' {
				continue
			}
			if below, ok := locate(doc[key], rest); ok {
				return append(field{key}, below...), true
			}
		}
	case []any:
		index, rest, _ := strings.Cut(strings.TrimPrefix(printed, "["), "]")
		if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < len(doc) {
			below, ok := locate(doc[i], rest)
			return append(field{i}, below...), ok
		}
	}
	return nil, false
}
