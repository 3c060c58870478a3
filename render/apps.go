package render

import (
	"context"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/render/built"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/lock"
)

// Engine renders jobs over the files of a snapshot. It returns a result for each, in
// order; its error is ours, never of what people wrote.
type Engine interface {
	Render(ctx context.Context, files sources.Snapshot, jobs []engine.Job) ([]engine.Rendered, error)
}

// roots builds Kustomize roots, and takes what belongs to a release out of Objects: it is
// never delivered by itself.
func (l *loader) roots(ctx context.Context, roots []string) error {
	claims := flux.Claims(slices.Concat(l.src.Objects, l.unlisted, l.inherited), l.src.Config.Flux.Self)
	isClaimed := func(file string) bool {
		return slices.ContainsFunc(claims, func(c flux.Claim) bool { return c.Covers(file) && l.mayTake(c.By, file) })
	}
	l.takeOut(isClaimed)
	roots = slices.DeleteFunc(roots, func(dir string) bool { return isClaimed(l.kustomizations[dir]) })
	if l.with.Engine == nil {
		for _, dir := range roots {
			file := l.kustomizations[dir]
			l.report(diag.NotRendered, diag.Error, diag.Pos{File: file, Line: 1}, "the folder is a Kustomize root, and nothing here renders it", "")
			l.src.Broken = append(l.src.Broken, Broken{Path: file})
		}
		return nil
	}
	return l.build(ctx, roots)
}

// build renders the roots.
func (l *loader) build(ctx context.Context, roots []string) error {
	l.src.Built = built.From(roots, l.snapshot, l.kustomizations, l.reads)
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
			o := m.Object.At(pos)
			if l.bases[roots[i]] {
				o = o.OfBase()
			}
			l.src.Objects = append(l.src.Objects, o)
		}
	}
	return nil
}

// takeOut takes files out of what was read, with all that was said of them, but that they
// are links, which nobody follows. How the source is to be read is said by itself, wherever
// it stands.
func (l *loader) takeOut(theirs func(file string) bool) {
	isTheirs := func(file string) bool {
		return file != "" && file != ConfigFile && file != IgnoreFile && file != lock.FileName && theirs(file)
	}
	l.src.Objects = slices.DeleteFunc(l.src.Objects, func(o *object.Object) bool { return isTheirs(o.Pos().File) })
	l.src.Broken = slices.DeleteFunc(l.src.Broken, func(b Broken) bool { return isTheirs(b.Path) || b.Dir && isTheirs(b.Path+"/") })
	l.src.Diags = slices.DeleteFunc(l.src.Diags, func(d diag.Diagnostic) bool {
		return d.Code != diag.Symlink && d.Code != diag.Unreadable && isTheirs(d.Pos.File)
	})
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
