package clusters

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/render/object"
)

// Owned lists what we applied for a source, by the objects alone, whatever an inventory says, in
// the order of their names. It lists the metadata of every kind that the cluster serves. Kinds
// that could not be listed are in the error, beside what was found.
func (c *Client) Owned(ctx context.Context, owner string) ([]object.Ref, error) {
	if err := c.discover(ctx); err != nil {
		return nil, err
	}
	var lists []*metav1.APIResourceList
	silent, err := discovered(ctx, func() (err error) {
		lists, err = c.disco.ServerPreferredResources()
		return err
	})
	if err != nil {
		return nil, err
	}
	var failed []error
	if silent != nil {
		failed = append(failed, silent)
	}
	kinds := listable(lists)
	found, errs := make([][]object.Ref, len(kinds)), make([]error, len(kinds))
	var group errgroup.Group
	group.SetLimit(concurrency)
	for i, k := range kinds {
		group.Go(func() error {
			found[i], errs[i] = c.ownedOf(ctx, k, owner)
			return nil
		})
	}
	_ = group.Wait() // errs has the errors
	all := slices.Concat(found...)
	slices.SortFunc(all, object.Ref.Compare)
	return all, errors.Join(append(failed, errs...)...)
}

// resource is a kind and how it is called in paths.
type resource struct {
	kind schema.GroupKind
	path schema.GroupVersionResource
}

// listable are the kinds whose objects can be listed and deleted.
func listable(lists []*metav1.APIResourceList) []resource {
	var all []resource
	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range l.APIResources {
			if slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "delete") {
				all = append(all, resource{schema.GroupKind{Group: gv.Group, Kind: r.Kind}, gv.WithResource(r.Name)})
			}
		}
	}
	return all
}

// ownedOf lists what we applied of a kind, page by page.
func (c *Client) ownedOf(ctx context.Context, r resource, owner string) ([]object.Ref, error) {
	const page = 500
	var all []object.Ref
	next := ""
	for {
		var l *metav1.PartialObjectMetadataList
		err := retried(ctx, func(ctx context.Context) (err error) {
			l, err = c.metadata.Resource(r.path).List(ctx, metav1.ListOptions{Limit: page, Continue: next})
			return err
		})
		if err != nil {
			return all, fmt.Errorf("listing %s: %w", r.path.GroupResource(), err)
		}
		for i := range l.Items {
			if apply.Owned(&l.Items[i], owner) {
				all = append(all, refTo(r.kind, &l.Items[i]))
			}
		}
		if next = l.Continue; next == "" {
			return all, nil
		}
	}
}
