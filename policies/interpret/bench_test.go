package interpret_test

import (
	"testing"

	"github.com/waybill-dev/waybill/policies/interpret"
)

func BenchmarkDefault(b *testing.B) {
	obj := shop(b)[0]
	b.ReportAllocs()
	for b.Loop() {
		interpret.Default(obj)
	}
}

func BenchmarkUndefault(b *testing.B) {
	obj, added := interpret.Default(shop(b)[0])
	b.ReportAllocs()
	for b.Loop() {
		interpret.Undefault(obj, added)
	}
}

func BenchmarkReplicas(b *testing.B) {
	obj, in := shop(b)[0], interpret.New()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, err := in.Replicas(obj); err != nil {
			b.Fatal(err)
		}
	}
}
