package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// BoundFolder returns the folder that a Cluster with such annotations is bound to; empty for none.
func BoundFolder(annotations map[string]string) string {
	if asked := annotations[PathAnnotation]; pathProblem(asked) == "" {
		return trimmed(asked)
	}
	return ""
}

// tellEmpty warns of Clusters whose folder holds nothing for them, unless something in it is broken,
// which is said by itself.
func (l *loader) tellEmpty(bound map[string][]string) {
	for _, cluster := range clusters(l.src.Objects) {
		dir := BoundFolder(cluster.Annotations())
		name := cluster.Ref().Name
		isIn := func(b Broken) bool { return b.Cluster == name || slices.Contains(boundTo(bound, b.Path), name) }
		if dir == "" || len(l.src.Bound[name]) > 0 || slices.ContainsFunc(l.src.Broken, isIn) {
			continue
		}
		l.report(diag.EmptyFolder, diag.Warning, cluster.FieldPos([]any{"metadata", "annotations", PathAnnotation}),
			fmt.Sprintf("the folder %s holds nothing for Cluster %s: %s", dir, name, l.whyEmpty(dir)), "correct the path, or take the annotation away")
	}
}

// whyEmpty says why a bound folder holds nothing.
func (l *loader) whyEmpty(dir string) string {
	isThere := false
	for _, f := range l.snapshot.Files() {
		isThere = isThere || strings.HasPrefix(f.Path, dir+"/")
	}
	isUnlisted := slices.ContainsFunc(l.src.Unlisted, func(file string) bool { return strings.HasPrefix(file, dir+"/") })
	switch file, isRoot := l.kustomizations[dir]; {
	case !isThere:
		return "it is not in the source"
	case isRoot && isUnlisted:
		return file + " lists none of its manifests"
	case isRoot:
		return file + " builds to nothing"
	}
	return "no manifest is in it"
}

// tellArgoCD names what is told to Argo CD, and stands for nothing here.
func (l *loader) tellArgoCD() {
	by := map[string][]*object.Object{} // by kind
	for _, o := range slices.Concat(append(sortedValues(l.src.Bound), l.src.Objects)...) {
		if r := o.Ref(); r.Group == "argoproj.io" && (r.Kind == "Application" || r.Kind == "ApplicationSet") {
			by[r.Kind] = append(by[r.Kind], o)
		}
	}
	for _, kind := range sortedKeys(by) {
		names := make([]string, len(by[kind]))
		for i, o := range by[kind] {
			names[i] = o.Ref().String()
		}
		l.report(diag.ArgoCD, diag.Notice, by[kind][0].Origin(),
			fmt.Sprintf("%s: an %s tells Argo CD what to render; here it is a manifest like any other, and what it stands for is not rendered", words.List(names), kind),
			"write what it stands for as docs/from-argocd.md says, or name it in "+IgnoreFile)
	}
}

func sortedValues[V any](m map[string]V) []V {
	values := make([]V, 0, len(m))
	for _, k := range sortedKeys(m) {
		values = append(values, m[k])
	}
	return values
}
