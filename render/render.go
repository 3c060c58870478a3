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

	"github.com/waybill-dev/waybill/render/built"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/ignore"
	"github.com/waybill-dev/waybill/sources/lock"
)

// IgnoreFile names what a source does not want to be looked at, in gitignore
// syntax.
const IgnoreFile = ".waybillignore"

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
	// Built are the files of each Kustomize root, in the order of paths, by the file of its kustomization.
	Built map[string][]built.File
	// Broken lists what could not be read: Objects may lack what it holds.
	Broken []Broken
	// Unlisted are the files of manifests that kustomizations do not list, and kustomizations that
	// no other one does, in the order of their paths: they are not read.
	Unlisted []string
	Diags    []diag.Diagnostic
	Stats    Stats
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
	// last, as far as that is known. Nil knows nothing. The path is written as in the
	// String of a Broken.
	Earlier func(path string) (sources.Snapshot, bool)
	// Inherited are objects that the source had, and that may be in what cannot be read
	// now: a Cluster among them still has its directory, a Flux Kustomization its folder, a
	// definition its kind, so that no file counts for another's. They are no part of the
	// result.
	Inherited []*object.Object
	// Config is what counts in place of the source's waybill.yaml; nil: that counts.
	Config *ConfigSpec
	// Unlisted reads what kustomizations do not list, too, and leaves what is defined twice: all
	// that versions delivered which did so.
	Unlisted bool
}

// Load reads a snapshot, and builds its Kustomize roots. The error is of the store
// or of the engine, never of what people wrote.
func Load(ctx context.Context, s sources.Snapshot, w With) (Source, error) {
	for bound := map[string]bool{}; ; {
		l := loader{snapshot: s, with: w, bound: bound, src: Source{Revision: s.Revision(), Config: DefaultConfig(), Bound: map[string][]*object.Object{}}}
		if err := l.load(ctx); err != nil {
			return Source{}, err
		}
		var err error
		if bound, err = l.learned(); bound == nil {
			return l.src, err
		}
	}
}

// load reads the snapshot, by what is known of bound folders.
func (l *loader) load(ctx context.Context) error {
	if err := l.configure(); err != nil {
		return err
	}
	l.findWritten()
	if err := l.read(); err != nil {
		return err
	}
	if err := l.learn(); err != nil {
		return err
	}
	roots, err := l.kustomize()
	if err != nil {
		return err
	}
	l.inherit()
	if err := l.roots(ctx, roots); err != nil {
		return err
	}
	l.inherit()
	if err := l.dependencies(); err != nil {
		return err
	}
	l.patterns()
	l.tellUnlisted()
	sortByPlace(l.src.Objects)
	if err := l.bind(); err != nil {
		return err
	}
	l.tellArgoCD()
	l.scope()
	if !l.with.Unlisted {
		l.unique()
	}
	l.src.Stats.Objects = len(l.src.Objects)
	for _, objs := range l.src.Bound {
		l.src.Stats.Objects += len(objs)
	}
	l.digests()
	l.src.Diags = diag.Sort(l.src.Diags)
	return nil
}

type loader struct {
	snapshot                  sources.Snapshot
	with                      With
	ignored, include, exclude ignore.Matcher
	charts                    []string            // folders that are Helm charts
	written                   map[string]bool     // folders that Waybill wrote
	kustomizations            map[string]string   // by folder, the file that makes it one
	linked                    map[string]bool     // those of them that are no files
	bases                     map[string]bool     // folders of kustomizations that others use and a policy names
	reads                     map[string][]string // by folder, what its kustomization may use
	inherited                 []*object.Object    // of broken parts, when they were sound
	bound                     map[string]bool     // folders that Clusters are bound to, as far as it is known
	unlisted                  []*object.Object    // what is not read, because no kustomization lists it
	unread                    map[string]bool     // folders of kustomizations that cannot be read
	src                       Source
}

func (l *loader) report(code diag.Code, severity diag.Severity, pos diag.Pos, message, hint string) {
	l.src.Diags = append(l.src.Diags, diag.Diagnostic{Code: code, Severity: severity, Pos: pos, Message: message, Hint: hint})
}

// configure reads waybill.yaml, .waybillignore and waybill.lock.
func (l *loader) configure() error {
	for _, f := range l.snapshot.Files() {
		if !slices.Contains([]string{ConfigFile, IgnoreFile, lock.FileName}, f.Path) {
			continue
		}
		if why := unreadable(f); why != "" {
			l.noConfig(f.Path, why)
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
		if l.with.Config != nil {
			continue
		}
		var ds []diag.Diagnostic
		l.src.Config, ds = ParseConfig(data)
		l.src.Diags = append(l.src.Diags, ds...)
		if len(ds) > 0 {
			l.src.Broken = append(l.src.Broken, Broken{Path: f.Path})
		}
	}
	if l.with.Config != nil {
		l.src.Config = *l.with.Config
	}
	l.include = ignore.Parse(strings.Join(l.src.Config.Scan.Include, "\n"))
	l.exclude = ignore.Parse(strings.Join(l.src.Config.Scan.Exclude, "\n"))
	return nil
}

// unreadable says why a file is not read; "" if it is.
func unreadable(f sources.File) string {
	switch {
	case f.Kind == sources.Symlink:
		return "the file is a symbolic link, which is not followed"
	case f.Kind == sources.Submodule:
		return "it is a submodule, which is not followed"
	case f.Kind == sources.Unreadable:
		return "it cannot be read: " + f.Why
	case f.Size > object.MaxFile:
		return fmt.Sprintf("the file has %d bytes; the limit is %d", f.Size, object.MaxFile)
	}
	return ""
}

// noConfig reports a file that says how the source is to be read and cannot be read
// itself. What it says is not known, and to go on as if it were not there would deliver
// what it ignores, or what it protects.
func (l *loader) noConfig(file, why string) {
	if file == lock.FileName {
		l.report(diag.BadLock, diag.Error, diag.Pos{File: file}, why, "write it anew: waybill update")
		return
	}
	l.report(diag.BadConfig, diag.Error, diag.Pos{File: file}, why, "put the file itself here")
	l.src.Broken = append(l.src.Broken, Broken{Path: file})
}

// patterns reports lists of patterns that were too much work, so that it is not known what
// they ignore.
func (l *loader) patterns() {
	for _, list := range []struct {
		file, name string
		exhausted  bool
	}{
		{IgnoreFile, "its patterns", l.ignored.Exhausted()},
		{ConfigFile, "spec.scan", l.include.Exhausted() || l.exclude.Exhausted()},
	} {
		if list.exhausted {
			l.report(diag.BadConfig, diag.Error, diag.Pos{File: list.file},
				fmt.Sprintf("%s have to be tried more than %d times with the paths of the source", list.name, ignore.MostWork),
				"write fewer patterns with wildcards: a folder's name stands for all that is in it")
			l.breaks(list.file)
		}
	}
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
	l.report(diag.BadLock, diag.Error, pos, err.Error(), "write it anew: waybill update")
}

// read decodes every manifest file, but charts, and files of Kustomize roots,
// which apps takes out again.
func (l *loader) read() error {
	l.kustomizations, l.linked = map[string]string{}, map[string]bool{}
	for _, f := range l.snapshot.Files() {
		switch dir, name := path.Split(f.Path); {
		case name == "Chart.yaml" && (f.Kind == sources.Regular || f.Kind == sources.Unreadable):
			l.charts = append(l.charts, dir)
		case isKustfile(name):
			l.kustomization(strings.TrimSuffix(dir, "/"), f)
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

// kustomization notes the file that makes a folder a kustomization. One that is a link
// makes it one as well, of which nothing can be known.
func (l *loader) kustomization(dir string, f sources.File) {
	if f.Kind == sources.Regular {
		l.kustomizations[dir] = f.Path
		delete(l.linked, dir)
		return
	}
	if _, ok := l.kustomizations[dir]; !ok {
		l.kustomizations[dir], l.linked[dir] = f.Path, true
	}
}

// wanted reports whether f may hold manifests. Of what is passed over, only what
// somebody asked to ignore is counted.
func (l *loader) wanted(f sources.File) bool {
	if hidden(f.Path) || f.Path == ConfigFile || f.Path == lock.FileName || l.isWritten(f.Path) {
		return false
	}
	if isFile := f.Kind == sources.Regular || f.Kind == sources.Unreadable && !f.Folder; isFile && !isManifestName(f.Path) {
		return false
	}
	kind := ignore.NoFolder
	if f.Kind == sources.Submodule || f.Folder {
		kind = ignore.Folder
	}
	if l.ignored.Matches(f.Path, kind) || !l.include.Matches(f.Path, kind) || l.exclude.Matches(f.Path, kind) {
		l.src.Stats.Ignored++
		return false
	}
	return !slices.ContainsFunc(l.charts, func(dir string) bool { return strings.HasPrefix(f.Path, dir) })
}

// special reports what is no file to be read, and says so.
func (l *loader) special(f sources.File) bool {
	pos := diag.Pos{File: f.Path}
	switch {
	case f.Kind == sources.Symlink && (isManifestName(f.Path) || l.isKustomization(f.Path)):
		l.report(diag.Symlink, diag.Error, pos, "the file is a symbolic link, which is not followed", "put the file itself here")
		l.src.Broken = append(l.src.Broken, Broken{Path: f.Path})
	case f.Kind == sources.Symlink:
		l.report(diag.Symlink, diag.Warning, pos, "a symbolic link is not followed; manifests behind it are not read", "move the folder here, or name the link in "+IgnoreFile)
		l.src.Broken = append(l.src.Broken, Broken{Path: f.Path, Dir: true})
	case f.Kind == sources.Submodule:
		l.report(diag.Submodule, diag.Warning, pos, "a submodule, or another repository, is not followed; manifests in it are not read", "copy the manifests here, or name it in "+IgnoreFile)
		l.src.Broken = append(l.src.Broken, Broken{Path: f.Path, Dir: true})
	case f.Kind == sources.Unreadable:
		l.report(diag.Unreadable, diag.Error, pos, "it cannot be read: "+f.Why, unreadableHint(f))
		l.src.Broken = append(l.src.Broken, Broken{Path: f.Path, Dir: f.Folder})
	default:
		return l.isKustomization(f.Path)
	}
	return true
}

func unreadableHint(f sources.File) string {
	if f.Folder {
		return "name it in " + IgnoreFile + " if it holds no manifests, or give a folder of the source as a source of its own"
	}
	return "fetch what the repository lacks: git fetch --refetch, without a --filter"
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

// isKustfile reports the names of kustomizations' files.
func isKustfile(name string) bool {
	return name == "kustomization.yaml" || name == "kustomization.yml" || name == "Kustomization"
}

func hidden(p string) bool { return strings.HasPrefix(p, ".") || strings.Contains(p, "/.") }

func isManifestName(p string) bool {
	switch path.Ext(p) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
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
