//go:build e2e

package e2e

import (
	"encoding/base64"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/test/controlplane"
)

// vault is a namespace of an API server, with the Secrets by which clusters are reached.
type vault struct {
	*api
	namespace string
}

func newVault(t *testing.T, a *api, namespace string) vault {
	t.Helper()
	v := vault{a.with(t), namespace}
	v.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + namespace + "}\n")
	return v
}

// put writes a Secret of keys and values, over the one that is there.
func (v vault) put(name string, data ...string) {
	v.t.Helper()
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + ", namespace: " + v.namespace + "}\ndata:\n")
	for i := 0; i < len(data); i += 2 {
		b.WriteString("  " + data[i] + ": " + base64.StdEncoding.EncodeToString([]byte(data[i+1])) + "\n")
	}
	v.apply(b.String())
}

// flags have clusters be reached by the Secrets.
func (v vault) flags() []string {
	return []string{"--management-kubeconfig", v.kubeconfig, "--cluster-secrets-namespace", v.namespace}
}

// bySecret applies with the Secrets of a vault, which must end with a status and say something.
func (s *site) bySecret(v vault, status int, says string, more ...string) {
	s.t.Helper()
	args := append([]string{"apply", "-C", s.source, "--to", s.bare, "-o", "json"}, v.flags()...)
	got, out := s.run(append(args, more...)...)
	if got != status || !strings.Contains(out, says) || strings.Contains(out, controlplane.Token) {
		s.t.Fatalf("apply %v: status %d, want %d, and that it says %q, and no token:\n%s", more, got, status, says, out)
	}
}

// secrets are how a cluster is reached, in each of their forms.
func (m *members) secrets(t *testing.T) {
	s := m.one(t)
	v := newVault(t, m.apis[1], "fleet")
	eu := s.apis["eu-1"]
	authority, err := os.ReadFile(filepath.Join(filepath.Dir(eu.kubeconfig), "server.crt"))
	if err != nil {
		t.Fatal(err)
	}
	round := func(value string) {
		t.Helper()
		s.namespace("secrets", value, 1)
		s.publish()
	}
	holds := func(value string) {
		t.Helper()
		if got := text(s.get("eu-1", at("ConfigMap", "secrets", "c0000")), "data", "value"); got != value {
			t.Errorf("the cluster has %q, want %q", got, value)
		}
	}
	round("one")
	s.bySecret(v, 2, "there is no Secret fleet/eu-1-kubeconfig")

	// Karmada's form: the source alone leads the token nowhere
	cluster := func(namespace, endpoint string) {
		s.write("clusters/eu-1.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu-1}\nspec:\n  syncMode: Push\n  apiEndpoint: "+endpoint+"\n  secretRef: {namespace: "+namespace+", name: eu}\n")
		s.publish()
	}
	cluster("karmada-cluster", eu.url)
	s.bySecret(v, 2, "Secrets are read in fleet only")
	cluster("fleet", eu.url)
	v.put("eu", "caBundle", string(authority), "token", controlplane.Token)
	s.bySecret(v, 2, "the token is not sent where the source says")
	s.bySecret(v, 0, "", "--allow-endpoint", "127.0.0.0/8")
	holds("one")
	v.put("eu", "caBundle", string(authority), "token", controlplane.Token, "apiEndpoint", eu.url)
	round("two")
	s.bySecret(v, 0, "")
	holds("two")
	cluster("fleet", v.url)
	s.bySecret(v, 2, "the token is not sent to either", "--allow-endpoint", "127.0.0.1")

	// a token that is no longer good, and a certificate that another authority signed
	cluster("fleet", eu.url)
	v.put("eu", "caBundle", string(authority), "token", "old", "apiEndpoint", eu.url)
	s.bySecret(v, 2, "Unauthorized")
	other, err := os.ReadFile(filepath.Join(filepath.Dir(v.kubeconfig), "server.crt"))
	if err != nil {
		t.Fatal(err)
	}
	v.put("eu", "caBundle", string(other), "token", controlplane.Token, "apiEndpoint", eu.url)
	s.bySecret(v, 2, "certificate signed by unknown authority")
	holds("two")

	// what join prints is what apply reads
	s.remove("clusters/eu-1.yaml")
	join := s.command("cluster", "join", "eu-1", "-C", s.source, "--kubeconfig", eu.kubeconfig, "--context", "c", "--secret")
	printed, err := join.Output()
	if err != nil {
		t.Fatalf("join: %v", err)
	}
	kubectl := exec.Command(v.path, "-n", v.namespace, "apply", "-f", "-")
	kubectl.Stdin = strings.NewReader(string(printed))
	v.run(kubectl)
	if written, err := os.ReadFile(filepath.Join(s.source, "clusters/eu-1.yaml")); err != nil || strings.Contains(string(written), controlplane.Token) {
		t.Errorf("the Cluster has the token, or is not there: %v\n%s", err, written)
	}
	round("three")
	s.bySecret(v, 0, "")
	holds("three")

	// who may read Secrets in no other namespace needs no more
	if status, out := s.run(append([]string{"get", "configmaps", "-n", "secrets", "--clusters", "eu-1", "-C", s.source}, v.flags()...)...); status != 0 || !strings.Contains(out, "c0000") {
		t.Errorf("get: status %d\n%s", status, out)
	}
	if status, body := v.do(http.MethodDelete, "/api/v1/namespaces/fleet/secrets/eu-1-kubeconfig", "", nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	s.bySecret(v, 2, "there is no Secret fleet/eu-1-kubeconfig")
}
