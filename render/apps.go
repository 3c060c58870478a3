package render

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
)

// Engine renders jobs over the files of a snapshot. It returns a result for each, in
// order; its error is ours, never of what people wrote.
type Engine interface {
	Render(ctx context.Context, files sources.Snapshot, jobs []engine.Job) ([]engine.Rendered, error)
}

// roots builds the Kustomize roots, and takes what belongs to a kustomization, or to
// a release, out of Objects: it is never delivered by itself.
func (l *loader) roots(ctx context.Context) error {
	used, roots, err := l.kustomizeFiles()
	if err != nil {
		return err
	}
	claimed := flux.Folders(slices.Concat(l.src.Objects, l.inherited))
	isClaimed := func(file string) bool {
		return slices.ContainsFunc(claimed, func(dir string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") })
	}
	isTheirs := func(file string) bool { return used[file] || isClaimed(file) }
	l.src.Objects = slices.DeleteFunc(l.src.Objects, func(o *object.Object) bool { return isTheirs(o.Pos().File) })
	l.src.Broken = slices.DeleteFunc(l.src.Broken, func(b Broken) bool { return isTheirs(b.Path) })
	l.src.Diags = slices.DeleteFunc(l.src.Diags, func(d diag.Diagnostic) bool { return isTheirs(d.Pos.File) })
	roots = slices.DeleteFunc(roots, func(dir string) bool { return isClaimed(l.kustomizations[dir]) })
	if l.with.Engine == nil {
		for _, dir := range roots {
			file := l.kustomizations[dir]
			l.report("not-rendered", diag.Error, diag.Pos{File: file, Line: 1}, "the folder is a Kustomize root, and nothing here renders it", "")
			l.src.Broken = append(l.src.Broken, Broken{Path: file})
		}
		return nil
	}
	return l.build(ctx, roots)
}

// build renders the roots.
func (l *loader) build(ctx context.Context, roots []string) error {
	jobs := make([]engine.Job, 0, len(roots))
	for _, dir := range roots {
		if dir == "" {
			dir = "."
		}
		jobs = append(jobs, engine.Job{Kustomize: &engine.Kustomize{Dir: dir}})
	}
	results, err := l.with.Engine.Render(ctx, l.snapshot, jobs)
	if err != nil {
		return fmt.Errorf("rendering Kustomize roots: %w", err)
	}
	for i, r := range results {
		pos := diag.Pos{File: l.kustomizations[roots[i]], Line: 1}
		for _, d := range r.Diags {
			if d.Pos.File == "" {
				d.Pos = pos
			}
			l.src.Diags = append(l.src.Diags, d)
		}
		if r.Failed() {
			l.breaks(pos.File)
			continue
		}
		for _, m := range r.Manifests {
			l.src.Objects = append(l.src.Objects, m.Object.At(pos))
		}
	}
	return nil
}

// kustomizeFiles returns the files that any kustomization uses, and the folders of
// the kustomizations that none uses.
func (l *loader) kustomizeFiles() (used map[string]bool, roots []string, err error) {
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
		k, err := l.references(l.kustomizations[dir])
		if err != nil {
			return nil, nil, err
		}
		notRoot[dir] = notRoot[dir] || k.component
		for _, ref := range k.refs {
			target := path.Join(dir, ref)
			used[target] = exists[target]
			if target == "." {
				target = ""
			}
			if target != dir {
				notRoot[target] = true
			}
		}
	}
	for _, dir := range sortedKeys(l.kustomizations) {
		if !notRoot[dir] {
			roots = append(roots, dir)
		}
	}
	return used, roots, nil
}

// references is what a kustomization may use.
type references struct {
	component bool     // it is a Component, which is built only as part of others
	refs      []string // of files and folders
}

// references reads what a kustomization uses. Where it cannot be read, building the root
// says what is wrong with it.
func (l *loader) references(file string) (references, error) {
	data, err := l.snapshot.ReadFile(file)
	if err != nil {
		return references{}, fmt.Errorf("reading %s: %w", file, err)
	}
	k, ok := parseReferences(file, data)
	if !ok {
		return l.wasReferences(file)
	}
	l.listCharts(path.Dir(file), data)
	return k, nil
}

// parseReferences returns the strings of a kustomization that may name a file or a
// folder: those of every list and map in it. A string that names nothing there is
// no matter. It reports false if the file cannot be read.
func parseReferences(file string, data []byte) (references, bool) {
	var content map[string]any
	if len(data) > object.MaxFile || len(object.Scan(file, data)) > 0 || sigsyaml.Unmarshal(data, &content) != nil {
		return references{}, false
	}
	out := references{component: content["kind"] == "Component"}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			_, behind, isPair := strings.Cut(v, "=") // generators: key=file
			if isPair {
				v = behind
			}
			if v != "" && len(v) < 4096 && !strings.Contains(v, "\n") && !path.IsAbs(v) {
				out.refs = append(out.refs, v)
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
	return out, true
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
