// Package virtual maps what policies send to a virtual cluster to what its API server is to
// hold.
//
// A virtual cluster is a Cluster without an API server of its own: a part of that of another
// Cluster, its host, as an edge location of KubeEdge is. Its part is the nodes with some labels
// and the namespaces with a suffix: the namespace shop of a template is shop-beijing there.
//
// Policies, overrides, bindings and people speak of a template by its own namespace. The branch
// of a virtual cluster, and so everybody who applies it, holds what the API server is to hold.
// A Mapping is the way from the one to the other, and back. It is pure: a Mapping rewrites one
// manifest (Rewrite), or the name of one object (Ref, and Template for the way back).
//
// A nil *Mapping is that of a cluster with an API server of its own. It changes nothing.
package virtual

import (
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// maxNamespace is how long the name of a namespace may be.
const maxNamespace = 63

// Mapping is what a virtual cluster has of its host.
type Mapping struct {
	Cluster string
	Host    string // the Cluster whose API server it is
	Suffix  string // of its namespaces; it begins with a dash
	// Selector are labels of its nodes; nil for all of them.
	Selector map[string]string
}

// Of returns the mapping of a Cluster, whose annotations are valid; nil for one with an API
// server of its own.
func Of(c *karmada.Cluster) *Mapping {
	host, ok := c.Annotations[karmada.VirtualOfAnnotation]
	if !ok {
		return nil
	}
	m := &Mapping{Cluster: c.Name, Host: host, Suffix: c.NamespaceSuffix()}
	if text := c.Annotations[karmada.SelectorAnnotation]; text != "" {
		if set, err := labels.ConvertSelectorToLabelsMap(text); err == nil {
			m.Selector = set
		}
	}
	return m
}

// Namespace returns what a namespace of a template is called on the API server.
func (m *Mapping) Namespace(name string) string {
	if m == nil || name == "" {
		return name
	}
	return name + m.Suffix
}

// Mapped reports a namespace of the API server that is the virtual cluster's.
func (m *Mapping) Mapped(namespace string) bool {
	return m == nil || len(namespace) > len(m.Suffix) && strings.HasSuffix(namespace, m.Suffix)
}

// Ref returns what an object of a template is called on the API server.
func (m *Mapping) Ref(r object.Ref) object.Ref {
	if isNamespace(r) {
		r.Name = m.Namespace(r.Name)
	}
	r.Namespace = m.Namespace(r.Namespace)
	return r
}

// Template returns what an object of the API server is called in a template. What is not the
// virtual cluster's keeps its name.
func (m *Mapping) Template(r object.Ref) object.Ref {
	if m == nil {
		return r
	}
	if isNamespace(r) {
		r.Name = m.template(r.Name)
	}
	r.Namespace = m.template(r.Namespace)
	return r
}

func (m *Mapping) template(namespace string) string {
	if !m.Mapped(namespace) {
		return namespace
	}
	return strings.TrimSuffix(namespace, m.Suffix)
}

// Shared reports an object that all virtual clusters of a host share with it: it has no
// namespace, and is none.
func Shared(r object.Ref) bool { return r.Namespace == "" && !isNamespace(r) }

func isNamespace(r object.Ref) bool { return r.Group == "" && r.Kind == "Namespace" }
