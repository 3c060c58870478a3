package flux

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
)

// Folders lists the folders of the source that the Kustomizations among objs build:
// what is in them is theirs, and is not taken for manifests or roots on its own. A
// Kustomization that stands in the folder it builds is how a cluster syncs itself,
// and claims nothing.
func Folders(objs []*object.Object) []string {
	var generators []*object.Object // those of one name, too, as the folders of clusters have them
	for _, o := range objs {
		if isGenerator(o) {
			generators = append(generators, o)
		}
	}
	var dirs []string
	for _, o := range objs {
		if !isKustomization(o) {
			continue
		}
		arranged, _ := artifacts(o, generators) // reading the release says what is wrong
		for _, copies := range arranged {
			for _, dir := range origins(folderOf(o), copies) {
				if !below(o.Pos().File, dir) {
					dirs = append(dirs, dir)
				}
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// SyncsItself reports a Kustomization that builds the folder in which it stands.
func SyncsItself(o *object.Object) bool {
	return isKustomization(o) && fieldAt(o.Content(), "spec", "sourceRef", "kind") == "GitRepository" && below(o.Pos().File, folderOf(o))
}

// folderOf is the folder that a Kustomization builds, relative to its source.
func folderOf(o *object.Object) string {
	return path.Clean(strings.TrimLeft(path.Clean("/"+textAt(o.Content(), "spec", "path")), "/"))
}

// origins are the folders of the source that dir is made of in an artifact; dir
// itself without one.
func origins(dir string, copies []engine.Copy) []string {
	if copies == nil {
		return []string{dir}
	}
	var dirs []string
	for _, c := range copies {
		from, _, _ := strings.Cut(c.From, "*")
		from, to := path.Clean(from), path.Clean(c.To)
		switch {
		case to == "." && dir == ".":
			dirs = append(dirs, from)
		case to == ".":
			dirs = append(dirs, path.Join(from, dir))
		case below(dir, to):
			dirs = append(dirs, path.Join(from, strings.TrimPrefix(dir, to)))
		case below(to, dir):
			dirs = append(dirs, from)
		}
	}
	return dirs
}

// artifact returns how the source of a Kustomization is arranged: nil for the
// repository itself. Flux has other kinds of source, which are not in this one.
func (s *Shelf) artifact(o *object.Object) ([]engine.Copy, error) {
	var generators []*object.Object
	for ; s != nil; s = s.behind {
		generators = append(generators, s.generators...)
	}
	all, err := artifacts(o, generators)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// artifacts returns the ways in which the source of a Kustomization may be arranged, by
// generators: the first is the one that is meant; there is one without an error.
func artifacts(o *object.Object, generators []*object.Object) (all [][]engine.Copy, err error) {
	ref := fieldAt(o.Content(), "spec", "sourceRef")
	kind, name, namespace := textAt(ref, "kind"), textAt(ref, "name"), textAt(ref, "namespace")
	if namespace == "" {
		namespace = o.Ref().Namespace
	}
	switch kind {
	case "GitRepository", "":
		return [][]engine.Copy{nil}, nil
	case "ExternalArtifact":
	default:
		return nil, fmt.Errorf("its source is the %s %s, which is not in this repository", kind, name)
	}
	for _, g := range generators {
		for _, a := range listAt(g.Content(), "spec", "artifacts") {
			if g.Ref().Namespace != namespace || textAt(a, "name") != name {
				continue
			}
			is, wrong := copies(g, a)
			if wrong == nil {
				all = append(all, is)
			} else if len(all) == 0 && err == nil {
				err = wrong // of the first, which is the one that is meant
			}
		}
	}
	if len(all) == 0 && err == nil {
		err = fmt.Errorf("its source is the ExternalArtifact %s/%s, which no ArtifactGenerator of this repository makes", namespace, name)
	}
	return all, err
}

// copies reads one artifact of an ArtifactGenerator whose sources are all Git
// repositories, which are taken for this one.
func copies(g *object.Object, artifact any) ([]engine.Copy, error) {
	git := map[string]bool{}
	for _, s := range listAt(g.Content(), "spec", "sources") {
		git[textAt(s, "alias")] = textAt(s, "kind") == "GitRepository"
	}
	out := []engine.Copy{}
	for _, c := range listAt(artifact, "copy") {
		alias, from, ok := strings.Cut(strings.TrimPrefix(textAt(c, "from"), "@"), "/")
		if !ok || !git[alias] {
			return nil, fmt.Errorf("%s copies %q, which is not from a GitRepository among its sources", g.Ref(), textAt(c, "from"))
		}
		to, ok := strings.CutPrefix(textAt(c, "to"), "@artifact/")
		if !ok {
			return nil, fmt.Errorf("%s copies to %q; it must begin with @artifact/", g.Ref(), textAt(c, "to"))
		}
		one := engine.Copy{From: from, To: to}
		for _, x := range listAt(c, "exclude") {
			if pattern, ok := x.(string); ok {
				one.Exclude = append(one.Exclude, pattern)
			}
		}
		out = append(out, one)
	}
	return out, nil
}
