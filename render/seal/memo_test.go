package seal

import (
	"errors"
	"testing"

	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

func TestHoldsValues(t *testing.T) {
	for text, want := range map[string]bool{
		"data: {a: Yg==}": true, "stringData: {a: b}": true, "unknown: {a: b}": true,
		"data: {}": false, "type: Opaque": false,
	} {
		ref := object.Ref{Kind: "Secret", Namespace: "n", Name: "s"}
		var m Memo
		o := object.Decode("s.yaml", []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\n"+text+"\n")).Objects[0]
		d, err := m.Open(ref, files.NewBlob(o.YAML()))
		if err != nil || d.HoldsValues() != want {
			t.Errorf("%s: it holds values: %t, %v", text, d.HoldsValues(), err)
		}
	}
}

// TestAMemoChangesNothing seals with one memo and with none: other recipients, and another
// random key, give other documents, and equal ones are equal.
func TestAMemoChangesNothing(t *testing.T) {
	key, err := draw.NewKey([]byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	if err != nil {
		t.Fatal(err)
	}
	o := object.Decode("s.yaml", []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\nstringData: {a: b}\n")).Objects[0]
	var kept Memo
	all := map[files.ID]bool{}
	for _, random := range []draw.Key{{}, key, {}, key} {
		for _, to := range []string{toAnna, toBruno, toAnna} {
			r, err := ParseRecipients(to)
			if err != nil {
				t.Fatal(err)
			}
			var ids [2]files.ID
			for i, m := range []*Memo{&kept, {}} {
				d, err := m.Open(o.Ref(), files.NewBlob(o.YAML()))
				if err != nil {
					t.Fatal(err)
				}
				b, err := d.Seal(r, random)
				if err != nil {
					t.Fatal(err)
				}
				ids[i] = b.ID()
			}
			if ids[0] != ids[1] {
				t.Errorf("to %s: what is remembered is not what is made", to)
			}
			all[ids[0]] = true
		}
		kept.Turn()
	}
	if len(all) != 4 {
		t.Errorf("two recipients and two keys give %d documents", len(all))
	}
}

func TestADocumentThatCannotBeReadIsAnError(t *testing.T) {
	var m Memo
	away := errors.New("the disk is away")
	b := files.StoredBlob(files.NewBlob(nil).ID(), func(files.ID) ([]byte, error) { return nil, away })
	if _, err := m.Open(object.Ref{Kind: "Secret", Name: "s"}, b); !errors.Is(err, away) {
		t.Errorf("it is %v", err)
	}
}
