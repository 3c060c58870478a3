package clusters

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
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
