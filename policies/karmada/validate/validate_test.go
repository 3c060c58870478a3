package validate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// rule is a document and what is wrong with it: for each finding a line of path
// and code, and a question mark after the code of a warning.
type rule struct {
	name string
	doc  string
	want []string
}

// run decodes and validates documents of one kind, which get a name and, where
// the kind has one, a namespace.
func run(t *testing.T, apiVersion, kind string, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			x, found := decode(t, apiVersion, kind, r.doc)
			if x != nil {
				found = append(found, Object(x)...)
			}
			if diff := cmp.Diff(r.want, lines(found)); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, explain(found))
			}
			for _, f := range found {
				if f.Message == "" || strings.HasSuffix(f.Message, ".") {
					t.Errorf("%s: message %q is empty or a full sentence", f.Code, f.Message)
				}
			}
			if x == nil {
				return
			}
			before := mistakes(Object(x))
			karmada.Default(x)
			if diff := cmp.Diff(before, mistakes(Object(x))); diff != "" {
				t.Errorf("Default changes the mistakes (-before +after):\n%s", diff)
			}
		})
	}
}

func decode(t *testing.T, apiVersion, kind, doc string) (any, []karmada.FieldError) {
	t.Helper()
	content := map[string]any{}
	if err := yaml.Unmarshal([]byte(doc), &content); err != nil {
		t.Fatal(err)
	}
	content["apiVersion"], content["kind"] = apiVersion, kind
	if _, ok := content["metadata"]; !ok {
		metadata := map[string]any{"name": "web"}
		if karmada.Namespaced(apiVersion, kind) {
			metadata["namespace"] = "shop"
		}
		content["metadata"] = metadata
	}
	data, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return karmada.Decode(apiVersion, kind, data)
}

func lines(fs []karmada.FieldError) []string {
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

func explain(fs []karmada.FieldError) string {
	var b strings.Builder
	for _, f := range fs {
		fmt.Fprintf(&b, "%s: %s [%s] hint: %s\n", printed(f.Path), f.Message, f.Code, f.Hint)
	}
	return b.String()
}

// mistakes returns the codes of the errors, sorted, since Default may reorder.
func mistakes(fs []karmada.FieldError) []string {
	codes := []string{}
	for _, f := range fs {
		if !f.Warning {
			codes = append(codes, string(f.Code))
		}
	}
	slices.Sort(codes)
	return codes
}
