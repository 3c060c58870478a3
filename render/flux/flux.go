// Package flux reads the objects of Flux that stand for what they render to: a
// HelmRelease and a Kustomization. It turns each, with the sources and values that
// it names, into a job for an engine.
//
// Everything it needs is an object of the same source: repositories, ConfigMaps and
// Secrets with values, artifact generators. It fetches nothing and renders nothing.
// Fields that steer when and how Flux's controllers act on a live cluster (interval,
// timeout, retries, dependsOn, health checks, drift detection, tests) are accepted
// and have no part in what is rendered; those that order are said to have none.
package flux

import (
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/object"
)

// The groups of Flux's kinds.
const (
	helmGroup      = "helm.toolkit.fluxcd.io"
	kustomizeGroup = "kustomize.toolkit.fluxcd.io"
	sourceGroup    = "source.toolkit.fluxcd.io"
	artifactGroup  = "source.extensions.fluxcd.io"
)

// IsRelease reports the objects that stand for what they render to.
func IsRelease(o *object.Object) bool { return isHelmRelease(o) || isKustomization(o) }

// IsReleaseKind reports a kind of releases.
func IsReleaseKind(group, kind string) bool {
	return kind == "HelmRelease" && group == helmGroup || kind == "Kustomization" && group == kustomizeGroup
}

func isHelmRelease(o *object.Object) bool {
	return o.Ref().Kind == "HelmRelease" && o.Ref().Group == helmGroup
}

func isKustomization(o *object.Object) bool {
	return o.Ref().Kind == "Kustomization" && o.Ref().Group == kustomizeGroup
}

func isGenerator(o *object.Object) bool {
	return o.Ref().Kind == "ArtifactGenerator" && o.Ref().Group == artifactGroup
}

// AsksCluster reports a release that may be another one for each cluster that it is
// rendered for, because it takes values from it, or draws: a HelmRelease says so, a
// Kustomization may hold such a one.
func AsksCluster(o *object.Object) bool {
	if isKustomization(o) {
		return true
	}
	if spec, _ := helm.ReadRelease(o.Content()); spec.Draws() {
		return true
	}
	return slices.ContainsFunc(listAt(o.Content(), "spec", "valuesFrom"), func(v any) bool { return textAt(v, "kind") == "Cluster" })
}

// Index holds the objects that releases may refer to.
type Index struct {
	byRef      map[object.Ref]*object.Object
	generators []*object.Object // ArtifactGenerators
	makers     []*object.Object // which make Secrets in the cluster
	behind     *Index           // looked at for what is not here; or nil
}

// NewIndex returns a shelf of objects. Of two with one ref the first counts.
func NewIndex(objs ...[]*object.Object) *Index {
	s := &Index{byRef: map[object.Ref]*object.Object{}}
	for o := range slices.Values(slices.Concat(objs...)) {
		if _, ok := s.byRef[o.Ref()]; !ok {
			s.byRef[o.Ref()] = o
			if isGenerator(o) {
				s.generators = append(s.generators, o)
			}
			if makes(o) {
				s.makers = append(s.makers, o)
			}
		}
	}
	return s
}

// With returns a shelf on which objs stand before those of s.
func (s *Index) With(objs []*object.Object) *Index {
	first := NewIndex(objs)
	first.behind = s
	return first
}

// find returns the object of that name; nil if there is none.
func (s *Index) find(group, kind, namespace, name string) *object.Object {
	r := object.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}
	for ; s != nil; s = s.behind {
		if o := s.byRef[r]; o != nil {
			return o
		}
	}
	return nil
}

// fieldAt returns the value at a path of maps; nil where it ends.
func fieldAt(content any, path ...string) any {
	for _, key := range path {
		m, _ := content.(map[string]any)
		content = m[key]
	}
	return content
}

func textAt(content any, path ...string) string {
	s, _ := fieldAt(content, path...).(string)
	return s
}

func listAt(content any, path ...string) []any {
	l, _ := fieldAt(content, path...).([]any)
	return l
}

// below reports whether path p is the folder dir or in it.
func below(p, dir string) bool {
	return dir == "." || p == dir || strings.HasPrefix(p, dir+"/")
}
