package override_test

import (
	"testing"

	"github.com/waybill-dev/waybill/policies/override"
)

func BenchmarkApply(b *testing.B) {
	for _, bb := range []struct{ name, overriders string }{
		{"image and label", "{imageOverrider: [{component: Registry, operator: replace, value: eu.example.com}], labelsOverrider: [{operator: add, value: {region: eu}}]}"},
		{"plaintext", "plaintext: [{operator: replace, path: /spec/replicas, value: 3}, {operator: add, path: /metadata/annotations/region, value: eu}]"},
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
