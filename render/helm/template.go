package helm

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

// CRDPolicy says what becomes of the files in crds/, in Flux's words.
type CRDPolicy string

// The policies. What a release renders to has the definitions or not; who applies it
// replaces what is there.
const (
	Create        CRDPolicy = "Create" // they are rendered; the default
	CreateReplace CRDPolicy = "CreateReplace"
	Skip          CRDPolicy = "Skip" // they are not
)

// Release is what a chart is rendered for. Equal releases of equal charts render to
// equal output. It can be carried as JSON.
type Release struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"` // empty for default
	Values    Values `json:"values,omitempty"`
	// ValuesFiles are files of the chart that, merged in their order, take the place
	// of its values.yaml, as source-controller has it. Without any, it stays. They are files of
	// Source, where that is set: of the repository that a chart is a folder of.
	ValuesFiles              []string `json:"valuesFiles,omitempty"`
	Source                   fs.FS    `json:"-"`
	IgnoreMissingValuesFiles bool     `json:"ignoreMissingValuesFiles,omitempty"`
	// KubeVersion is .Capabilities.KubeVersion; if empty, that of the Helm release.
	KubeVersion string `json:"kubeVersion,omitempty"`
	// APIVersions are added to those of .Capabilities.APIVersions that Helm has, as
	// apps/v1 or apps/v1/Deployment.
	APIVersions []string  `json:"apiVersions,omitempty"`
	CRDs        CRDPolicy `json:"crds,omitempty"`
	// SkipSchema leaves out holding the values against the schemas of the charts.
	SkipSchema bool `json:"skipSchema,omitempty"`
	// Allow lists functions that are refused otherwise. See AllowAnnotation.
	Allow []string `json:"allow,omitempty"`
	// Draw is what allowed functions draw from that would draw at random; nil: they are
	// refused.
	Draw *draw.Subkey `json:"draw,omitempty"`
}

// Template loads a chart and renders it.
func Template(files fs.FS, r Release) (Output, error) {
	c, err := Load(files)
	if err != nil {
		return Output{}, err
	}
	return c.Template(r)
}

// Template renders the chart as helm template would. It renders twice and compares,
// so that what depends on chance is not taken for a result. An *Error has the place.
func (c *Chart) Template(r Release) (Output, error) {
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
	files    map[string]string // by name, as chart/templates/x.yaml
	origins  map[string]string // of their names, as they were before a sub-chart got an alias
	refusals map[string]*Error // by origin: a function that was called though it is refused
	notices  []string
	drawn    []string
}

// render runs the engine. The stub stands for the result of functions that are refused.
func (c *Chart) render(r Release, stub string) (out rendering, err error) {
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
	var located *Error
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
func prepare(root *chart.Chart, r Release) (all chartutil.Values, notices []string, err error) {
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
	values := cloneMap(r.Values)
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

func capabilities(r Release) (*chartutil.Capabilities, error) {
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
func (r Release) valuesFile(root *chart.Chart, name string) (data []byte, where string, err error) {
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
func replaceDefaults(root *chart.Chart, r Release) error {
	if len(r.ValuesFiles) == 0 {
		return nil
	}
	values := map[string]any{}
	for _, name := range r.ValuesFiles {
		data, where, err := r.valuesFile(root, name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && r.IgnoreMissingValuesFiles:
			continue
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s has no file %q, which valuesFiles names", where, name)
		case err != nil:
			return fmt.Errorf("reading %s of %s: %w", name, where, err)
		}
		more, err := decodeValues(data)
		if err != nil {
			return fmt.Errorf("reading %s of %s: %w", name, where, err)
		}
		values = merged(values, more)
	}
	root.Values = values
	return nil
}
