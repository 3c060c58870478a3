package members

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/render/object"
)

// own returns what of an answer is a virtual cluster's, by the names that templates have: what is
// in its namespaces, these themselves, and its nodes. What else has no namespace is shared.
func (q Query) own(m *virtual.Mapping, f Found) []Found {
	if m == nil {
		return []Found{f}
	}
	kind := object.GroupKind{Group: f.Mapping.GroupVersionKind.Group, Kind: f.Mapping.GroupVersionKind.Kind}
	if q.Whole {
		f.Object = f.Object.DeepCopyObject()
		if list, ok := f.Object.(*unstructured.UnstructuredList); ok { // a watch begins with one
			list.Items = slices.DeleteFunc(list.Items, func(o unstructured.Unstructured) bool { return !renamed(m, kind, &o) })
		} else if !renamed(m, kind, f.Object) {
			return nil
		}
		return []Found{f}
	}
	t := decoded(f.Object).DeepCopy()
	t.Rows = slices.DeleteFunc(t.Rows, func(r metav1.TableRow) bool { return !renamed(m, kind, r.Object.Object) })
	for i := range t.Rows {
		rename(t, i, kind)
	}
	f.Object = t
	return []Found{f}
}

// renamed gives an object the name that templates have, and reports whether it is the virtual
// cluster's.
func renamed(m *virtual.Mapping, kind object.GroupKind, o runtime.Object) bool {
	a, err := meta.Accessor(o)
	if err != nil {
		return true // it has no name
	}
	r := object.Ref{Group: kind.Group, Kind: kind.Kind, Namespace: a.GetNamespace(), Name: a.GetName()}
	switch t := m.Template(r); {
	case kind == object.GroupKind{Kind: "Node"}:
		return labels.SelectorFromSet(m.Selector).Matches(labels.Set(a.GetLabels()))
	case t != r:
		a.SetNamespace(t.Namespace)
		a.SetName(t.Name)
		return true
	default:
		return virtual.Shared(r)
	}
}

// rename writes the name of a Namespace into its row.
func rename(t *metav1.Table, row int, kind object.GroupKind) {
	if kind != (object.GroupKind{Kind: "Namespace"}) {
		return
	}
	a, err := meta.Accessor(t.Rows[row].Object.Object)
	n := slices.IndexFunc(t.ColumnDefinitions, func(c metav1.TableColumnDefinition) bool { return c.Format == "name" })
	if err == nil && n >= 0 {
		t.Rows[row].Cells[n] = a.GetName()
	}
}
