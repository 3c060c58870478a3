package sealing

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/seal/unseal"
)

// manifest has every type that sops knows, and comments wherever YAML has them.
const manifest = `# about the document
apiVersion: v1 # its version
kind: ConfigMap
# about metadata
metadata:
  # about the name
  name: login
  namespace: shop
  annotations: {flow: "yes", date: 2020-01-01}
  # below metadata
data: # behind data
  # secret: what follows
  a: one # behind a
  b: |
    several
    # no comment
    lines
  c_unencrypted: stays
  # about d
  d: 12
  e: 2.50
  f: true
  g: null
  h: ""
  i: 2020-01-01T00:00:00Z
  j: "12"
  k: 1e3
  l: !!binary aGVsbG8=
  # secret list
  list:
  # before the first
  - one
  # before the second

  # and once more
  - two # behind the second
  - {x: y, z: [1, 2.5, null, "", ~]}
  - - nested # behind it
    # below it
  # below the list
  empty: {}
  none: []
  ü: 日本語 🚢
other:
  # not a word
  plain: [a, b] # secret behind
  deep: {data: {x: y}}
# at the end
`

// TestWhatSopsEncryptedDecrypts holds what is decrypted against what sops decrypts.
func TestWhatSopsEncryptedDecrypts(t *testing.T) {
	t.Parallel()
	asJSON := func(t *testing.T) string {
		t.Helper()
		whole, err := encrypt(t, manifest, toAnna, "")
		if err != nil {
			t.Fatal(err)
		}
		if whole, err = decrypt(t, whole, anna, "--output-type", "json"); err != nil {
			t.Fatal(err)
		}
		return whole
	}
	for _, tt := range []struct {
		name, rule string
		flags      []string
	}{
		{"all that has not the default suffix", "", nil},
		{"an encrypted regex", "encrypted_regex: '^(data|stringData)$'", nil},
		{"an unencrypted regex", "unencrypted_regex: '^(apiVersion|kind|metadata)$'", nil},
		{"an encrypted suffix", "encrypted_suffix: ata", nil},
		{"an unencrypted suffix", "unencrypted_suffix: data", nil},
		{"encrypted by comments", "encrypted_comment_regex: '^ (secret|not a)'", nil},
		{"unencrypted by comments", "unencrypted_comment_regex: '^ (about|behind)'", nil},
		{"a code of what is encrypted", "encrypted_regex: '^data$', mac_only_encrypted: true", nil},
		{"JSON", "encrypted_regex: '^data$'", []string{"--input-type", "json", "--output-type", "json"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			plain := manifest
			if tt.flags != nil {
				plain = asJSON(t)
			}
			document, err := encrypt(t, plain, toAnna+","+toBruno, tt.rule, tt.flags...)
			if err != nil {
				t.Fatal(err)
			}
			keys, err := unseal.ParseIdentities([]byte("# two\n" + cora + "\n" + bruno + "\n"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := keys.Document([]byte(document))
			if err != nil {
				t.Fatalf("%v\n%s", err, document)
			}
			text, err := decrypt(t, document, bruno, append(tt.flags[:len(tt.flags)/2:len(tt.flags)/2], "--output-type", "yaml")...)
			if err != nil {
				t.Fatal(err)
			}
			want := read(t, "secret.yaml", text)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-sops +waybill):\n%s\n%s", diff, document)
			}
		})
	}
}

// TestDocumentsOfOneFileAreRefused has sops encrypt two documents as one file, whose code is
// that of both.
func TestDocumentsOfOneFileAreRefused(t *testing.T) {
	t.Parallel()
	document, err := encrypt(t, manifest+"---\n"+manifest, toAnna, "")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := unseal.ParseIdentities([]byte(anna))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(document, "\n---\n")
	if _, err := keys.Document([]byte(first)); err == nil || !strings.Contains(err.Error(), "in a file of its own") {
		t.Errorf("error %v", err)
	}
}
