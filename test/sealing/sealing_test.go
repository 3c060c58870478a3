package sealing

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal"
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
		"apiVersion": "v1",
		"kind":       "Secret",
		"metadata":   map[string]any{"name": "login", "namespace": "shop"},
		"type":       "Opaque",
	}
	maps.Copy(content, fields)
	return content
}

// sealed returns the document for both recipients.
func sealed(t *testing.T, content map[string]any) string {
	t.Helper()
	to, err := seal.ParseRecipients(toAnna + "," + toBruno)
	if err != nil {
		t.Fatal(err)
	}
	key := seal.Master(object.Ref{Kind: "Secret", Namespace: "shop", Name: "login"}, object.Encode(content))
	document, err := key.Seal(content, to)
	if err != nil {
		t.Fatal(err)
	}
	return string(document)
}

// read returns the one object of a file.
func read(t *testing.T, file, text string) map[string]any {
	t.Helper()
	o, problems := object.Single(file, []byte(text))
	if o == nil || len(problems) > 0 {
		t.Fatalf("%v\n%s", problems, text)
	}
	return o.Content()
}

func TestSopsDecryptsForEachRecipient(t *testing.T) {
	t.Parallel()
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
		{"values are null and empty", map[string]any{"data": map[string]any{"a": nil, "b": "", "c": "Yg=="}}},
		{"base64 of binary data", map[string]any{"data": map[string]any{"a": "AP/+gAECAw=="}}},
		{"unicode", map[string]any{"stringData": map[string]any{"grüße": "日本語 🚢 \u0085"}}},
		{"several lines", map[string]any{"stringData": map[string]any{"a.yaml": "a: 1\n# no comment\n\n  b: |\n"}}},
		{"keys with dots and colons", map[string]any{"data": map[string]any{".dockerconfigjson": "e30=", "a:b": "x", "a": "y"}}},
		{"data and stringData", map[string]any{"data": map[string]any{"a": "YQ=="}, "stringData": map[string]any{"a": "a"}}},
		{"many keys", map[string]any{"data": many}},
		{"values that are no strings", map[string]any{"stringData": map[string]any{
			"b": true, "f": false, "i": int64(-7), "j": 2.5, "k": 1e20, "l": []any{"x", int64(1), nil, map[string]any{"y": "z"}},
		}}},
		{"readable values of every kind", map[string]any{"immutable": true, "metadata": map[string]any{
			"name": "login", "namespace": "shop", "finalizers": []any{"a", "b"},
			"annotations": map[string]any{
				"data": "hidden too", "a": "2020-01-01", "b": "yes", "c": "0x1f", "d": "1e3", "e": "~", "f": "# x",
				"g": "a\n# b\n", "h": "1:30:00", "i": "=", "j": "<<", "<<": "k", "12": "", "l": " x ", "m": "a: b #c", "n": "2020-01-01T00:00:00Z",
			},
		}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := secret(tt.fields)
			document := sealed(t, want)
			for _, identity := range []string{anna, bruno} {
				// As JSON, for sops writes the string << as a merge key of YAML.
				text, err := decrypt(t, document, identity, "--output-type", "json")
				if err != nil {
					t.Fatalf("%v\n%s", err, document)
				}
				if diff := cmp.Diff(want, read(t, "secret.json", text)); diff != "" {
					t.Errorf("(-sealed +decrypted):\n%s", diff)
				}
			}
		})
	}
}

// TestFluxDecrypts does as Flux's kustomize-controller: it builds with Kustomize, gives
// SOPS the object as JSON, and does not look at the code.
func TestFluxDecrypts(t *testing.T) {
	t.Parallel()
	want := secret(map[string]any{"data": map[string]any{"a": "YQ==", "b": ""}, "stringData": map[string]any{"c.d": "e\nf\n", "g": "ü"}})
	asJSON, err := json.Marshal(read(t, "secret.yaml", sealed(t, want)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := decrypt(t, string(asJSON), anna, "--ignore-mac", "--input-type", "json", "--output-type", "json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read(t, "secret.json", text)); diff != "" {
		t.Errorf("(-sealed +decrypted):\n%s", diff)
	}
}

func TestSopsDecryptsForNobodyElse(t *testing.T) {
	t.Parallel()
	document := sealed(t, secret(map[string]any{"data": map[string]any{"a": "YQ=="}}))
	if text, err := decrypt(t, document, cora); err == nil || !strings.Contains(err.Error(), "no master key was able") {
		t.Errorf("error %v; decrypted\n%s", err, text)
	}
}

func TestSopsSeesWhatWasChanged(t *testing.T) {
	t.Parallel()
	document := sealed(t, secret(map[string]any{"data": map[string]any{"a": "YQ=="}, "immutable": true}))
	tests := []struct{ name, old, new, want string }{
		{"a value", "a: ENC[AES256_GCM,data:", "a: ENC[AES256_GCM,data:AAAA", "authentication failed"},
		{"the key of a value", "  a: ENC", "  b: ENC", "authentication failed"},
		{"the readable name", "name: login", "name: logon", "MAC mismatch"},
		{"a readable boolean", "immutable: true", "immutable: false", "MAC mismatch"},
		{"a new label", "namespace: shop", "namespace: shop\n  zone: a", "MAC mismatch"},
		{"the time", "1970", "1971", "MAC"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			changed := strings.Replace(document, tt.old, tt.new, 1)
			if changed == document {
				t.Fatalf("%q is not in\n%s", tt.old, document)
			}
			if text, err := decrypt(t, changed, anna); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q; decrypted\n%s", err, tt.want, text)
			}
		})
	}
}
