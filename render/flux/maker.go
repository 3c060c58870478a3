package flux

import (
	"cmp"
	"fmt"

	"github.com/waybill-dev/waybill/render/object"
)

// makers are the kinds whose objects have a controller make a Secret in the cluster, and the
// field that names it; without it the Secret is called as the object is.
var makers = map[object.Ref][]string{
	{Group: "external-secrets.io", Kind: "ExternalSecret"}: {"spec", "target", "name"},
	{Group: "bitnami.com", Kind: "SealedSecret"}:           {"spec", "template", "metadata", "name"},
	{Group: "cert-manager.io", Kind: "Certificate"}:        {"spec", "secretName"},
}

// makes reports that an object makes Secrets in the cluster.
func makes(o *object.Object) bool {
	ref := o.Ref()
	return makers[object.Ref{Group: ref.Group, Kind: ref.Kind}] != nil
}

// maker returns the object that makes a Secret in the cluster; nil if there is none.
func (s *Index) maker(namespace, name string) *object.Object {
	for ; s != nil; s = s.behind {
		for _, o := range s.makers {
			ref := o.Ref()
			named := textAt(o.Content(), makers[object.Ref{Group: ref.Group, Kind: ref.Kind}]...)
			if ref.Namespace == namespace && cmp.Or(named, ref.Name) == name {
				return o
			}
		}
	}
	return nil
}

// missing is why a ConfigMap or Secret that a release takes values from cannot be read; nil
// where the source has nothing that would make it.
func (r *reader) missing(kind, name string) error {
	namespace := r.release.Ref().Namespace
	o := r.shelf.maker(namespace, name)
	if kind != "Secret" || o == nil {
		return nil
	}
	return fmt.Errorf("the Secret %s/%s is made in the clusters, by the %s %s of %s, and is not there when a release is rendered; "+
		"let the chart take it from the cluster by its name, as existingSecret does in many charts, or write what it holds encrypted by SOPS",
		namespace, name, o.Ref().Kind, o.Ref().Name, o.Origin())
}
