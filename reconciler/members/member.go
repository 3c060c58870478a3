// Package members shows what clusters hold now. It asks all of them at once, each by its own
// discovery and with a deadline of its own, so that one that does not answer is a line and
// delays nobody. Kinds, selectors and printing are kubectl's: its libraries find the objects
// and print them, and this package puts the answers of several clusters together.
package members

import (
	"cmp"
	"context"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	_ "github.com/waybill-dev/waybill/reconciler/members/english" // before kubectl's packages
)

// Way is how a cluster is reached, and which namespace of it is meant.
type Way struct {
	Access clusters.Access
	// Namespace is the one to look in; empty: that of the cluster's context in its kubeconfig.
	Namespace string
	// Request is how long one request may take; zero: as long as it takes.
	Request time.Duration
}

// Member is a cluster in the form that kubectl's libraries take: it implements their
// RESTClientGetter. It is for one caller at a time.
type Member struct {
	virtual   *virtual.Mapping // nil for a cluster with an API server of its own
	loader    clientcmd.ClientConfig
	config    *rest.Config
	discovery discovery.CachedDiscoveryInterface
	mapper    meta.RESTMapper
}

// Open finds the credential of a cluster, and reaches it. If its id is known it asks the cluster who it is, and
// refuses another one. It asks which kinds it serves.
func (w Way) Open(ctx context.Context, c *karmada.Cluster) (*Member, error) {
	m := &Member{virtual: virtual.Of(c)}
	var err error
	if m.config, err = w.Access.Config(ctx, c); err != nil {
		return nil, err
	}
	m.config.Timeout = w.Request
	if m.loader, err = w.Access.Loader(ctx, c, w.namespace(m.virtual)); err != nil {
		return nil, err
	}
	if err := clusters.Recognise(ctx, c.Name, c.Spec.ID, m.config); err != nil {
		return nil, err
	}
	client, err := discovery.NewDiscoveryClientForConfig(m.config)
	if err != nil {
		return nil, err
	}
	m.discovery = memory.NewMemCacheClient(client)
	if _, err := m.discovery.ServerGroups(); err != nil { // else the mapper would try again and again
		return nil, err
	}
	m.mapper = restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(m.discovery), m.discovery, func(string) {})
	return m, nil
}

// namespace is the one to look in, as the API server calls it. The context of a virtual cluster is
// that of its host, whose namespace means nothing there.
func (w Way) namespace(m *virtual.Mapping) string {
	if m == nil {
		return w.Namespace
	}
	return m.Namespace(cmp.Or(w.Namespace, "default"))
}

// ToRESTConfig implements genericclioptions.RESTClientGetter. Callers may change what it returns.
func (m *Member) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(m.config), nil }

// ToDiscoveryClient implements genericclioptions.RESTClientGetter.
func (m *Member) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return m.discovery, nil
}

// ToRESTMapper implements genericclioptions.RESTClientGetter.
func (m *Member) ToRESTMapper() (meta.RESTMapper, error) { return m.mapper, nil }

// ToRawKubeConfigLoader implements genericclioptions.RESTClientGetter.
func (m *Member) ToRawKubeConfigLoader() clientcmd.ClientConfig { return m.loader }

// Warn has what API servers warn of printed, each warning once.
func Warn(out io.Writer) {
	rest.SetDefaultWarningHandler(rest.NewWarningWriter(out, rest.WarningWriterOptions{Deduplicate: true}))
}
