package kubefleet

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// field is a path under construction, which at does not change.
type field []any

func (f field) at(steps ...any) field { return append(slices.Clip(f), steps...) }

// consequence is the hint of a mistake that has no better one.
const consequence = "until it is mended, what is bound to the strategy stays as it is"

// reader reads the fields of one object, and collects what is wrong with them. A value that is null counts as
// absent, as it does for an API server.
type reader struct {
	object *object.Object
	wrong  []diag.Diagnostic
}

// add notes what is wrong with a field.
func (r *reader) add(at field, code diag.Code, severity diag.Severity, message, hint string) {
	if p := object.FieldPath(at); p != "" {
		message = p + ": " + message
	}
	r.wrong = append(r.wrong, diag.Diagnostic{
		Code: code, Severity: severity, Pos: r.object.FieldPos(at), Message: title(r.object.Ref()) + ": " + message, Hint: hint,
	})
}

// fail notes a mistake, for which there is no strategy.
func (r *reader) fail(at field, hint, format string, args ...any) {
	if hint == "" {
		hint = consequence
	}
	r.add(at, diag.BadStrategy, diag.Error, fmt.Sprintf(format, args...), hint)
}

// unknown notes a field or an annotation that there is not.
func (r *reader) unknown(at field, name string, known []string, what string) {
	r.add(at, diag.UnknownField, diag.Error, "is not "+what, words.Meant(name, known, "there are "+strings.Join(known, ", ")))
}

// mapping reads a mapping that has the fields of a type, by their names in JSON. It is nil where there is
// none.
func (r *reader) mapping(v any, at field, of reflect.Type) map[string]any {
	m := r.anyMapping(v, at)
	known := object.FieldNames(of)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(known, key) {
			r.unknown(at.at(key), key, known, "a field here")
		}
	}
	return m
}

// anyMapping reads a mapping that may have any fields. It is nil where there is none.
func (r *reader) anyMapping(v any, at field) map[string]any {
	m, ok := v.(map[string]any)
	if !ok && v != nil {
		r.fail(at, "", "%s is not a mapping", shown(v))
	}
	return m
}

// list reads a list without nulls. It is nil where there is none.
func (r *reader) list(v any, at field) []any {
	l, ok := v.([]any)
	if !ok && v != nil {
		r.fail(at, "", "%s is not a list", shown(v))
	}
	for i := range l {
		if l[i] == nil {
			r.fail(at.at(i), "write the item, or remove it", "is null, which no item of a list may be")
		}
	}
	return l
}

// text reads a string. It is empty where there is none.
func (r *reader) text(v any, at field) string {
	s, ok := v.(string)
	if !ok && v != nil {
		r.fail(at, "quote it", "%s is not a string", shown(v))
	}
	return s
}

// shown prints a value as JSON has it, cut to what fits in a message.
func shown(v any) string {
	const most = 60
	s := []rune(fmt.Sprint(v))
	switch t := v.(type) {
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case string:
		s = []rune(strconv.Quote(t))
	}
	if len(s) > most {
		return string(s[:most]) + "..."
	}
	return string(s)
}
