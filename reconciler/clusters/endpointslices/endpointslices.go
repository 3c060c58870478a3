// Package endpointslices watches the EndpointSlices of a cluster, and changes those that Waybill made.
package endpointslices

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	discovery "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	typed "k8s.io/client-go/kubernetes/typed/discovery/v1"
	"k8s.io/client-go/rest"

	"github.com/waybill-dev/waybill/reconciler/endpoints"
)

// Manager is the field manager of slices that Waybill makes.
const Manager = "waybill-services"

// patience is how long an API server has to answer a request.
const patience = 20 * time.Second

// ErrTaken says that somebody else manages a slice of that name.
var ErrTaken = errors.New("somebody else manages it")

// Client is for the slices of one cluster. Several may use it at once.
type Client struct {
	cluster string
	api     typed.EndpointSlicesGetter
}

// Open prepares a client. It sends nothing.
func Open(cluster string, config *rest.Config) (*Client, error) {
	api, err := typed.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("reaching %s: %w", cluster, err)
	}
	return &Client{cluster, api}, nil
}

// Watch tells of all slices that a selector finds, at first and whenever one changes, until ctx ends or it cannot go on.
func (c *Client) Watch(ctx context.Context, selector string, tell func([]*discovery.EndpointSlice)) error {
	all := c.api.EndpointSlices(metav1.NamespaceAll)
	listing, cancel := context.WithTimeout(ctx, patience)
	list, err := all.List(listing, metav1.ListOptions{LabelSelector: selector})
	cancel()
	if err != nil {
		return fmt.Errorf("listing EndpointSlices of %s: %w", c.cluster, err)
	}
	there := byUID{}
	for i := range list.Items {
		there[list.Items[i].UID] = &list.Items[i]
	}
	tell(slices.Collect(maps.Values(there)))
	for version := list.ResourceVersion; ; {
		w, err := all.Watch(ctx, metav1.ListOptions{LabelSelector: selector, ResourceVersion: version, AllowWatchBookmarks: true})
		if err != nil {
			return fmt.Errorf("watching EndpointSlices of %s: %w", c.cluster, err)
		}
		was := version
		if version, err = follow(w, version, there, tell); err != nil {
			return fmt.Errorf("watching EndpointSlices of %s: %w", c.cluster, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if version == was { // a server that ends watches at once is not asked again at once
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.NewTimer(time.Second).C:
			}
		}
	}
}

// byUID are slices by their UIDs.
type byUID map[types.UID]*discovery.EndpointSlice

// follow keeps what is there as a watch says, until that ends, and returns how far it came.
func follow(w watch.Interface, version string, there byUID, tell func([]*discovery.EndpointSlice)) (string, error) {
	defer w.Stop()
	for e := range w.ResultChan() {
		if e.Type == watch.Error {
			return version, apierrors.FromObject(e.Object)
		}
		s, ok := e.Object.(*discovery.EndpointSlice)
		if !ok {
			return version, fmt.Errorf("it tells of a %T", e.Object)
		}
		version = s.ResourceVersion
		switch e.Type {
		case watch.Added, watch.Modified:
			there[s.UID] = s
		case watch.Deleted:
			delete(there, s.UID)
		default: // a bookmark
			continue
		}
		tell(slices.Collect(maps.Values(there)))
	}
	return version, nil
}

// Apply applies a slice. One with a UID is changed if it is that one; without, it is made. If there is one of that name already, it takes
// its place where it may (endpoints.IsReplaced), and otherwise that is ErrTaken.
func (c *Client) Apply(ctx context.Context, s *discovery.EndpointSlice) error {
	if s.UID != "" {
		return c.patch(ctx, s, true)
	}
	getting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	switch is, err := c.api.EndpointSlices(s.Namespace).Get(getting, s.Name, metav1.GetOptions{}); {
	case apierrors.IsNotFound(err):
		return c.patch(ctx, s, false)
	case err != nil:
		return fmt.Errorf("looking at the EndpointSlice %s/%s of %s: %w", s.Namespace, s.Name, c.cluster, err)
	case !endpoints.IsReplaced(is, s):
		return fmt.Errorf("applying the EndpointSlice %s/%s to %s: %w: its label %s is %q", s.Namespace, s.Name, c.cluster, ErrTaken, discovery.LabelManagedBy, is.Labels[discovery.LabelManagedBy])
	default:
		over := *s
		over.UID, over.ResourceVersion = is.UID, is.ResourceVersion
		return c.patch(ctx, &over, true)
	}
}

// patch applies a slice by server-side apply.
func (c *Client) patch(ctx context.Context, s *discovery.EndpointSlice, force bool) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("applying the EndpointSlice %s/%s to %s: %w", s.Namespace, s.Name, c.cluster, err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	by := metav1.PatchOptions{FieldManager: Manager, Force: &force}
	_, err = c.api.EndpointSlices(s.Namespace).Patch(ctx, s.Name, types.ApplyPatchType, data, by)
	if err != nil {
		return fmt.Errorf("applying the EndpointSlice %s/%s to %s: %w", s.Namespace, s.Name, c.cluster, err)
	}
	return nil
}

// Delete deletes a slice, if it is that one still.
func (c *Client) Delete(ctx context.Context, s *discovery.EndpointSlice) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := c.api.EndpointSlices(s.Namespace).Delete(ctx, s.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &s.UID}})
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return fmt.Errorf("deleting the EndpointSlice %s/%s of %s: %w", s.Namespace, s.Name, c.cluster, err)
}
