package build

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"

	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/helm"
)

// What templates see where nothing was said.
const (
	// defaultKube is what helm template v3.22.0 renders for without --kube-version.
	defaultKube = "v1.37.0"
	// helmVersion is .Capabilities.HelmVersion.Version. The other facts of a build of
	// Helm are empty.
	helmVersion = "v3.22.0"
	// defaultNamespace is that of kubectl without a configuration.
	defaultNamespace = "default"
)

// The limits of what a chart renders to.
const (
	maxOutput    = 50 << 20 // bytes
	maxManifests = 5_000
)

// Template loads a chart and renders it.
func Template(files fs.FS, r helm.Release) (Output, error) {
	c, err := Load(files)
	if err != nil {
		return Output{}, err
	}
	return c.Template(r)
}

// Template renders the chart as helm template would. It renders twice and compares,
// so that what depends on chance is not taken for a result. An *helm.Error has the place.
func (c *Chart) Template(r helm.Release) (Output, error) {
	first, err := c.render(r, "refused-0")
	if err != nil {
		return Output{}, err
	}
	second, err := c.render(r, "refused-1")
	if err != nil {
		return Output{}, err
	}
	if err := agree(first, second, r); err != nil {
		return Output{}, err
	}
	out, err := c.output(first, r)
	if err != nil {
		return Output{}, errors.New(draw.Hide(err.Error(), first.drawn))
	}
	out.Drawn = first.drawn
	return out, nil
}

// rendering is what one run of the engine gave.
type rendering struct {
	chart    *chart.Chart
	files    map[string]string      // by name, as chart/templates/x.yaml
	origins  map[string]string      // of their names, as they were before a sub-chart got an alias
	refusals map[string]*helm.Error // by origin: a function that was called though it is refused
	notices  []string
	drawn    []string
}

// render runs the engine. The stub stands for the result of functions that are refused.
func (c *Chart) render(r helm.Release, stub string) (out rendering, err error) {
	defer recovered("rendering the chart "+c.root.Name(), &err)
	g := newGuard(r, stub)
	copier := &copier{calls: c.calls, guard: g, origins: map[*chart.File]string{}}
	root := copier.copy(c.root)
	values, notices, err := prepare(root, r)
	if err != nil {
		return rendering{}, err
	}
	origins := map[string]string{}
	copier.guarded(root, origins)
	files, err := engine.RenderWithClientProvider(root, values, g)
	var located *helm.Error
	switch refusal := g.refusals[g.current()]; {
	case err != nil && refusal != nil: // which may be why it went wrong
		return rendering{}, refusal
	case errors.As(err, &located):
		return rendering{}, located
	case err != nil:
		return rendering{}, fmt.Errorf("rendering the chart %s: %s", c.root.Name(), abridged(discreet(g.redact(err.Error()), r.Values)))
	}
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasSuffix(name, "NOTES.txt") })
	out = rendering{chart: root, files: files, origins: origins, refusals: g.refusals, drawn: g.drew()}
	out.notices = append(slices.Sorted(maps.Keys(g.notices)), notices...)
	return out, nil
}

// prepare decides which sub-charts take part, and computes what templates see. The notices
// are what the check of the values left out.
func prepare(root *chart.Chart, r helm.Release) (all chartutil.Values, notices []string, err error) {
	if err := chartutil.ValidateReleaseName(r.Name); err != nil {
		return nil, nil, fmt.Errorf("the release name %q: %w", r.Name, err)
	}
	caps, err := capabilities(r)
	if err != nil {
		return nil, nil, err
	}
	if want := root.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, caps.KubeVersion.Version) {
		return nil, nil, fmt.Errorf("the chart %s is made for Kubernetes %s, not for %s", root.Name(), want, caps.KubeVersion.Version)
	}
	if err := replaceDefaults(root, r); err != nil {
		return nil, nil, err
	}
	values := map[string]any(r.Values.Clone())
	if err := chartutil.ProcessDependenciesWithMerge(root, values); err != nil {
		return nil, nil, fmt.Errorf("deciding on the sub-charts of %s: %w", root.Name(), err)
	}
	options := chartutil.ReleaseOptions{Name: r.Name, Namespace: r.Namespace, Revision: 1, IsInstall: true}
	if options.Namespace == "" {
		options.Namespace = defaultNamespace
	}
	const skipSchema = true // validate does it, without the network
	all, err = chartutil.ToRenderValuesWithSchemaValidation(root, values, options, caps, skipSchema)
	if err != nil {
		return nil, nil, fmt.Errorf("merging the values of %s: %w", root.Name(), err)
	}
	if final, ok := all["Values"].(chartutil.Values); ok && !r.SkipSchema {
		notices, err = validate(root, final)
	}
	return all, notices, err
}

func capabilities(r helm.Release) (*chartutil.Capabilities, error) {
	caps := chartutil.DefaultCapabilities.Copy()
	version := r.KubeVersion
	if version == "" {
		version = defaultKube
	}
	kube, err := chartutil.ParseKubeVersion(version)
	if err != nil {
		return nil, fmt.Errorf("reading the Kubernetes version %q: %w", r.KubeVersion, err)
	}
	caps.KubeVersion = *kube
	caps.APIVersions = append(slices.Clone(caps.APIVersions), r.APIVersions...)
	caps.HelmVersion.Version = helmVersion
	caps.HelmVersion.GoVersion = ""
	return caps, nil
}

// valuesFile reads a file of values, and says what it is a file of.
func valuesFile(root *chart.Chart, r helm.Release, name string) (data []byte, where string, err error) {
	if r.Source != nil {
		where = "the repository"
		data, err = readFile(r.Source, path.Clean(strings.TrimLeft(name, "/")))
		return data, where, err
	}
	where = "the chart " + root.Name()
	i := slices.IndexFunc(root.Raw, func(f *chart.File) bool { return f.Name == path.Clean(name) })
	if i < 0 {
		return nil, where, fs.ErrNotExist
	}
	return root.Raw[i].Data, where, nil
}

// readFile reads a file of a repository that is no larger than one of a chart may be.
func readFile(files fs.FS, name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrNotExist
	}
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if err := newBudget().spend(name, info.Size()); err != nil {
		return nil, err
	}
	return fs.ReadFile(files, name)
}

// replaceDefaults puts the release's files of values in the place of the chart's own.
func replaceDefaults(root *chart.Chart, r helm.Release) error {
	if len(r.ValuesFiles) == 0 {
		return nil
	}
	values := helm.Values{}
	for _, name := range r.ValuesFiles {
		data, where, err := valuesFile(root, r, name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && r.IgnoreMissingValuesFiles:
			continue
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s has no file %q, which valuesFiles names", where, name)
		case err != nil:
			return fmt.Errorf("reading %s of %s: %w", name, where, err)
		}
		more, err := helm.DecodeValues(data)
		if err != nil {
			return fmt.Errorf("reading %s of %s: %w", name, where, err)
		}
		values = values.With(more)
	}
	root.Values = values
	return nil
}
