package apply

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRetain(t *testing.T) {
	for _, c := range []struct {
		name                 string
		manifest, rule, live string // rule: what it made of the manifest
		ours                 string // fields, as a server writes them
		want                 string
	}{
		{"nothing is retained", `{"spec":{"a":1}}`, `{"spec":{"a":1}}`, `{"spec":{"a":2}}`, `{"f:spec":{"f:a":{}}}`, `{"spec":{"a":1}}`},
		{"what somebody else wrote is left to them", `{"spec":{"a":1,"b":1}}`, `{"spec":{"a":2,"b":1}}`, `{"spec":{"a":2,"b":1}}`, `{"f:spec":{"f:b":{}}}`, `{"spec":{"b":1}}`},
		{"what is ours is sent as it is", `{"spec":{"a":1}}`, `{"spec":{"a":2}}`, `{"spec":{"a":2}}`, `{"f:spec":{"f:a":{}}}`, `{"spec":{"a":2}}`},
		{"what the manifest lacks, and is not ours", `{"spec":{"b":1}}`, `{"spec":{"a":2,"b":1}}`, `{"spec":{"a":2,"b":1}}`, `{"f:spec":{"f:b":{}}}`, `{"spec":{"b":1}}`},
		{"what the manifest lacks, and is ours", `{"spec":{"b":1}}`, `{"spec":{"a":2,"b":1}}`, `{"spec":{"a":2,"b":1}}`, `{"f:spec":{"f:a":{},"f:b":{}}}`, `{"spec":{"a":2,"b":1}}`},
		{"what the rule makes up", `{"spec":{"a":1}}`, `{"spec":{"a":3}}`, `{"spec":{"a":2}}`, `{}`, `{"spec":{"a":3}}`},
		{"what the rule takes away", `{"spec":{"a":1,"b":1}}`, `{"spec":{"b":1}}`, `{"spec":{"b":1}}`, `{"f:spec":{"f:a":{},"f:b":{}}}`, `{"spec":{"b":1}}`},
		{"what the rule makes up below what the manifest lacks", `{"spec":{}}`, `{"spec":{"x":{"y":1}}}`, `{"spec":{}}`, `{}`, `{"spec":{"x":{"y":1}}}`},
		{"what is empty, and the manifest lacks", `{"spec":{}}`, `{"spec":{"x":{}}}`, `{"spec":{"x":{}}}`, `{}`, `{"spec":{}}`},
		{"a null that the rule takes away", `{"spec":{"a":null,"b":1}}`, `{"spec":{"b":1}}`, `{"spec":{"b":1}}`, `{}`, `{"spec":{"b":1}}`},
		{"numbers of another type", `{"spec":{"a":1}}`, `{"spec":{"a":1.0}}`, `{"spec":{"a":1}}`, `{}`, `{"spec":{"a":1}}`},
		{"a status is nobody's manifest", `{"spec":{}}`, `{"spec":{},"status":{"x":{"y":1}}}`, `{"spec":{},"status":{"x":{"y":1}}}`, `{}`, `{"spec":{}}`},
		{
			"a field that the rule makes a map", `{"spec":{"a":"x"}}`, `{"spec":{"a":{"b":1}}}`, `{"spec":{"a":{"b":1}}}`, `{"f:spec":{"f:c":{}}}`,
			`{"spec":{}}`,
		},
		{"a map that the rule makes a field", `{"spec":{"a":{"b":1}}}`, `{"spec":{"a":"x"}}`, `{"spec":{"a":"y"}}`, `{}`, `{"spec":{"a":"x"}}`},
		{"a list is one field", `{"l":[1,2]}`, `{"l":[1,3]}`, `{"l":[1,3]}`, `{"f:l":{}}`, `{"l":[1,3]}`},
		{"a list of somebody else's", `{"l":[1,2]}`, `{"l":[1,3]}`, `{"l":[1,3]}`, `{}`, `{}`},
		{
			"others' labels stay by themselves, and ours that left go", `{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{"labels":{"a":"1","b":"2","c":"3"},"resourceVersion":"7"}}`,
			`{"metadata":{"labels":{"a":"1","b":"2","c":"3"},"resourceVersion":"7"}}`, `{"f:metadata":{"f:labels":{"f:a":{},"f:b":{}}}}`, `{"metadata":{"labels":{"a":"1"}}}`,
		},
		{"a label that a rule retains", `{"metadata":{"labels":{"a":"1"}}}`, `{"metadata":{"labels":{"a":"2"}}}`, `{"metadata":{"labels":{"a":"2"}}}`, `{}`, `{"metadata":{"labels":{}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			of := func(text string) (m map[string]any) {
				if err := json.Unmarshal([]byte(text), &m); err != nil {
					t.Fatal(err)
				}
				return m
			}
			manifest := of(c.manifest)
			fields := &metav1.FieldsV1{}
			fields.SetRawBytes([]byte(c.ours))
			managed := []metav1.ManagedFieldsEntry{{Manager: Manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: fields}}
			got := Retain(manifest, of(c.rule), of(c.live), managed)
			if d := cmp.Diff(of(c.want), got) + cmp.Diff(of(c.manifest), manifest); d != "" {
				t.Error(d)
			}
		})
	}
}
