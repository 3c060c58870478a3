package render

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
)

// PathAnnotation on a Cluster binds a directory of the source to it, and to the others that name
// the same one.
const PathAnnotation = "waybill.dev/path"

// bind moves the objects of cluster-bound directories out of Objects. Policies
// and clusters stay: they are judged wherever they stand.
func (l *loader) bind() error {
	bound, err := l.directories(l.src.Objects, l.inherited)
	if err != nil {
		return err
	}
	if l.tellPaths(); len(bound) == 0 {
		return nil
	}
	kept := l.src.Objects[:0:0]
	for _, o := range l.src.Objects {
		clusters := boundTo(bound, o.Pos().File)
		if len(clusters) == 0 || IsPolicy(o.Ref()) {
			kept = append(kept, o)
			continue
		}
		for _, cluster := range clusters {
			l.src.Bound[cluster] = append(l.src.Bound[cluster], o)
		}
	}
	l.src.Objects = kept
	l.tellEmpty(bound)
	return nil
}

// boundTo returns whose directory a file is in: the innermost counts.
func boundTo(bound map[string][]string, file string) (clusters []string) {
	for dir := path.Dir(file); dir != "." && clusters == nil; dir = path.Dir(dir) {
		clusters = bound[dir]
	}
	return clusters
}

// directories returns the directories that the Clusters among objects are bound to, with their
// clusters.
func (l *loader) directories(objs ...[]*object.Object) (map[string][]string, error) {
	bound := map[string][]string{}
	for _, o := range clusters(objs...) {
		dir, err := l.directory(o)
		if err != nil {
			return nil, err
		}
		if name := o.Ref().Name; dir != "" && !slices.Contains(bound[dir], name) {
			bound[dir] = append(bound[dir], name)
		}
	}
	return bound, nil
}

// clusters lists the Clusters among objects, in the order of their places.
func clusters(objs ...[]*object.Object) []*object.Object {
	all := slices.DeleteFunc(slices.Concat(objs...), func(o *object.Object) bool { return o.Ref().Kind != "Cluster" || o.Ref().Group != "cluster.karmada.io" })
	slices.SortStableFunc(all, func(a, b *object.Object) int {
		return cmp.Or(cmp.Compare(a.Pos().File, b.Pos().File), cmp.Compare(a.Pos().Line, b.Pos().Line), a.Ref().Compare(b.Ref()))
	})
	return all
}

// directory returns the directory that a Cluster is bound to; empty for none. While it
// names what can be none, the one that it named before counts.
func (l *loader) directory(cluster *object.Object) (string, error) {
	asked := cluster.Annotations()[PathAnnotation]
	if pathProblem(asked) == "" {
		return trimmed(asked), nil
	}
	before, err := l.wasIn(cluster.Pos().File)
	if err != nil {
		return "", err
	}
	for _, o := range before {
		if was := o.Annotations()[PathAnnotation]; o.Ref() == cluster.Ref() && pathProblem(was) == "" {
			return trimmed(was), nil
		}
	}
	return "", nil
}

// tellPaths reports the Clusters that name what can be no directory.
func (l *loader) tellPaths() {
	for _, cluster := range clusters(l.src.Objects, l.inherited) {
		asked := cluster.Annotations()[PathAnnotation]
		wrong := pathProblem(asked)
		if wrong == "" {
			continue
		}
		l.report(diag.BadPath, diag.Error, cluster.FieldPos([]any{"metadata", "annotations", PathAnnotation}),
			fmt.Sprintf("Cluster %s: %s is %q, %s", cluster.Ref().Name, PathAnnotation, asked, wrong),
			"name a folder below the root of the source, such as clusters/"+cluster.Ref().Name)
		l.breaks(cluster.Pos().File)
	}
}

// wasIn returns what a file held when it was sound last, then what may be anywhere.
func (l *loader) wasIn(file string) ([]*object.Object, error) {
	s, f, ok := l.earlier(file)
	if !ok {
		return l.with.Inherited, nil
	}
	d, err := l.decode(s, f)
	if err != nil {
		return nil, fmt.Errorf("reading what %s was: %w", file, err)
	}
	return slices.Concat(d.Objects, l.with.Inherited), nil
}

// pathProblem says why nothing can be bound by a path; "" if it can.
func pathProblem(asked string) string {
	switch dir := path.Clean(asked); {
	case asked == "":
		return ""
	case path.IsAbs(asked):
		return "which begins with a slash"
	case dir == ".":
		return "which is all of the source"
	case dir == ".." || strings.HasPrefix(dir, "../"):
		return "which leads out of the source"
	}
	return ""
}

// trimmed returns a path in one spelling; empty for none.
func trimmed(asked string) string {
	if asked == "" {
		return ""
	}
	return path.Clean(asked)
}

// earlier returns the snapshot in which a file was sound last, if it was there.
func (l *loader) earlier(file string) (sources.Snapshot, sources.File, bool) {
	if l.with.Earlier == nil {
		return nil, sources.File{}, false
	}
	s, ok := l.with.Earlier(quoted(file))
	if !ok {
		return nil, sources.File{}, false
	}
	i := slices.IndexFunc(s.Files(), func(f sources.File) bool { return f.Path == file && f.Kind == sources.Regular })
	if i < 0 {
		return nil, sources.File{}, false
	}
	return s, s.Files()[i], true
}
