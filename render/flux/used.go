package flux

import (
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
)

// UsedUp returns the sources among objs that serve releases alone: a release, which is rendered here
// and never reaches a cluster, names them, and nothing that reaches one does. They would be fetched
// by Flux in each cluster for nobody, and refused where there is no Flux. What nobody names stays:
// somebody else in the cluster may use it.
func UsedUp(objs, releases []*object.Object) map[object.Ref]bool {
	sources := sourcesByRef(objs)
	if len(sources) == 0 {
		return nil
	}
	used := reach(sources, releases)
	if len(used) == 0 {
		return nil
	}
	for ref := range reach(sources, slices.DeleteFunc(slices.Clone(objs), func(o *object.Object) bool {
		return IsRelease(o) || sources[o.Ref()] != nil || !mayName(o)
	})) {
		delete(used, ref)
	}
	return used
}

// sourcesByRef returns the sources among objects, generators too.
func sourcesByRef(objs []*object.Object) map[object.Ref]*object.Object {
	var sources map[object.Ref]*object.Object
	for _, o := range objs {
		if group := o.Ref().Group; group == sourceGroup || group == artifactGroup {
			if sources == nil {
				sources = map[object.Ref]*object.Object{}
			}
			sources[o.Ref()] = o
		}
	}
	return sources
}

// mayName reports whether an object may name a source: the kinds of Kubernetes never do.
func mayName(o *object.Object) bool {
	group := o.Ref().Group
	return strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// reach returns the sources that objects name, those that these name, and so on.
func reach(sources map[object.Ref]*object.Object, from []*object.Object) map[object.Ref]bool {
	found := map[object.Ref]bool{}
	for queue := slices.Clone(from); len(queue) > 0; queue = queue[1:] {
		o := queue[0]
		names(o.Content(), func(kind, namespace, name string) {
			if namespace == "" {
				namespace = o.Ref().Namespace
			}
			for ref, source := range sources {
				if !found[ref] && ref.Namespace == namespace && isNamed(source, kind, name) {
					found[ref] = true
					queue = append(queue, source)
				}
			}
		})
	}
	return found
}

// names calls f for whatever in a document names an object by kind and name.
func names(content any, f func(kind, namespace, name string)) {
	switch content := content.(type) {
	case map[string]any:
		if kind, name := textAt(content, "kind"), textAt(content, "name"); kind != "" && name != "" {
			f(kind, textAt(content, "namespace"), name)
		}
		for _, v := range content {
			names(v, f)
		}
	case []any:
		for _, v := range content {
			names(v, f)
		}
	}
}

// isNamed reports whether a source is what a reference names: an ArtifactGenerator is, by each
// artifact that it makes. Receivers and Alerts name all of a kind by a star.
func isNamed(source *object.Object, kind, name string) bool {
	ref := source.Ref()
	if kind == "ExternalArtifact" && isGenerator(source) {
		return slices.ContainsFunc(listAt(source.Content(), "spec", "artifacts"), func(a any) bool {
			return name == "*" || textAt(a, "name") == name
		})
	}
	return ref.Kind == kind && (name == "*" || ref.Name == name)
}
