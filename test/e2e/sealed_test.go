//go:build e2e

package e2e

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Identities that were made for this test, and the recipient of the first.
const (
	anna   = "AGE-SECRET-KEY-1Z6AX7297RMEN49XNLH5M2NVDXC2VF8CFW4TV9TVE686LZFRQUUQQSJJMSZ"
	cora   = "AGE-SECRET-KEY-166UVXL3323VAYJUHLPJ2EYL6DUT6AFPFAYDEA4CM7WAKMJHR9WVQLY6LF5"
	toAnna = "age1jgxhllsn8xkwypdyn5p7m6xye9dnxawg70mr5sh9j37tz24v853qktm3gm"
)

// sealed Secrets are decrypted with an identity that fits, and nothing is done without one.
func (m *members) sealed(t *testing.T) {
	s := m.one(t)
	s.write("clusters/eu-1.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu-1, annotations: {waybill.dev/age-recipients: "+toAnna+"}}\nspec: {syncMode: Push}\n")
	secret := func(value string) {
		s.write("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: sealed}\nstringData: {password: "+value+"}\n")
		s.publish()
	}
	s.namespace("sealed", "one", 1)
	secret("CANARY-1")
	keys := map[string]string{}
	for name, identity := range map[string]string{"fits": anna, "other": cora} {
		keys[name] = "--age-identity-file=" + filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(strings.TrimPrefix(keys[name], "--age-identity-file="), []byte("# "+name+"\n"+identity+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said := ""
	holds := func(step, want string) {
		t.Helper()
		got := ""
		if o := s.get("eu-1", at("Secret", "sealed", "login")); o != nil {
			data, err := base64.StdEncoding.DecodeString(text(o, "data", "password"))
			if got = string(data); err != nil {
				t.Error(err)
			}
		}
		if got != want {
			t.Errorf("%s: the Secret holds %q, want %q", step, got, want)
		}
	}
	said += s.apply(1)
	holds("no identity", "")
	said += s.apply(1, keys["other"])
	holds("another identity", "")
	said += s.apply(0, keys["fits"], "--dry-run", "-o", "json")
	holds("a dry run", "")
	said += s.apply(0, keys["fits"])
	holds("the identity", "CANARY-1")
	if d := s.applied(0, "eu-1", keys["fits"]); len(d.Actions) != 0 {
		t.Errorf("nothing changed, and it did %v", d.verbs())
	}
	secret("CANARY-2")
	said += s.apply(1)
	holds("no identity any more", "CANARY-1")
	said += s.apply(0, keys["fits"], "-o", "json")
	holds("the identity again", "CANARY-2")

	// the same from a Secret, which is read when it is needed
	v := newVault(t, m.apis[1], "sops")
	secret("CANARY-3")
	said += s.apply(1, v.flags()...)
	holds("no Secret with identities", "CANARY-2")
	v.put("sops-age", "identity.agekey", "AGE-SECRET-KEY-1CANARY")
	said += s.apply(2, v.flags()...)
	if !strings.Contains(said, "reading the Secret sops/sops-age: identity.agekey: line 1 is no identity of age") {
		t.Errorf("it said:\n%s", said)
	}
	v.put("sops-age", "cora.agekey", cora, "anna.agekey", "# anna\n"+anna+"\n", "README", "nothing", "identity.agekey", cora)
	said += s.apply(0, append(v.flags(), "--sops-secret=sops-age")...)
	holds("the Secret", "CANARY-3")
	if !strings.Contains(said, "--age-identity-file names a file with identities") || strings.Contains(said, "CANARY") || strings.Contains(said, "ENC[") {
		t.Errorf("it said:\n%s", said)
	}
	_, inventory := s.apis["eu-1"].do(http.MethodGet, "/api/v1/namespaces/waybill-system/secrets", "", nil)
	if strings.Contains(string(inventory), "CANARY") || strings.Contains(string(inventory), base64.StdEncoding.EncodeToString([]byte("CANARY-2"))) {
		t.Error("the inventory has the value")
	}
}
