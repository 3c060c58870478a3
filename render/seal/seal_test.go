package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/object"
)

// Identities that were made for these tests, and their recipients.
const (
	anna  = "AGE-SECRET-KEY-1Z6AX7297RMEN49XNLH5M2NVDXC2VF8CFW4TV9TVE686LZFRQUUQQSJJMSZ"
	bruno = "AGE-SECRET-KEY-1KR3XH8EGEGQJ9H4VZMNX53L9CCH8T6QP9F9YJLYGS4A6T9HULVLQ2AFVMT"
	cora  = "AGE-SECRET-KEY-166UVXL3323VAYJUHLPJ2EYL6DUT6AFPFAYDEA4CM7WAKMJHR9WVQLY6LF5"

	toAnna  = "age1jgxhllsn8xkwypdyn5p7m6xye9dnxawg70mr5sh9j37tz24v853qktm3gm"
	toBruno = "age1lczalcezytddp9aqg8mztxg4wlvyug39e3ea6kufkm820ey49fpq8whs5x"
	toCora  = "age1ngu4dr286j93tefaypav3cgt2r0dt7qhu3kqqvj7tp58cgfp8c2qs306kx"
)

func secretRef(name string) object.Ref {
	return object.Ref{Kind: "Secret", Namespace: "shop", Name: name}
}

// secret is a manifest with the given fields.
func secret(fields map[string]any) map[string]any {
	content := map[string]any{
		"apiVersion": "v1",
		"kind":       "Secret",
		"metadata":   map[string]any{"name": "login", "namespace": "shop"},
		"type":       "Opaque",
	}
	maps.Copy(content, fields)
	return content
}

func recipients(tb testing.TB, text string) Recipients {
	tb.Helper()
	r, err := ParseRecipients(text)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// cheap is the key of a document without what makes it dear.
func cheap(content map[string]any) Key {
	sum := sha256.Sum256(object.Encode(content))
	return Key{master: sum, of: sum}
}

func sealed(tb testing.TB, content map[string]any, to string) []byte {
	tb.Helper()
	out, err := cheap(content).Seal(content, recipients(tb, to))
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestEachRecipientOpensWhatWasSealed(t *testing.T) {
	many := map[string]any{}
	for i := range 300 {
		many[fmt.Sprintf("key-%d", i)] = strings.Repeat("v", i)
	}
	tests := []struct {
		name   string
		fields map[string]any
	}{
		{"a secret without values", nil},
		{"data is null", map[string]any{"data": nil}},
		{"data is empty", map[string]any{"data": map[string]any{}}},
		{"a value is null", map[string]any{"data": map[string]any{"a": nil, "b": "Yg=="}}},
		{"a value is empty", map[string]any{"data": map[string]any{"a": "", "b": "Yg=="}}},
		{"base64 of binary data", map[string]any{"data": map[string]any{"a": "AP/+gAECAw=="}}},
		{"unicode", map[string]any{"stringData": map[string]any{"grüße": "日本語 🚢 \u0000\u0085"}}},
		{"several lines", map[string]any{"stringData": map[string]any{"a.yaml": "a: 1\n# no comment\n\n  b: |\n"}}},
		{"keys with dots and colons", map[string]any{"data": map[string]any{".dockerconfigjson": "e30=", "a:b": "x", "a": "y"}}},
		{"data and stringData", map[string]any{"data": map[string]any{"a": "YQ=="}, "stringData": map[string]any{"a": "a"}}},
		{"many keys", map[string]any{"data": many}},
		{"values that are no strings", map[string]any{"stringData": map[string]any{
			"b": true, "f": false, "i": int64(-7), "j": 2.5, "k": 1e20, "l": []any{"x", int64(1), nil, map[string]any{"y": "z"}},
		}}},
		{"readable values that are no strings", map[string]any{
			"immutable": true, "metadata": map[string]any{"name": "login", "finalizers": []any{"a", int64(3), 1e20, "b"}},
		}},
		{"an annotation with the name of the values", map[string]any{"metadata": map[string]any{
			"name": "login", "annotations": map[string]any{"data": "x", "database": "y"},
		}}},
		{"strings that look like something else", map[string]any{"metadata": map[string]any{
			"name": "login", "annotations": map[string]any{"a": "2020-01-01", "b": "yes", "c": "0x1f", "d": "1e3", "e": "~", "f": "# x"},
		}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := secret(tt.fields)
			before := object.Encode(want)
			document := sealed(t, want, toAnna+" "+toBruno)
			for _, identity := range []string{anna, bruno} {
				got, _, err := open(document, identity)
				if err != nil {
					t.Fatalf("%v\n%s", err, document)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-sealed +opened):\n%s", diff)
				}
			}
			if !bytes.Equal(before, object.Encode(want)) {
				t.Error("Seal has changed what it was given")
			}
		})
	}
}

func TestOnlyTheValuesAreHidden(t *testing.T) {
	document := string(sealed(t, secret(map[string]any{
		"data":       map[string]any{"user": "c2VjcmV0LW9uZQ==", "pass": "c2VjcmV0LXR3bw=="},
		"stringData": map[string]any{"note": "secret-three", "sub": []any{"secret-four"}},
	}), toAnna))
	for _, hidden := range []string{"c2VjcmV0", "secret-three", "secret-four"} {
		if strings.Contains(document, hidden) {
			t.Errorf("%s can be read in\n%s", hidden, document)
		}
	}
	for _, shown := range []string{"name: login\n", "type: Opaque\n", "  user: ENC[", "kind: Secret\n"} {
		if !strings.Contains(document, shown) {
			t.Errorf("%q cannot be read in\n%s", shown, document)
		}
	}
}

func TestAStrangerOpensNothing(t *testing.T) {
	document := sealed(t, secret(map[string]any{"data": map[string]any{"a": "YQ=="}}), toAnna+","+toBruno)
	if _, _, err := open(document, cora); err == nil {
		t.Error("another identity opens it")
	}
	// Nor does one that says that the file of another is its own.
	document = bytes.ReplaceAll(document, []byte(toAnna), []byte(toCora))
	if _, _, err := open(document, cora); err == nil {
		t.Error("another identity opens the file of a recipient")
	}
}

func TestEqualInputsGiveEqualBytes(t *testing.T) {
	content := secret(map[string]any{"data": map[string]any{"a": "YQ==", "b": "Yg=="}})
	canonical := object.Encode(content)
	key := Master(secretRef("login"), canonical)
	seal := func(k Key, to string) []byte {
		out, err := k.Seal(content, recipients(t, to))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	first := seal(key, toAnna+","+toBruno)
	if !bytes.Equal(first, seal(Master(secretRef("login"), canonical), toBruno+"\n "+toAnna+" "+toBruno)) {
		t.Error("a second run gives other bytes")
	}
	others := [][]byte{
		first,
		seal(key, toAnna),
		seal(key, toAnna+","+toCora),
		seal(Master(secretRef("other"), canonical), toAnna+","+toBruno),
		seal(Master(object.Ref{Kind: "Secret", Namespace: "other", Name: "login"}, canonical), toAnna+","+toBruno),
		seal(Master(object.Ref{Group: "example.org", Kind: "Secret", Namespace: "shop", Name: "login"}, canonical), toAnna+","+toBruno),
	}
	for i, a := range others {
		for _, b := range others[:i] {
			for _, field := range []string{"  a: ", "  b: ", "  mac: "} {
				if line(t, a, field) == line(t, b, field) {
					t.Errorf("other inputs give the same %s", field)
				}
			}
		}
	}
}

// line returns the one line that begins so.
func line(t *testing.T, document []byte, start string) string {
	t.Helper()
	for l := range strings.Lines(string(document)) {
		if strings.HasPrefix(l, start) {
			return l
		}
	}
	t.Fatalf("no line begins with %q in\n%s", start, document)
	return ""
}

func TestAChangeOfOneValueChangesEveryCiphertext(t *testing.T) {
	before := sealed(t, secret(map[string]any{"data": map[string]any{"a": "YQ==", "b": "Yg=="}}), toAnna)
	after := sealed(t, secret(map[string]any{"data": map[string]any{"a": "YQ==", "b": "Yw=="}}), toAnna)
	if line(t, before, "  a: ") == line(t, after, "  a: ") {
		t.Error("that a has not changed can be seen")
	}
}

func TestNoVectorIsUsedTwice(t *testing.T) {
	document := sealed(t, secret(map[string]any{
		"data":       map[string]any{"a": "same", "b": "same", "l": []any{"same", "same", map[string]any{"a": "same"}}},
		"stringData": map[string]any{"a": "same"},
	}), toAnna)
	_, vectors, err := open(document, anna)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(vectors)
	if len(vectors) != 7 || len(slices.Compact(vectors)) != 7 {
		t.Errorf("vectors: %q", vectors)
	}
}

// TestTheBytesStayWhatTheyAre fails where documents that were published could not be
// verified any more.
func TestTheBytesStayWhatTheyAre(t *testing.T) {
	content := secret(map[string]any{"data": map[string]any{"a": "YQ=="}, "stringData": map[string]any{"b": int64(1)}})
	key := Master(secretRef("login"), object.Encode(content))
	if got, want := hex.EncodeToString(key.master[:]), "f6fd5504dc4b421477cf94f2ba2ef7f30a2ee16b5f70e082b54ef54623aae1a7"; got != want {
		t.Errorf("master %s, want %s", got, want)
	}
	document, err := key.Seal(content, recipients(t, toAnna+","+toBruno))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(document)
	if got, want := hex.EncodeToString(sum[:]), "c0afa0c1058df51837ff5cfdbb537a1fcdadac723550ad76560d01e0f31dc867"; got != want {
		t.Errorf("digest %s, want %s, of\n%s", got, want, document)
	}
}

func TestSealRefuses(t *testing.T) {
	plain := secret(map[string]any{"data": map[string]any{"a": "YQ=="}})
	encrypted := secret(map[string]any{"sops": nil})
	applied := secret(map[string]any{"metadata": map[string]any{"annotations": map[string]any{object.LastApplied: `{"data":{"a":"YQ=="}}`}}})
	misspelt := secret(map[string]any{"data": map[string]any{"a": "YQ=="}, "stringdata": map[string]any{"b": "b"}})
	noted := secret(map[string]any{"metadata": map[string]any{"name": "login", "note": "b"}})
	anna := recipients(t, toAnna)
	tests := []struct {
		name    string
		content map[string]any
		key     Key
		to      Recipients
		want    string
	}{
		{"nobody to read it", plain, cheap(plain), Recipients{}, "no age recipient"},
		{"the key of another document", plain, cheap(encrypted), anna, "another document"},
		{"no key", plain, Key{}, anna, "another document"},
		{"an encrypted document", encrypted, cheap(encrypted), anna, "encrypted already"},
		{"values that are repeated in an annotation", applied, cheap(applied), anna, "repeats the values"},
		{"a field that no Secret has", misspelt, cheap(misspelt), anna, "it has the field stringdata, which no Secret has, and which would stay readable"},
		{"metadata that no Secret has", noted, cheap(noted), anna, "it has the field metadata.note, which no Secret has"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := tt.key.Seal(tt.content, tt.to)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q; document\n%s", err, tt.want, out)
			}
			if err != nil && strings.Contains(err.Error(), "YQ==") {
				t.Errorf("%v shows a value", err)
			}
		})
	}
}

func TestAKeyPrintsAsNoKey(t *testing.T) {
	k := cheap(secret(nil))
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		if got := fmt.Sprintf(format, k); got != "seal.Key" {
			t.Errorf("%s: %s", format, got)
		}
	}
}

func TestWhatIsChangedDoesNotOpen(t *testing.T) {
	document := string(sealed(t, secret(map[string]any{"data": map[string]any{"a": "YQ==", "b": "YQ=="}, "immutable": true}), toAnna))
	if _, _, err := open([]byte(document), anna); err != nil {
		t.Fatal(err)
	}
	a, b := line(t, []byte(document), "  a: "), line(t, []byte(document), "  b: ")
	changes := []struct{ name, old, new string }{
		{"a value", "a: ENC[AES256_GCM,data:", "a: ENC[AES256_GCM,data:AA"},
		{"the readable name", "name: login", "name: logon"},
		{"a readable boolean", "immutable: true", "immutable: false"},
		{"a new label", "namespace: shop", "namespace: shop\n  zone: a"},
		{"values that changed places", a + b, "  a: " + b[len("  b: "):] + "  b: " + a[len("  a: "):]},
		{"a value that is gone", a, ""},
		{"the time", "1970", "1971"},
	}
	for _, tt := range changes {
		t.Run(tt.name, func(t *testing.T) {
			changed := strings.Replace(document, tt.old, tt.new, 1)
			if changed == document {
				t.Fatalf("%q is not in\n%s", tt.old, document)
			}
			if got, _, err := open([]byte(changed), anna); err == nil {
				t.Errorf("it opens: %v", got)
			}
		})
	}
}

func FuzzOpenUndoesSeal(f *testing.F) {
	f.Add("user", "c2VjcmV0", "pass", "one\ntwo\n", "2020-01-01")
	f.Add("", "", "a:b", "ENC[AES256_GCM,data:,iv:,tag:,type:str]", "null")
	f.Add("data", "x", "sops", "\u2028", "0")
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2, note string) {
		for _, s := range []*string{&k1, &v1, &k2, &v2, &note} {
			*s = strings.ToValidUTF8(*s, "�") // as object.Decode has it
		}
		want := secret(map[string]any{
			"data": map[string]any{k1: v1, k2: v2}, "stringData": map[string]any{k2: v1},
			"metadata": map[string]any{"name": "login", "annotations": map[string]any{"note": note, k1: note}},
		})
		if _, refused := want["metadata"].(map[string]any)["annotations"].(map[string]any)[object.LastApplied]; refused {
			return
		}
		document := sealed(t, want, toAnna+","+toBruno)
		for _, identity := range []string{anna, bruno} {
			got, _, err := open(document, identity)
			if err != nil {
				t.Fatalf("%v\n%s", err, document)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-sealed +opened):\n%s", diff)
			}
		}
	})
}

func BenchmarkMaster(b *testing.B) {
	canonical := object.Encode(secret(map[string]any{"data": map[string]any{"a": "YQ=="}}))
	for b.Loop() {
		Master(secretRef("login"), canonical)
	}
}

func BenchmarkSeal(b *testing.B) {
	content := secret(map[string]any{"data": map[string]any{"user": "dXNlcg==", "pass": "cGFzcw==", "cert": strings.Repeat("QUJD", 1000)}})
	key, to := cheap(content), recipients(b, toAnna+","+toBruno)
	for b.Loop() {
		if _, err := key.Seal(content, to); err != nil {
			b.Fatal(err)
		}
	}
}

// TestOneRandomKeyIsForManyDocuments: what it keys has nothing in common, for a vector that serves twice shows what it hides.
func TestOneRandomKeyIsForManyDocuments(t *testing.T) {
	seal := func(value string) []byte {
		content := secret(map[string]any{"stringData": map[string]any{"a": value}})
		out, err := cheap(content).Keyed([]byte("one random key")).Seal(content, recipients(t, toAnna))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	one, other := seal("1234"), seal("1235")
	for _, part := range []string{"iv:", "tag:", "data:"} {
		of := func(document []byte) string {
			_, rest, _ := strings.Cut(line(t, document, "  a: "), part)
			is, _, _ := strings.Cut(rest, ",")
			return is
		}
		if of(one) == of(other) || of(one) == "" {
			t.Errorf("two documents have the same %s%s", part, of(one))
		}
	}
}

// TestAGuessNeedsTheRandomKey plays somebody who reads the branch and guesses the document.
func TestAGuessNeedsTheRandomKey(t *testing.T) {
	content := secret(map[string]any{"stringData": map[string]any{"pin": "1234"}})
	to := recipients(t, toAnna)
	seal := func(random string) []byte {
		out, err := cheap(content).Keyed([]byte(random)).Seal(content, to)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	published := seal("one random key")
	if !bytes.Equal(published, seal("one random key")) {
		t.Error("one key gives two ciphertexts")
	}
	for _, guess := range []string{"", "another random key"} {
		if bytes.Equal(published, seal(guess)) {
			t.Errorf("with the key %q the guess is confirmed", guess)
		}
	}
	if !bytes.Equal(seal(""), sealed(t, content, toAnna)) {
		t.Error("without a random key the bytes are others than before there were any")
	}
	got, _, err := open(published, anna)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(content, got); diff != "" {
		t.Errorf("(-sealed +opened):\n%s", diff)
	}
}
