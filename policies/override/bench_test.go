package override_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/override"
)

func BenchmarkApply(b *testing.B) {
	for _, bb := range []struct{ name, overriders string }{
		{"image and label", "{imageOverrider: [{component: Registry, operator: replace, value: eu.example.com}], labelsOverrider: [{operator: add, value: {region: eu}}]}"},
		{"plaintext", "plaintext: [{operator: replace, path: /spec/replicas, value: 3}, {operator: add, path: /metadata/labels/region, value: eu}]"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			obj, ov := object(b, deployment), overriders(b, bb.overriders)
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := override.Apply(obj, ov); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPatch shows what it costs to have patches of objects done by the JSON patch
// library, which reads and writes the whole object for each rule, beside doing them in
// place. A path with an empty key is what only the library is given.
func BenchmarkPatch(b *testing.B) {
	for _, size := range []int{1 << 10, 10 << 10, 100 << 10} {
		for _, rules := range []int{1, 4, 60} {
			for _, by := range []struct{ name, key string }{{"in place", "region"}, {"library", ""}} {
				b.Run(fmt.Sprintf("%dKiB/%d rules/%s", size>>10, rules, by.name), func(b *testing.B) {
					obj := object(b, deployment)
					obj["data"] = filling(size)
					one := crowd(b, `{plaintext: [{operator: replace, path: /spec/replicas, value: %[1]d}, {operator: add, path: "/metadata/labels/`+by.key+`", value: eu}]}`, "in a rule each", rules)
					var ruled override.Rules
					for i := range one {
						ruled.List = append(ruled.List, &override.Rule{Index: i, Overriders: &one[i].Overriders})
					}
					b.ReportAllocs()
					for b.Loop() {
						if _, _, err := ruled.Apply(obj, strings.Repeat("\x01", rules)); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// filling is a map of about size bytes.
func filling(size int) map[string]any {
	m := map[string]any{}
	for i := range size / 50 {
		m[fmt.Sprintf("key-%d", i)] = map[string]any{"name": "of a container", "port": int64(8080)}
	}
	return m
}
