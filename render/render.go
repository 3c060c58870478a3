// Package render turns the bytes of a snapshot into objects: it decides which
// files are looked at, reads them, tells manifests from other YAML, finds the apps
// (Kustomize roots, charts, releases) and names everything it could not read.
//
// It promises that what it returns is a function of the snapshot alone, that every
// object knows its file and line, and that a file it could not read is listed as
// broken instead of being taken for empty. It knows nothing of placement.
package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/ignore"
	"github.com/waybill-dev/waybill/sources/lock"
)

// IgnoreFile names what a source does not want to be looked at, in gitignore
// syntax.
const IgnoreFile = ".waybillignore"

// PathAnnotation on a Cluster binds a directory of the source to it.
const PathAnnotation = "waybill.dev/path"

// Source is what a snapshot holds.
type Source struct {
	Revision sources.Revision
	Config   ConfigSpec
	Lock     lock.Lock // what waybill.lock says of charts
	// Charts are the charts of repositories that kustomizations list and that charts of
	// the source depend on.
	Charts []lock.Ref
	// Objects are the manifests in the order of their files, those of
	// cluster-bound directories left out. Duplicates are left out too.
	Objects []*object.Object
	// Bound holds, by cluster, the manifests of the directories bound to it.
	Bound map[string][]*object.Object
	// Broken lists what could not be read: Objects may lack what it holds.
	Broken []Broken
	Diags  []diag.Diagnostic
	Stats  Stats
}

// Broken is a part of a source that could not be read: a file or, where Dir is
// set, all below it; or one object of it, where Ref is set.
type Broken struct {
	Path string
	Dir  bool
	Ref  object.Ref
}

// String names the part as it is remembered between plans.
func (b Broken) String() string {
	switch {
	case b.Ref != object.Ref{}:
		return b.Ref.String()
	case b.Dir:
		return b.Path + "/"
	}
	return b.Path
}

// Holds reports whether an object that came from pos belongs to the part.
func (b Broken) Holds(o *object.Object) bool {
	switch {
	case b.Ref != object.Ref{}:
		return o.Ref() == b.Ref
	case b.Dir:
		return strings.HasPrefix(o.Pos().File, b.Path+"/")
	}
	return o.Pos().File == b.Path
}

// Stats counts what was looked at.
type Stats struct {
	Files        int `json:"files"`        // YAML and JSON files read
	Objects      int `json:"objects"`      // manifests found
	NotManifests int `json:"notManifests"` // documents without apiVersion and kind
	Ignored      int `json:"ignored"`      // files passed over by .waybillignore or scan
}

// Cache remembers decoded files by content. Nil is a cache that remembers nothing.
type Cache interface {
	Decoded(key string) (object.Decoded, bool)
	Keep(key string, d object.Decoded)
}

// With is what Load works with. The zero value remembers nothing, and reports
// Kustomize roots as not rendered.
type With struct {
	Cache  Cache
	Engine Engine
	// Earlier returns the snapshot in which a path that cannot be read now was sound
	// last, as far as that is known. Nil knows nothing.
	Earlier func(path string) (sources.Snapshot, bool)
}

// Load reads a snapshot, and builds its Kustomize roots. The error is of the store
// or of the engine, never of what people wrote.
func Load(ctx context.Context, s sources.Snapshot, w With) (Source, error) {
	l := loader{snapshot: s, with: w, src: Source{Revision: s.Revision(), Config: DefaultConfig(), Bound: map[string][]*object.Object{}}}
	if err := l.configure(); err != nil {
		return Source{}, err
	}
	l.findWritten()
	if err := l.read(); err != nil {
		return Source{}, err
	}
	if err := l.inherit(); err != nil {
		return Source{}, err
	}
	if err := l.roots(ctx); err != nil {
		return Source{}, err
	}
	if err := l.dependencies(); err != nil {
		return Source{}, err
	}
	sortByPlace(l.src.Objects)
	l.bind()
	l.scope()
	l.unique()
	l.src.Stats.Objects = len(l.src.Objects)
	for _, objs := range l.src.Bound {
		l.src.Stats.Objects += len(objs)
	}
	l.src.Diags = diag.Sort(l.src.Diags)
	return l.src, nil
}

type loader struct {
	snapshot                  sources.Snapshot
	with                      With
	ignored, include, exclude ignore.Matcher
	charts                    []string        // folders that are Helm charts
	written                   map[string]bool // folders that Waybill wrote
	kustomizations            map[string]string
	inherited                 []*object.Object // of broken parts, when they were sound
	src                       Source
}

func (l *loader) report(code string, severity diag.Severity, pos diag.Pos, message, hint string) {
	l.src.Diags = append(l.src.Diags, diag.Diagnostic{Code: code, Severity: severity, Pos: pos, Message: message, Hint: hint})
}

// configure reads waybill.yaml and .waybillignore.
func (l *loader) configure() error {
	for _, f := range l.snapshot.Files() {
		if f.Kind != sources.Regular || !slices.Contains([]string{ConfigFile, IgnoreFile, lock.FileName}, f.Path) || f.Size > object.MaxFile {
			continue
		}
		data, err := l.snapshot.ReadFile(f.Path)
		if err != nil {
			return fmt.Errorf("reading %s: %w", f.Path, err)
		}
		if f.Path == IgnoreFile {
			l.ignored = ignore.Parse(string(data))
			continue
		}
		if f.Path == lock.FileName {
			l.lock(data)
			continue
		}
		var ds []diag.Diagnostic
		l.src.Config, ds = ParseConfig(data)
		l.src.Diags = append(l.src.Diags, ds...)
		if len(ds) > 0 {
			l.src.Broken = append(l.src.Broken, Broken{Path: f.Path})
		}
	}
	l.include = ignore.Parse(strings.Join(l.src.Config.Scan.Include, "\n"))
	l.exclude = ignore.Parse(strings.Join(l.src.Config.Scan.Exclude, "\n"))
	return nil
}

// lock reads waybill.lock. While it cannot be read nothing is locked, so that
// releases stay as they are.
func (l *loader) lock(data []byte) {
	var err error
	if l.src.Lock, err = lock.Parse(data); err == nil {
		return
	}
	pos := diag.Pos{File: lock.FileName}
	if e, ok := errors.AsType[*lock.ParseError](err); ok {
		pos.Line = e.Line
	}
	l.report("bad-lock", diag.Error, pos, err.Error(), "write it anew: waybill update")
}

// read decodes every manifest file, but charts, and files of Kustomize roots,
// which apps takes out again.
func (l *loader) read() error {
	l.kustomizations = map[string]string{}
	for _, f := range l.snapshot.Files() {
		switch dir, name := path.Split(f.Path); {
		case name == "Chart.yaml" && f.Kind == sources.Regular:
			l.charts = append(l.charts, dir)
		case (name == "kustomization.yaml" || name == "kustomization.yml" || name == "Kustomization") && f.Kind == sources.Regular:
			l.kustomizations[strings.TrimSuffix(dir, "/")] = f.Path
		}
	}
	for _, f := range l.snapshot.Files() {
		if !l.wanted(f) || l.special(f) {
			continue
		}
		d, err := l.decode(l.snapshot, f)
		if err != nil {
			return err
		}
		l.src.Stats.Files++
		l.src.Stats.NotManifests += d.NotManifests
		l.src.Objects = append(l.src.Objects, d.Objects...)
		l.src.Diags = append(l.src.Diags, d.Diags...)
		if d.Broken {
			l.src.Broken = append(l.src.Broken, Broken{Path: f.Path})
		}
	}
	return nil
}

// wanted reports whether f may hold manifests. Of what is passed over, only what
// somebody asked to ignore is counted.
func (l *loader) wanted(f sources.File) bool {
	if hidden(f.Path) || f.Path == ConfigFile || l.isWritten(f.Path) {
		return false
	}
	if f.Kind == sources.Regular && !isManifestName(f.Path) {
		return false
	}
	if l.ignored.Matches(f.Path) || !l.include.Matches(f.Path) || l.exclude.Matches(f.Path) {
		l.src.Stats.Ignored++
		return false
	}
	return !slices.ContainsFunc(l.charts, func(dir string) bool { return strings.HasPrefix(f.Path, dir) })
}

// special reports what is no file to be read, and says so.
func (l *loader) special(f sources.File) bool {
	pos := diag.Pos{File: f.Path}
	switch {
	case f.Kind == sources.Symlink && isManifestName(f.Path):
		l.report("symlink", diag.Error, pos, "the file is a symbolic link, which is not followed", "put the file itself here")
		l.src.Broken = append(l.src.Broken, Broken{Path: f.Path})
	case f.Kind == sources.Symlink:
		l.report("symlink", diag.Warning, pos, "a symbolic link is not followed; manifests behind it are not read", "move the folder here, or name the link in "+IgnoreFile)
		l.src.Broken = append(l.src.Broken, Broken{Path: f.Path, Dir: true})
	case f.Kind == sources.Submodule:
		l.report("submodule", diag.Warning, pos, "a submodule is not followed; manifests in it are not read", "copy the manifests here, or name it in "+IgnoreFile)
		l.src.Broken = append(l.src.Broken, Broken{Path: f.Path, Dir: true})
	default:
		return l.isKustomization(f.Path)
	}
	return true
}

func (l *loader) isKustomization(p string) bool {
	dir, _ := path.Split(p)
	return l.kustomizations[strings.TrimSuffix(dir, "/")] == p
}

func (l *loader) decode(s sources.Snapshot, f sources.File) (object.Decoded, error) {
	if d, big := object.TooLarge(f.Path, f.Size); big {
		return object.Decoded{Broken: true, Diags: []diag.Diagnostic{d}}, nil
	}
	key := f.Path + "\x00" + f.Digest
	if l.with.Cache != nil && f.Digest != "" {
		if d, ok := l.with.Cache.Decoded(key); ok {
			return d, nil
		}
	}
	data, err := s.ReadFile(f.Path)
	if err != nil {
		return object.Decoded{}, fmt.Errorf("reading %s: %w", f.Path, err)
	}
	d := object.Decode(f.Path, data)
	if l.with.Cache != nil && f.Digest != "" {
		l.with.Cache.Keep(key, d)
	}
	return d, nil
}

func hidden(p string) bool { return strings.HasPrefix(p, ".") || strings.Contains(p, "/.") }

func isManifestName(p string) bool {
	switch path.Ext(p) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// bind moves the objects of cluster-bound directories out of Objects. Policies
// and clusters stay: they are judged wherever they stand.
func (l *loader) bind() {
	dirs := map[string]string{} // directory with a slash, cluster
	for _, o := range slices.Concat(l.inherited, l.src.Objects) {
		if o.Ref().Kind != "Cluster" || o.Ref().Group != "cluster.karmada.io" {
			continue
		}
		if dir := o.Annotations()[PathAnnotation]; dir != "" {
			dirs[strings.Trim(path.Clean(dir), "/")+"/"] = o.Ref().Name
		}
	}
	if len(dirs) == 0 {
		return
	}
	kept := l.src.Objects[:0:0]
	for _, o := range l.src.Objects {
		cluster := ""
		for dir, name := range dirs {
			if strings.HasPrefix(o.Pos().File, dir) && !IsPolicyGroup(o.Ref().Group) {
				cluster = name
			}
		}
		if cluster == "" {
			kept = append(kept, o)
		} else {
			l.src.Bound[cluster] = append(l.src.Bound[cluster], o)
		}
	}
	l.src.Objects = kept
}

// IsPolicyGroup reports the API groups whose objects steer Karmada, or Waybill,
// and are never delivered. What Karmada's search and operator are told of is not for
// its control plane, which takes it for templates like any other (section A.3).
func IsPolicyGroup(group string) bool {
	switch group {
	case "search.karmada.io", "operator.karmada.io":
		return false
	}
	return strings.HasSuffix(group, ".karmada.io") || group == "waybill.dev"
}

// unique drops what is defined twice in one scope and names both places. Neither
// is taken: which one was meant is not for us to say.
func (l *loader) unique() {
	l.src.Objects = l.dedupe(l.src.Objects)
	for cluster, objs := range l.src.Bound {
		l.src.Bound[cluster] = l.dedupe(objs)
	}
}

func (l *loader) dedupe(objs []*object.Object) []*object.Object {
	first := make(map[object.Ref]*object.Object, len(objs))
	twice := map[object.Ref]bool{}
	for _, o := range objs {
		a, ok := first[o.Ref()]
		if !ok {
			first[o.Ref()] = o
			continue
		}
		if !twice[o.Ref()] {
			l.src.Broken = append(l.src.Broken, Broken{Ref: o.Ref()})
		}
		twice[o.Ref()] = true
		l.report("duplicate-object", diag.Error, o.Pos(), fmt.Sprintf("%s is defined here and at %s", o.Ref(), a.Pos()), "remove one of them; until then neither is used")
	}
	if len(twice) == 0 {
		return objs
	}
	return slices.DeleteFunc(slices.Clone(objs), func(o *object.Object) bool { return twice[o.Ref()] })
}

// sortByPlace orders objects by where they stand.
func sortByPlace(objs []*object.Object) {
	slices.SortStableFunc(objs, func(a, b *object.Object) int {
		return cmp.Or(cmp.Compare(a.Pos().File, b.Pos().File), cmp.Compare(a.Pos().Line, b.Pos().Line))
	})
}

// SortObjects orders objects by ref, then by place.
func SortObjects(objs []*object.Object) {
	slices.SortFunc(objs, func(a, b *object.Object) int {
		return cmp.Or(a.Ref().Compare(b.Ref()), cmp.Compare(a.Pos().File, b.Pos().File), cmp.Compare(a.Pos().Line, b.Pos().Line))
	})
}
