// Package management reaches the cluster that a controller belongs to: the one that it runs
// in, or that a kubeconfig names. All that it reads there is in one namespace.
package management

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// requestTime is how long a request may take: less than what a Lease is renewed in.
const requestTime = 5 * time.Second

// ErrNone says that this runs in no cluster, and that no kubeconfig names one.
var ErrNone = errors.New("there is no management cluster: this runs in no Pod that has a token; name a kubeconfig with --management-kubeconfig")

// Cluster is the one that the controller belongs to.
type Cluster struct {
	namespace string
	client    kubernetes.Interface
}

// Open finds the cluster. It sends nothing. Kubeconfig may be empty: then it is the cluster
// that this runs in. So may namespace: then it is that of the kubeconfig's context, or the
// Pod's own.
func Open(kubeconfig, namespace, agent string) (*Cluster, error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}, nil)
	config, err := loader.ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err) && kubeconfig == "":
		return nil, ErrNone
	case err != nil:
		return nil, fmt.Errorf("reading how the management cluster is reached: %w", err)
	}
	c := &Cluster{namespace: namespace}
	if namespace == "" {
		if c.namespace, _, err = loader.Namespace(); err != nil {
			return nil, fmt.Errorf("reading which namespace is meant: %w", err)
		}
	}
	config.QPS, config.UserAgent, config.Timeout = -1, agent, requestTime // the server's own fairness bounds it
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("reaching the management cluster: %w", err)
	}
	return c, nil
}

// In is the only namespace in which something is read or written.
func (c *Cluster) In() string { return c.namespace }

// Leases are those of the cluster.
func (c *Cluster) Leases() coordination.LeasesGetter { return c.client.CoordinationV1() }

// Secret returns the data of a Secret.
func (c *Cluster) Secret(ctx context.Context, name string) (map[string][]byte, error) {
	s, err := c.client.CoreV1().Secrets(c.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the Secret %s/%s: %w", c.namespace, name, err)
	}
	return s.Data, nil
}
