package render

import (
	"reflect"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// unknownHint says of a field that no option is called so which one beside it may be meant, and where all are listed.
func unknownHint(field string) string {
	path := object.ParseFieldPath(field)
	if len(path) == 0 {
		return configHint
	}
	name, ok := path[len(path)-1].(string)
	if meant := words.Meant(name, fieldsAt(path[:len(path)-1]), ""); ok && meant != "" {
		return meant + " " + configHint
	}
	return configHint
}

// fieldsAt returns the names of the fields that a waybill.yaml may have at a path; none where it has another shape there.
func fieldsAt(path []any) []string {
	t := reflect.TypeFor[Config]()
	for _, step := range path {
		if t = below(t, step); t == nil {
			return nil
		}
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return object.FieldNames(t)
}

// below returns the type of what stands in a value of a type at a field or an index, or nil for none.
func below(t reflect.Type, step any) reflect.Type {
	name, isField := step.(string)
	switch {
	case t.Kind() == reflect.Struct && isField:
		for _, f := range object.Fields(t) {
			if f.Name == name {
				return pointedTo(f.Type)
			}
		}
	case t.Kind() == reflect.Slice && !isField, t.Kind() == reflect.Map && isField:
		return pointedTo(t.Elem())
	}
	return nil
}

func pointedTo(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
