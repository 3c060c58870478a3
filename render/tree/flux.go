package tree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// fluxDir holds what only Flux reads: the parts of a branch, or the folders of the form
// before.
const fluxDir = "flux"

// partPrefix begins the name of a part. A namespace has no dot, so that no folder of the
// form before is called like a part.
const partPrefix = "part."

// Part is a share of the manifests, listed by a kustomization of its own and synced by a
// child Kustomization that the root of the branch lists:
//
//	flux/part.1.yaml                the child
//	flux/part.1/kustomization.yaml  what it syncs
type Part struct {
	fluxsync.Child

	listed files.ID // of its kustomization on the branch
}

// Flux is what the kustomizations of a tree depend on beside its manifests.
type Flux struct {
	Sync   fluxsync.Sync
	Before Published // the head of the branch; zero: there is none
}

// Key is equal for clusters whose trees of so many equal manifests are equal.
func (f Flux) Key(objects int) string {
	switch folders := f.folders(); {
	case len(folders) > 0:
		return strings.Join(folders, "/")
	case f.mayDivide(objects):
		return "cluster " + f.Sync.Cluster
	}
	return ""
}

// NewFolders lists the folders of the form before that a tree has and the one before it
// had not: nothing syncs them until somebody applies a Kustomization for them.
func (f Flux) NewFolders(built *files.Folder) []string {
	before := f.folders()
	now := Published{Built: built}
	return slices.DeleteFunc(now.Folders(), func(name string) bool { return len(before) == 0 || slices.Contains(before, name) })
}

// folders lists the folders of the form before, while the branch keeps them.
func (f Flux) folders() []string {
	if f.Sync.Form != "" {
		return nil
	}
	return f.Before.Folders()
}

// mayDivide reports whether a tree of so many manifests may have parts.
func (f Flux) mayDivide(objects int) bool {
	if f.Sync.Form == fluxsync.FormSingle {
		return false
	}
	return objects > fluxsync.MaxObjects || f.Sync.Form == fluxsync.FormSplit || f.Before.hasParts()
}

// Folders lists the folders that a branch has for its namespaces, in the form before.
func (p *Published) Folders() []string {
	var names []string
	for _, e := range p.flux() {
		if e.Dir != nil && !strings.HasPrefix(e.Name, partPrefix) {
			names = append(names, e.Name)
		}
	}
	return names
}

func (p *Published) hasParts() bool {
	return slices.ContainsFunc(p.flux(), func(e files.Entry) bool { return strings.HasPrefix(e.Name, partPrefix) })
}

// flux lists what is in the folder that only Flux reads.
func (p *Published) flux() []files.Entry {
	if p.Built == nil {
		return nil
	}
	e, ok := p.Built.Lookup(fluxDir)
	if !ok || e.Dir == nil {
		return nil
	}
	return e.Dir.Entries()
}

// Parts lists the parts of a branch, in the order in which they came about.
func (p *Published) Parts() ([]Part, error) {
	listed, err := resources(p.Built, kustomizationFile)
	if err != nil {
		return nil, err
	}
	var parts []Part
	for _, path := range listed {
		part, ok := partOf(path)
		if !ok {
			continue
		}
		if err := part.read(p.Built, path); err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// partOf names the part whose child a path is of.
func partOf(path string) (Part, bool) {
	folder, ok := strings.CutSuffix(path, ".yaml")
	name, ours := strings.CutPrefix(folder, fluxDir+"/"+partPrefix)
	return newPart(name), ok && ours
}

func newPart(number string) Part {
	name := partPrefix + number
	return Part{Child: fluxsync.Child{Part: name, Path: fluxDir + "/" + name}}
}

// read reads the child at path. A child that somebody removed or rewrote says nothing: it is
// written again.
func (p *Part) read(root *files.Folder, path string) error {
	list, _ := root.Lookup(p.Path + "/" + kustomizationFile)
	p.listed = list.ID
	e, ok := root.Lookup(path)
	if !ok || e.Blob == nil {
		return nil
	}
	data, err := e.Blob.Bytes()
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	if content, err := object.DecodeCanonical(data); err == nil {
		p.Namespace, p.Orphan = fluxsync.ReadChild(content)
	}
	return nil
}

// paths reads what a part of a tree lists.
func (p *Part) paths(root *files.Folder) ([]string, error) {
	paths, err := resources(root, p.Path+"/"+kustomizationFile)
	for i, path := range paths {
		paths[i] = strings.TrimPrefix(path, upToRoot)
	}
	return paths, err
}

// fluxFolders holds a kustomization for each namespace folder of paths, and for those
// that were there before.
func (b *Builder) fluxFolders(paths, before []string) *files.Folder {
	var entries []files.Entry
	for _, namespace := range before {
		prefix := ManifestDir + "/" + namespace + "/"
		if !slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, prefix) }) {
			entries = append(entries, b.kustomized(namespace, nil))
		}
	}
	for start := 0; start < len(paths); {
		namespace := namespaceOf(paths[start])
		end := start
		for end < len(paths) && namespaceOf(paths[end]) == namespace {
			end++
		}
		entries = append(entries, b.kustomized(namespace, paths[start:end]))
		start = end
	}
	return b.share(files.NewFolder(entries))
}

// partsFolder holds each part: its child, and its kustomization.
func (b *Builder) partsFolder(sync fluxsync.Sync, parts []listedPart) *files.Folder {
	var entries []files.Entry
	for _, p := range parts {
		child := b.blob(object.Encode(sync.Child(p.Child)))
		entries = append(entries, files.FileEntry(p.Part+".yaml", child), p.folder)
	}
	return b.share(files.NewFolder(entries))
}

// upToRoot leads from a folder below flux to the root of the branch.
const upToRoot = "../../"

// kustomized is a folder below flux that lists paths of the branch.
func (b *Builder) kustomized(name string, paths []string) files.Entry {
	content := []byte(nothing)
	if len(paths) > 0 {
		content = kustomization(paths, upToRoot)
	}
	file := files.FileEntry(kustomizationFile, b.blob(content))
	return files.DirEntry(name, b.share(files.NewFolder([]files.Entry{file})))
}

// nothing is a kustomization that builds to no object, and is not refused as empty.
const nothing = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\ngeneratorOptions:\n  disableNameSuffixHash: true\n"

// namespaceOf is the folder below manifests in which a path lies.
func namespaceOf(path string) string {
	namespace, _, _ := strings.Cut(strings.TrimPrefix(path, ManifestDir+"/"), "/")
	return namespace
}
