//go:build e2e

package e2e

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/test/peers"
)

// programs are the paths of what the test runs.
type programs struct{ etcd, apiServer, kubectl, waybill string }

// install builds a server.
func install(t *testing.T, name, pkg string) string {
	t.Helper()
	path, err := peers.Install("servers", name, "-trimpath", "-ldflags", "-s -w", pkg)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func build(t *testing.T) programs {
	t.Helper()
	p := programs{
		etcd:      install(t, "etcd", "go.etcd.io/etcd/server/v3"),
		apiServer: install(t, "kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
		waybill:   filepath.Join(t.TempDir(), "waybill"),
	}
	var err error
	if p.kubectl, err = exec.LookPath("kubectl"); err != nil {
		t.Fatalf("the tests do with kubectl what people do, so that this machine must have it: %v", err)
	}
	if _, err := peers.Go("../..", "build", "-o", p.waybill, "./cmd/waybill"); err != nil {
		t.Fatal(err)
	}
	return p
}

// start runs a server until the test ends. Its output is in a file of the test's folder,
// the end of which is logged if the test fails.
func start(t *testing.T, dir, path string, env []string, args ...string) *os.Process {
	t.Helper()
	name := filepath.Base(path)
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
		if data, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s ended with:\n%s", name, data[max(0, len(data)-4000):])
		}
	})
	return cmd.Process
}

// port returns a port that is free.
func port(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, p, err := net.SplitHostPort(l.Addr().String())
	if err = errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	return p
}

// writePEM writes a file of one block.
func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// keys writes what an API server needs: its certificate, which is its own authority, and
// the key by which it signs tokens of service accounts.
func keys(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, filepath.Join(dir, "server.crt"), "CERTIFICATE", cert)
	writePEM(t, filepath.Join(dir, "server.key"), "EC PRIVATE KEY", der)
	sign, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, filepath.Join(dir, "accounts.key"), "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(sign))
}

// token is how the tests and Flux log in.
const token = "for-the-test"

// startEtcd starts etcd, and returns where it is.
func startEtcd(t *testing.T, p programs, dir string) string {
	t.Helper()
	client, peer := "http://127.0.0.1:"+port(t), "http://127.0.0.1:"+port(t)
	start(t, dir, p.etcd, nil, "--name", "e", "--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "e="+peer, "--unsafe-no-fsync", "--log-level", "warn")
	return client
}

// startAPI starts an API server with a part of an etcd, and returns a client of it. What the
// server is started with lies in a folder of its own.
func startAPI(t *testing.T, p programs, etcd, dir string) *api {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	keys(t, dir)
	secure := port(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("tokens.csv"), []byte(token+",admin,admin,\"system:masters\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	process := start(t, dir, p.apiServer, nil, "--etcd-servers="+etcd, "--etcd-prefix=/"+filepath.Base(dir), "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port="+secure,
		"--endpoint-reconciler-type=none", "--tls-cert-file="+in("server.crt"), "--tls-private-key-file="+in("server.key"), "--client-ca-file="+in("server.crt"), "--token-auth-file="+in("tokens.csv"),
		"--authorization-mode=RBAC", "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+in("accounts.key"),
		"--service-account-signing-key-file="+in("accounts.key"), "--service-cluster-ip-range=10.96.0.0/16", "--disable-admission-plugins=ServiceAccount")
	kubeconfig := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: \"https://127.0.0.1:%s\", certificate-authority: %s}}]\n"+
		"users: [{name: u, user: {token: %s}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n", secure, in("server.crt"), token)
	if err := os.WriteFile(in("kubeconfig"), []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	a := newAPI(t, "https://127.0.0.1:"+secure, in("server.crt"), in("kubeconfig"), p.kubectl)
	a.process = process
	eventually(t, "the API server is ready", func() (bool, string) {
		status, body := a.do(http.MethodGet, "/readyz", "", nil)
		return status == http.StatusOK, string(body)
	})
	return a
}

// definitions are the kinds of source-controller that kustomize-controller watches, as far
// as it looks at them.
func definitions() string {
	var b bytes.Buffer
	for _, k := range [][2]string{{"GitRepository", "gitrepositories"}, {"OCIRepository", "ocirepositories"}, {"Bucket", "buckets"}, {"ExternalArtifact", "externalartifacts"}} {
		fmt.Fprintf(&b, `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.source.toolkit.fluxcd.io}
spec:
  group: source.toolkit.fluxcd.io
  scope: Namespaced
  names: {kind: %[1]s, listKind: %[1]sList, plural: %[2]s}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, k[0], k[1])
	}
	return b.String()
}

// startFlux starts kustomize-controller.
func startFlux(t *testing.T, a *api, dir string) {
	t.Helper()
	crds, err := peers.Go("servers", "list", "-m", "-f", "{{.Dir}}/config/crd/bases", "github.com/fluxcd/kustomize-controller")
	if err != nil {
		t.Fatal(err)
	}
	a.kubectl("apply", "--server-side", "-f", string(bytes.TrimSpace([]byte(crds))))
	a.apply(definitions() + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: flux-system}\n")
	a.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=120s")
	tmp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	controller := install(t, "kustomize-controller", "github.com/fluxcd/kustomize-controller")
	start(t, dir, controller, []string{"RUNTIME_NAMESPACE=flux-system", "KUBECONFIG=" + a.kubeconfig, "TMPDIR=" + tmp},
		"--watch-all-namespaces", "--log-encoding=json", "--requeue-dependency=2s", "--metrics-addr=127.0.0.1:"+port(t), "--health-addr=127.0.0.1:"+port(t))
}
