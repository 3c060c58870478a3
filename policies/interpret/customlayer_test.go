package interpret

import (
	"testing"
	"testing/fstest"

	"github.com/waybill-dev/waybill/policies/karmada"
)

func TestAFileTeachesTheFunctionsItDefines(t *testing.T) {
	in := &Interpreter{layers: []layer{filesLayer(fstest.MapFS{
		"example.com/v1/Thing.lua": {Data: []byte("local n = 3\nfunction GetReplicas(o) return n end\nlocal function Retain() end\nfunction ReviseReplica(o)\n error('no') end")},
		"example.com/Thing.lua":    {Data: []byte("function GetReplicas() end")},
	}), native()}}
	thing := map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "t"}}
	if n, _, ok, err := in.Replicas(thing); n != 3 || !ok || err != nil {
		t.Errorf("%d, %t, %v", n, ok, err)
	}
	for operation, want := range map[karmada.InterpreterOperation]string{
		karmada.InterpreterOperationInterpretReplica: "waybill example.com/Thing",
		karmada.InterpreterOperationRetain:           "",
		karmada.InterpreterOperationReviseReplica:    "waybill example.com/Thing",
		karmada.InterpreterOperationInterpretHealth:  "",
	} {
		if got := in.Answered(thing, operation); got != want {
			t.Errorf("%s is answered by %q, want %q", operation, got, want)
		}
	}
	want := "revising Thing t: waybill example.com/Thing: ReviseReplica: line 5: no"
	if _, err := in.Revise(thing, 1); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestEveryShippedKindIsTaught: each rule that package thirdparty has compiles, and answers
// something.
func TestEveryShippedKindIsTaught(t *testing.T) {
	for i, want := range []int{4, 26} { // ours, and Karmada's
		if got := len(shipped()[i].taught); got != want {
			t.Errorf("%d kinds are taught, want %d", got, want)
		}
		for k, taught := range shipped()[i].taught {
			if ls := taught.load(); len(ls) == 0 {
				t.Errorf("%s %s: it has no function", k.apiVersion, k.name)
			}
		}
	}
}
