package build

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/sources/words"
)

// defaultRelease is the name that helm template gives a release without one.
const defaultRelease = "release-name"

// entry is one chart of a kustomization.
type entry struct {
	field field
	types.HelmChart
}

// entries lists the charts of a kustomization, and what is common to them.
func (k *kustfile) entries() ([]entry, types.HelmGlobals) {
	old, globals := types.SplitHelmParameters(k.HelmChartInflationGenerator)
	if k.HelmGlobals != nil {
		globals = *k.HelmGlobals
	}
	var all []entry
	for i, c := range k.HelmCharts {
		all = append(all, entry{field{"helmCharts", i}, c})
	}
	for i, c := range old {
		all = append(all, entry{field{"helmChartInflationGenerator", i}, c})
	}
	return all, globals
}

// visit is a folder as one of its users builds it. Charts that name no namespace are
// rendered into the user's.
type visit struct{ dir, namespace string }

// charts renders the charts of a folder and of what it uses. A chart's manifests become
// a file of resources in front of its kustomization's folder, and the last of its
// resources.
func (s *scan) charts(dir string) {
	s.chartsOf(visit{dir: dir}, map[visit]bool{})
	for _, k := range s.kusts {
		if all, _ := k.entries(); len(all) == 0 {
			continue
		}
		k.changed = true
		k.Resources = append(k.Resources, k.rendered...)
		k.HelmCharts, k.HelmChartInflationGenerator, k.HelmGlobals = nil, nil, nil
	}
}

func (s *scan) chartsOf(at visit, done map[visit]bool) {
	k := s.kusts[at.dir]
	if k == nil || done[at] || len(done) > maxVisits {
		return
	}
	done[at] = true
	namespace := or(k.Namespace, at.namespace)
	all, globals := k.entries()
	for _, e := range all {
		e.Namespace = or(e.Namespace, namespace)
		s.chart(k, globals, e)
	}
	for _, base := range k.bases {
		s.chartsOf(visit{base, namespace}, done)
	}
}

// chart renders one chart.
func (s *scan) chart(k *kustfile, globals types.HelmGlobals, e entry) {
	f, pos := e.field, k.pos(e.field)
	if s.inflate == nil {
		s.refuse(pos, diag.KustomizeHelm, fmt.Sprintf("%s: the chart %q is not rendered here", f, e.Name), "use a HelmRelease")
		return
	}
	h, err := s.helmChart(k, globals, e)
	if errors.Is(err, errReported) {
		return
	}
	if err != nil {
		s.refuse(pos, diag.KustomizeHelm, fmt.Sprintf("%s: %s", f, err), "")
		return
	}
	out, err := s.inflate(*h)
	if err == nil {
		out, err = s.marked(pos, out)
	}
	if err != nil && !errors.Is(err, errReported) {
		s.refuse(pos, diag.KustomizeHelm, fmt.Sprintf("%s: rendering the chart %q: %s", f, e.Name, err), "")
	}
	if err != nil {
		return
	}
	s.place(k, f, out)
}

// place lays the manifests of a chart beside the kustomization, under a name that
// nothing has, and lists it.
func (s *scan) place(k *kustfile, f field, manifests []byte) {
	base := f.String() + ".yaml"
	for s.view.Exists(path.Join(k.dir, base)) && s.view.over[path.Join(k.dir, base)] == nil {
		base = "_" + base
	}
	if !s.view.put(path.Join(k.dir, base), manifests) {
		s.refuse(k.pos(f), diag.KustomizeHelm, fmt.Sprintf("%s is built for several namespaces at once", f), "give the chart a namespace of its own")
	}
	if !slices.Contains(k.rendered, "./"+base) {
		k.rendered = append(k.rendered, "./"+base)
	}
}

// marked returns manifests with kustomize's mark of what came from Helm, which keeps
// its transformers of namespaces away from them.
func (s *scan) marked(pos diag.Pos, manifests []byte) ([]byte, error) {
	if !s.limits(pos, nil, manifests) {
		return nil, errReported
	}
	m, err := s.factory.NewResMapFromBytes(manifests)
	if err != nil {
		return nil, err
	}
	for _, r := range m.Resources() {
		if err := r.PipeE(kyaml.SetAnnotation(konfig.HelmGeneratedAnnotation, "true")); err != nil {
			return nil, err
		}
	}
	return m.AsYaml()
}

// errReported is returned where a diagnostic says what is wrong.
var errReported = errors.New("reported")

// helmChart finds the chart and the values of an entry.
func (s *scan) helmChart(k *kustfile, globals types.HelmGlobals, e entry) (*kustomize.HelmChart, error) {
	c := e.HelmChart
	if c.Name == "" {
		return nil, errors.New("name is empty")
	}
	if c.NameTemplate != "" {
		return nil, fmt.Errorf("nameTemplate %q: a release is named by releaseName alone", words.Short(c.NameTemplate))
	}
	h := &kustomize.HelmChart{
		Pos: k.pos(e.field), Name: c.Name, Repo: c.Repo, Version: c.Version,
		ReleaseName: or(c.ReleaseName, defaultRelease), Namespace: c.Namespace,
		KubeVersion: c.KubeVersion, APIVersions: c.ApiVersions,
		IncludeCRDs: c.IncludeCRDs, SkipHooks: c.SkipHooks, SkipTests: c.SkipTests, Devel: c.Devel,
	}
	home := or(globals.ChartHome, types.HelmDefaultHome)
	if c.Version != "" && c.Repo != "" {
		home = path.Join(home, c.Name+"-"+c.Version)
	}
	name, isDir, err := s.view.resolve(k.dir, path.Join(home, c.Name))
	switch {
	case err == nil && isDir:
		h.Path = name
	case c.Repo == "":
		return nil, fmt.Errorf("there is no chart at %q, and no repo to have it from", path.Join(home, c.Name))
	}
	h.Values, err = s.values(k, e.field, h.Path, c)
	return h, err
}
