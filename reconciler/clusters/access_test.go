package clusters

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters/credential"
)

// TestAnAuthorityIsReadAnew replaces the file of authorities that a kubeconfig names.
func TestAnAuthorityIsReadAnew(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"kube-system","uid":"u"}}`)
	}))
	defer server.Close()
	dir := t.TempDir()
	authority, config := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "eu.kubeconfig")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(config, `apiVersion: v1
kind: Config
current-context: eu
contexts: [{name: eu, context: {cluster: eu, user: eu}}]
clusters: [{name: eu, cluster: {server: "`+server.URL+`", tls-server-name: example.com, certificate-authority: ca.crt}}]
users: [{name: eu, user: {}}]
`)
	cluster := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}
	reachable := func() error {
		c, err := Access{Folder: dir}.Config(t.Context(), cluster)
		if err != nil {
			t.Fatal(err)
		}
		client, err := Open("eu", "", "", c)
		if err != nil {
			t.Fatal(err)
		}
		return client.Reachable(t.Context())
	}
	if _, err := (Access{Folder: dir}).Config(t.Context(), cluster); err == nil {
		t.Error("the file is not there, and nobody says so")
	}
	write(authority, certificate(stranger(t)))
	if err := reachable(); err == nil {
		t.Error("it is reached by the authority of another")
	}
	write(authority, certificate(server.Certificate().Raw))
	if err := reachable(); err != nil {
		t.Errorf("it is not reached by the authority that is there now: %v", err)
	}
}

func certificate(der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// stranger makes an authority that nobody asked.
func stranger(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// held are the Secrets of a namespace, by name.
type held map[string]map[string][]byte

// In implements Secrets.
func (held) In() string { return "waybill-system" }

// Secret implements Secrets.
func (s held) Secret(_ context.Context, name string) (map[string][]byte, error) {
	data, ok := s[name]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
	}
	return data, nil
}

// TestWhichSecretReachesACluster: the one that the Cluster names or that is called after it, of the one namespace whose Secrets are
// the controller's to read; that of another namespace never, whatever is there by that name.
func TestWhichSecretReachesACluster(t *testing.T) {
	kubeconfig := func(host string) map[string][]byte {
		return map[string][]byte{"value": fmt.Appendf(nil, "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: %q}}]\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n", "https://"+host)}
	}
	all := held{credential.Name("eu"): kubeconfig("eu.example"), credential.Name("host"): kubeconfig("host.example"), "named": kubeconfig("named.example")}
	cluster := func(name string, ref *karmada.LocalSecretReference, annotations map[string]string) *karmada.Cluster {
		return &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}, Spec: karmada.ClusterSpec{SecretRef: ref}}
	}
	inner := map[string]string{karmada.VirtualOfAnnotation: "host"}
	host := cluster("host", nil, nil)
	for _, tt := range []struct {
		name    string
		cluster *karmada.Cluster
		want    string // the host; empty: there is no credential
	}{
		{"that of its name", cluster("eu", nil, nil), "eu.example"},
		{"the one that it names", cluster("eu", &karmada.LocalSecretReference{Namespace: "waybill-system", Name: "named"}, nil), "named.example"},
		{"one of another namespace", cluster("eu", &karmada.LocalSecretReference{Namespace: "shop", Name: "named"}, nil), ""},
		{"one of no namespace", cluster("eu", &karmada.LocalSecretReference{Name: "named"}, nil), ""},
		{"one that is not there", cluster("eu", &karmada.LocalSecretReference{Namespace: "waybill-system", Name: "none"}, nil), ""},
		{"none", cluster("us", nil, nil), ""},
		{"that of the host of a virtual one", cluster("inner", nil, inner), "host.example"},
		{"the one that a virtual one names, which is not there", cluster("inner", &karmada.LocalSecretReference{Namespace: "waybill-system", Name: "none"}, inner), ""},
		{"that of a host that is not registered", cluster("inner", nil, map[string]string{karmada.VirtualOfAnnotation: "eu"}), ""},
	} {
		a := Access{Secrets: func() (Secrets, error) { return all, nil }}.Among([]*karmada.Cluster{host})
		c, err := a.Config(t.Context(), tt.cluster)
		switch {
		case tt.want == "" && !errors.Is(err, ErrNoCredential):
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "" && (err != nil || c.Host != "https://"+tt.want):
			t.Errorf("%s: it is reached at %+v, %v", tt.name, c, err)
		}
	}
}
