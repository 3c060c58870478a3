//go:build e2e

package e2e

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	render "github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/seal"
	"github.com/waybill-dev/waybill/test/canaries"
)

// echo refuses a Secret and a ConfigMap of one name, and repeats what it holds, as a careless webhook does.
const echo = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: echo}
spec:
  failurePolicy: Fail
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [secrets, configmaps]}]}
  matchConditions: [{name: asked-for, expression: "object.metadata.name == 'refused'"}]
  validations: [{expression: "false", messageExpression: "'this password is bad: ' + string(object.data.password)"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: echo}
spec: {policyName: echo, validationActions: [Deny]}
`

// TestNothingDecryptedIsTold has a controller decrypt and apply Secrets, of which a server takes one
// and refuses one by repeating it, and looks for what they hold, and for every key that it has, in
// all that it says and writes.
func TestNothingDecryptedIsTold(t *testing.T) {
	t.Parallel()
	p := build(t)
	dir := t.TempDir()
	eu := startAPI(t, p, startEtcd(t, p, dir), filepath.Join(dir, "eu"))
	s := newSite(t, p.waybill, map[string]*api{"eu-1": eu})
	v := newVault(t, eu, "waybill")
	eu.apply(echo)
	signing := filepath.Join(t.TempDir(), "signing")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", signing).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	values := map[string]string{
		"what is applied": "CanaryAppliedOfTheFirst", "what is applied next": "CanaryAppliedOfTheSecond", "what is refused": "CanaryRefusedByTheServer", "what a sops file holds": "CanaryInAConfigMap", "what of it is refused": "CanaryInAConfigMapThatIsRefused",
		"what somebody put there": "CanaryOfSomebodyElse", "the identity": strings.TrimPrefix(anna, "AGE-SECRET-KEY-1"), "the identity of the Secret": strings.TrimPrefix(cora, "AGE-SECRET-KEY-1"),
	}
	for i, line := range private(t, signing) {
		values[fmt.Sprintf("the signing key, %d", i)] = line
	}
	identity := filepath.Join(t.TempDir(), "identity")
	if err := os.WriteFile(identity, []byte(anna+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	v.put("sops-age", "cora.agekey", cora)
	s.write("sealed.yaml", sealedMap(t, "sealed", values["what a sops file holds"]))
	s.write("sealed-refused.yaml", sealedMap(t, "refused", values["what of it is refused"]))
	s.write("clusters/eu-1.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu-1, annotations: {waybill.dev/age-recipients: "+toAnna+"}}\nspec: {syncMode: Push}\n")
	s.namespace("follow", "one", 1)
	sealed := func(name, value string) {
		s.write(name+".yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: "+name+", namespace: follow}\nstringData: {password: "+value+"}\n")
	}
	sealed("taken", values["what is applied"])
	s.commit()

	traced, site := newCollector(t), "127.0.0.1:"+port(t)
	c := s.replica(append(v.flags(), "--kubeconfig-dir", s.kubeconfigs, "--events", "--resync", "1s", "--status", "--otlp-endpoint", traced.URL,
		"--age-identity-file", identity, "--signing-key", signing, "--ui-listen", site, "-v")...)
	holds := func(value string) {
		t.Helper()
		eventually(t, "the cluster has it decrypted", func() (bool, string) {
			o := s.get("eu-1", at("Secret", "follow", "taken"))
			data, _ := base64.StdEncoding.DecodeString(text(o, "data", "password"))
			return string(data) == value, string(data)
		})
	}
	holds(values["what is applied"])
	eventually(t, "what a sops file holds is applied", func() (bool, string) { // in no order with the Secret
		o := s.get("eu-1", at("ConfigMap", "follow", "sealed"))
		return text(o, "data", "password") == values["what a sops file holds"], fmt.Sprint(o)
	})
	sealed("taken", values["what is applied next"])
	sealed("refused", values["what is refused"])
	s.commit()
	holds(values["what is applied next"])
	s.says("one is refused", "status.yaml", "reason: Failing")
	eu.kubectl("-n", "follow", "patch", "secret", "taken", "-p", `{"stringData":{"password":"`+values["what somebody put there"]+`"}}`)
	holds(values["what is applied next"])

	said := map[string]string{
		"metrics": c.get("/metrics"), "Events": v.kubectl("get", "events", "-A", "-o", "yaml"), "the branches": s.git(s.bare, "cat-file", "--batch-all-objects", "--batch"),
		"inventories": v.kubectl("-n", "waybill-system", "get", "secrets,configmaps", "-o", "yaml"), "Leases": v.kubectl("get", "leases", "-A", "-o", "yaml"),
	}
	for _, args := range [][]string{{"status", "-o", "wide"}, {"status", "-o", "json"}, {"explain", "secret/refused", "-n", "follow"}, {"get", "works", "-o", "yaml"}, {"get", "bindings", "-o", "yaml"}} {
		_, said[strings.Join(args, " ")] = s.run(append(args, "-C", s.source, "--to", s.bare)...)
	}
	for _, args := range [][]string{{"--dry-run", "-o", "json"}, {}} {
		_, said["apply "+strings.Join(args, " ")] = s.run(append([]string{"apply", "-C", s.source, "--to", s.bare, "--kubeconfig-dir", s.kubeconfigs, "--age-identity-file", identity}, args...)...)
	}
	source := strings.TrimSpace(s.git(s.source, "rev-parse", "HEAD"))
	for _, path := range []string{"/", "/matrix", "/clusters/eu-1", "/changes", "/changes/" + source, "/changes/" + source + "?cluster=eu-1", "/templates/Secret/follow/refused", "/templates/Secret/follow/refused/why", "/templates/Secret/follow/taken"} {
		said[path] = pageOf(t, "http://"+site+path)
	}
	c.stop()
	log, err := os.ReadFile(c.log)
	if err != nil {
		t.Fatal(err)
	}
	said["the log"], said["traces"] = string(log), traced.String()
	for what, text := range said {
		if len(text) < 20 {
			t.Errorf("%s: nothing is said: %q", what, text)
		}
		for _, found := range canaries.Seen([]byte(text), values) {
			t.Errorf("%s: there is %s:\n%s", what, found, text[:min(len(text), 5000)])
		}
	}
	for what, want := range map[string]string{
		"the log": "its message may hold values of Secrets, and is not shown", "the branches": "ENC[", "/clusters/eu-1": "why may hold values of Secrets, and is not written here", "traces": "round", "Events": "Cluster", "apply ": "refused",
	} {
		if !strings.Contains(said[what], want) {
			t.Errorf("%s: want %q in\n%s", what, want, said[what])
		}
	}
	if commit := s.git(s.bare, "cat-file", "commit", "waybill/state"); !strings.Contains(commit, "BEGIN SSH SIGNATURE") {
		t.Errorf("nothing is signed:\n%s", commit)
	}
}

// private are texts by which a private key is known: the second half of its file, in which it is, and
// the key itself as programs print it.
func private(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.ParseRawPrivateKey(data)
	if err != nil {
		t.Fatal(err)
	}
	secret, ok := key.(*ed25519.PrivateKey)
	if !ok {
		t.Fatalf("it is %T", key)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return append(lines[3:len(lines)-1], hex.EncodeToString(secret.Seed()), base64.RawStdEncoding.EncodeToString(secret.Seed()))
}

// sealedMap is a ConfigMap that is encrypted as sops does it, with its values.
func sealedMap(t *testing.T, name, value string) string {
	t.Helper()
	ref := render.Ref{Kind: "ConfigMap", Namespace: "follow", Name: name}
	content := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "follow"}, "data": map[string]any{"password": value}}
	recipients, err := seal.ParseRecipients(toAnna)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := seal.Master(ref, render.Encode(content)).Seal(content, recipients)
	if err != nil {
		t.Fatal(err)
	}
	return string(sealed)
}

// pageOf is a page of the web UI.
func pageOf(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%s: %s, %v", url, resp.Status, err)
	}
	return string(body)
}
