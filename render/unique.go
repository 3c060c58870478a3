package render

import (
	"fmt"
	"path"
	"slices"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// unique drops what is defined twice in one scope and names both places. Neither
// is taken: which one was meant is not for us to say.
func (l *loader) unique() {
	l.src.Objects = l.dedupe(l.src.Objects, "")
	for cluster, objs := range l.src.Bound {
		l.src.Bound[cluster] = l.dedupe(objs, cluster)
	}
}

func (l *loader) dedupe(objs []*object.Object, cluster string) []*object.Object {
	first := make(map[object.Ref]*object.Object, len(objs))
	twice := map[object.Ref]bool{}
	for _, o := range objs {
		a, ok := first[o.Ref()]
		if !ok {
			first[o.Ref()] = o
			continue
		}
		if !twice[o.Ref()] {
			l.src.Broken = append(l.src.Broken, Broken{Ref: o.Ref(), Cluster: cluster})
		}
		twice[o.Ref()] = true
		here, there := o.Origin(), a.Origin()
		if here == there { // two kustomizations take it in
			here, there = o.Pos(), a.Pos()
		}
		l.report(diag.DuplicateObject, diag.Error, here, fmt.Sprintf("%s is defined here and at %s", o.Ref(), there), parted(o, a, cluster)+"; until then neither is used")
	}
	if len(twice) == 0 {
		return objs
	}
	return slices.DeleteFunc(slices.Clone(objs), func(o *object.Object) bool { return twice[o.Ref()] })
}

// parted says how two objects that are one come apart.
func parted(a, b *object.Object, cluster string) string {
	built := func(o *object.Object) bool { return isKustfile(path.Base(o.Pos().File)) }
	switch {
	case built(a) && built(b):
		return "a kustomization that no other one takes in is built: name in " + IgnoreFile + " what is not to be"
	case cluster == "" && path.Dir(a.Pos().File) != path.Dir(b.Pos().File):
		return "remove one of them, or bind the folder of each to its cluster, with the annotation " + PathAnnotation + " of the Cluster"
	}
	return "remove one of them"
}
