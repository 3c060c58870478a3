package lua_test

import (
	"testing"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
)

// BenchmarkCall is what a call costs whatever it does: mostly its state.
func BenchmarkCall(b *testing.B) {
	s, err := lua.Compile("function F(o) return o.n end")
	if err != nil {
		b.Fatal(err)
	}
	obj := map[string]any{"n": int64(1)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Call(lua.Kube{}, "F", obj); err != nil {
			b.Fatal(err)
		}
	}
}
