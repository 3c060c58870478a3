package clusters

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Access says how clusters are reached. Endpoint, authority and proxy are taken from where the
// credential is, never from the source: the source must not lead a token elsewhere.
type Access struct {
	// Folder holds a file <cluster>.kubeconfig for each cluster.
	Folder string
	// Kubeconfig is a file with a context for each cluster, called as the cluster; empty: where
	// kubectl looks for it.
	Kubeconfig string
	// Context is the context to use whatever the cluster is called.
	Context string
	// Exec lists the commands that a kubeconfig may run to get a credential, as they are
	// written there.
	Exec []string
	// Agent is what requests call this program.
	Agent string
}

// ErrNoCredential says that nothing tells how a cluster is reached.
var ErrNoCredential = errors.New("there is no credential for it")

// Config returns how a cluster is reached.
func (a Access) Config(cluster string) (*rest.Config, error) {
	loader, err := a.Loader(cluster, "")
	if err != nil {
		return nil, err
	}
	c, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of %s: %w", cluster, err)
	}
	// the API server's own priority and fairness bounds what a client gets
	c.QPS, c.UserAgent = -1, a.Agent
	return c, nil
}

// Loader returns the kubeconfig of a cluster in the form that kubectl's libraries take. The
// namespace is that of its context, unless another one is given.
func (a Access) Loader(cluster, namespace string) (clientcmd.ClientConfig, error) {
	raw, at, err := a.load(cluster)
	if err != nil {
		return nil, err
	}
	name := a.Context
	if name == "" && a.Folder == "" {
		name = cluster
	}
	if name == "" {
		name = raw.CurrentContext
	}
	context, ok := raw.Contexts[name]
	if !ok {
		return nil, fmt.Errorf("%w: %s has no context %q; kubectl config get-contexts lists them, and --context names another", ErrNoCredential, at, name)
	}
	if err := a.permitted(raw, context); err != nil {
		return nil, fmt.Errorf("%s, context %s: %w", at, name, err)
	}
	overrides := clientcmd.ConfigOverrides{Context: api.Context{Namespace: namespace}}
	return clientcmd.NewNonInteractiveClientConfig(*raw, name, &overrides, nil), nil
}

// load reads the kubeconfig of a cluster, and says where it is.
func (a Access) load(cluster string) (config *api.Config, at string, err error) {
	at = a.Kubeconfig
	if a.Folder != "" {
		at = filepath.Join(a.Folder, cluster+".kubeconfig")
	}
	if at == "" {
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		config, err = rules.Load()
		return config, strings.Join(rules.Precedence, ", "), err //nolint:wrapcheck // it names the file
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

// Recognise asks a cluster who it is, and refuses one whose Namespace kube-system has another
// UID than the Cluster's spec.id says. It is for those who only look, and asks once; where
// there is no id it asks nothing.
func Recognise(ctx context.Context, cluster, id string, config *rest.Config) error {
	if id == "" {
		return nil
	}
	uid, err := uidOf(ctx, cluster, config)
	if err != nil {
		return err
	}
	if uid != id {
		return fmt.Errorf("this is not %s: its Cluster has the id %s, and this one has %s; have its kubeconfig looked at", cluster, id, uid)
	}
	return nil
}

// Identity is what a cluster says of itself.
type Identity struct {
	ID      string // the UID of its Namespace kube-system
	Version string // of its API server, such as v1.35.0
}

// Identify asks a cluster who it is.
func Identify(ctx context.Context, cluster string, config *rest.Config) (Identity, error) {
	uid, err := uidOf(ctx, cluster, config)
	if err != nil {
		return Identity{}, fmt.Errorf("asking %s who it is: %w", cluster, err)
	}
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return Identity{}, fmt.Errorf("reaching %s: %w", cluster, err)
	}
	version, err := d.ServerVersionWithContext(ctx)
	if err != nil {
		return Identity{}, fmt.Errorf("asking %s for its version: %w", cluster, err)
	}
	return Identity{ID: uid, Version: version.GitVersion}, nil
}

// uidOf asks a cluster for the UID of its Namespace kube-system.
func uidOf(ctx context.Context, cluster string, config *rest.Config) (string, error) {
	c, err := metadata.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("reaching %s: %w", cluster, err)
	}
	ns, err := c.Resource(namespaces).Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", err //nolint:wrapcheck // it names the request
	}
	return string(ns.UID), nil
}
