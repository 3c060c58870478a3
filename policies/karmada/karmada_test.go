package karmada

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func decode(t *testing.T, apiVersion, kind, doc string) (any, []FieldError) {
	t.Helper()
	content := map[string]any{}
	if err := yaml.Unmarshal([]byte(doc), &content); err != nil {
		t.Fatal(err)
	}
	content["apiVersion"], content["kind"] = apiVersion, kind
	if _, ok := content["metadata"]; !ok {
		metadata := map[string]any{"name": "web"}
		if Namespaced(apiVersion, kind) {
			metadata["namespace"] = "shop"
		}
		content["metadata"] = metadata
	}
	data, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return Decode(apiVersion, kind, data)
}

func lines(fs []FieldError) []string {
	var out []string
	for _, f := range fs {
		mark := ""
		if f.Warning {
			mark = "?"
		}
		out = append(out, printed(f.Path)+" "+string(f.Code)+mark)
	}
	return out
}

func printed(path []any) string {
	var b strings.Builder
	for i, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			fmt.Fprint(&b, step)
		}
	}
	return b.String()
}

func explain(fs []FieldError) string {
	var b strings.Builder
	for _, f := range fs {
		fmt.Fprintf(&b, "%s: %s [%s] hint: %s\n", printed(f.Path), f.Message, f.Code, f.Hint)
	}
	return b.String()
}
