package render

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/ignore"
)

// chartLists is what a kustomization says of charts.
type chartLists struct {
	HelmCharts []struct {
		Name    string `json:"name"`
		Repo    string `json:"repo"`
		Version string `json:"version"`
	} `json:"helmCharts"`
	HelmGlobals struct {
		ChartHome string `json:"chartHome"`
	} `json:"helmGlobals"`
	Inflators []struct {
		Name    string `json:"chartName"`
		Repo    string `json:"chartRepoUrl"`
		Version string `json:"chartVersion"`
		Home    string `json:"chartHome"`
	} `json:"helmChartInflationGenerator"`
}

// listCharts notes the charts of repositories that a kustomization lists, but for those
// that are beside it.
func (l *loader) listCharts(dir string, data []byte) {
	var k chartLists
	if sigsyaml.Unmarshal(data, &k) != nil {
		return // building the root says what is wrong with it
	}
	home := k.HelmGlobals.ChartHome
	for _, c := range k.Inflators {
		home = c.Home
		k.HelmCharts = append(k.HelmCharts, struct {
			Name    string `json:"name"`
			Repo    string `json:"repo"`
			Version string `json:"version"`
		}{c.Name, c.Repo, c.Version})
	}
	if home == "" {
		home = "charts"
	}
	for _, c := range k.HelmCharts {
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
