package object

import (
	"fmt"
	"strings"
	"testing"
)

// metadata is what SOPS adds to a document.
const metadata = "sops: {mac: 'ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]', lastmodified: '2026-11-21T00:00:00Z', version: 3.9.0}\n"

func secret(rest string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: a}\n" + rest
}

// applied is an encrypted document with the annotation that repeats it.
func applied(kind string) string {
	return "apiVersion: v1\nkind: " + kind + "\nmetadata:\n  name: s\n  annotations:\n    " + LastApplied + ": '{\"data\":{\"p\":\"CANARY\"}}'\ndata: {p: 'ENC[x]'}\n" + metadata
}

func TestOnlyWhatSOPSEncryptedIsSealed(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		sealed   bool
	}{
		{"nothing", secret("stringData: {p: x}\n"), false},
		{"an empty mapping", secret("stringData: {p: x}\nsops: {}\n"), false},
		{"a version alone", secret("stringData: {p: x}\nsops: {version: 3.9.0}\n"), false},
		{"a checksum that is not encrypted", secret("stringData: {p: x}\nsops: {mac: x, version: 3.9.0}\n"), false},
		{"a checksum alone", secret("stringData: {p: 'ENC[x]'}\nsops: {mac: 'ENC[x]'}\n"), false},
		{"no mapping", secret("stringData: {p: x}\nsops: x\n"), false},
		{"an encrypted Secret", secret("stringData: {p: 'ENC[x]'}\n" + metadata), true},
		{"values that are empty, which SOPS leaves so", secret("stringData: {p: 'ENC[x]', q: '', r: null}\ndata:\n" + metadata), true},
		{"values that are encrypted as a whole", secret("data: 'ENC[x]'\n" + metadata), true},
		{"a version and no time", secret("data: {p: 'ENC[x]'}\nsops: {mac: 'ENC[x]', version: 3.9.0}\n"), true},
		{"another kind with plain values", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}\ndata: {p: x, q: 'ENC[x]'}\n" + metadata, true},
		{"an annotation that is encrypted as well", strings.Replace(applied("Secret"), `'{"data":{"p":"CANARY"}}'`, "'ENC[x]'", 1), true},
		{"a Secret of another group", "apiVersion: x.io/v1\nkind: Secret\nmetadata: {name: s}\ndata: {p: x}\n" + metadata, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decode("a.yaml", []byte(tt.in))
			if len(d.Objects) != 1 || len(d.Diags) > 0 {
				t.Fatal(d.Diags)
			}
			if _, sealed := d.Objects[0].Sealed(); sealed != tt.sealed {
				t.Errorf("sealed %t, want %t", sealed, tt.sealed)
			}
		})
	}
}

func TestWhatSOPSEncryptedInPartIsRefused(t *testing.T) {
	for _, tt := range []struct{ name, file, in, want string }{
		{"a plain value", "a.yaml", secret("stringData:\n  p: 'ENC[x]'\n  q: CANARY\n" + metadata), "a.yaml:6: error: Secret/a/s is encrypted by SOPS, but for stringData.q, which"},
		{"a plain value in base64", "a.yaml", secret("data: {q: Q0FOQVJZ}\n" + metadata), "a.yaml:4: error: Secret/a/s is encrypted by SOPS, but for data.q, which"},
		{"a number", "a.yaml", secret("stringData: {q: 5}\n" + metadata), "but for stringData.q, which"},
		{"no mapping", "a.yaml", secret("data: CANARY\n" + metadata), "but for data, which"},
		{"what kubectl repeats", "a.yaml", applied("Secret"), "a.yaml:6: error: Secret/s is encrypted by SOPS, but for metadata.annotations.kubectl.kubernetes.io/last-applied-configuration, which"},
		{"what kubectl repeats of another kind", "a.yaml", applied("ConfigMap"), "ConfigMap/s is encrypted by SOPS, but for metadata.annotations.kubectl"},
		{"JSON", "a.json", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"p":"CANARY"},"sops":{"mac":"ENC[x]","version":"3"}}`, "but for data.p, which"},
		{"a list", "a.yaml", "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {p: 'ENC[x]'}}]\n" + metadata, "a list that SOPS encrypted"},
		{"a list of one line", "a.json", `{"apiVersion":"v1","kind":"SecretList","items":[{"metadata":{"name":"s"}}],"sops":{"mac":"ENC[x]","version":"3"}}`, "a list that SOPS encrypted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decode(tt.file, []byte(tt.in))
			if !d.Broken || len(d.Objects) > 0 || len(d.Diags) != 1 || !strings.Contains(d.Diags[0].String(), tt.want) || strings.Contains(fmt.Sprint(d.Diags), "CANARY") {
				t.Errorf("want %q, got %v %v", tt.want, d.Diags, d.Objects)
			}
		})
	}
}

func TestAPublishedSecretHasItsName(t *testing.T) {
	r, err := RefOf("a.yaml", []byte(secret("stringData: {q: x}\n"+metadata)))
	if err != nil || r.Name != "s" {
		t.Error(r, err)
	}
}

// What is wrong with a document is said without its values: it may be a Secret, even if
// it is no YAML.
func TestNoDiagnosticShowsAValue(t *testing.T) {
	for _, v := range []string{
		"*CANARY", "*CANARY'x", "&CANARY [*CANARY]", "!CANARY x", "!!CANARY x", "%CANARY", "@CANARY", "`CANARY", "{CANARY", "[CANARY",
		`"CANARY`, "'CANARY", "&CANARY {a", "|CANARY", "!!binary CANARY?", "!!int CANARY", "!!float CANARY", "!!timestamp CANARY",
		"!!bool CANARY", "!!null CANARY", "!!map CANARY", "!!merge CANARY", "&CANARY *CANARY", "? CANARY", "a: CANARY", "- CANARY",
		`"\CANARY"`, "{CANARY: 1, CANARY: 2}", "x\n  CANARY: 1\n  CANARY: 2", "{<<: CANARY}", "{{CANARY: 1}: 2}", "&x {a: *x, CANARY: 1}",
	} {
		for _, in := range []string{
			secret("stringData:\n  p: " + v + "\n"),
			"apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {name: s}\n  data:\n    p: " + strings.ReplaceAll(v, "\n", "\n  ") + "\n",
		} {
			for _, d := range append(Decode("a.yaml", []byte(in)).Diags, Scan("a.yaml", []byte(in))...) {
				if strings.Contains(d.String(), "CANARY") {
					t.Errorf("%s\n%s", in, d)
				}
			}
		}
	}
	for _, name := range []string{"{CANARY: 1}", "[CANARY]"} {
		if d := Decode("a.yaml", []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: "+name+"}\n")); !d.Broken || strings.Contains(fmt.Sprint(d.Diags), "CANARY") {
			t.Error(d.Diags)
		}
	}
	for _, in := range []string{`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"p":8675309e999}}`, `{"data": 8675309x}`, `{"data": "8675309}`} {
		d := Decode("a.json", []byte(in))
		if !d.Broken || strings.Contains(fmt.Sprint(d.Diags), "8675309") {
			t.Error(d.Diags)
		}
	}
}
