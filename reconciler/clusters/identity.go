package clusters

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Recognise asks a cluster who it is, and refuses one whose Namespace kube-system has another
// UID than the Cluster's spec.id says. It is for those who only look, and asks once; where
// there is no id it asks nothing.
func Recognise(ctx context.Context, cluster, id string, config *rest.Config) error {
	if id == "" {
		return nil
	}
	uid, err := UIDOf(ctx, cluster, config)
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
	uid, err := UIDOf(ctx, cluster, config)
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

// UIDOf asks a cluster for the UID of its Namespace kube-system.
func UIDOf(ctx context.Context, cluster string, config *rest.Config) (string, error) {
	c, err := metadata.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("reaching %s: %w", cluster, err)
	}
	ns, err := c.Resource(namespaces).Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return string(ns.UID), nil
}
