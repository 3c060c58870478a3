package clusters

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/clusters/credential"
)

// Access says how clusters are reached. Endpoint, authority and proxy are taken from where the
// credential is; those of the source act only as package credential says: the source must not
// lead a token elsewhere.
type Access struct {
	// Folder holds a file <cluster>.kubeconfig for each cluster.
	Folder string
	// Kubeconfig is a file with a context for each cluster, called as the cluster; empty: where
	// kubectl looks for it.
	Kubeconfig string
	// Alone says that there is one cluster: that of the Kubeconfig's current context, or, without a
	// Kubeconfig, the one that this runs in.
	Alone bool
	// Context is the context to use whatever the cluster is called.
	Context string
	// Secrets finds the Secrets that hold how clusters are reached. They are used if neither a
	// Folder nor a Kubeconfig nor a Context is given, and if it returns any.
	Secrets func() (Secrets, error)
	// Hosts are those that the source may name as endpoints.
	Hosts credential.Hosts
	// Exec lists the commands that a kubeconfig may run to get a credential, as they are
	// written there.
	Exec []string
	// Agent is what requests call this program.
	Agent string

	registered []*karmada.Cluster
}

// Among returns an Access that reaches a virtual cluster as its host, which is among registered
// ones, where nothing tells how it is reached itself.
func (a Access) Among(registered []*karmada.Cluster) Access {
	a.registered = registered
	return a
}

// host returns the host of a virtual cluster; nil for one that is none, or that says itself how
// it is reached.
func (a Access) host(cluster *karmada.Cluster) *karmada.Cluster {
	m := virtual.Of(cluster)
	if m == nil || cluster.Spec.SecretRef != nil {
		return nil
	}
	i := slices.IndexFunc(a.registered, func(c *karmada.Cluster) bool { return c.Name == m.Host })
	if i < 0 {
		return nil
	}
	return a.registered[i]
}

// Secrets are those of one namespace.
type Secrets interface {
	// Secret returns the data of a Secret.
	Secret(ctx context.Context, name string) (map[string][]byte, error)
	// In is the name of the namespace.
	In() string
}

// ErrNoCredential says that nothing tells how a cluster is reached.
var ErrNoCredential = errors.New("there is no credential for it")

// Config returns how a cluster is reached.
func (a Access) Config(ctx context.Context, cluster *karmada.Cluster) (*rest.Config, error) {
	if a.Alone && a.Kubeconfig == "" {
		c, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("%w: this runs in no Pod that has a token; name a kubeconfig with --kubeconfig", ErrNoCredential)
		}
		c.QPS, c.UserAgent = -1, a.Agent
		return c, readAuthority(c)
	}
	f, err := a.find(ctx, cluster)
	if err != nil {
		return nil, err
	}
	c, err := f.loader("").ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of %s: %w", cluster.Name, err)
	}
	// the API server's own priority and fairness bounds what a client gets
	c.QPS, c.UserAgent = -1, a.Agent
	if len(f.header) > 0 {
		c.Wrap(func(r http.RoundTripper) http.RoundTripper {
			if t, ok := r.(*http.Transport); ok {
				t = t.Clone()
				t.ProxyConnectHeader = f.header
				return t
			}
			return r
		})
	}
	if err := readAuthority(c); err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of %s: %w", cluster.Name, err)
	}
	return c, nil
}

// readAuthority reads the file of authorities that a config names: by its content connections are told
// apart, so that one that is replaced counts at once.
func readAuthority(c *rest.Config) error {
	if c.CAFile == "" || len(c.CAData) > 0 {
		return nil
	}
	read := &rest.Config{TLSClientConfig: rest.TLSClientConfig{CAFile: c.CAFile}}
	if err := rest.LoadTLSFiles(read); err != nil {
		return fmt.Errorf("reading the authority of the API server: %w", err)
	}
	c.CAData, c.CAFile = read.CAData, ""
	return nil
}

// Loader returns the kubeconfig of a cluster in the form that kubectl's libraries take. The
// namespace is that of its context, unless another one is given.
func (a Access) Loader(ctx context.Context, cluster *karmada.Cluster, namespace string) (clientcmd.ClientConfig, error) {
	f, err := a.find(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return f.loader(namespace), nil
}

// Secret returns the manifest of a Secret by which the cluster is reached as it is now.
func (a Access) Secret(ctx context.Context, cluster *karmada.Cluster) ([]byte, error) {
	f, err := a.find(ctx, cluster)
	if err != nil {
		return nil, err
	}
	config, err := f.loader("").ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of %s: %w", cluster.Name, err)
	}
	return credential.Secret(cluster.Name, f.kubeconfig, f.context, config.BearerToken)
}

// found is how a cluster is reached.
type found struct {
	kubeconfig *api.Config
	context    string
	header     http.Header // for the proxy
}

func (f found) loader(namespace string) clientcmd.ClientConfig {
	overrides := clientcmd.ConfigOverrides{Context: api.Context{Namespace: namespace}}
	return clientcmd.NewNonInteractiveClientConfig(*f.kubeconfig, f.context, &overrides, nil)
}

// find looks for how a cluster is reached: of a virtual one, its host where there is nothing else.
func (a Access) find(ctx context.Context, cluster *karmada.Cluster) (found, error) {
	f, err := a.findOf(ctx, cluster)
	if host := a.host(cluster); host != nil && errors.Is(err, ErrNoCredential) {
		return a.findOf(ctx, host)
	}
	return f, err
}

func (a Access) findOf(ctx context.Context, cluster *karmada.Cluster) (found, error) {
	c, at, err := a.load(ctx, cluster)
	if err != nil {
		return found{}, err
	}
	f := found{kubeconfig: c.Kubeconfig, context: a.Context, header: c.ProxyHeader}
	if f.context == "" && at.shared {
		f.context = cluster.Name
	}
	if f.context == "" {
		f.context = c.Kubeconfig.CurrentContext
	}
	context, ok := c.Kubeconfig.Contexts[f.context]
	if !ok {
		return found{}, fmt.Errorf("%w: %s has no context %q; kubectl config get-contexts lists them, and --context names another", ErrNoCredential, at.name, f.context)
	}
	if err := a.permitted(c.Kubeconfig, context); err != nil {
		return found{}, fmt.Errorf("%s, context %s: %w", at.name, f.context, err)
	}
	return f, nil
}

// place is where a kubeconfig is.
type place struct {
	name   string
	shared bool // it has contexts of several clusters
}

// load reads the kubeconfig of a cluster, and says where it is.
func (a Access) load(ctx context.Context, cluster *karmada.Cluster) (credential.Credential, place, error) {
	if a.Folder == "" && a.Kubeconfig == "" && a.Context == "" && a.Secrets != nil {
		secrets, err := a.Secrets()
		if err != nil {
			return credential.Credential{}, place{}, err
		}
		if secrets != nil {
			c, at, err := a.loadSecret(ctx, secrets, cluster)
			return c, place{name: at}, err
		}
	}
	config, at, err := a.loadFile(cluster.Name)
	return credential.Credential{Kubeconfig: config}, place{at, a.Folder == "" && !a.Alone}, err
}

// loadSecret reads the Secret that a Cluster names, or that is called after it.
func (a Access) loadSecret(ctx context.Context, secrets Secrets, cluster *karmada.Cluster) (c credential.Credential, at string, err error) {
	name := credential.Name(cluster.Name)
	if ref := cluster.Spec.SecretRef; ref != nil {
		if name = ref.Name; ref.Namespace != secrets.In() {
			return c, "", fmt.Errorf("%w: spec.secretRef of its Cluster is in the namespace %s, and Secrets are read in %s only; name that, or the other with --cluster-secrets-namespace", ErrNoCredential, ref.Namespace, secrets.In())
		}
	}
	at = "the Secret " + secrets.In() + "/" + name
	data, err := secrets.Secret(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		return c, at, fmt.Errorf("%w: there is no Secret %s/%s", ErrNoCredential, secrets.In(), name)
	case err != nil:
		return c, at, err
	}
	if c, err = credential.Read(cluster, data, a.Hosts); err != nil {
		err = fmt.Errorf("%s: %w", at, err)
	}
	return c, at, err
}

// loadFile reads the kubeconfig of a cluster from files, and says from which.
func (a Access) loadFile(cluster string) (config *api.Config, at string, err error) {
	at = a.Kubeconfig
	if a.Folder != "" {
		at = filepath.Join(a.Folder, cluster+".kubeconfig")
	}
	if at == "" {
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		config, err = rules.Load()
		return config, strings.Join(rules.Precedence, ", "), err
	}
	config, err = clientcmd.LoadFromFile(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, at, fmt.Errorf("%w: there is no file %s", ErrNoCredential, at)
	case err != nil:
		return nil, at, fmt.Errorf("reading %s: %w", at, err)
	}
	// names of files in it are relative to it
	if err := clientcmd.ResolveLocalPaths(located(config, at)); err != nil {
		return nil, at, fmt.Errorf("reading %s: %w", at, err)
	}
	return config, at, nil
}

// located says of each part of a kubeconfig where it stands.
func located(c *api.Config, at string) *api.Config {
	for _, x := range c.Clusters {
		x.LocationOfOrigin = at
	}
	for _, x := range c.AuthInfos {
		x.LocationOfOrigin = at
	}
	return c
}

// permitted refuses a context by which somebody on the way could pass for the cluster, or
// read the credential, or which runs a program that nobody allowed.
func (a Access) permitted(c *api.Config, context *api.Context) error {
	cluster, user := c.Clusters[context.Cluster], c.AuthInfos[context.AuthInfo]
	if cluster == nil || user == nil {
		return fmt.Errorf("its cluster %q or its user %q is not there", context.Cluster, context.AuthInfo)
	}
	server, err := url.Parse(cluster.Server)
	switch {
	case err != nil || server.Scheme != "https":
		return fmt.Errorf("its server is %q, and a credential is only sent over https", cluster.Server)
	case cluster.InsecureSkipTLSVerify:
		return errors.New("it has insecure-skip-tls-verify, so that anybody could pass for the cluster; give certificate-authority-data instead")
	case user.AuthProvider != nil:
		return fmt.Errorf("its auth-provider %q is not supported; use an exec plugin, a token or a certificate", user.AuthProvider.Name)
	case user.Exec != nil && !slices.Contains(a.Exec, user.Exec.Command):
		return fmt.Errorf("it runs the program %q for its credential, which was not allowed; --allow-exec %s allows it", user.Exec.Command, user.Exec.Command)
	}
	return nil
}
