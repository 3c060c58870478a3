package build

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"

	"github.com/waybill-dev/waybill/render/helm"
)

// Chart is a chart that was read and parsed, to be rendered any number of times. It is
// not changed by that, but it is not made for goroutines either.
type Chart struct {
	root *chart.Chart
	// calls are what to guard in each template, of sub-charts too.
	calls map[*chart.File][]call
}

// Load reads a chart and its sub-charts, from folders and packages below charts/. It
// refuses what is over the limits, symbolic links, and names that are ambiguous. The
// error names the file.
func Load(files fs.FS) (c *Chart, err error) {
	defer recovered("loading the chart", &err)
	buffered, err := readFiles(files)
	if err != nil {
		return nil, err
	}
	root, err := loader.LoadFiles(buffered)
	if err != nil {
		return nil, fmt.Errorf("loading the chart: %w", err)
	}
	if kind := root.Metadata.Type; kind != "" && kind != "application" {
		return nil, fmt.Errorf("the chart %s is of type %q: it holds definitions for other charts and renders to nothing", root.Name(), kind)
	}
	if err := checkDependencies(root); err != nil {
		return nil, err
	}
	c = &Chart{root: root, calls: map[*chart.File][]call{}}
	c.prepare(root)
	return c, nil
}

// prepare finds the calls in the templates of a chart and its sub-charts, and puts the
// latter in order: the loader returns them in that of a Go map.
func (c *Chart) prepare(part *chart.Chart) {
	for _, file := range part.Templates {
		c.calls[file] = calls(string(file.Data))
	}
	subs := slices.Clone(part.Dependencies())
	slices.SortStableFunc(subs, func(a, b *chart.Chart) int {
		return cmp.Or(strings.Compare(a.Name(), b.Name()), strings.Compare(a.Metadata.Version, b.Metadata.Version))
	})
	part.SetDependencies(subs...)
	for _, sub := range subs {
		c.prepare(sub)
	}
}

// checkDependencies refuses a chart whose Chart.yaml lists charts that are not there,
// as helm template does.
func checkDependencies(root *chart.Chart) error {
	var missing []string
	for _, want := range root.Metadata.Dependencies {
		has := slices.ContainsFunc(root.Dependencies(), func(c *chart.Chart) bool { return c.Name() == want.Name })
		if !has {
			missing = append(missing, want.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return &helm.Error{
		File:    root.Name() + "/Chart.yaml",
		Message: "dependencies that are not in charts/: " + strings.Join(missing, ", "),
		Hint:    "run helm dependency build and commit what it puts into charts/",
	}
}

// copier copies a chart for one rendering, which changes it.
type copier struct {
	calls   map[*chart.File][]call
	guard   *guard
	origins map[*chart.File]string // where a template was in the chart
}

func (c *copier) copy(part *chart.Chart) *chart.Chart {
	metadata := *part.Metadata
	metadata.Annotations = maps.Clone(metadata.Annotations)
	metadata.Dependencies = nil
	for _, d := range part.Metadata.Dependencies {
		dependency := *d
		metadata.Dependencies = append(metadata.Dependencies, &dependency)
	}
	out := &chart.Chart{
		Raw:       part.Raw,
		Metadata:  &metadata,
		Lock:      part.Lock,
		Schema:    part.Schema,
		Files:     part.Files,
		Templates: part.Templates,
	}
	if part.Values != nil {
		out.Values = helm.Values(part.Values).Clone()
	}
	for _, sub := range part.Dependencies() {
		out.AddDependency(c.copy(sub))
	}
	for _, file := range part.Templates {
		c.origins[file] = path.Join(part.ChartFullPath(), file.Name)
	}
	return out
}

// guarded guards the templates of a copy that is ready to be rendered, and notes by what
// they render to where they were in the chart. That differs below a sub-chart with an
// alias, and two aliases of one chart share its files.
func (c *copier) guarded(part *chart.Chart, into map[string]string) {
	templates := make([]*chart.File, 0, len(part.Templates))
	for _, file := range part.Templates {
		calls, ok := c.calls[file]
		if !ok { // the chart is part of two others, and was met before
			return
		}
		at := place{file: c.origins[file], path: path.Join(part.ChartFullPath(), file.Name)}
		into[at.path] = at.file
		templates = append(templates, &chart.File{Name: file.Name, Data: []byte(c.guard.file(at, string(file.Data), calls))})
	}
	part.Templates = templates
	for _, sub := range part.Dependencies() {
		c.guarded(sub, into)
	}
}

// recovered turns a panic of the engine into an error. What cannot be recovered from,
// an exhausted stack or memory, is for the process around this to bear.
func recovered(doing string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s: the engine gave up: %v", doing, r)
	}
}
