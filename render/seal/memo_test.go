package seal

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/diag"
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

// TestWhatBecomesOfAPlainSecret: on a branch that others read no value stands in plain text, unless the config allows it; and what is
// encrypted opens for the recipients and nobody else. What has no values, or is encrypted already, stays as it is.
func TestWhatBecomesOfAPlainSecret(t *testing.T) {
	key, err := draw.NewKey([]byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	if err != nil {
		t.Fatal(err)
	}
	plain := "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\nstringData: {a: CANARY}\n"
	empty := "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\ntype: Opaque\n"
	for _, tt := range []struct {
		name, manifest, recipients string
		with                       Secrets
		sealed, keyed              bool
		says                       diag.Severity // -1: nothing
		none                       bool          // nothing is written
	}{
		{"for recipients", plain, toAnna, Secrets{OnBranch: true}, true, false, -1, false},
		{"for recipients, with the random key", plain, toAnna, Secrets{OnBranch: true, Random: key}, true, true, -1, false},
		{"for recipients, though plain ones are allowed", plain, toAnna, Secrets{OnBranch: true, Allowed: true}, true, false, -1, false},
		{"for recipients, in a folder", plain, toAnna, Secrets{}, true, false, -1, false},
		{"for recipients, with another random key than before", plain, toAnna, Secrets{OnBranch: true, Random: key, Wrong: "it is another one"}, false, false, diag.Error, true},
		{"for nobody, on a branch", plain, "", Secrets{OnBranch: true}, false, false, diag.Error, false},
		{"for nobody, in a folder", plain, "", Secrets{}, false, false, diag.Warning, false},
		{"for nobody, and that is allowed", plain, "", Secrets{OnBranch: true, Allowed: true}, false, false, -1, false},
		{"without values, for nobody", empty, "", Secrets{OnBranch: true}, false, false, -1, false},
		{"without values, for recipients", empty, toAnna, Secrets{OnBranch: true, Random: key, Wrong: "it is another one"}, false, false, -1, false},
	} {
		s := tt.with
		s.Memo = &Memo{}
		to := ""
		if tt.recipients != "" {
			if to, err = s.Recipients(tt.recipients); err != nil {
				t.Fatal(err)
			}
		}
		o := object.Decode("s.yaml", []byte(tt.manifest)).Objects[0]
		given := files.NewBlob(o.YAML())
		out, keyed, d := s.Protect(o, given, to)
		if (out == nil) != tt.none || keyed != tt.keyed {
			t.Errorf("%s: written is %v, keyed %v", tt.name, out != nil, keyed)
		}
		if (d != nil) != (tt.says >= 0) || d != nil && d.Severity != tt.says {
			t.Errorf("%s: it says %v", tt.name, d)
		}
		if out == nil {
			continue
		}
		data, err := out.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if tt.sealed != !bytes.Contains(data, []byte("CANARY")) && tt.manifest == plain || !tt.sealed && out.ID() != given.ID() {
			t.Errorf("%s: it is\n%s", tt.name, data)
		}
	}
}

// TestWhoCannotBeARecipient: a mistake in the annotation is an error, and is no recipient afterwards.
func TestWhoCannotBeARecipient(t *testing.T) {
	var s Secrets
	if to, err := s.Recipients(toAnna + ",age1x"); err == nil || to != "" {
		t.Errorf("it is %q, %v", to, err)
	}
}

// TestWhatCannotBeEncryptedIsNotWritten: it says which Secret and why, and shows no value.
func TestWhatCannotBeEncryptedIsNotWritten(t *testing.T) {
	s := Secrets{Memo: &Memo{}, OnBranch: true}
	to, err := s.Recipients(toAnna)
	if err != nil {
		t.Fatal(err)
	}
	o := object.Decode("s.yaml", []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\nstringdata: {a: CANARY}\n")).Objects[0]
	out, _, d := s.Protect(o, files.NewBlob(o.YAML()), to)
	if out != nil || d == nil || d.Severity != diag.Error || d.Pos.File != "s.yaml" ||
		!strings.Contains(d.Message, "cannot be encrypted: it has the field stringdata") || strings.Contains(d.Message, "CANARY") {
		t.Errorf("written is %v, said %+v", out, d)
	}
}

// TestWhatIsWanted: a Secret of the core group whose values nobody encrypted, and no other object.
func TestWhatIsWanted(t *testing.T) {
	const meta = "metadata: {name: s, namespace: n}\n"
	for text, want := range map[string]bool{
		"apiVersion: v1\nkind: Secret\n" + meta: true,
		"apiVersion: v1\nkind: Secret\n" + meta + "sops: {mac: 'ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]', lastmodified: '2026-11-21T00:00:00Z', version: 3.9.0}\nstringData: {a: 'ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]'}\n": false,
		"apiVersion: v1\nkind: ConfigMap\n" + meta:                      false,
		"apiVersion: example.org/v1\nkind: Secret\n" + meta:             false,
		"apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\n" + meta: false,
	} {
		all := object.Decode("s.yaml", []byte(text)).Objects
		if len(all) != 1 || Wanted(all[0]) != want {
			t.Errorf("of %q is wanted: %t", text, !want)
		}
	}
}
