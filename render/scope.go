package render

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/namespaced"
	"github.com/waybill-dev/waybill/render/object"
)

// defaultNamespace is where kubectl puts a namespaced object that names none.
const defaultNamespace = "default"

// scope puts namespaced objects that name no namespace into "default", as kubectl
// does, and takes the namespace off cluster-scoped ones.
func (l *loader) scope() {
	all := [][]*object.Object{l.src.Objects}
	for _, objs := range l.src.Bound {
		all = append(all, objs)
	}
	scopes := namespaced.Of(append(slices.Clone(all), l.inherited, l.unlisted)...)
	for _, objs := range all {
		for i, o := range objs {
			objs[i] = l.placed(o, scopes)
		}
	}
}

func (l *loader) placed(o *object.Object, scopes namespaced.Kinds) *object.Object {
	r := o.Ref()
	isNamespaced, known := scopes.Namespaced(r.Group, r.Kind)
	switch {
	case !known && r.Namespace == "" && !isOwnKind(r):
		l.report(diag.UnknownScope, diag.Notice, o.Origin(),
			fmt.Sprintf("%s names no namespace and its kind is not known here; it is taken for cluster-scoped", r),
			"give it a metadata.namespace, or put its CustomResourceDefinition into the source")
		return o
	case isNamespaced && r.Namespace == "":
		return o.InNamespace(defaultNamespace)
	case known && !isNamespaced && r.Namespace != "":
		return o.InNamespace("")
	}
	return o
}

func isOwnKind(r object.Ref) bool { return IsPolicy(r) || r.Name == "" }
