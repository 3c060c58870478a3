package unseal_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal"
	"github.com/waybill-dev/waybill/render/seal/unseal"
)

// Identities that were made for these tests, and the recipients of two of them.
const (
	anna  = "AGE-SECRET-KEY-1Z6AX7297RMEN49XNLH5M2NVDXC2VF8CFW4TV9TVE686LZFRQUUQQSJJMSZ"
	bruno = "AGE-SECRET-KEY-1KR3XH8EGEGQJ9H4VZMNX53L9CCH8T6QP9F9YJLYGS4A6T9HULVLQ2AFVMT"
	cora  = "AGE-SECRET-KEY-166UVXL3323VAYJUHLPJ2EYL6DUT6AFPFAYDEA4CM7WAKMJHR9WVQLY6LF5"

	toAnna  = "age1jgxhllsn8xkwypdyn5p7m6xye9dnxawg70mr5sh9j37tz24v853qktm3gm"
	toBruno = "age1lczalcezytddp9aqg8mztxg4wlvyug39e3ea6kufkm820ey49fpq8whs5x"
)

// secret is a manifest with the given fields.
func secret(fields map[string]any) map[string]any {
	content := map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{"name": "login", "namespace": "shop"},
	}
	maps.Copy(content, fields)
	return content
}

// sealed returns the document as Waybill writes it.
func sealed(tb testing.TB, content map[string]any, to string) string {
	tb.Helper()
	recipients, err := seal.ParseRecipients(to)
	if err != nil {
		tb.Fatal(err)
	}
	key := seal.Master(object.Ref{Kind: "Secret", Namespace: "shop", Name: "login"}, object.Encode(content))
	document, err := key.Seal(content, recipients)
	if err != nil {
		tb.Fatal(err)
	}
	return string(document)
}

func identities(tb testing.TB, lines ...string) unseal.Identities {
	tb.Helper()
	keys, err := unseal.ParseIdentities([]byte(strings.Join(lines, "\n")))
	if err != nil {
		tb.Fatal(err)
	}
	return keys
}

func FuzzDocumentUndoesSeal(f *testing.F) {
	f.Add("user", "c2VjcmV0", "pass", "one\ntwo\n", "2020-01-01", int64(7), 2.5, true)
	f.Add("", "", "a:b", "ENC[AES256_GCM,data:,iv:,tag:,type:str]", "null", int64(-1), 1e300, false)
	f.Add("<<", "<<", "sops", "\u2028\ufeff\x00\r", "# no comment", int64(0), 1e-7, true)
	f.Add("data", "ENC[AES256_GCM,data:YQ==,iv:YQ==,tag:YQ==,type:str]", "12", " x ", "yes", int64(1)<<62, -0.1, true)
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2, note string, i int64, x float64, b bool) {
		for _, s := range []*string{&k1, &v1, &k2, &v2, &note} {
			*s = strings.ToValidUTF8(*s, "�") // as object.Decode has it
		}
		if x != x || x-x != 0 || x == float64(int64(x)) || k1 == object.LastApplied || strings.HasPrefix(note, "ENC[AES256_GCM,data:") {
			return // no manifest has such a number, an annotation of that name is refused, and so is readable ciphertext
		}
		want := secret(map[string]any{
			"immutable": b, "data": map[string]any{k1: v1, k2: v2},
			"stringData": map[string]any{k2: v1, "values": []any{i, x, b, nil, "", v2, map[string]any{k1: v2}, []any{}, map[string]any{}}},
			"metadata":   map[string]any{"name": "login", "namespace": "shop", "annotations": map[string]any{"note": note, k1: note}},
		})
		document := sealed(t, want, toAnna+","+toBruno)
		for _, one := range []string{anna, bruno} {
			got, err := identities(t, one).Document([]byte(document))
			if err != nil {
				t.Fatalf("%v\n%s", err, document)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-sealed +decrypted):\n%s", diff)
			}
		}
	})
}

// canary is in what is encrypted, and in no error.
const canary = "Y2FuYXJ5"

func TestWhatWasChangedIsRefused(t *testing.T) {
	document := sealed(t, secret(map[string]any{"data": map[string]any{"a": canary, "b": "Yg=="}, "immutable": true}), toAnna)
	a, b := line(t, document, "  a: "), line(t, document, "  b: ")
	for _, tt := range []struct{ name, old, new, want string }{
		{"a value", "a: ENC[AES256_GCM,data:", "a: ENC[AES256_GCM,data:AAAA", "data.a: somebody changed it"},
		{"the key of a value", "  a: ENC", "  c: ENC", "data.c: somebody changed it, or moved it to another field"},
		{"values that changed places", a + b, "  a: " + b[len("  b: "):] + "  b: " + a[len("  a: "):], "data.a: somebody changed it"},
		{"a value that is gone", a, "", "its code"},
		{"a value in plain text", a, "  a: " + canary + "\n", "data.a: it is to be encrypted, and is not"},
		{"a number", a, "  a: 5\n", "data.a: it is to be encrypted, and is not"},
		{"the type of a value", a, strings.Replace(a, "type:str", "type:int", 1), `data.a: it decrypts to what its type ("int") has not`},
		{"a value that is a comment", a, strings.Replace(a, "type:str", "type:comment", 1), "data.a decrypts to a comment"},
		{"a key that stands twice", a, a + a, "data.a stands there twice"},
		{"an alias", "immutable: true", "immutable: &x true\nother: *x", "other is an alias"},
		{"a second document", "kind: Secret", "kind: Secret\n---\nx: y", "another document behind it"},
		{"the readable name", "name: login", "name: logon", "its code"},
		{"a readable boolean", "immutable: true", "immutable: false", "its code"},
		{"a new label", "namespace: shop", "namespace: shop\n  zone: a", "its code"},
		{"the time", "1970", "1971", "its code"},
		{"no time", "1970-01-01T00:00:00Z", "soon", "sops.lastmodified"},
		{"the code", "mac: ENC[AES256_GCM,data:", "mac: ENC[AES256_GCM,data:AAAA", "its code"},
		{"no code", "  mac: ", "  not: ", "its code"},
		{"what is encrypted", "^(data|stringData)$", "^(stringData)$", "data.a: it is ciphertext, and by the document's own rule it is not encrypted"},
		{"two rules", "  encrypted_regex:", "  encrypted_suffix: a\n  encrypted_regex:", "more than one rule"},
		{"no expression", "^(data|stringData)$", "^(data", "regular expression"},
		{"key groups", "  encrypted_regex:", "  key_groups: [{}]\n  encrypted_regex:", "divided among key groups"},
		{"the age file", "-----BEGIN AGE ENCRYPTED FILE-----\n      Y", "-----BEGIN AGE ENCRYPTED FILE-----\n      Z", "is damaged"},
		{"no SOPS", "\nsops:", "\nsups:", "it is no SOPS document"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed := strings.Replace(document, tt.old, tt.new, 1)
			if changed == document {
				t.Fatalf("%q is not in\n%s", tt.old, document)
			}
			got, err := identities(t, anna).Document([]byte(changed))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "ENC[") {
				t.Errorf("error %v, want %q; content %v", err, tt.want, got)
			}
		})
	}
}

// line returns the one line that begins so.
func line(t *testing.T, document, start string) string {
	t.Helper()
	for l := range strings.Lines(document) {
		if strings.HasPrefix(l, start) {
			return l
		}
	}
	t.Fatalf("no line begins with %q in\n%s", start, document)
	return ""
}

func TestWhoseIdentitiesFit(t *testing.T) {
	document := []byte(sealed(t, secret(map[string]any{"data": map[string]any{"a": canary}}), toAnna+","+toBruno))
	for _, tt := range []struct {
		name string
		keys unseal.Identities
		want string
	}{
		{"the first recipient's", identities(t, anna), ""},
		{"the second recipient's", identities(t, bruno), ""},
		{"one of several", identities(t, "# a comment", cora, "", bruno+"  "), ""},
		{"somebody else's", identities(t, cora), "no identity fits of the 1 that are given; its recipients: " + toAnna + ", " + toBruno},
		{"none", unseal.Identities{}, "no identity fits, for none is given; its recipients: " + toAnna},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.keys.Document(document)
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || got != nil):
				t.Errorf("error %v, want %q; content %v", err, tt.want, got)
			}
		})
	}
}

// What holds the data key for one recipient may be damaged: another recipient's identity does.
func TestWhatIsDamagedForAnother(t *testing.T) {
	document := sealed(t, secret(map[string]any{"data": map[string]any{"a": canary}}), toAnna+","+toBruno)
	damaged := []byte(strings.Replace(document, "BEGIN AGE ENCRYPTED FILE", "BEGIN NOTHING", 1))
	if _, err := identities(t, bruno).Document(damaged); err != nil {
		t.Errorf("the second recipient's identity: %v", err)
	}
	if _, err := identities(t, anna).Document(damaged); err == nil || !strings.Contains(err.Error(), "what holds its data key is damaged") {
		t.Errorf("the first recipient's identity: %v", err)
	}
}

func TestNoIdentityIsShown(t *testing.T) {
	for _, text := range []string{anna[:40], "age1" + anna, strings.ToLower(anna) + "x", anna + "\n" + bruno[:50], toAnna} {
		if _, err := unseal.ParseIdentities([]byte(text)); err == nil || !strings.Contains(err.Error(), "line ") || strings.Contains(err.Error(), text[24:34]) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := unseal.ParseIdentities([]byte("# none\n")); err == nil || !strings.Contains(err.Error(), "holds no identity") {
		t.Error(err)
	}
	if _, err := unseal.ParseIdentities([]byte(anna + "\n# " + strings.Repeat("x", 1<<16) + "\n" + bruno)); err == nil {
		t.Error("identities behind a line that is too long are left out without a word")
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if got := fmt.Sprintf(format, identities(t, anna)); got != "unseal.Identities" {
			t.Errorf("%s: %s", format, got)
		}
	}
}
