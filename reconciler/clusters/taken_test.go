package clusters_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/test/apiserver"
)

// TestWhichKubeconfigsAreTaken: none by which somebody on the way could pass for the cluster or read the credential, and none that
// runs a program which nobody allowed.
func TestWhichKubeconfigsAreTaken(t *testing.T) {
	t.Parallel()
	const run = "exec: {apiVersion: client.authentication.k8s.io/v1, command: get-token, interactiveMode: Never}"
	for _, tt := range []struct {
		cluster, user string
		allowed       []string
		want          string // empty: it is taken
	}{
		{"server: 'https://eu.example.com'", "token: t", nil, ""},
		{"server: 'http://eu.example.com'", "token: t", nil, "only sent over https"},
		{"server: 'https://eu.example.com', insecure-skip-tls-verify: true", "token: t", nil, "insecure-skip-tls-verify"},
		{"server: 'https://eu.example.com'", run, nil, "--allow-exec get-token allows it"},
		{"server: 'https://eu.example.com'", run, []string{"another"}, "--allow-exec get-token allows it"},
		{"server: 'https://eu.example.com'", run, []string{"get-token"}, ""},
		{"server: 'https://eu.example.com'", "auth-provider: {name: gcp}", nil, "not supported"},
	} {
		dir := t.TempDir()
		text := fmt.Sprintf("{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: x, user: x}}], clusters: [{name: x, cluster: {%s}}], users: [{name: x, user: {%s}}]}", tt.cluster, tt.user)
		if err := os.WriteFile(filepath.Join(dir, "eu.kubeconfig"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := clusters.Access{Folder: dir, Exec: tt.allowed}.Config(t.Context(), &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s, %s: %v", tt.cluster, tt.user, err)
		}
	}
}

// TestAnInventoryIsDiscardedWhole: nothing of it is left, and nothing else is touched.
func TestAnInventoryIsDiscardedWhole(t *testing.T) {
	t.Parallel()
	s := apiserver.New(t)
	c, _ := stored(t, s, 3)
	other := secrets + "another"
	s.Put(other, apiserver.Object{"apiVersion": "v1", "kind": "Secret", "metadata": apiserver.Object{"name": "another", "namespace": "waybill-system"}})
	if err := c.Discard(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	if left := s.Paths(secrets); len(left) != 1 || left[0] != other {
		t.Errorf("there are %v", left)
	}
}
