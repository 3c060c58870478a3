package render

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/references"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/ignore"
)

// uses is what the kustomizations of a source use.
type uses struct {
	files   map[string]bool
	folders map[string]bool
	by      map[string][]string // the folders, by those that use them
	reads   map[string][]string // all that may be used, by folder
	apart   map[string]bool     // folders that are never built by themselves
	inner   map[string][]string // what those list that are inner, see isInner
	// mayFiles and mayFolders are what those may use that cannot be read.
	mayFiles, mayFolders map[string]bool
	// unread are the folders of kustomizations that cannot be read. Of those that are
	// unknown as well it is not known what they were, and any file of theirs may be used.
	unread, unknown map[string]bool
}

// kustomize takes what belongs to a kustomization out of Objects, and returns the
// folders of the kustomizations that none uses: the roots.
func (l *loader) kustomize() (roots []string, err error) {
	u := uses{
		files: map[string]bool{}, folders: map[string]bool{}, by: map[string][]string{}, reads: map[string][]string{}, apart: map[string]bool{}, inner: map[string][]string{},
		mayFiles: map[string]bool{}, mayFolders: map[string]bool{}, unread: map[string]bool{}, unknown: map[string]bool{},
	}
	for _, dir := range sortedKeys(l.kustomizations) {
		if !l.wanted(sources.File{Path: path.Join(dir, "kustomization.yaml")}) {
			delete(l.kustomizations, dir)
		}
	}
	for _, dir := range sortedKeys(l.kustomizations) {
		if err := l.references(&u, dir); err != nil {
			return nil, err
		}
	}
	l.reads = u.reads
	l.links(&u)
	roots, reached := l.rootsOf(&u)
	roots = append(roots, l.basesOf(&u)...)
	for dir := range u.inner {
		if reached[dir] {
			l.mark(u.files, u.folders, dir, references.Named{Files: u.inner[dir]})
		}
	}
	l.takeOut(func(file string) bool {
		isTheirs := u.files[file] || u.mayFiles[file] || len(u.unknown) > 0 && u.unknown[l.around(file)]
		return isTheirs && l.kustomizations[folderOf(file)] != file
	})
	l.passOver(&u, reached)
	l.withhold(&u)
	return roots, nil
}

// links notes the folders of kustomizations in which a link is used. It is not followed, so
// that the build fails; what it leads to is likely beside it, and not to be delivered by
// itself.
func (l *loader) links(u *uses) {
	for _, f := range l.snapshot.Files() {
		if f.Kind == sources.Symlink && u.files[f.Path] {
			if dir := l.around(f.Path); l.kustomizations[dir] != "" {
				u.unknown[dir] = true
			}
		}
	}
}

// rootsOf returns the folders of the kustomizations that none uses. What is unread is
// built, for that says why. Of those that use each other in a circle none would be a root,
// and nobody would say so: one of them is built for that, and all stay as they were.
// It returns also all that roots use.
func (l *loader) rootsOf(u *uses) (roots []string, reached map[string]bool) {
	reached = map[string]bool{}
	var reach func(dir string)
	reach = func(dir string) {
		if !reached[dir] {
			reached[dir] = true
			for _, used := range u.by[dir] {
				reach(used)
			}
		}
	}
	dirs := slices.DeleteFunc(sortedKeys(l.kustomizations), l.isInner)
	for _, dir := range dirs {
		may := u.mayFolders[dir] && !u.unread[dir]
		if !may && !u.apart[dir] && !u.folders[dir] {
			roots = append(roots, dir)
		}
		if may || u.apart[dir] || !u.folders[dir] {
			reach(dir)
		}
	}
	circles := slices.DeleteFunc(dirs, func(dir string) bool { return reached[dir] })
	for _, dir := range circles {
		l.breaks(l.kustomizations[dir])
		if !reached[dir] {
			roots = append(roots, dir)
			reach(dir)
		}
	}
	return roots, reached
}

// basesOf returns the folders that kustomizations build on and a policy names by waybill.dev/paths,
// itself and no pattern: they are built by themselves, too, for such policies alone.
func (l *loader) basesOf(u *uses) (named []string) {
	l.bases = map[string]bool{}
	for _, o := range l.src.Objects {
		text := o.Annotations()[ignore.PathsAnnotation]
		if text == "" || !slices.Contains([]string{"PropagationPolicy", "ClusterPropagationPolicy"}, o.Ref().Kind) {
			continue
		}
		paths := ignore.ParseList(text)
		for _, dir := range sortedKeys(u.folders) {
			file, ok := l.kustomizations[dir]
			if ok && dir != "" && paths.Names(dir) && !l.bases[dir] && !u.apart[dir] && !u.unread[dir] && l.boundAt(file) == "" {
				l.bases[dir] = true
				named = append(named, dir)
			}
		}
	}
	return named
}

// withhold notes as broken what would be delivered by itself if it were sure that no
// kustomization uses it: it stays as it was.
func (l *loader) withhold(u *uses) {
	for _, f := range l.snapshot.Files() {
		if u.mayFiles[f.Path] && !u.files[f.Path] && !u.unknown[l.around(f.Path)] && isManifestName(f.Path) {
			l.breaks(f.Path)
		}
	}
	for _, dir := range sortedKeys(u.mayFolders) {
		if file, ok := l.kustomizations[dir]; ok && !u.folders[dir] {
			l.breaks(file)
		}
	}
	for _, dir := range sortedKeys(u.unknown) {
		l.breaksBelow(path.Clean(dir))
	}
}

// around returns the folder of the innermost kustomization around a file; that of the
// source if there is none.
func (l *loader) around(file string) string {
	dir, bound := folderOf(file), l.boundAt(file)
	for dir != bound && dir != "" && l.kustomizations[dir] == "" {
		dir = folderOf(dir)
	}
	return dir
}

// folderOf returns the folder of a path; empty for the source itself.
func folderOf(p string) string {
	if dir := path.Dir(p); dir != "." {
		return dir
	}
	return ""
}

// references adds what the kustomization of a folder uses. Where it cannot be read,
// building the root says what is wrong with it.
func (l *loader) references(u *uses, dir string) error {
	file := l.kustomizations[dir]
	var data []byte
	if !l.linked[dir] {
		var err error
		if data, err = l.snapshot.ReadFile(file); err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		if k, ok := references.Of(file, data); ok {
			l.listCharts(path.Dir(file), data)
			l.add(u, dir, k)
			return nil
		}
	}
	u.unread[dir] = true
	l.breaks(file)
	k, known, err := l.wasReferences(file)
	if err != nil {
		return err
	}
	l.add(u, dir, k)
	l.mark(u.mayFiles, u.mayFolders, dir, references.Named{Files: references.Words(data), Folders: references.Words(data)})
	if !known {
		u.unknown[dir] = true
	}
	if l.linked[dir] {
		l.linkedAt(u, dir)
	}
	return nil
}

// linkedAt adds what a kustomization may use that is a link, about which somebody was
// told: all that is below it, if nothing is known.
func (l *loader) linkedAt(u *uses, dir string) {
	u.apart[dir] = true
	for other := range l.kustomizations {
		if u.unknown[dir] && other != dir && (dir == "" || strings.HasPrefix(other, dir+"/")) && l.mayTake(dir, other) {
			u.mayFolders[other], u.unknown[other] = true, true
		}
	}
}

// add adds what the kustomization of a folder uses.
func (l *loader) add(u *uses, dir string, k references.Named) {
	if k.Component {
		u.apart[dir] = true
	}
	if l.isInner(dir) { // what it lists is a policy by itself, unless it is built
		listed := k.Folders
		k.Files = slices.DeleteFunc(k.Files, func(file string) bool { return slices.Contains(listed, file) })
		u.inner[dir] = listed
	}
	u.by[dir] = l.mark(u.files, u.folders, dir, k)
	for _, ref := range slices.Concat(k.Files, k.Folders) {
		u.reads[dir] = append(u.reads[dir], path.Join(dir, ref))
	}
}

// mark adds what a kustomization takes in, and returns the folders that it uses.
func (l *loader) mark(files, folders map[string]bool, dir string, k references.Named) (used []string) {
	for _, ref := range k.Files {
		if file := path.Join(dir, ref); l.mayTake(dir, file) {
			files[file] = true
		}
	}
	for _, ref := range k.Folders {
		target := path.Join(dir, ref)
		if target == "." {
			target = ""
		}
		if target == dir {
			continue
		}
		used = append(used, target)
		if l.mayTake(dir, target) {
			folders[target] = true
		}
	}
	return used
}
