package render

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/render/references"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/ignore"
)

// listCharts notes the charts of repositories that a kustomization lists, but for those
// that are beside it.
func (l *loader) listCharts(dir string, data []byte) {
	named, home := references.Charts(data)
	for _, c := range named {
		at := path.Join(dir, home, c.Name)
		if c.Version != "" {
			at = path.Join(dir, home, c.Name+"-"+c.Version, c.Name)
		}
		if c.Repo != "" && !l.isChart(at) {
			l.src.Charts = append(l.src.Charts, engine.ChartRef(kustomize.HelmChart{Name: c.Name, Repo: c.Repo, Version: c.Version}))
		}
	}
}

func (l *loader) isChart(dir string) bool {
	return slices.Contains(l.charts, dir+"/")
}

// dependencies notes the charts of repositories that charts of the source depend on.
func (l *loader) dependencies() error {
	files := sources.FS(l.snapshot)
	for _, dir := range l.charts {
		inside := func(outer string) bool { return outer != dir && strings.HasPrefix(dir, outer) }
		if hidden(dir) || l.isWritten(dir) || l.ignored.Matches(dir, ignore.NoFolder) || slices.ContainsFunc(l.charts, inside) {
			continue
		}
		if l.lacks(dir) {
			continue // its releases say so
		}
		own, err := fs.Sub(files, path.Clean(dir))
		if err != nil {
			return fmt.Errorf("reading the chart in %s: %w", dir, err)
		}
		missing, err := helm.MissingDependencies(own)
		if err != nil {
			return fmt.Errorf("reading the chart in %s: %w", dir, err)
		}
		for _, d := range missing {
			if ref, ok := engine.DependencyRef(d); ok {
				l.src.Charts = append(l.src.Charts, ref)
			}
		}
	}
	return nil
}

// lacks reports whether something in a folder cannot be read.
func (l *loader) lacks(dir string) bool {
	return slices.ContainsFunc(l.snapshot.Files(), func(f sources.File) bool {
		return f.Kind == sources.Unreadable && strings.HasPrefix(f.Path, dir)
	})
}
