package flux

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
)

// usualSource is what Flux's bootstrap calls the source of a cluster.
const usualSource = "flux-system"

// Repository tells which sources of Flux are the repository that is read. What the commit says
// decides, and never where the clone came from, so that everybody who reads it decides alike.
type Repository struct {
	said   map[object.Ref]bool // by the configuration
	named  map[object.Ref]bool // by Kustomizations that build the folder in which they stand
	places map[place]bool      // of all these
	// folders are those that clusters sync, by Kustomizations that build them.
	folders []string
	only    place // of the one GitRepository there is, where nothing else is known
}

// place is what a source gives: the ref of a URL.
type place struct{ kind, url, ref string }

// Identify finds out which sources are this repository: those that the configuration says, as
// ParseSource reads it, and those of the Kustomizations that build their own folder, as Flux's
// bootstrap writes one. Where there are none, what bootstrap calls a source is one, in the source
// or not. Around are objects that stand in no folder of a cluster, bound those that do, by cluster.
func Identify(said []string, around []*object.Object, bound map[string][]*object.Object) Repository {
	r := Repository{said: map[object.Ref]bool{}, named: map[object.Ref]bool{}, places: map[place]bool{}}
	for _, s := range said {
		if ref, ok := ParseSource(s); ok {
			r.said[ref] = true
		}
	}
	scopes := [][]*object.Object{ofFlux(around)}
	for _, own := range bound {
		scopes = append(scopes, ofFlux(own))
	}
	for _, scope := range scopes {
		r.learn(scope, NewIndex(scope, scopes[0]))
	}
	if len(r.said)+len(r.named) == 0 {
		r.guess(slices.Concat(scopes...))
	}
	return r
}

// guess finds out which source is this repository where nobody says it: what bootstrap calls one,
// or perhaps the only one.
func (r *Repository) guess(objs []*object.Object) {
	others := map[place]bool{}
	for _, o := range objs {
		ref := o.Ref()
		if isKustomization(o) {
			ref = sourceOf(o)
		}
		switch {
		case ref.Name != usualSource || !isSource(ref):
		case isKustomization(o):
			r.add(ref, nil)
		default:
			r.add(ref, o)
		}
		if !isKustomization(o) && ref.Kind == "GitRepository" {
			others[placeOf(o)] = true
		}
	}
	if len(r.named) == 0 && len(others) == 1 {
		r.only = slices.Collect(maps.Keys(others))[0]
	}
}

// learn adds what the objects of a scope say; the shelf has what they may refer to.
func (r *Repository) learn(scope []*object.Object, s *Index) {
	for _, o := range scope {
		if r.said[o.Ref()] {
			r.places[placeOf(o)] = true
		}
		if ref := sourceOf(o); buildsItself(o) && folderOf(o) != "." && isSource(ref) {
			r.add(ref, s.byRef[ref])
			r.folders = append(r.folders, folderOf(o))
		}
	}
}

// add notes a source that is this repository, and where it is if its object is known.
func (r *Repository) add(ref object.Ref, o *object.Object) {
	r.named[ref] = true
	if o != nil {
		r.places[placeOf(o)] = true
	}
}

// ParseSource reads a source as the configuration names it: Kind/namespace/name.
func ParseSource(s string) (object.Ref, bool) {
	parts := strings.Split(s, "/")
	if len(parts) != 3 || slices.Contains(parts, "") {
		return object.Ref{}, false
	}
	ref := object.Ref{Group: sourceGroup, Kind: parts[0], Namespace: parts[1], Name: parts[2]}
	return ref, isSource(ref)
}

// isSource reports the kinds of sources that may hold a repository.
func isSource(ref object.Ref) bool {
	return ref.Group == sourceGroup && slices.Contains([]string{"GitRepository", "OCIRepository", "Bucket"}, ref.Kind)
}

// ofFlux returns the Kustomizations and sources among objects.
func ofFlux(objs []*object.Object) (all []*object.Object) {
	for _, o := range objs {
		if isKustomization(o) || isSource(o.Ref()) {
			all = append(all, o)
		}
	}
	return all
}

// sourceOf is the source of a Kustomization.
func sourceOf(o *object.Object) object.Ref {
	return sourceAt(fieldAt(o.Content(), "spec", "sourceRef"), o.Ref().Namespace)
}

// sourceAt is what a reference to a source names, from an object of a namespace.
func sourceAt(ref any, namespace string) object.Ref {
	return object.Ref{
		Group: sourceGroup, Kind: cmp.Or(textAt(ref, "kind"), "GitRepository"),
		Namespace: cmp.Or(textAt(ref, "namespace"), namespace), Name: textAt(ref, "name"),
	}
}

// placeOf is what a source gives. Of the fields of a ref one counts, as source-controller chooses it.
func placeOf(o *object.Object) place {
	at := place{kind: o.Ref().Kind, url: urlOf(o)}
	if at.kind == "Bucket" {
		at.ref = textAt(o.Content(), "spec", "bucketName") + "/" + textAt(o.Content(), "spec", "prefix")
		return at
	}
	ref := fieldAt(o.Content(), "spec", "ref")
	for _, field := range []string{"commit", "digest", "name", "semver", "tag", "branch"} {
		if value := textAt(ref, field); value != "" {
			at.ref = field + " " + value
			break
		}
	}
	if full, ok := strings.CutPrefix(at.ref, "name refs/heads/"); ok {
		at.ref = "branch " + full
	}
	if full, ok := strings.CutPrefix(at.ref, "name refs/tags/"); ok {
		at.ref = "tag " + full
	}
	if at.ref == "" && at.kind == "GitRepository" {
		at.ref = "branch master" // Flux's default
	}
	return at
}

// urlOf is where a source is, without how it is reached.
func urlOf(o *object.Object) string {
	url := cmp.Or(textAt(o.Content(), "spec", "url"), textAt(o.Content(), "spec", "endpoint"))
	host, rest, _ := strings.Cut(sources.Place(url), "/")
	return strings.ToLower(host) + "/" + rest
}

// foreign says why a source is not this repository; empty if it is. It is assumed to be where
// nothing says what this repository is, or its object is not in the source.
func (r *Repository) foreign(ref object.Ref, s *Index) (why string, assumed bool) {
	if r.said[ref] {
		return "", false
	}
	called := fmt.Sprintf("its source is the %s %s/%s", ref.Kind, ref.Namespace, ref.Name)
	o := s.find(ref.Group, ref.Kind, ref.Namespace, ref.Name)
	switch {
	case o == nil && r.named[ref]:
		return "", false
	case o == nil && ref.Kind == "GitRepository":
		return "", ref.Name != usualSource
	case o == nil:
		return called + ", and nothing says that it is this repository", false
	}
	at := placeOf(o)
	switch {
	case r.places[at]:
		return "", false
	case at == r.only:
		return "", true
	case len(r.places) == 0:
		return fmt.Sprintf("%s, which is %s, and nothing says that it is this repository", called, at.url), false
	}
	for own := range r.places {
		if own.kind == at.kind && own.url == at.url {
			return fmt.Sprintf("%s, which is the %s of this repository, and another is read", called, at.ref), false
		}
	}
	return fmt.Sprintf("%s, which is %s, another repository than this one", called, at.url), false
}

// apart reports whether an object stands in a folder that a cluster syncs, known to this program or
// not, and a release does not: then it is another cluster's.
func (r *Repository) apart(o, release *object.Object) bool {
	return slices.ContainsFunc(r.folders, func(dir string) bool {
		return below(o.Pos().File, dir) && !below(release.Pos().File, dir)
	})
}

// SyncsItself reports a Kustomization that builds the folder in which it stands, of this
// repository: it is how a cluster syncs itself.
func (r *Repository) SyncsItself(o *object.Object, s *Index) bool {
	if !buildsItself(o) || fieldAt(o.Content(), "spec", "kubeConfig") != nil {
		return false
	}
	why, assumed := r.foreign(sourceOf(o), s)
	return why == "" && !assumed
}

// buildsItself reports a Kustomization whose folder is the one in which it stands.
func buildsItself(o *object.Object) bool {
	return isKustomization(o) && isSource(sourceOf(o)) && below(o.Pos().File, folderOf(o))
}

// own reports whether a source is this repository, and says where a field names it if it is
// not, or if that is not sure.
func (r *reader) own(ref object.Ref, field []any) bool {
	why, assumed := r.setting.Repository.foreign(ref, r.shelf)
	named := ref.Kind + "/" + ref.Namespace + "/" + ref.Name
	if assumed && buildsItself(r.release) {
		why = "its source is the " + named + ", and nothing says that it is this repository, all of which it would build"
	}
	if o := r.shelf.find(ref.Group, ref.Kind, ref.Namespace, ref.Name); why == "" && o != nil && len(listAt(o.Content(), "spec", "include")) > 0 {
		why = "its source, the " + named + ", includes files of other repositories (spec.include)"
	}
	if why != "" {
		r.report(diag.OtherSource, diag.Error, field, why, "if it is this repository, say so in waybill.yaml, flux.self: ["+named+"]; else copy what is needed into this one; "+
			"what was published stays until the file of this is deleted, or named in .waybillignore")
		return false
	}
	r.filtered(ref, field)
	if assumed {
		r.report(diag.SourceAssumed, diag.Warning, field, "nothing says that its source, the "+named+", is this repository, for which it is taken",
			"say so in waybill.yaml, flux.self: ["+named+"]")
	}
	return true
}

// filtered says that a source leaves files out that are read here.
func (r *reader) filtered(ref object.Ref, field []any) {
	o := r.shelf.find(ref.Group, ref.Kind, ref.Namespace, ref.Name)
	if o != nil && textAt(o.Content(), "spec", "ignore") != "" {
		r.report(diag.SourceIgnore, diag.Warning, field, "its source, the "+ref.Kind+"/"+ref.Namespace+"/"+ref.Name+", leaves files out by spec.ignore, and here they are read",
			"name them in .waybillignore, or list what counts in a kustomization.yaml")
	}
}

// Foreign says why a source of Flux's is not this repository; empty if it is, or is assumed to be.
func (r *Repository) Foreign(ref object.Ref, s *Index) string {
	why, _ := r.foreign(ref, s)
	return why
}
