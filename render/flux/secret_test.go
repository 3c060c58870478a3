package flux

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMaskedHasTheShape: a chart that renders with a Secret renders with what stands for it.
func TestMaskedHasTheShape(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		"Hunter-9z":                    "Ivoufs-1a",
		"true":                         "true",
		"abc":                          "abc", // too short to be secret
		"{a: {b: [shop, true, null]}}": "a:\n  b:\n  - tipq\n  - true\n  - null\n",
		"port: 5432\nratio: 0.25\n":    "port: 6543\nratio: 1.36\n",
		"name: name\n":                 "name: obnf\n",
		"- one\n- 1099\n":              "- one\n- 2111\n",
		"{{ no yaml":                   "{{ op zbnm",
	} {
		if diff := cmp.Diff(want, masked(in)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", in, diff)
		}
	}
}
