package expand

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
)

// withoutSources leaves out of objs the sources that serve none but the releases that were replaced
// since the mark: what is left has to be all that stands beside them.
func (x *expander) withoutSources(objs []*object.Object, mark int) []*object.Object {
	used := flux.UsedUp(objs, x.replaced[mark:])
	if len(used) == 0 {
		return objs
	}
	maps.Copy(x.usedUp, used)
	return slices.DeleteFunc(slices.Clone(objs), func(o *object.Object) bool { return used[o.Ref()] })
}

// useUp marks the templates that are sources and serve releases alone, in the folders of clusters, too.
func (x *expander) useUp(all []*template.Template, bound map[string][]*object.Object) {
	if len(x.replaced) == 0 {
		return
	}
	objs := make([]*object.Object, 0, len(all))
	for _, t := range all {
		objs = append(objs, t.Object)
	}
	for _, own := range bound {
		objs = append(objs, own...)
	}
	used := flux.UsedUp(objs, x.replaced)
	maps.Copy(x.usedUp, used)
	for _, t := range all {
		t.UsedUp = used[t.Ref()]
	}
}
