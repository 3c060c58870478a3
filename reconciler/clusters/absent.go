package clusters

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// builtInSettles is how long an API server has to go without a built-in kind until it is taken not to
// have it: one that starts does not name all of its kinds at once.
const builtInSettles = 30 * time.Second

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)

// Missed remembers since when a cluster does not name built-in kinds. It is for one client at a time.
type Missed map[schema.GroupKind]time.Time

// lasts returns for how long the cluster does not name a kind: from now on, if it is not remembered.
func (m Missed) lasts(k schema.GroupKind, now time.Time) time.Duration {
	if _, known := m[k]; !known {
		m[k] = now
	}
	return now.Sub(m[k])
}

// absent returns nil if it is certain that a cluster has nothing of a kind that its discovery does not name.
// Otherwise the error says why that is not known: an API server that starts names its kinds one after the
// other, and one whose extension is away does not name those of that.
func (c *Client) absent(ctx context.Context, k schema.GroupKind) error {
	err := c.certainlyAbsent(ctx, k)
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		return fmt.Errorf("it does not serve %s now, and whether that is for good may not be looked at: %w", k, err)
	}
	return fmt.Errorf("it does not serve %s now, and that may pass: %w", k, err)
}

func (c *Client) certainlyAbsent(ctx context.Context, k schema.GroupKind) error {
	if err := c.disco.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return fmt.Errorf("it is not ready: %w", err)
	}
	if isBuiltIn(k.Group) && (c.Missed == nil || c.Now == nil) {
		return errors.New("nobody remembers for how long it was not named")
	}
	if isBuiltIn(k.Group) {
		if lasted := c.Missed.lasts(k, c.Now()); lasted < builtInSettles {
			return fmt.Errorf("it was not named for %s, and counts as gone after %s", lasted.Round(time.Second), builtInSettles)
		}
		return nil
	}
	defined, err := c.inGroup(ctx, definitions, k.Group)
	if err != nil {
		return err
	}
	for _, name := range defined {
		if err := c.definesOther(ctx, name, k); err != nil {
			return err
		}
	}
	if len(defined) > 0 {
		return nil
	}
	served, err := c.inGroup(ctx, apiServices, k.Group)
	switch {
	case apierrors.IsNotFound(err): // there are none here
		return nil
	case err != nil:
		return err
	case len(served) > 0:
		return fmt.Errorf("there is the APIService %s", served[0])
	}
	return nil
}

// isBuiltIn reports a group of the API server's own.
func isBuiltIn(group string) bool {
	return group == definitions.Group || group == apiServices.Group || scheme.Scheme.IsGroupRegistered(group)
}

// inGroup lists the objects of a resource whose names say that they are about a group: its CustomResourceDefinitions
// are called PLURAL.GROUP, and its APIServices VERSION.GROUP.
func (c *Client) inGroup(ctx context.Context, resource schema.GroupVersionResource, group string) (names []string, err error) {
	var l *metav1.PartialObjectMetadataList
	err = retried(ctx, func(ctx context.Context) (err error) {
		l, err = c.metadata.Resource(resource).List(ctx, metav1.ListOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range l.Items {
		if _, of, _ := strings.Cut(l.Items[i].Name, "."); of == group {
			names = append(names, l.Items[i].Name)
		}
	}
	return names, nil
}

// definesOther returns an error if a CustomResourceDefinition is that of a kind, or cannot be read.
func (c *Client) definesOther(ctx context.Context, name string, k schema.GroupKind) error {
	var crd *unstructured.Unstructured
	err := retried(ctx, func(ctx context.Context) (err error) {
		crd, err = c.objects.Resource(definitions).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind"); kind == k.Kind {
		return errors.New("there is the CustomResourceDefinition " + name)
	}
	return nil
}
