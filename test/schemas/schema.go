// Package schemas makes JSON Schemas of the Go types that sources are decoded into, for editors, and
// holds docs/schemas to them. "make docs" writes the files anew.
//
// A schema says which fields there are, of which type, and which words a field takes; what a field
// means is the comment of the Go field. It accepts whatever is read without an error, and refuses
// what no field has; "waybill validate" knows far more.
package schemas

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Schema is a JSON Schema, as JSON has it.
type Schema map[string]any

// Maker makes the schemas of types. Structs that have a name are definitions, so that a type may
// hold itself.
type Maker struct {
	Comments    Comments
	Requires    bool                // whether fields without omitempty must be there
	Words       map[string][]string // what a field takes, by type and field, as "ConfigSpec.Secrets"
	definitions Schema
}

// Document is the schema of a kind of file. The schema of its apiVersion and its kind are given.
func (m *Maker) Document(t reflect.Type, apiVersion Schema, kind string) Schema {
	m.definitions = Schema{}
	s := m.object(t)
	properties := s["properties"].(Schema)
	properties["apiVersion"] = apiVersion
	properties["kind"] = Schema{"const": kind}
	required, _ := s["required"].([]string)
	required = append(required, "apiVersion", "kind")
	if _, ok := properties["metadata"]; ok {
		properties["metadata"] = metadata()
		required = append(required, "metadata")
	}
	required = slices.DeleteFunc(required, func(name string) bool { return name == "status" }) // people write none
	slices.Sort(required)
	s["required"] = slices.Compact(required)
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = kind
	if len(m.definitions) > 0 {
		s["definitions"] = m.definitions
	}
	return s
}

// metadata is what Kubernetes has there. A policy may have been exported, with all that a server set.
func metadata() Schema {
	texts := Schema{"type": "object", "additionalProperties": Schema{"type": "string"}}
	return Schema{"type": "object", "required": []string{"name"}, "properties": Schema{
		"name": Schema{"type": "string", "minLength": 1}, "namespace": Schema{"type": "string"}, "labels": texts, "annotations": texts,
	}}
}

// of is the schema of a value of a type.
func (m *Maker) of(t reflect.Type) Schema {
	switch reflect.Zero(t).Interface().(type) {
	case resource.Quantity:
		return Schema{"type": []string{"string", "number"}}
	case intstr.IntOrString:
		return Schema{"type": []string{"string", "integer"}}
	case metav1.Time, metav1.Duration:
		return Schema{"type": "string"}
	}
	switch {
	case t.Kind() == reflect.Pointer:
		return m.of(t.Elem())
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return Schema{}
	}
	switch t.Kind() {
	case reflect.Struct:
		return m.named(t)
	case reflect.Slice:
		return Schema{"type": "array", "items": m.of(t.Elem())}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": m.of(t.Elem())}
	case reflect.String:
		return word(m.Comments.Constants(t))
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Float64:
		return Schema{"type": "number"}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64:
		return Schema{"type": "integer"}
	default:
		return Schema{}
	}
}

func word(words []string) Schema {
	s := Schema{"type": "string"}
	if len(words) > 0 {
		s["enum"] = words
	}
	return s
}

// named leads to the definition of a struct.
func (m *Maker) named(t reflect.Type) Schema {
	if t.Name() == "" {
		return m.object(t)
	}
	if _, ok := m.definitions[t.Name()]; !ok {
		m.definitions[t.Name()] = Schema{} // it may hold itself
		m.definitions[t.Name()] = m.object(t)
	}
	return Schema{"$ref": "#/definitions/" + t.Name()}
}

// object is the schema of a struct, which has no other fields.
func (m *Maker) object(t reflect.Type) Schema {
	properties := Schema{}
	var required []string
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			inner := m.object(f.Type)
			maps.Copy(properties, inner["properties"].(Schema))
			of, _ := inner["required"].([]string)
			required = append(required, of...)
			continue
		case name == "" || name == "-" || !f.IsExported():
			continue
		}
		properties[name] = m.field(t, f)
		if m.Requires && !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	s := Schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		slices.Sort(required)
		s["required"] = required
	}
	return s
}

// field is the schema of a field, with its comment.
func (m *Maker) field(t reflect.Type, f reflect.StructField) Schema {
	s := m.of(f.Type)
	if words := m.Words[t.Name()+"."+f.Name]; len(words) > 0 {
		s = word(words)
	}
	about := m.Comments.Field(t, f.Name)
	if about == "" {
		return s
	}
	if _, ok := s["$ref"]; ok { // beside which nothing counts in draft 7
		return Schema{"allOf": []Schema{s}, "description": about}
	}
	s["description"] = about
	return s
}
