package clusters

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/waybill-dev/waybill/render/object"
)

// errExpired says that a watch cannot go on from where it was.
var errExpired = errors.New("what happened since is not kept; list again")

// Watch tells of every change of metadata since Observe listed it, until ctx ends or until the
// server does not remember what happened. Live is nil for what was deleted. A kind that was not
// served then is watched from now on.
func (c *Client) Watch(ctx context.Context, kinds []schema.GroupKind, changed func(r object.Ref, live *metav1.PartialObjectMetadata)) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, k := range kinds {
		if _, err := c.resource(k); err == nil {
			group.Go(func() error { return c.watch(ctx, k, changed) })
		}
	}
	return group.Wait() //nolint:wrapcheck // it is ours, or that of the context
}

// watch watches a kind, again and again.
func (c *Client) watch(ctx context.Context, k schema.GroupKind, changed func(object.Ref, *metav1.PartialObjectMetadata)) error {
	m, err := c.resource(k)
	if err != nil {
		return err
	}
	version := c.listed[k]
	patience := wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.5, Steps: 1 << 30, Cap: 30 * time.Second}
	return wait.ExponentialBackoffWithContext(ctx, patience, func(ctx context.Context) (bool, error) { //nolint:wrapcheck // it is ours, or that of the context
		w, err := c.metadata.Resource(m.Resource).Watch(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			return false, errExpired
		}
		if err != nil {
			return false, nil //nolint:nilerr // it is tried again
		}
		defer w.Stop()
		for e := range w.ResultChan() {
			live, ok := e.Object.(*metav1.PartialObjectMetadata)
			if !ok {
				return false, errExpired // an error of the server, of which this is the usual one
			}
			version = live.ResourceVersion
			switch e.Type {
			case watch.Added, watch.Modified:
				changed(refTo(k, live), live)
			case watch.Deleted:
				changed(refTo(k, live), nil)
			case watch.Bookmark, watch.Error:
			}
		}
		return false, nil // servers end a watch after some minutes
	})
}
