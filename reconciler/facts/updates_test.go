package facts_test

import (
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/test/twin"
)

// What is remembered of new versions is beside the source, which may be another repository than what is published is in: when it moves, facts
// are others.
func TestWhatIsRememberedIsReadAgain(t *testing.T) {
	source, target := twin.New("source"), twin.New("fleet")
	source.Write("main", "first", twin.Tree{"fleet.yaml": twin.File([]byte(fleet))}.Folder())
	now := func() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) }
	reader := &facts.Reader{Reconciler: &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: source, Target: target, Now: now}, Rev: "main"}
	look := func() (key string, kept int) {
		t.Helper()
		f, err := reader.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m, err := f.Memory()
		if err != nil {
			t.Fatal(err)
		}
		return f.Key, len(m.Policies)
	}
	before, none := look()
	m := updates.NewMemory()
	m.KeepBack(images.Name{Namespace: "shop", Name: "web"}, "1.1.0", "it was closed")
	root, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	source.Write(updates.MemoryBranch, "what is known", root)
	if after, one := look(); none != 0 || one != 1 || after == before {
		t.Errorf("of %d and then %d policies something is remembered, and the key is another one: %t", none, one, after != before)
	}
}
