package karmada

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	strictjson "sigs.k8s.io/json"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// shaper holds a JSON value against the type it is to be decoded into, and reports
// every unknown field and every value of the wrong type with its path. The decoder
// itself stops at the first wrong type and tells no index.
type shaper struct {
	findings
	// schema says that the kind has a schema, which is stricter than the decoder: it
	// tells null and nothing from what is empty.
	schema bool
}

func (fs *shaper) shape(t reflect.Type, v any, at field) {
	if v == nil {
		return
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	mapping, isMapping := v.(map[string]any)
	list, isList := v.([]any)
	switch {
	case decodesItself(t):
		fs.leaf(t, v, at)
	case isMapping && t.Kind() == reflect.Struct:
		fs.structShape(t, mapping, at)
	case isMapping && t.Kind() == reflect.Map:
		for _, key := range slices.Sorted(maps.Keys(mapping)) {
			fs.shape(t.Elem(), mapping[key], at.at(key))
		}
	case isList && t.Kind() == reflect.Slice:
		for i := range list {
			if list[i] == nil && fs.schema {
				fs.fail(at.at(i), diag.WrongType, "is null, which no item of a list may be", "write the item, or remove it")
			}
			fs.shape(t.Elem(), list[i], at.at(i))
		}
	default:
		fs.leaf(t, v, at)
	}
}

func (fs *shaper) structShape(t reflect.Type, v map[string]any, at field) {
	known := membersOf(t)
	for _, key := range slices.Sorted(maps.Keys(v)) {
		m, ok := known[key]
		if !ok {
			fs.fail(at.at(key), diag.UnknownField, "is not a field here", whichField(key, known))
			continue
		}
		fs.shape(m.Type, v[key], at.at(key))
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if v[name] != nil || !known[name].Required || !fs.schema {
			continue
		}
		switch {
		case emptyIsValid(known[name].Type):
			fs.fail(at.at(name), diag.RequiredField, "is required", `write {} if it is meant to be empty`)
		case slices.Contains(emptyStrings[t], name):
			fs.fail(at.at(name), diag.RequiredField, "is required", `write it, or "" if it is meant to be empty`)
		}
	}
}

// leaf tries the decoder on a value that has no parts to look into.
func (fs *shaper) leaf(t reflect.Type, v any, at field) {
	if _, ok := v.(string); ok && t.Kind() == reflect.String && !decodesItself(t) {
		return
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic("karmada: a decoded JSON value does not encode: " + err.Error())
	}
	if !fs.misspelt(t, data) && strictjson.UnmarshalCaseSensitivePreserveInts(data, reflect.New(t).Interface()) == nil {
		return
	}
	const most = 60
	if len(data) > most {
		data = append(bytes.ToValidUTF8(data[:most], nil), "..."...)
	}
	hint := ""
	if _, ok := v.(json.Number); ok && t == reflect.TypeFor[resource.Quantity]() {
		hint = "quote what is no whole number"
	}
	fs.fail(at, diag.WrongType, fmt.Sprintf("%s is not %s", data, wanted(t)), hint)
}

// misspelt reports a quantity that the decoder takes, or fails to take in good
// time, and a schema does not: a fraction that is no string, and space around it.
func (fs *shaper) misspelt(t reflect.Type, data []byte) bool {
	if t != reflect.TypeFor[resource.Quantity]() {
		return false
	}
	return endlessQuantity.Match(data) || fs.schema && !schemaQuantity.Match(data)
}

// schemaQuantity matches the JSON of what schemas take for a quantity.
var schemaQuantity = regexp.MustCompile(`^(-?[0-9]+(\.0+)?|"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+))?")$`)

// endlessQuantity matches exponents that take a quantity's arithmetic minutes, or
// all memory: the library works out every digit.
var endlessQuantity = regexp.MustCompile(`[eE][+-]?[0-9]{4,}`)

// wanted describes a type to people who write YAML.
func wanted(t reflect.Type) string {
	switch reflect.Zero(t).Interface().(type) {
	case resource.Quantity:
		return "a quantity, such as 500m or 2Gi"
	case metav1.Time:
		return "a time, such as 2026-01-02T15:04:05Z"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string; quote it"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("a whole number of at most %d bits", t.Bits())
	case reflect.Uint, reflect.Uint32, reflect.Uint64:
		return "a whole number that is not negative"
	case reflect.Slice:
		return "a list"
	default:
		return "a mapping"
	}
}

// decodesItself reports a type whose fields are not its JSON.
func decodesItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

// emptyIsValid reports the types of required objects for which {} is a value of
// its own, so that validation cannot tell whether they are there.
func emptyIsValid(t reflect.Type) bool {
	switch reflect.Zero(t).Interface().(type) {
	case Overriders, ClusterAffinity, DecisionConditions, CustomizationRules, RemedySpec:
		return true
	}
	return false
}

// emptyStrings are the required strings for which "" is a value of its own, by the
// type that they are in.
var emptyStrings = map[reflect.Type][]string{
	reflect.TypeFor[PlaintextOverrider]():              {"path"},
	reflect.TypeFor[ImagePredicate]():                  {"path"},
	reflect.TypeFor[CommandArgsOverrider]():            {"containerName"},
	reflect.TypeFor[FieldOverrider]():                  {"fieldPath"},
	reflect.TypeFor[FieldOperation]():                  {"subPath"},
	reflect.TypeFor[LuaScript]():                       {"luaScript"},
	reflect.TypeFor[MatchCondition]():                  {"conditionType", "operator"},
	reflect.TypeFor[PolicyTaint]():                     {"key", "effect"},
	reflect.TypeFor[metav1.LabelSelectorRequirement](): {"key", "operator"},
}

// membersOf returns the fields of a struct by their JSON names.
func membersOf(t reflect.Type) map[string]object.Field {
	members := map[string]object.Field{}
	for _, f := range object.Fields(t) {
		members[f.Name] = f
	}
	return members
}

// whichField guesses what an unknown field was meant to be: another name, or the
// same name one level down; failing that, it lists what there is.
func whichField(key string, known map[string]object.Field) string {
	names := slices.Sorted(maps.Keys(known))
	if hint := words.Meant(key, names, ""); hint != "" {
		return hint
	}
	for _, name := range names {
		if t := known[name].Type; t.Kind() == reflect.Struct && !decodesItself(t) {
			if _, ok := membersOf(t)[key]; ok {
				return fmt.Sprintf("%q is a field of %q", key, name)
			}
		}
	}
	const most = 8
	if len(names) > most {
		return ""
	}
	for i := range names {
		names[i] = strconv.Quote(names[i])
	}
	return "the fields here are " + strings.Join(names, ", ")
}
