package interpret

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/waybill-dev/waybill/policies/interpret/thirdparty"
	"github.com/waybill-dev/waybill/policies/karmada"
)

func TestAFileTeachesTheFunctionsItDefines(t *testing.T) {
	in := &Interpreter{layers: []layer{shipped(fstest.MapFS{
		"example.com/v1/Thing.lua": {Data: []byte("local n = 3\nfunction GetReplicas(o) return n end\nlocal function Retain() end\nfunction ReviseReplica(o)\n error('no') end")},
		"example.com/Thing.lua":    {Data: []byte("function GetReplicas() end")},
	}), native()}}
	thing := map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "t"}}
	if n, _, ok, err := in.Replicas(thing); n != 3 || !ok || err != nil {
		t.Errorf("%d, %t, %v", n, ok, err)
	}
	for operation, want := range map[karmada.InterpreterOperation]string{
		karmada.InterpreterOperationInterpretReplica: "third-party",
		karmada.InterpreterOperationRetain:           "",
		karmada.InterpreterOperationReviseReplica:    "third-party",
		karmada.InterpreterOperationInterpretHealth:  "",
	} {
		if got := in.Answered(thing, operation); got != want {
			t.Errorf("%s is answered by %q, want %q", operation, got, want)
		}
	}
	want := "revising Thing t: third-party example.com/v1/Thing.lua: ReviseReplica: line 5: no"
	if _, err := in.Revise(thing, 1); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestEveryShippedKindIsTaught: each file that package thirdparty has compiles, and
// answers something.
func TestEveryShippedKindIsTaught(t *testing.T) {
	files := 0
	err := fs.WalkDir(thirdparty.Files(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	l := shipped(thirdparty.Files())
	if len(l.taught) != files || files == 0 {
		t.Errorf("%d files teach %d kinds", files, len(l.taught))
	}
	for k, taught := range l.taught {
		ls := taught.load()
		if len(ls) == 0 {
			t.Errorf("%s %s: the file defines no function", k.apiVersion, k.name)
		}
		for operation, scripts := range ls {
			if scripts[0].err != nil {
				t.Errorf("%s %s: %s: %v", k.apiVersion, k.name, operation, scripts[0].err)
			}
		}
	}
}
