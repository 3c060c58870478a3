package ingress

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// WithMade adds to objects the Ingresses that MultiClusterIngresses become, and returns of each what it is made of. One whose name
// the source has already is left out, which is a mistake. By is Make, or remembers what that returned.
func WithMade(
	objs []*object.Object, all []policies.Located[karmada.MultiClusterIngress], by func(*object.Object) *object.Object,
) (with []*object.Object, of map[*object.Object]*object.Object, diags []diag.Diagnostic) {
	if len(all) == 0 {
		return objs, nil, nil
	}
	have := map[object.Ref]*object.Object{}
	for _, o := range objs {
		if o.Ref().Kind == ingressKind && o.Ref().Group == ingressGroup {
			have[o.Ref()] = o
		}
	}
	with, of = slices.Clip(objs), map[*object.Object]*object.Object{}
	for _, i := range all {
		if other := have[Of(i.Object.Ref())]; other != nil {
			diags = append(diags, twice(i.Object, other))
			continue
		}
		made := by(i.Object)
		with, of[made] = append(with, made), i.Object
	}
	return with, of, diags
}

// twice says that the Ingress that a MultiClusterIngress becomes has the name of another one.
func twice(o, other *object.Object) diag.Diagnostic {
	return diag.Diagnostic{
		Code: diag.DuplicateObject, Severity: diag.Error, Pos: o.Origin(),
		Message: fmt.Sprintf("%s becomes %s, which is also at %s; it stays as it was published", policies.Name(o), other.Ref(), other.Origin()),
		Hint:    "rename or remove one of them",
	}
}
