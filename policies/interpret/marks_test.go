package interpret_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/render/object"
)

func TestMarks(t *testing.T) {
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {annotations: {work.karmada.io/conflict-resolution: %}, labels: {a: b}, name: x}\n"
	for _, tt := range []struct {
		says            string // the template's annotation
		byPolicy, wants bool
	}{{"overwrite", false, true}, {"abort", true, false}, {"else", true, true}, {"else", false, false}} {
		o := object.Decode("x.yaml", []byte(strings.Replace(text, "%", tt.says, 1))).Objects[0]
		if got := interpret.Overwrites(o, tt.byPolicy); got != tt.wants {
			t.Errorf("%s and a policy that says %t: %t", tt.says, tt.byPolicy, got)
		}
	}
	content := object.Decode("x.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {labels: {a: b}, name: x}\n")).Objects[0].Content()
	before := string(object.Encode(content))
	for want, m := range map[string]interpret.Marks{
		"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels:\n    a: b\n    karmada.io/managed: 'true'\n  name: x\n":                                                                                                                             {},
		"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n    waybill.dev/preserve-resources-on-deletion: 'true'\n    work.karmada.io/conflict-resolution: overwrite\n  labels:\n    a: b\n    karmada.io/managed: 'true'\n  name: x\n": {Overwrite: true, Preserve: true},
		"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n    waybill.dev/autoscaler: web\n  labels:\n    a: b\n    karmada.io/managed: 'true'\n  name: x\n":                                                                            {Scaler: "web"},
	} {
		if got := string(object.Encode(interpret.Marked(content, m))); got != want || string(object.Encode(content)) != before {
			t.Errorf("%+v gives %s", m, got)
		}
	}
}
