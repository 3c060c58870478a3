package object

import (
	"reflect"
	"strings"
)

// Field is a field of a struct as JSON has it.
type Field struct {
	Name     string
	Type     reflect.Type
	Required bool // it is written though it is empty
}

// Fields returns those that a struct has in JSON, in their order; those of an embedded struct stand where it does, unless it
// has a name of its own.
func Fields(t reflect.Type) []Field {
	var all []Field
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			all = append(all, Fields(f.Type)...)
		case name != "-" && name != "":
			all = append(all, Field{name, f.Type, !strings.Contains(options, "omit")})
		}
	}
	return all
}

// FieldNames returns the names of Fields.
func FieldNames(t reflect.Type) []string {
	fields := Fields(t)
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}
