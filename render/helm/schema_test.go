package helm_test

import (
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
		{"a reference to the network", schema(`{"$ref": "http://127.0.0.1:1/x.json"}`), nil, "is not followed"},
		{"a reference by https", schema(`{"$ref": "https://127.0.0.1:1/x.json"}`), nil, "is not followed"},
		{"a reference to the disk", schema(`{"$ref": "file:///etc/passwd"}`), nil, "is not followed"},
		{"a relative reference", schema(`{"$ref": "other.json"}`), nil, "is not followed"},
		{"a reference by ftp", schema(`{"$ref": "ftp://x/y"}`), nil, "is not followed"},
		{"a reference in data", schema(`{"$ref": "data:application/json,{}"}`), nil, "is not followed"},
		{"a reference by urn", schema(`{"$ref": "urn:x:y"}`), nil, "is not followed"},
		{"another dialect", schema(`{"$schema": "http://127.0.0.1:1/x.json"}`), nil, "is not followed"},
		{"another base", schema(`{"$id": "http://127.0.0.1:1/", "$ref": "x.json"}`), nil, "is not followed"},
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
