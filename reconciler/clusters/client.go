// Package clusters reaches clusters: it finds their credentials, recognises them, and is what
// reconciler/apply acts on. Every request that changes a cluster is made here.
//
// A cluster is recognised by the UID of its Namespace kube-system, asked for over a connection
// whose certificate was verified, before anything is written. A kubeconfig that answers for
// another cluster is refused.
package clusters

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
)

const (
	// concurrency is how many requests are under way at once: on real API servers more gains
	// little.
	concurrency = 16
	// requestTime is how long one request may take. An API server ends one of its own accord
	// after a minute.
	requestTime = 65 * time.Second
)

// Client acts on one cluster. It is for one round at a time.
type Client struct {
	// Credential is what is known of that which it has.
	Credential Credential
	// Judge knows what is healthy; nil for one that knows the built-in kinds and those of other
	// projects.
	Judge *health.Judge
	// Shared says that other clusters are on the same API server: it is virtual, or has virtual ones.
	Shared bool
	// Saw is told of the health of objects while Watch watches, whenever it changes since Health
	// looked; nil: nobody is.
	Saw func(object.Ref, health.Health)

	// Missed is what is remembered from one client of the cluster to the next of kinds that it does not serve, by the
	// clock Now; without them no built-in kind is taken for gone.
	Missed Missed
	Now    func() time.Time

	name     string
	expected string // the UID that the Cluster's spec.id says; empty where it says none
	objects  dynamic.Interface
	metadata metadata.Interface
	disco    discovery.DiscoveryInterface
	// writes are what objects are changed by: the same, or a service account.
	writes struct {
		objects  dynamic.Interface
		metadata metadata.Interface
	}

	mapper meta.RESTMapper
	failed map[string]error // groups whose kinds could not be learnt, by name
	// unsure says of kinds that are not served why they may be all the same.
	unsure map[schema.GroupKind]error
	listed map[scope]string    // resourceVersions of the last lists
	judged map[scope]judgement // the last lists for health
	clock  *serverClock
}

// Open prepares a client. It sends nothing. ID is the Cluster's spec.id, which may be empty.
// Account is the service account that objects are changed as, NAMESPACE/NAME or a NAME in the
// namespace of the inventory; the credential impersonates it. Empty: as the credential.
func Open(cluster, id, account string, config *rest.Config) (*Client, error) {
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("reaching %s: %w", cluster, err)
	}
	c := &Client{name: cluster, expected: id, Credential: CredentialOf(config), clock: &serverClock{next: transport.Transport}}
	timed := *transport // it may be everybody's
	timed.Transport, transport = c.clock, &timed
	if c.objects, err = dynamic.NewForConfigAndClient(config, transport); err != nil {
		return nil, fmt.Errorf("reaching %s: %w", cluster, err)
	}
	quiet := rest.CopyConfig(config) // that a kind is deprecated is no news to who lists it
	quiet.WarningHandler = rest.NoWarnings{}
	if c.metadata, err = metadata.NewForConfigAndClient(quiet, transport); err != nil {
		return nil, fmt.Errorf("reaching %s: %w", cluster, err)
	}
	if c.writes.metadata, err = metadata.NewForConfigAndClient(config, transport); err != nil {
		return nil, fmt.Errorf("reaching %s: %w", cluster, err)
	}
	if c.disco, err = discovery.NewDiscoveryClientForConfigAndClient(config, transport); err != nil {
		return nil, fmt.Errorf("reaching %s: %w", cluster, err)
	}
	return c, c.impersonate(account, config)
}

// impersonate has objects changed as a service account, as Flux's serviceAccountName. What is
// there is looked at, and the inventory written, as the credential.
func (c *Client) impersonate(account string, config *rest.Config) error {
	c.writes.objects = c.objects
	if account == "" {
		return nil
	}
	namespace, name, ok := strings.Cut(account, "/")
	if !ok {
		namespace, name = Namespace, account
	}
	if len(validation.IsDNS1123Label(namespace))+len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fmt.Errorf("%q is no service account; write its name, or its namespace, a slash and its name", account)
	}
	as := rest.CopyConfig(config)
	as.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + name}
	transport, err := rest.HTTPClientFor(as)
	if err != nil {
		return fmt.Errorf("reaching %s: %w", c.name, err)
	}
	if c.writes.objects, err = dynamic.NewForConfigAndClient(as, transport); err != nil {
		return fmt.Errorf("reaching %s: %w", c.name, err)
	}
	if c.writes.metadata, err = metadata.NewForConfigAndClient(as, transport); err != nil {
		return fmt.Errorf("reaching %s: %w", c.name, err)
	}
	return nil
}

// Reachable returns an error if the cluster does not say who it is at once.
func (c *Client) Reachable(ctx context.Context) error {
	const soon = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	_, err := c.identity(ctx)
	return err
}

// discover learns which kinds the cluster serves. A group that does not answer is remembered:
// its kinds are not taken for absent.
func (c *Client) discover(ctx context.Context) error {
	var groups []*metav1.APIGroup
	var lists []*metav1.APIResourceList
	silent, err := discovered(ctx, func() (err error) {
		groups, lists, err = c.disco.ServerGroupsAndResources()
		return err
	})
	if err != nil {
		return err
	}
	c.failed = map[string]error{}
	if silent != nil {
		for gv, why := range silent.Groups {
			c.failed[gv.Group] = why
		}
	}
	byVersion := map[string]*metav1.APIResourceList{}
	for _, l := range lists {
		byVersion[l.GroupVersion] = l
	}
	var all []*restmapper.APIGroupResources
	for _, g := range groups {
		r := &restmapper.APIGroupResources{Group: *g, VersionedResources: map[string][]metav1.APIResource{}}
		for _, v := range g.Versions {
			if l := byVersion[v.GroupVersion]; l != nil {
				r.VersionedResources[v.Version] = l.APIResources
			}
		}
		all = append(all, r)
	}
	c.mapper = restmapper.NewDiscoveryRESTMapper(all)
	return nil
}

// discovered asks a server which kinds it serves. Groups that do not answer are returned, and not waited for: those of an extension may
// be away for good.
func discovered(ctx context.Context, ask func() error) (silent *discovery.ErrGroupDiscoveryFailed, err error) {
	err = retried(ctx, func(context.Context) error {
		err := ask()
		if partly, ok := errors.AsType[*discovery.ErrGroupDiscoveryFailed](err); ok {
			silent, err = partly, nil
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("asking which kinds it serves: %w", err)
	}
	return silent, nil
}

// errNotServed says that a cluster does not serve a kind.
var errNotServed = errors.New("the cluster does not serve its kind")

// resource returns where a kind is served: in a version, or in the one that the cluster
// prefers. The error is errNotServed only if that is certain.
func (c *Client) resource(k schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m, err := c.mapper.RESTMapping(k, versions...)
	switch {
	case err == nil:
		return m, nil
	case c.failed[k.Group] != nil:
		return nil, fmt.Errorf("the API group %s does not answer: %w", k.Group, c.failed[k.Group])
	case meta.IsNoMatchError(err) && len(versions) > 0:
		return nil, fmt.Errorf("%w %s in version %s", errNotServed, k, versions[0])
	case meta.IsNoMatchError(err):
		return nil, fmt.Errorf("%w %s", errNotServed, k)
	}
	return nil, fmt.Errorf("looking for the kind %s: %w", k, err)
}

// at returns what reads and writes the metadata of an object.
func (c *Client) at(m *meta.RESTMapping, r object.Ref) metadata.ResourceInterface {
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		return c.writes.metadata.Resource(m.Resource).Namespace(r.Namespace)
	}
	return c.writes.metadata.Resource(m.Resource)
}

// Serve implements apply.Cluster. A kind that is not served in time is refused with its
// objects.
func (c *Client) Serve(ctx context.Context, kinds []schema.GroupKind) {
	if len(kinds) == 0 {
		return
	}
	patience := wait.Backoff{Duration: 50 * time.Millisecond, Factor: 1.5, Steps: 15} // half a minute; a Cap would end it where it is reached
	_ = wait.ExponentialBackoffWithContext(ctx, patience, func(ctx context.Context) (bool, error) {
		if err := c.discover(ctx); err != nil {
			return false, nil // it is tried again
		}
		for _, k := range kinds {
			if _, err := c.resource(k); err != nil {
				return false, nil // it is tried again
			}
		}
		return true, nil
	})
}

// retried sends a request again while the server, or the way there, has not enough time for
// it. What a server says of Retry-After the client has waited for already.
func retried(ctx context.Context, send func(context.Context) error) error {
	patience := wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 6, Cap: 10 * time.Second}
	var last error
	err := wait.ExponentialBackoffWithContext(ctx, patience, func(ctx context.Context) (bool, error) {
		one, cancel := context.WithTimeout(ctx, requestTime)
		defer cancel()
		if last = send(one); last != nil && !passing(last) {
			return false, last
		}
		return last == nil, nil
	})
	if last != nil && ctx.Err() == nil {
		return last
	}
	return err
}

// passing reports an error that may be gone a moment later: the server has no time, or the way
// there lost a request or its answer. To send a request twice does no harm: an apply is what it
// was, and what is deleted or replaced is named by its version.
func passing(err error) bool {
	if answered(err) {
		return apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err)
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return !untrusted
}

// answered reports an error that the API server returned, and not the way there.
func answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}
