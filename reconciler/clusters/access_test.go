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
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

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

// TestAVirtualClusterIsNotReachedAsItsHost: not where it has a credential of its own that cannot be read.
func TestAVirtualClusterIsNotReachedAsItsHost(t *testing.T) {
	host := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "host"}}
	inner := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "inner", Annotations: map[string]string{karmada.VirtualOfAnnotation: "host"}}}
	good := fmt.Appendf(nil, "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: %q}}]\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n", "https://host.example")
	for _, own := range []string{"kind: [", "", "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: https://inner.example}}]\nusers: [{name: u, user: {exec: {command: steal}}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\ncurrent-context: c\n"} {
		all := held{credential.Name("host"): {"value": good}, credential.Name("inner"): {"value": []byte(own)}}
		a := Access{Secrets: func() (Secrets, error) { return all, nil }}.Among([]*karmada.Cluster{host, inner})
		if c, err := a.Config(t.Context(), inner); err == nil {
			t.Errorf("by %q it is reached at %s", own, c.Host)
		}
	}
}

// kubeconfig has a context for each of some clusters, which are at NAME.example, and of which the first one is current.
func kubeconfig(names ...string) string {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: Config\ncurrent-context: " + names[0] + "\n")
	for _, list := range []struct{ name, item string }{{"clusters", "cluster: {server: 'https://%s.example'}"}, {"users", "user: {token: token-of-%s}"}, {"contexts", "context: {cluster: %[1]s, user: %[1]s}"}} {
		text.WriteString(list.name + ":\n")
		for _, n := range names {
			text.WriteString("- {name: " + n + ", " + fmt.Sprintf(list.item, n) + "}\n")
		}
	}
	return text.String()
}

// TestWhichKubeconfigReachesACluster: that of its file in a folder, the context of its name in one that has several, or the one that is named;
// Secrets where none of them is given.
func TestWhichKubeconfigReachesACluster(t *testing.T) {
	dir := t.TempDir()
	several, folder, everybodys := filepath.Join(dir, "several"), filepath.Join(dir, "folder"), filepath.Join(dir, "everybodys")
	for path, text := range map[string]string{
		several: kubeconfig("us", "eu"), everybodys: kubeconfig("other", "eu"), filepath.Join(folder, "eu.kubeconfig"): kubeconfig("alone", "eu"), filepath.Join(folder, "broken.kubeconfig"): "{",
		filepath.Join(folder, "lost.kubeconfig"): strings.Replace(kubeconfig("lost"), "user: lost", "user: nobody", 1),
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBECONFIG", everybodys)
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	secrets := func() (Secrets, error) {
		return held{credential.Name("eu"): {"value": []byte(kubeconfig("secret"))}}, nil
	}
	for _, tt := range []struct {
		name    string
		access  Access
		cluster string
		want    string // whose it is; empty: it is an error
		is      error  // nil: any
	}{
		{"the file of the cluster, and its current context", Access{Folder: folder}, "eu", "alone", nil},
		{"and the one that is named", Access{Folder: folder, Context: "eu"}, "eu", "eu", nil},
		{"a folder without its file", Access{Folder: folder}, "us", "", ErrNoCredential},
		{"a file that is broken", Access{Folder: folder}, "broken", "", nil},
		{"a context without its user", Access{Folder: folder}, "lost", "", nil},
		{"the context of its name", Access{Kubeconfig: several}, "eu", "eu", nil},
		{"a kubeconfig without it", Access{Kubeconfig: several}, "asia", "", ErrNoCredential},
		{"a kubeconfig that is not there", Access{Kubeconfig: several + "s"}, "eu", "", ErrNoCredential},
		{"the context that is named", Access{Kubeconfig: several, Context: "us"}, "eu", "us", nil},
		{"the current one of the one cluster", Access{Kubeconfig: several, Alone: true}, "eu", "us", nil},
		{"where kubectl looks", Access{}, "eu", "eu", nil},
		{"what is given, before Secrets", Access{Kubeconfig: several, Secrets: secrets}, "eu", "eu", nil},
		{"a folder, before Secrets", Access{Folder: folder, Secrets: secrets}, "eu", "alone", nil},
		{"a context, before Secrets", Access{Context: "other", Secrets: secrets}, "eu", "other", nil},
		{"Secrets", Access{Secrets: secrets}, "eu", "secret", nil},
		{"where kubectl looks, as there are no Secrets", Access{Secrets: func() (Secrets, error) { return nil, nil }}, "eu", "eu", nil},
		{"Secrets that cannot be read", Access{Secrets: func() (Secrets, error) { return nil, os.ErrPermission }}, "eu", "", os.ErrPermission},
		{"a Pod, and this is none", Access{Alone: true}, "eu", "", ErrNoCredential},
	} {
		tt.access.Agent = "waybill/test"
		cluster := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: tt.cluster}}
		c, err := tt.access.Config(t.Context(), cluster)
		if tt.want == "" {
			if err == nil || tt.is != nil && !errors.Is(err, tt.is) || tt.is == nil && errors.Is(err, ErrNoCredential) {
				t.Errorf("%s: it is %v, %v", tt.name, c, err)
			}
		} else if err != nil || c.Host != "https://"+tt.want+".example" || c.BearerToken != "token-of-"+tt.want || c.UserAgent != "waybill/test" || c.QPS != -1 {
			t.Errorf("%s: it is %+v, %v", tt.name, c, err)
		}
		if tt.access.Alone && tt.access.Kubeconfig == "" {
			continue
		}
		loader, err := tt.access.Loader(t.Context(), cluster, "shop")
		manifest, secretErr := tt.access.Secret(t.Context(), cluster)
		if (err == nil) != (tt.want != "") || (secretErr == nil) != (tt.want != "") {
			t.Errorf("%s: for kubectl's libraries it is %v, and as a Secret %v", tt.name, err, secretErr)
		}
		if tt.want == "" {
			continue
		}
		if namespace, _, err := loader.Namespace(); err != nil || namespace != "shop" {
			t.Errorf("%s: the namespace is %q, %v", tt.name, namespace, err)
		}
		if !strings.Contains(string(manifest), "token-of-"+tt.want) || strings.Count(string(manifest), "server: ") != 1 {
			t.Errorf("%s: the Secret is\n%s", tt.name, manifest)
		}
	}
}

// TestTheProxyHasItsHeaders, and is the only one that gets them.
func TestTheProxyHasItsHeaders(t *testing.T) {
	t.Parallel()
	asked := make(chan http.Header, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header
		w.WriteHeader(http.StatusForbidden)
	}))
	defer proxy.Close()
	for _, tt := range []struct {
		name   string
		header map[string]string
		want   string
	}{{"none", nil, ""}, {"one", map[string]string{"Tenant": "blue"}, "blue"}} {
		cluster := &karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}, Spec: karmada.ClusterSpec{APIEndpoint: "https://eu.example", ProxyURL: proxy.URL, ProxyHeader: tt.header}}
		hosts, err := credential.Hosts{}.With("127.0.0.1")
		if err == nil {
			hosts, err = hosts.With("eu.example")
		}
		if err != nil {
			t.Fatal(err)
		}
		a := Access{Hosts: hosts, Secrets: func() (Secrets, error) {
			return held{credential.Name("eu"): {"token": []byte("t"), "caBundle": []byte(certificate(stranger(t)))}}, nil
		}}
		config, err := a.Config(t.Context(), cluster)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := UIDOf(t.Context(), "eu", config); err == nil {
			t.Errorf("%s: the proxy lets it through", tt.name)
		}
		if got := (<-asked).Get("Tenant"); got != tt.want {
			t.Errorf("%s: the proxy gets %q", tt.name, got)
		}
	}
}

// TestACredentialThatIsReplacedIsAnotherOne: of what is not known nothing is said.
func TestACredentialThatIsReplacedIsAnotherOne(t *testing.T) {
	t.Parallel()
	of := func(token string) Credential { return CredentialOf(&rest.Config{BearerToken: token}) }
	unread := CredentialOf(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CertFile: filepath.Join(t.TempDir(), "none")}})
	for name, tt := range map[string]struct {
		is, was Credential
		want    bool
	}{
		"the same":                {of("a"), of("a"), false},
		"another one":             {of("b"), of("a"), true},
		"the first":               {of("a"), Credential{}, false},
		"none any more":           {Credential{}, of("a"), false},
		"one that cannot be read": {unread, of("a"), false},
		"that of no client":       {(*Client)(nil).Known(), of("a"), false},
		"that of a client":        {(&Client{Credential: of("b")}).Known(), of("a"), true},
	} {
		if got := tt.is.Replaces(tt.was); got != tt.want {
			t.Errorf("%s: it is replaced: %t", name, got)
		}
	}
}
