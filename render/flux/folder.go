package flux

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
)

// Claim is a folder of the source that a Kustomization builds: what is in it is the Kustomization's,
// and is not taken for manifests or roots on its own.
type Claim struct {
	Folder string
	By     string // the file of the Kustomization
}

// Covers reports whether a file is in the folder.
func (c Claim) Covers(file string) bool { return below(file, c.Folder) }

// Claims lists the folders that the Kustomizations among objs build. A Kustomization that stands in
// the folder it builds is how a cluster syncs itself, and claims nothing. Said are
// the sources that the configuration takes for the repository.
func Claims(objs []*object.Object, said []string) []Claim {
	repository := Identify(said, objs, nil)
	var generators []*object.Object // those of one name, too, as the folders of clusters have them
	for _, o := range objs {
		if isGenerator(o) {
			generators = append(generators, o)
		}
	}
	var claims []Claim
	for _, o := range objs {
		if !isKustomization(o) {
			continue
		}
		for _, copies := range repository.arrangements(o, generators) {
			for _, dir := range origins(folderOf(o), copies) {
				if c := (Claim{dir, o.Pos().File}); !c.Covers(c.By) {
					claims = append(claims, c)
				}
			}
		}
	}
	return claims
}

// arrangements are the ways in which the files of this repository may be arranged for a
// Kustomization; nil among them is as they are. A GitRepository counts whichever it is: reading
// the release says so, and until that is mended what is built stays as it was.
func (r *Repository) arrangements(o *object.Object, generators []*object.Object) (all [][]engine.Copy) {
	switch ref := sourceOf(o); {
	case ref.Kind == artifactKind:
		for _, a := range artifacts(o, generators) {
			if a.wrong == "" {
				all = append(all, a.copies)
			}
		}
	case ref.Kind == "GitRepository" || r.said[ref] || r.named[ref]:
		all = append(all, nil)
	}
	return all
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
		from, to := c.Roots()
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

// view returns how the source of a Kustomization is arranged: nil for the repository itself.
func (r *reader) view() ([]engine.Copy, bool) {
	field := []any{"spec", "sourceRef"}
	ref := sourceOf(r.release)
	if ref.Kind != artifactKind {
		return nil, r.own(ref, field)
	}
	var generators []*object.Object
	for s := r.shelf; s != nil; s = s.behind {
		generators = append(generators, s.generators...)
	}
	made := artifacts(r.release, generators)
	if len(made) == 0 {
		r.fail(field, fmt.Sprintf("its source is the ExternalArtifact %s/%s, which no ArtifactGenerator of this repository makes", ref.Namespace, ref.Name),
			"put the ArtifactGenerator into the source, or name a GitRepository")
		return nil, false
	}
	for _, source := range made[0].sources {
		if !r.own(source, field) {
			return nil, false
		}
	}
	if made[0].wrong != "" {
		r.fail(field, made[0].wrong, "copy what it holds into this repository, and name a GitRepository")
	}
	return made[0].copies, made[0].wrong == ""
}

// artifactKind is the kind of source that generators make.
const artifactKind = "ExternalArtifact"

// artifact is one that an ArtifactGenerator makes.
type artifact struct {
	copies  []engine.Copy
	sources []object.Ref // from which it copies
	wrong   string       // why it cannot be made; empty if it can
}

// artifacts returns the ways in which the source of a Kustomization may be made: the first is the
// one that is meant.
func artifacts(o *object.Object, generators []*object.Object) (all []artifact) {
	ref := sourceOf(o)
	for _, g := range generators {
		for _, a := range listAt(g.Content(), "spec", "artifacts") {
			if g.Ref().Namespace == ref.Namespace && textAt(a, "name") == ref.Name {
				all = append(all, readArtifact(g, a))
			}
		}
	}
	return all
}

// readArtifact reads one artifact of an ArtifactGenerator.
func readArtifact(g *object.Object, content any) artifact {
	aliases := map[string]object.Ref{}
	for _, s := range listAt(g.Content(), "spec", "sources") {
		aliases[textAt(s, "alias")] = sourceAt(s, g.Ref().Namespace)
	}
	out := artifact{copies: []engine.Copy{}}
	if pattern := textAt(g.Content(), "spec", "pathPattern"); pattern != "" {
		out.wrong = fmt.Sprintf("%s makes an artifact for each folder of %q (spec.pathPattern), which is not done here", g.Ref(), pattern)
		return out
	}
	for _, c := range listAt(content, "copy") {
		alias, from, ok := strings.Cut(strings.TrimPrefix(textAt(c, "from"), "@"), "/")
		source := aliases[alias]
		if !ok || !isSource(source) {
			out.wrong = fmt.Sprintf("%s copies %q, which is not from a GitRepository among its sources", g.Ref(), textAt(c, "from"))
			return out
		}
		to, ok := strings.CutPrefix(textAt(c, "to"), "@artifact/")
		if !ok {
			out.wrong = fmt.Sprintf("%s copies to %q; it must begin with @artifact/", g.Ref(), textAt(c, "to"))
			return out
		}
		one := engine.Copy{From: from, To: to, Optional: isTrue(fieldAt(c, "optional"))}
		if how := textAt(c, "strategy"); how != "" && how != "Overwrite" {
			out.wrong = fmt.Sprintf("%s copies by the strategy %q, which is not done here", g.Ref(), how)
			return out
		}
		for _, x := range listAt(c, "exclude") {
			if pattern, ok := x.(string); ok {
				one.Exclude = append(one.Exclude, pattern)
			}
		}
		out.copies = append(out.copies, one)
		if !slices.Contains(out.sources, source) {
			out.sources = append(out.sources, source)
		}
	}
	return out
}
