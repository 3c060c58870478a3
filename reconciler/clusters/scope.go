package clusters

import (
	"cmp"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/waybill-dev/waybill/render/object"
)

// scope is where objects of a kind are listed and watched: in a namespace, or in all.
type scope struct {
	kind      schema.GroupKind
	namespace string // empty: all
}

// mostNamespaces is how many lists of a kind are less than one of all namespaces.
const mostNamespaces = 16

// scopes are where to look for objects, in the order of their names. Where an API server is the
// cluster's alone, nearly all that it has of a kind is of interest. Where it is shared, what is in
// other namespaces is somebody else's, and may be much more.
func (c *Client) scopes(refs iter.Seq[object.Ref]) []scope {
	namespaces := map[schema.GroupKind]map[string]bool{}
	for r := range refs {
		k := schema.GroupKind{Group: r.Group, Kind: r.Kind}
		if namespaces[k] == nil {
			namespaces[k] = map[string]bool{}
		}
		namespaces[k][r.Namespace] = true
	}
	var all []scope
	for k, in := range namespaces {
		if !c.Shared || in[""] || len(in) > mostNamespaces {
			all = append(all, scope{kind: k})
			continue
		}
		for namespace := range in {
			all = append(all, scope{k, namespace})
		}
	}
	slices.SortFunc(all, func(a, b scope) int {
		return cmp.Or(object.Ref{Group: a.kind.Group, Kind: a.kind.Kind}.Compare(object.Ref{Group: b.kind.Group, Kind: b.kind.Kind}), cmp.Compare(a.namespace, b.namespace))
	})
	return all
}

// metadataIn is what lists and watches the metadata of a scope.
func (c *Client) metadataIn(m *meta.RESTMapping, p scope) metadata.ResourceInterface {
	if p.namespace == "" || m.Scope.Name() == meta.RESTScopeNameRoot {
		return c.metadata.Resource(m.Resource)
	}
	return c.metadata.Resource(m.Resource).Namespace(p.namespace)
}

// objectsIn is what lists and watches the objects of a scope.
func (c *Client) objectsIn(m *meta.RESTMapping, p scope) dynamic.ResourceInterface {
	if p.namespace == "" || m.Scope.Name() == meta.RESTScopeNameRoot {
		return c.objects.Resource(m.Resource)
	}
	return c.objects.Resource(m.Resource).Namespace(p.namespace)
}
