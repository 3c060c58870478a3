package credential_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters/credential"
)

var begins, ends = time.Date(2029, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// certificate is one that ends when the tests say.
func certificate(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: begins, NotAfter: ends}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

const kubeconfig = `apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "https://api.example.com"%s}}]
users: [{name: u, user: {%s}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
`

// The source is what whoever may write to it says; the Secret is what the fleet's owner says.
func TestTheSourceLeadsNoTokenElsewhere(t *testing.T) {
	ca := string(certificate(t))
	const at, elsewhere = "https://api.example.com:6443", "https://evil.example.net"
	type data = map[string]string
	for _, c := range []struct {
		name    string
		secret  data
		spec    karmada.ClusterSpec
		allow   []string
		want    string // server, token and proxy
		refused string // all that follows as well, where a line ends it
	}{
		{name: "the Secret says where", secret: data{"caBundle": ca, "token": "s3cret\n", "apiEndpoint": at}, want: at + " s3cret "},
		{name: "both say the same", secret: data{"caBundle": ca, "token": "s3cret", "apiEndpoint": at}, spec: karmada.ClusterSpec{APIEndpoint: at}, want: at + " s3cret "},
		{
			name: "the source says otherwise", secret: data{"caBundle": ca, "token": "s3cret", "apiEndpoint": at}, spec: karmada.ClusterSpec{APIEndpoint: elsewhere},
			allow: []string{"evil.example.net"}, refused: "not sent to either",
		},
		{name: "only the source says where", secret: data{"caBundle": ca, "token": "s3cret"}, spec: karmada.ClusterSpec{APIEndpoint: at}, refused: "--allow-endpoint api.example.com:6443"},
		{name: "as was allowed", secret: data{"caBundle": ca, "token": "s3cret"}, spec: karmada.ClusterSpec{APIEndpoint: at}, allow: []string{"*.example.com"}, want: at + " s3cret "},
		{name: "nothing says where", secret: data{"caBundle": ca, "token": "s3cret"}, refused: "nothing says where"},
		{name: "plain http", secret: data{"caBundle": ca, "token": "s3cret", "apiEndpoint": "http://api.example.com"}, refused: "https://HOST:PORT"},
		{name: "no authority", secret: data{"token": "s3cret", "apiEndpoint": at}, refused: "caBundle"},
		{
			name: "no authority, and the source would skip it", secret: data{"caBundle": "none", "token": "s3cret", "apiEndpoint": at},
			spec: karmada.ClusterSpec{InsecureSkipTLSVerification: true}, allow: []string{"*.example.com"}, refused: "caBundle",
		},
		{name: "no token", secret: data{"caBundle": ca, "token": " ", "apiEndpoint": at}, refused: "token"},
		{
			name: "a proxy of the source's", secret: data{"caBundle": ca, "token": "s3cret", "apiEndpoint": at},
			spec: karmada.ClusterSpec{ProxyURL: "http://me:CANARY@proxy.example.net:3128"}, refused: "--allow-endpoint proxy.example.net:3128",
		},
		{
			name: "a proxy that was allowed", secret: data{"caBundle": ca, "token": "s3cret", "apiEndpoint": at},
			spec: karmada.ClusterSpec{ProxyURL: "http://proxy.example.net:3128"}, allow: []string{"proxy.example.net"}, want: at + " s3cret http://proxy.example.net:3128",
		},
		{
			name: "a kubeconfig, and the source says otherwise", secret: data{"value": fmt.Sprintf(kubeconfig, "", "token: s3cret")},
			spec: karmada.ClusterSpec{APIEndpoint: elsewhere, ProxyURL: elsewhere}, allow: []string{"evil.example.net"}, want: "https://api.example.com s3cret ",
		},
		{name: "Flux's other key", secret: data{"value.yaml": fmt.Sprintf(kubeconfig, "", "token: s3cret")}, want: "https://api.example.com s3cret "},
		{name: "both forms", secret: data{"value": fmt.Sprintf(kubeconfig, "", "token: s3cret"), "token": "s3cret"}, refused: "both"},
		{name: "a file of this machine's", secret: data{"value": fmt.Sprintf(kubeconfig, "", "tokenFile: /var/run/token")}, refused: "names a file"},
		{name: "a file as a certificate", secret: data{"value": fmt.Sprintf(kubeconfig, "", "client-certificate: a, client-key: b")}, refused: "names a file"},
		{name: "a file as an authority", secret: data{"value": fmt.Sprintf(kubeconfig, ", certificate-authority: ca.crt", "token: s3cret")}, refused: "names a file"},
		{
			name: "a file as a certificate alone", secret: data{"value": fmt.Sprintf(kubeconfig, "", "client-certificate: a")},
			refused: "names a file",
		},
		{name: "a file as a key alone", secret: data{"value": fmt.Sprintf(kubeconfig, "", "client-key: b")}, refused: "names a file"},
		{name: "two tokens", secret: data{"caBundle": ca, "token": "s3cret or CANARY", "apiEndpoint": at}, refused: "token is none"},
		{name: "no URL", secret: data{"caBundle": ca, "token": "s3cret", "apiEndpoint": "https://[::1"}, refused: "https://HOST:PORT"},
		{name: "no host", secret: data{"caBundle": ca, "token": "s3cret", "apiEndpoint": "https:///api"}, refused: "https://HOST:PORT"},
		{
			name: "a user", secret: data{"caBundle": ca, "token": "s3cret", "apiEndpoint": "https://CANARY@api.example.com"},
			refused: "https://HOST:PORT",
		},
		{name: "space around the endpoint", secret: data{"caBundle": ca, "token": "s3cret", "apiEndpoint": at + "\n"}, want: at + " s3cret "},
		{
			name: "a proxy that is no URL", secret: data{"caBundle": ca, "token": "s3cret", "apiEndpoint": at},
			spec: karmada.ClusterSpec{ProxyURL: "http://[::1"}, allow: []string{"::/0"}, refused: "was not allowed\n",
		},
		{
			name: "a proxy without a host", secret: data{"caBundle": ca, "token": "s3cret", "apiEndpoint": at},
			spec: karmada.ClusterSpec{ProxyURL: "proxy"}, allow: []string{"proxy"}, refused: "was not allowed\n",
		},
		{
			name: "both keys of a kubeconfig", want: "https://api.example.com s3cret ",
			secret: data{"value": fmt.Sprintf(kubeconfig, "", "token: s3cret"), "value.yaml": fmt.Sprintf(kubeconfig, "", "token: other")},
		},
		{
			name: "both forms, by Flux's other key", secret: data{"value.yaml": fmt.Sprintf(kubeconfig, "", "token: s3cret"), "token": ""},
			refused: "both",
		},
		{name: "no kubeconfig", secret: data{"value": "CANARY: ["}, refused: "cannot be read"},
		{name: "another Secret", secret: data{"password": "CANARY"}, refused: "neither"},
	} {
		t.Run(c.name, func(t *testing.T) {
			secret := map[string][]byte{}
			for k, v := range c.secret {
				secret[k] = []byte(v)
			}
			got, err := credential.Read(&karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}, Spec: c.spec}, secret, hosts(t, c.allow...))
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error()+"\n", c.refused) || strings.Contains(err.Error(), "CANARY") ||
					strings.Contains(err.Error(), "s3cret") {
					t.Errorf("the error is %v; it should say %q", err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			k := got.Kubeconfig
			context := k.Contexts[k.CurrentContext]
			server, user := k.Clusters[context.Cluster], k.AuthInfos[context.AuthInfo]
			if d := cmp.Diff(c.want, server.Server+" "+user.Token+" "+server.ProxyURL); d != "" {
				t.Error(d)
			}
			if server.InsecureSkipTLSVerify || string(server.CertificateAuthorityData) != c.secret["caBundle"] {
				t.Errorf("the certificate is not verified by the authority: %+v", server)
			}
			if got.ProxyHeader != nil {
				t.Errorf("a proxy is told %v", got.ProxyHeader)
			}
		})
	}
}

func TestWhatIsSaidToAProxy(t *testing.T) {
	secret := map[string][]byte{"caBundle": certificate(t), "token": []byte("t"), "apiEndpoint": []byte("https://a")}
	spec := karmada.ClusterSpec{ProxyURL: "http://proxy", ProxyHeader: map[string]string{"x-who": "a, b"}}
	got, err := credential.Read(&karmada.Cluster{Spec: spec}, secret, hosts(t, "proxy"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(http.Header{"X-Who": {"a", "b"}}, got.ProxyHeader); d != "" {
		t.Error(d)
	}
}

func hosts(t *testing.T, texts ...string) (h credential.Hosts) {
	t.Helper()
	for _, text := range texts {
		var err error
		if h, err = h.With(text); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		allow, endpoint string
		want            bool
	}{
		{"api.example.com", "https://api.example.com", true},
		{"API.example.com", "https://api.EXAMPLE.com:6443", true},
		{"api.example.com:6443", "https://api.example.com:6443", true},
		{"api.example.com:6443", "https://api.example.com:443", false},
		{"api.example.com", "https://api.example.com.evil.net", false},
		{"*.example.com", "https://a.b.example.com:6443", true},
		{"*.example.com", "https://example.com", false},
		{"*.example.com", "https://evilexample.com", false},
		{"10.0.0.0/8", "https://10.1.2.3:6443", true},
		{"10.9.0.0/8", "https://10.1.2.3:6443", true},
		{"10.0.0.0/8", "https://11.1.2.3:6443", false},
		{"10.0.0.0/8", "https://10.evil.net", false},
		{"10.0.0.0/8", "https://[::ffff:10.1.2.3]:6443", true},
		{"fd00::/8", "https://[fd00::1]:6443", true},
		{"[fd00::1]:6443", "https://[fd00::1]:6443", true},
		{"[fd00::1]", "https://[fd00::1]:6443", true},
		{"[fd00::1]", "https://[fd00::2]:6443", false},
	} {
		secret := map[string][]byte{"caBundle": certificate(t), "token": []byte("t")}
		_, err := credential.Read(&karmada.Cluster{Spec: karmada.ClusterSpec{APIEndpoint: c.endpoint}}, secret, hosts(t, c.allow))
		if (err == nil) != c.want {
			t.Errorf("%s allows %s: %v", c.allow, c.endpoint, err)
		}
	}
	for _, text := range []string{"", "*", "*.", "https://a", "a/b", "*.a:443", "a.*.com", "a@b", "10.0.0.0/99", "[::1", "a b", ":443"} {
		if _, err := (credential.Hosts{}).With(text); err == nil {
			t.Errorf("%q is taken for a host", text)
		}
	}
}

// Hosts that have one more leave those that they were made of as they are.
func TestHostsWithOneMore(t *testing.T) {
	secret := map[string][]byte{"caBundle": certificate(t), "token": []byte("t")}
	for _, form := range []string{"h%d.example.com", "h%d.example.com:443", "*.%d.example.com", "10.%d.0.0/16"} {
		at := func(i int) string { return fmt.Sprintf(form, i) }
		all := hosts(t, at(1), at(2), at(3))
		made := map[int]credential.Hosts{}
		for _, i := range []int{4, 5} {
			more, err := all.With(at(i))
			if err != nil {
				t.Fatal(err)
			}
			made[i] = more
		}
		made[0] = all
		for with, h := range made {
			for i := 1; i <= 5; i++ {
				endpoint := "https://" + strings.NewReplacer("*", "a", ".0.0/16", ".0.1").Replace(at(i))
				_, err := credential.Read(&karmada.Cluster{Spec: karmada.ClusterSpec{APIEndpoint: endpoint}}, secret, h)
				if want := i <= 3 || i == with; (err == nil) != want {
					t.Errorf("%s, with %d: %s is allowed: %v", form, with, endpoint, err)
				}
			}
		}
	}
}

func TestLifetime(t *testing.T) {
	jwt := func(claims string) string {
		return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
	}
	cert, sooner := certificate(t), ends.Add(-time.Hour)
	key := []byte("-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n")
	none := []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
	type lifetime = credential.Lifetime
	for _, c := range []struct {
		name  string
		cert  []byte
		token string
		want  lifetime
	}{
		{"neither", nil, "", lifetime{}},
		{"a token that is no JWT", nil, "abcdef.123", lifetime{}},
		{"a token without an end", nil, jwt(`{"sub":"x","iat":1}`), lifetime{}},
		{"a token", nil, jwt(fmt.Sprintf(`{"exp":%d}`, sooner.Unix())), lifetime{Until: sooner}},
		{"a token that says since when", nil, jwt(fmt.Sprintf(`{"exp":%d,"iat":%d}`, sooner.Unix(), begins.Unix())), lifetime{begins, sooner}},
		{"a token with a fraction", nil, jwt(fmt.Sprintf(`{"exp":%d.5}`, sooner.Unix())), lifetime{Until: sooner}},
		{"a token that ends in a very far year", nil, jwt(`{"exp":1e300}`), lifetime{}},
		{"a certificate", cert, "", lifetime{begins, ends}},
		{"both", cert, jwt(fmt.Sprintf(`{"exp":%d}`, sooner.Unix())), lifetime{Until: sooner}},
		{"both, the certificate sooner", cert, jwt(fmt.Sprintf(`{"exp":%d}`, ends.Add(time.Hour).Unix())), lifetime{begins, ends}},
		{"no certificate", none, "", lifetime{}},
		{"a certificate after a key", append(key, cert...), "", lifetime{begins, ends}},
		{"a certificate before another", append(slices.Clone(cert), none...), "", lifetime{begins, ends}},
		{"a certificate after one that is none", append(none, cert...), "", lifetime{}},
		{"a certificate, and a token without an end", cert, jwt(`{"iat":1}`), lifetime{begins, ends}},
		{"a token without a header", nil, strings.TrimPrefix(jwt(`{"exp":1}`), "e30"), lifetime{}},
		{"a token without a signature", nil, strings.TrimSuffix(jwt(`{"exp":1}`), ".c2ln"), lifetime{}},
		{"a token of four parts", nil, jwt(`{"exp":1}`) + ".c2ln", lifetime{}},
		{"a token whose claims are no base64", nil, "e30.===.c2ln", lifetime{}},
		{"a token whose claims are none", nil, jwt(`[]`), lifetime{}},
		{"a token half of whose claims are none", nil, jwt(`{"exp":1,"iat":"x"}`), lifetime{}},
		{"a token that ended when time began", nil, jwt(`{"exp":0,"iat":5}`), lifetime{}},
		{"a token that ended before", nil, jwt(`{"exp":-5}`), lifetime{}},
		{
			"a token that ends in the last year", nil, jwt(`{"exp":253402300799}`),
			lifetime{Until: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)},
		},
		{"a token that ends a second later", nil, jwt(`{"exp":253402300800}`), lifetime{}},
	} {
		if got := credential.LifetimeOf(c.cert, c.token); !got.From.Equal(c.want.From) || !got.Until.Equal(c.want.Until) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestWhenACredentialIsAboutToEnd(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		lasts, left  time.Duration // a lifetime of zero: it does not say since when it is valid
		long, ending bool
	}{
		{365 * day, 8 * day, true, false},
		{365 * day, 7 * day, true, true},
		{365 * day, -day, true, true},
		{10 * day, 3 * day, true, false},
		{10 * day, 2 * day, true, true},
		{day, 5 * time.Hour, true, false},
		{15 * time.Minute, 4 * time.Minute, false, false},
		{15 * time.Minute, 2 * time.Minute, false, true},
		{0, 8 * day, true, false},
		{0, 6 * day, true, true},
		{0, -day, true, true},
		{day - time.Second, 5 * time.Hour, false, false},
	} {
		l := credential.Lifetime{Until: ends}
		if c.lasts > 0 {
			l.From = ends.Add(-c.lasts)
		}
		if long, ending := l.IsLong(), l.IsEnding(ends.Add(-c.left)); long != c.long || ending != c.ending {
			t.Errorf("one of %s, with %s left: long %t, ending %t", c.lasts, c.left, long, ending)
		}
	}
	if none := (credential.Lifetime{}); none.IsLong() || none.IsEnding(ends) {
		t.Error("one that says nothing ends")
	}
}

// What is printed for a cluster is read back as what it was.
func TestASecretStandsAlone(t *testing.T) {
	config, err := clientcmd.Load([]byte(`apiVersion: v1
kind: Config
current-context: other
clusters:
- {name: one, cluster: {server: "https://one.example.com", tls-server-name: kubernetes, extensions: [{name: minikube, extension: {a: b}}]}}
- {name: two, cluster: {server: "https://two.example.com"}}
users:
- {name: me, user: {tokenFile: /nowhere, extensions: [{name: minikube, extension: {a: b}}]}}
- {name: files, user: {client-certificate: /nowhere, client-key: /nowhere}}
- {name: you, user: {token: CANARY}}
- {name: runs, user: {exec: {command: aws, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}}
contexts:
- {name: kind-one, context: {cluster: one, user: me, namespace: shop}}
- {name: other, context: {cluster: two, user: you}}
- {name: runs, context: {cluster: two, user: runs}}
- {name: files, context: {cluster: two, user: files}}
- {name: nobody, context: {cluster: two}}
- {name: nowhere, context: {user: you}}
`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := credential.Secret("eu-1", config, "kind-one", "s3cret\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, not := range []string{"CANARY", "minikube", "nowhere", "namespace"} {
		if strings.Contains(string(text), not) {
			t.Errorf("%s is in it:\n%s", not, text)
		}
	}
	var secret struct {
		Kind       string
		Metadata   metav1.ObjectMeta
		StringData map[string]string
	}
	if err := yaml.Unmarshal(text, &secret); err != nil {
		t.Fatal(err)
	}
	if secret.Kind != "Secret" || secret.Metadata.Name != credential.Name("eu-1") {
		t.Errorf("it is %s %s", secret.Kind, secret.Metadata.Name)
	}
	data := map[string][]byte{}
	for k, v := range secret.StringData {
		data[k] = []byte(v)
	}
	got, err := credential.Read(&karmada.Cluster{}, data, credential.Hosts{})
	if err != nil {
		t.Fatal(err)
	}
	k := got.Kubeconfig
	want := &api.Cluster{Server: "https://one.example.com", TLSServerName: "kubernetes"}
	if d := cmp.Diff(want, k.Clusters["eu-1"], cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Extensions" }, cmp.Ignore())); d != "" {
		t.Error(d)
	}
	if got := k.AuthInfos["eu-1"].Token; got != "s3cret" {
		t.Errorf("the token is %q", got)
	}
	for context, why := range map[string]string{
		"runs": "aws", "files": "/nowhere", "nobody": "no cluster or no user", "nowhere": "no cluster or no user",
		"unknown": "cannot locate context",
	} {
		if text, err := credential.Secret("eu-1", config, context, ""); err == nil || !strings.Contains(err.Error(), why) || text != nil {
			t.Errorf("the context %s: %s, %v, want %q", context, text, err, why)
		}
	}
	if text, err := credential.Secret("eu-1", config, "other", "s3cret"); err != nil || !strings.Contains(string(text), "token: CANARY\n") {
		t.Errorf("a token that the context has is not kept: %v\n%s", err, text)
	}
	if config.CurrentContext != "other" || len(config.Contexts) != 6 || config.AuthInfos["me"].TokenFile != "/nowhere" {
		t.Errorf("the kubeconfig itself has changed: %+v", config)
	}
}
