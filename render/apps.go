package render

import (
	"fmt"
	"path"
	"slices"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
)

// apps finds what needs an engine to become objects: Kustomize roots, Helm
// releases and Flux Kustomizations. No engine is built in yet, so each is reported
// and what belongs to it is taken out of Objects, never delivered half.
func (l *loader) apps() error {
	used, err := l.kustomizeFiles()
	if err != nil {
		return err
	}
	l.src.Objects = slices.DeleteFunc(l.src.Objects, func(o *object.Object) bool {
		return used[o.Pos().File] || l.isRelease(o)
	})
	return nil
}

func (l *loader) isRelease(o *object.Object) bool {
	r := o.Ref()
	helm := r.Kind == "HelmRelease" && r.Group == "helm.toolkit.fluxcd.io"
	kustomize := r.Kind == "Kustomization" && r.Group == "kustomize.toolkit.fluxcd.io"
	if helm || kustomize {
		l.notRendered(o.Pos(), fmt.Sprintf("%s is a release, which this version does not render", r))
		l.src.Broken = append(l.src.Broken, Broken{Ref: r})
	}
	return helm || kustomize
}

func (l *loader) notRendered(pos diag.Pos, message string) {
	l.report("not-rendered", diag.Error, pos, message+"; nothing of it is delivered",
		"render it in CI and commit the manifests, or name it in "+IgnoreFile)
}

// kustomizeFiles reports the Kustomize roots and returns the files that any
// kustomization uses.
func (l *loader) kustomizeFiles() (map[string]bool, error) {
	exists := map[string]bool{}
	for _, f := range l.snapshot.Files() {
		exists[f.Path] = true
	}
	used, notRoot := map[string]bool{}, map[string]bool{}
	for _, dir := range sortedKeys(l.kustomizations) {
		if !l.wanted(sources.File{Path: path.Join(dir, "kustomization.yaml")}) {
			notRoot[dir] = true
			continue
		}
		refs, err := l.references(l.kustomizations[dir])
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			target := path.Join(dir, ref)
			if exists[target] {
				used[target] = true
			} else if _, ok := l.kustomizations[target]; ok && target != dir {
				notRoot[target] = true
			}
		}
	}
	for _, dir := range sortedKeys(l.kustomizations) {
		if !notRoot[dir] {
			l.notRendered(diag.Pos{File: l.kustomizations[dir], Line: 1}, "the folder is a Kustomize root, which this version does not render")
		}
	}
	for _, file := range sortedKeys(used) {
		l.src.Broken = append(l.src.Broken, Broken{Path: file})
	}
	return used, nil
}

// references returns the strings of a kustomization that may name a file or a
// folder: those of every list and map in it. A string that names nothing there is
// no matter.
func (l *loader) references(file string) ([]string, error) {
	data, err := l.snapshot.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	if len(data) > object.MaxFile {
		return nil, nil
	}
	var content any
	if err := sigsyaml.Unmarshal(data, &content); err != nil {
		return nil, nil //nolint:nilerr // the root is reported as not rendered whatever it says
	}
	var refs []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			_, behind, isPair := strings.Cut(v, "=") // generators: key=file
			if isPair {
				v = behind
			}
			if v != "" && len(v) < 4096 && !strings.Contains(v, "\n") && !path.IsAbs(v) {
				refs = append(refs, v)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(content)
	return refs, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
