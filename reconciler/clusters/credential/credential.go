// Package credential reads what a Secret says of how a cluster is reached, as a kubeconfig. It
// judges values and reads nothing.
//
// A Secret has one of two forms. A kubeconfig, under the key value or value.yaml, is what
// Cluster API writes and Flux reads. The keys caBundle and token are what Karmada writes; there
// the endpoint stands in the Cluster (section C.1), which is in the source. Who may write to
// the source could name another endpoint, and would be sent the token. So the endpoint acts if
// the Secret names it, too, under the key apiEndpoint, or if its host is allowed; a proxy acts
// if its host is allowed; and the server's certificate is always verified.
package credential

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// The keys of a Secret.
const (
	kubeconfigKey     = "value"
	kubeconfigYAMLKey = "value.yaml"
	authorityKey      = "caBundle"
	tokenKey          = "token"
	endpointKey       = "apiEndpoint"
)

// Name is what the Secret of a cluster is called whose Cluster names none.
func Name(cluster string) string { return cluster + "-kubeconfig" }

// Credential is how a cluster is reached.
type Credential struct {
	// Kubeconfig has one context that matters, its current one.
	Kubeconfig *api.Config
	// ProxyHeader is sent to the proxy that the kubeconfig names, and to nobody else.
	ProxyHeader http.Header
}

// Read reads the data of a cluster's Secret. Allowed are the hosts that the Cluster may name.
func Read(c *karmada.Cluster, data map[string][]byte, allowed Hosts) (Credential, error) {
	text := data[kubeconfigKey]
	if len(text) == 0 {
		text = data[kubeconfigYAMLKey]
	}
	switch _, token := data[tokenKey]; {
	case token && len(text) > 0:
		return Credential{}, fmt.Errorf("it has both %s and %s; keep a kubeconfig, or %s and %s", tokenKey, kubeconfigKey, authorityKey, tokenKey)
	case token:
		return ofToken(c, data, allowed)
	case len(text) > 0:
		return ofKubeconfig(text)
	}
	return Credential{}, fmt.Errorf("it has neither a kubeconfig, under the key %s or %s, nor %s and %s", kubeconfigKey, kubeconfigYAMLKey, authorityKey, tokenKey)
}

// ofKubeconfig reads a kubeconfig that stands alone: a name of a file in it would be one of
// the machine that this runs on, such as its own token.
func ofKubeconfig(text []byte) (Credential, error) {
	config, err := clientcmd.Load(text)
	if err != nil {
		return Credential{}, errors.New("its kubeconfig cannot be read") // the error would quote it
	}
	for name, x := range config.Clusters {
		if x.CertificateAuthority != "" {
			return Credential{}, fmt.Errorf("the cluster %s of its kubeconfig names a file; write certificate-authority-data", name)
		}
	}
	for name, x := range config.AuthInfos {
		if x.ClientCertificate != "" || x.ClientKey != "" || x.TokenFile != "" {
			return Credential{}, fmt.Errorf("the user %s of its kubeconfig names a file; write token, or client-certificate-data and client-key-data", name)
		}
	}
	return Credential{Kubeconfig: config}, nil
}

// ofToken reads Karmada's form.
func ofToken(c *karmada.Cluster, data map[string][]byte, allowed Hosts) (Credential, error) {
	token := strings.TrimSpace(string(data[tokenKey]))
	authority := data[authorityKey]
	switch {
	case token == "" || strings.ContainsAny(token, " \n\r\t"):
		return Credential{}, fmt.Errorf("its %s is none", tokenKey)
	case !x509.NewCertPool().AppendCertsFromPEM(authority):
		return Credential{}, fmt.Errorf("its %s has no certificate in PEM, and without one anybody could pass for the cluster", authorityKey)
	}
	endpoint, err := endpointOf(c, string(data[endpointKey]), allowed)
	if err != nil {
		return Credential{}, err
	}
	cluster := &api.Cluster{Server: endpoint, CertificateAuthorityData: authority}
	out := Credential{Kubeconfig: &api.Config{
		Clusters:       map[string]*api.Cluster{c.Name: cluster},
		AuthInfos:      map[string]*api.AuthInfo{c.Name: {Token: token}},
		Contexts:       map[string]*api.Context{c.Name: {Cluster: c.Name, AuthInfo: c.Name}},
		CurrentContext: c.Name,
	}}
	if c.Spec.ProxyURL == "" {
		return out, nil
	}
	proxy, err := url.Parse(c.Spec.ProxyURL)
	if err != nil || !allowed.allow(proxy) {
		return Credential{}, fmt.Errorf("its Cluster has a spec.proxyURL, whose host was not allowed%s", hint(proxy))
	}
	cluster.ProxyURL = c.Spec.ProxyURL
	for name, value := range c.Spec.ProxyHeader {
		if out.ProxyHeader == nil {
			out.ProxyHeader = http.Header{}
		}
		for v := range strings.SplitSeq(value, ",") { // several values of one name are written so
			out.ProxyHeader.Add(name, strings.TrimSpace(v))
		}
	}
	return out, nil
}

// endpointOf returns where the API server is, which the Secret or the Cluster says.
func endpointOf(c *karmada.Cluster, secret string, allowed Hosts) (string, error) {
	secret = strings.TrimSpace(secret)
	source := c.Spec.APIEndpoint
	switch {
	case secret == "" && source == "":
		return "", fmt.Errorf("nothing says where the API server is; write it into the Secret, as %s, or into spec.apiEndpoint of the Cluster", endpointKey)
	case secret != "" && source != "" && secret != source:
		return "", fmt.Errorf("spec.apiEndpoint of the Cluster is %q, and the Secret's %s is %q; the token is not sent to either, write the same", source, endpointKey, secret)
	}
	endpoint, err := url.Parse(cmp.Or(secret, source))
	switch {
	case err != nil || endpoint.Scheme != "https" || endpoint.Host == "" || endpoint.User != nil:
		return "", errors.New("its endpoint is no URL of the form https://HOST:PORT")
	case secret == "" && !allowed.allow(endpoint):
		return "", fmt.Errorf("only the source says that the API server is at %s, and the token is not sent where the source says; write it into the Secret, too, as %s, or allow it%s", endpoint.Host, endpointKey, hint(endpoint))
	}
	return endpoint.String(), nil
}

// hint says by which flag a host is allowed.
func hint(u *url.URL) string {
	if u == nil || u.Host == "" {
		return ""
	}
	return ": --allow-endpoint " + u.Host
}
