package unseal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/object"
)

// TestWhatSopsWroteDecrypts reads one manifest that sops 3.13.3 encrypted to Anna by each rule that it knows, with every type and with
// comments wherever YAML has them. What it says is in plain.yaml, as sops decrypted it.
func TestWhatSopsWroteDecrypts(t *testing.T) {
	o, problems := object.Single("plain.yaml", read(t, "plain.yaml"))
	if o == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	documents, err := filepath.Glob("testdata/sops/*.yaml")
	if err != nil || len(documents) != 8 {
		t.Fatalf("%q, %v", documents, err)
	}
	keys := identities(t, cora, anna)
	for _, document := range documents {
		name := filepath.Base(document)
		t.Run(name, func(t *testing.T) {
			got, err := keys.Document(read(t, filepath.Join("sops", name)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(o.Content(), got); diff != "" {
				t.Errorf("(-sops +waybill):\n%s", diff)
			}
		})
	}
}

// TestWhatSopsWroteAndSomebodyChanged changes what no value of the document shows: comments and rules count, and readable values do
// where the code is of all.
func TestWhatSopsWroteAndSomebodyChanged(t *testing.T) {
	for _, tt := range []struct{ document, name, old, new, want string }{
		{"mac-only-encrypted", "a readable value, which the code does not cover", "name: login", "name: logon", ""},
		{"mac-only-encrypted", "that the code covers little", "    mac_only_encrypted: true\n", "", "its code"},
		{"encrypted-regex", "that the code covers all", "    encrypted_regex:", "    mac_only_encrypted: true\n    encrypted_regex:", "its code"},
		{"encrypted-regex", "a readable time", "date: 2020-01-01", "date: 2021-01-01", "its code"},
		{"encrypted-regex", "a comment", "# about the name", "# of the name", ""},
		{"encrypted-comment", "the comment before a value", "    # secret: what follows\n", "", "data.a: it is ciphertext, and by the document's own rule it is not encrypted"},
		{"encrypted-comment", "the comment before a list", "    # secret list\n", "", "data.list: it is ciphertext"},
		{"encrypted-comment", "a comment before a readable value", "# about d", "# secret d", "data.d: it is to be encrypted, and is not"},
		{"encrypted-comment", "a comment behind a readable value", "f: true", "f: true # secret", "data.f: it is to be encrypted, and is not"},
		{"unencrypted-suffix", "a suffix", "unencrypted_suffix: data", "unencrypted_suffix: other", "metadata.name: it is to be encrypted, and is not"},
		{"encrypted-suffix", "a suffix", "encrypted_suffix: ata", "encrypted_suffix: eta", "metadata.name: it is ciphertext"},
		{"encrypted-regex", "the key of a value", "    d: ENC", "    5: ENC", "data has a key that is no string"},
		{"encrypted-regex", "the key of a value of the document", "\nkind: ", "\n5: ", "the document has a key that is no string"},
		{"encrypted-regex", "a key that is a list", "\nkind: ", "\n[kind]: ", "the document has a key that is no string"},
		{"encrypted-regex", "the type of a number", "type:float", "type:int", `data.e: it decrypts to what its type ("int") has not`},
		{"encrypted-regex", "the type of a text", "type:str", "type:float", `data.a: it decrypts to what its type ("float") has not`},
		{"encrypted-regex", "the type of a text to a time", "type:str", "type:time", `data.a: it decrypts to what its type ("time") has not`},
		{"encrypted-regex", "the type of a text to a boolean", "type:str", "type:bool", `data.a: it decrypts to what its type ("bool") has not`},
		{"encrypted-regex", "the tag of a value, cut", "==,type:str", "=,type:str", "data.a: it is no ciphertext"},
		{"encrypted-regex", "the tag of a value, short", tagOf(t, "encrypted-regex"), "tag:AAAA", "data.a: it is no ciphertext"},
		{"encrypted-regex", "no recipient of age", "    age:\n", "    pgp:\n", "it has no age recipient"},
		{"encrypted-regex", "what sops says, twice", "\nsops:\n", "\nsops: {}\nsops:\n", "stands there twice"},
		{"encrypted-regex", "what sops says is a list", "    age:\n", "    key_groups: x\n    age:\n", "(sops) cannot be read"},
		{"encrypted-regex", "a list in place of the document", "# about the document\napiVersion: v1", "- a\n---\napiVersion: v1", "it cannot be read as a document of YAML"},
	} {
		t.Run(tt.document+": "+tt.name, func(t *testing.T) {
			document := string(read(t, "sops/"+tt.document+".yaml"))
			changed := strings.Replace(document, tt.old, tt.new, 1)
			if changed == document {
				t.Fatalf("%q is not in\n%s", tt.old, document)
			}
			_, err := identities(t, anna).Document([]byte(changed))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestACommentCountsForWhatFollows: sops encrypted what stands behind a comment that begins with the word secret, wherever it stands.
func TestACommentCountsForWhatFollows(t *testing.T) {
	got, err := identities(t, anna).Document(read(t, "places.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "login"}, "data": map[string]any{"a": "one"},
		"b": map[string]any{"c": "d"}, "e": "one", "f": "two", "g": []any{"one", "two", "three"}, "h": []any{"one", "two"},
		"i": []any{map[string]any{"x": "y", "z": "z"}, "y"}, "j": map[string]any{"k": "one"}, "l": "two", "m": []any{"one"},
		"n": map[string]any{"o": "p"}, "q": "two",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-sops +waybill):\n%s", diff)
	}
}

// TestWhatNoManifestCanHold: sops encrypts it all the same.
func TestWhatNoManifestCanHold(t *testing.T) {
	for document, want := range map[string]string{
		"bytes.yaml":    "data.a: it decrypts to bytes that are no text; encrypt them as base64, in data",
		"infinity.yaml": `data.a: it decrypts to what its type ("float") has not`,
		"nan.yaml":      `data.a: it decrypts to what its type ("float") has not`,
	} {
		if _, err := identities(t, anna).Document(read(t, document)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", document, err, want)
		}
	}
}

// TestADataKeyHasItsSize: a file that opens and holds another number of bytes holds none.
func TestADataKeyHasItsSize(t *testing.T) {
	to, err := age.ParseX25519Recipient(toAnna)
	if err != nil {
		t.Fatal(err)
	}
	document := string(read(t, "sops/encrypted-regex.yaml"))
	_, file, _ := strings.Cut(document, "enc: |\n")
	file, _, _ = strings.Cut(file, "          recipient:")
	for _, size := range []int{0, 16, 31, 33, 64} {
		var text strings.Builder
		armored := armor.NewWriter(&text)
		w, err := age.Encrypt(armored, to)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Write(make([]byte, size))
		if err := errors.Join(err, w.Close(), armored.Close()); err != nil {
			t.Fatal(err)
		}
		other := "            " + strings.ReplaceAll(strings.TrimSpace(text.String()), "\n", "\n            ") + "\n"
		_, err = identities(t, anna).Document([]byte(strings.Replace(document, file, other, 1)))
		if err == nil || !strings.Contains(err.Error(), "what holds its data key is damaged") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestWhatIsNoDocument is refused without a word of it.
func TestWhatIsNoDocument(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "cannot be read as a document",
		"a: [" + canary:          "cannot be read as a document",
		canary:                   "cannot be read as a document",
		"5: a\nsops:\n":          "(sops.lastmodified) is none",
		"sops: [" + canary + "]": "(sops) cannot be read",
	} {
		if _, err := identities(t, anna).Document([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// read returns a file of testdata.
func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// tagOf returns how a document authenticates its value data.a.
func tagOf(t *testing.T, document string) string {
	t.Helper()
	_, after, _ := strings.Cut(string(read(t, "sops/"+document+".yaml")), "\n    a: ")
	_, after, _ = strings.Cut(after, ",tag:")
	tag, _, _ := strings.Cut(after, ",")
	return "tag:" + tag
}
