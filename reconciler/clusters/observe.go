package clusters

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/render/object"
)

// seen is what a cluster has at a scope.
type seen struct {
	items   []metav1.PartialObjectMetadata
	version string
	unknown error
}

// Observe implements apply.Cluster: one list of metadata a scope, which the API server answers
// from its cache.
func (c *Client) Observe(ctx context.Context, wanted map[object.Ref]bool) (apply.Facts, error) {
	if err := c.discover(ctx); err != nil {
		return apply.Facts{}, err
	}
	scopes := c.scopes(maps.Keys(wanted))
	c.markUnresolved(ctx, scopes)
	answers := make([]seen, len(scopes))
	group, asking := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for i, p := range scopes {
		group.Go(func() (err error) {
			answers[i], err = c.list(asking, p)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return apply.Facts{}, err
	}
	facts := apply.Facts{Live: map[object.Ref]*metav1.PartialObjectMetadata{}, Unknown: map[schema.GroupKind]error{}}
	c.listed = map[scope]string{}
	for i, p := range scopes {
		c.listed[p] = answers[i].version
		if answers[i].unknown != nil {
			facts.Unknown[p.kind] = answers[i].unknown
		}
		for n := range answers[i].items {
			item := &answers[i].items[n]
			if r := refTo(p.kind, item); wanted[r] {
				facts.Live[r] = item
			}
		}
	}
	var err error
	facts.Reconciled, facts.Unreconciled, err = c.reconciled(ctx, facts.Live)
	return facts, err
}

// markUnresolved finds out of the kinds of scopes that are not served whether it is certain that nothing of them is there.
func (c *Client) markUnresolved(ctx context.Context, scopes []scope) {
	c.unsure = map[schema.GroupKind]error{}
	for _, p := range scopes {
		if _, asked := c.unsure[p.kind]; asked {
			continue
		}
		if _, err := c.resource(p.kind); errors.Is(err, errNotServed) {
			c.unsure[p.kind] = c.absent(ctx, p.kind)
		}
	}
	maps.DeleteFunc(c.Missed, func(k schema.GroupKind, _ time.Time) bool {
		_, err := c.resource(k)
		return err == nil
	})
}

// list lists the objects of a scope. What the server refuses is not known; that it cannot be
// reached is an error.
func (c *Client) list(ctx context.Context, p scope) (seen, error) {
	m, err := c.resource(p.kind)
	if errors.Is(err, errNotServed) {
		return seen{unknown: c.unsure[p.kind]}, nil
	}
	if err != nil {
		return seen{unknown: err}, nil
	}
	var l *metav1.PartialObjectMetadataList
	err = retried(ctx, func(ctx context.Context) (err error) {
		l, err = c.metadataIn(m, p).List(ctx, metav1.ListOptions{})
		return err
	})
	if answered(err) {
		return seen{unknown: err}, nil
	}
	if err != nil {
		return seen{}, err
	}
	return seen{items: l.Items, version: l.ResourceVersion}, nil
}

func refTo(k schema.GroupKind, item *metav1.PartialObjectMetadata) object.Ref {
	return object.Ref{Group: k.Group, Kind: k.Kind, Namespace: item.Namespace, Name: item.Name}
}

const fluxName, fluxNamespace = "kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"

// kustomizations is Flux's kind.
var kustomizations = schema.GroupKind{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"}

// reconciled finds objects that Flux applies now: those with its labels whose Kustomization
// lists them and is not suspended. Unknown says why that cannot be told: Flux's kind is not served now, which
// is no proof that no Flux is at work.
func (c *Client) reconciled(ctx context.Context, live map[object.Ref]*metav1.PartialObjectMetadata) (by map[object.Ref]string, unknown, err error) {
	labelled := func(o *metav1.PartialObjectMetadata) bool { return o.Labels[fluxName] != "" }
	if !slices.ContainsFunc(slices.Collect(maps.Values(live)), labelled) {
		return nil, nil, nil
	}
	m, err := c.resource(kustomizations)
	if errors.Is(err, errNotServed) {
		return nil, c.absent(ctx, kustomizations), nil
	}
	if err != nil {
		return nil, err, nil
	}
	lists := map[[2]string][]string{} // by namespace and name of a Kustomization
	by = map[object.Ref]string{}
	for r, o := range live {
		of := [2]string{o.Labels[fluxNamespace], o.Labels[fluxName]}
		if !labelled(o) {
			continue
		}
		ids, asked := lists[of]
		if !asked {
			var k *unstructured.Unstructured
			err := retried(ctx, func(ctx context.Context) (err error) {
				k, err = c.objects.Resource(m.Resource).Namespace(of[0]).Get(ctx, of[1], metav1.GetOptions{})
				return err
			})
			if err != nil && !apierrors.IsNotFound(err) {
				return nil, nil, err
			}
			if err == nil {
				ids = fluxInventory(k)
			}
			lists[of] = ids
		}
		if slices.Contains(ids, strings.Join([]string{r.Namespace, strings.ReplaceAll(r.Name, ":", "__"), r.Group, r.Kind}, "_")) {
			by[r] = "Flux Kustomization " + of[0] + "/" + of[1]
		}
	}
	return by, nil, nil
}

// fluxInventory lists what a Kustomization applies, by its own ids; nothing if it is suspended.
func fluxInventory(k *unstructured.Unstructured) []string {
	if suspended, _, _ := unstructured.NestedBool(k.Object, "spec", "suspend"); suspended {
		return nil
	}
	entries, _, _ := unstructured.NestedSlice(k.Object, "status", "inventory", "entries")
	var ids []string
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		id, _ := entry["id"].(string)
		ids = append(ids, id)
	}
	return ids
}
