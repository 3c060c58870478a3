package match

import (
	"fmt"
	"testing"
)

// BenchmarkPolicy finds the policy of a template among 1,000 that select its kind.
func BenchmarkPolicy(b *testing.B) {
	docs := make([]string, 0, 1000)
	for i := range 1000 {
		docs = append(docs, fmt.Sprintf("shop/p%04d: , name: app-%04d", i, i))
	}
	ix := New(load(b, docs...))
	subject := web
	subject.Ref.Name = "app-0777"
	b.ReportAllocs()
	for b.Loop() {
		if p := ix.Policy(subject); p == nil || p.Object.Ref().Name != "p0777" {
			b.Fatal(p)
		}
	}
}
