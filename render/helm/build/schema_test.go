package build_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/helm"
)

func TestSchema(t *testing.T) {
	tests := []struct {
		name, chart string
		values      helm.Values
		want        string // empty for none
	}{
		{"values that meet it", schema(`{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"$ref": "#/definitions/t"}}, "definitions": {"t": {"type": "integer"}}}`), helm.Values{"a": float64(3)}, ""},
		{"a wrong type", schema(`{"properties": {"a": {"type": "integer"}}}`), helm.Values{"a": "s3cret"}, "c: at '/a': got string, want integer"},
		{"a pattern", schema(`{"properties": {"a": {"pattern": "^x"}}}`), helm.Values{"a": "s3cret"}, `c: at '/a': does not match the pattern "^x"`},
		{"a format", schema(`{"properties": {"a": {"format": "email"}}, "$schema": "http://json-schema.org/draft-07/schema#"}`), helm.Values{"a": "s3cret"}, "c: at '/a': is not a valid email"},
		{"a range", schema(`{"properties": {"a": {"maximum": 5}}}`), helm.Values{"a": float64(424242)}, "c: at '/a': is out of range: maximum"},
		{"what is missing", schema(`{"required": ["a"]}`), nil, "c: at '/': missing property 'a'"},
		{"a choice", schema(`{"properties": {"a": {"enum": ["x", "y"]}}}`), helm.Values{"a": "s3cret"}, "value must be one of 'x', 'y'"},
		{"merged values", "-- values.yaml --\na: 1\n" + schema(`{"properties": {"a": {"type": "string"}}}`), nil, "c: at '/a': got number, want string"},
		{"a sub-chart", line("1") + "-- charts/s/Chart.yaml --\napiVersion: v2\nname: s\nversion: 1.0.0\n-- charts/s/values.schema.json --\n{\"properties\": {\"b\": {\"type\": \"string\"}}}\n", helm.Values{"s": map[string]any{"b": true}}, "c/s: at '/b': got boolean, want string"},
		{"a reference to itself", schema(`{"$ref": "#"}`), nil, "reference cycle"},
		{"what is no JSON", schema(`{`), nil, "c/values.schema.json"},
		{"what is no schema", schema(`{"type": 5}`), nil, "c/values.schema.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := template(tt.chart, helm.Release{Values: tt.values})
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want == "":
			case err == nil || !strings.Contains(err.Error(), tt.want):
				t.Errorf("got %v, want an error with %q", err, tt.want)
			case strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "424242"):
				t.Errorf("the error shows the value: %v", err)
			}
			if _, err := template(tt.chart, helm.Release{Values: tt.values, SkipSchema: true}); err != nil {
				t.Errorf("without the schema: %v", err)
			}
		})
	}
}

func schema(text string) string { return line("1") + "-- values.schema.json --\n" + text + "\n" }

// A reference that leads out of a schema is left out, with what could fail because of that.
func TestSchemaElsewhere(t *testing.T) {
	const old = `"$schema": "http://json-schema.org/draft-07/schema#", `
	tests := []struct {
		name, chart string
		values      helm.Values
		notice      string // a part of it
		want        string // a part of the error, empty for none
	}{
		{"to the network", schema(`{"$ref": "http://127.0.0.1:1/x.json"}`), nil, "at http://127.0.0.1:1/x.json, which is not fetched", ""},
		{"to a place of another document", schema(`{"properties": {"a": {"$ref": "https://127.0.0.1:1/x.json#/definitions/t"}}}`), helm.Values{"a": "x"}, "x.json#/definitions/t", ""},
		{"to the disk", schema(`{"$ref": "file:///etc/passwd"}`), nil, "file:///etc/passwd", ""},
		{"relative", schema(`{"$ref": "other.json"}`), nil, "other.json", ""},
		{"by ftp", schema(`{"$ref": "ftp://x/y"}`), nil, "ftp://x/y", ""},
		{"in data", schema(`{"$ref": "data:application/json,{}"}`), nil, "data:application/json,{}", ""},
		{"by urn", schema(`{"$ref": "urn:x:y"}`), nil, "urn:x:y", ""},
		{"another dialect", schema(`{"$schema": "http://127.0.0.1:1/x.json", "type": "string"}`), nil, "are not held against c/values.schema.json", ""},
		{"by another base", schema(`{"$id": "http://127.0.0.1:1/", "$ref": "x.json"}`), nil, "x.json", ""},
		{"what stands beside it in an old schema", schema(`{` + old + `"$ref": "x.json", "type": "string"}`), nil, "x.json", ""},
		{"what it says no to", schema(`{"not": {"$ref": "x.json"}}`), nil, "x.json", ""},
		{"one of several", schema(`{"oneOf": [{"$ref": "x.json", "description": "d"}, {"type": "object"}]}`), nil, "x.json", ""},
		{"one of several, at second hand", schema(`{"oneOf": [{"$ref": "#/$defs/t"}, {"type": "object"}], "$defs": {"t": {"$ref": "x.json"}}}`), nil, "x.json", ""},
		{"one of several, by an anchor that moves", schema(`{"properties": {"a": {"not": {"$dynamicRef": "#t"}}}, "$defs": {"t": {"$dynamicAnchor": "t", "$ref": "x.json"}}}`), helm.Values{"a": "x"}, "x.json", ""},
		{"what it says no to, which is all of it", schema(`{"$schema": "https://json-schema.org/draft/2019-09/schema", "properties": {"a": {"not": {"$recursiveRef": "#"}}}, "allOf": [{"$ref": "x.json"}]}`), helm.Values{"a": map[string]any{"b": "x"}}, "x.json", ""},
		{"a condition", schema(`{"if": {"$ref": "x.json"}, "then": false}`), nil, "x.json", ""},
		{"what it would have looked at", schema(`{"allOf": [{"$ref": "x.json"}], "unevaluatedProperties": false}`), helm.Values{"a": "x"}, "x.json", ""},
		{"a value by the name of a keyword", schema(`{"properties": {"not": {"$ref": "x.json"}}, "additionalProperties": false}`), helm.Values{"not": "x"}, "x.json", ""},
		{"the rest is held against it", schema(`{"properties": {"a": {"$ref": "x.json"}, "b": {"type": "integer"}}}`), helm.Values{"a": "x", "b": "s3cret"}, "", "c: at '/b': got string, want integer"},
		{"so is all of it", schema(`{"allOf": [{"$ref": "x.json"}, {"required": ["b"]}]}`), nil, "", "missing property 'b'"},
		{"what it names itself is followed", schema(`{"$id": "http://127.0.0.1:1/a.json", "properties": {"a": {"$ref": "a.json#/$defs/t"}}, "$defs": {"t": {"type": "integer"}}}`), helm.Values{"a": "s3cret"}, "", "got string, want integer"},
		{"data is no reference", schema(`{"properties": {"a": {"enum": [{"$ref": "x.json"}]}}}`), helm.Values{"a": "x"}, "", "'enum' failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := template(tt.chart, helm.Release{Values: tt.values})
			if notices := strings.Join(out.Notices, "\n"); !strings.Contains(notices, tt.notice) {
				t.Errorf("the notices are %q", notices)
			}
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// Of many mistakes the first are listed, each once and in the order of their texts, and the others are counted.
func TestSchemaOfManyMistakes(t *testing.T) {
	for n, want := range map[int]string{20: "", 21: "and 1 more", 35: "and 15 more"} {
		values, properties := helm.Values{}, make([]string, 0, n)
		for i := range n {
			name := fmt.Sprintf("p%02d", n-i-1)
			values[name] = "s3cret"
			properties = append(properties, fmt.Sprintf("%q: {\"type\": \"integer\"}", name))
		}
		text := "{\"properties\": {" + strings.Join(properties, ", ") + "}}"
		_, err := template(schema(`{"allOf": [`+text+", "+text+"]}"), helm.Release{Values: values})
		if err == nil {
			t.Fatal("it is taken")
		}
		_, listed, _ := strings.Cut(err.Error(), "\n- ")
		lines := strings.Split(listed, "\n- ")
		if more := want != ""; more {
			if is := lines[len(lines)-1]; is != want {
				t.Errorf("of %d mistakes it ends with %q, want %q", n, is, want)
			}
			lines = lines[:len(lines)-1]
		}
		if len(lines) != 20 || lines[0] != "c: at '/p00': got string, want integer" || lines[19] != "c: at '/p19': got string, want integer" {
			t.Errorf("of %d mistakes are listed %q", n, lines)
		}
	}
}
