package build

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"

	"github.com/waybill-dev/waybill/render/helm"
)

// Output is what a release renders to.
type Output struct {
	// Manifests are in the order of helm template: custom resource definitions of
	// crds/, then all else by kind, then hooks.
	Manifests []Manifest `json:"manifests"`
	// Notices say what was rendered but is worth knowing, sorted.
	Notices []string `json:"notices,omitempty"`
	Chart   Metadata `json:"chart"`
	// Drawn is what was drawn, which no message may show. See Release.Draw.
	Drawn []string `json:"-"`
}

// Metadata is what a chart says of itself.
type Metadata struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	AppVersion string `json:"appVersion,omitempty"`
}

// Manifest is one YAML document, ended by a newline, without which a block scalar at its
// end would be another text. It was not looked into: it may be no object.
type Manifest struct {
	Source string     `json:"source"` // chart/templates/x.yaml, chart/crds/x.yaml
	Data   []byte     `json:"data"`
	Hook   *helm.Hook `json:"hook,omitempty"` // nil for what is no hook
}

// output orders, splits and counts what was rendered.
func (c *Chart) output(r rendering, rel helm.Release) (out Output, err error) {
	defer recovered("sorting what the chart "+c.root.Name()+" renders to", &err)
	out.Chart = Metadata{Name: c.root.Name(), Version: c.root.Metadata.Version, AppVersion: c.root.Metadata.AppVersion}
	out.Notices = r.notices
	if rel.CRDs != helm.Skip {
		out.Manifests = definitions(r)
	}
	if err := checkSize(r.files); err != nil {
		return Output{}, err
	}
	hooks, manifests, err := releaseutil.SortManifests(r.files, nil, releaseutil.InstallOrder)
	if err != nil {
		return Output{}, fmt.Errorf("reading what the chart %s renders to: %w", c.root.Name(), err)
	}
	for _, m := range manifests {
		out.add(Manifest{Source: m.Name, Data: []byte(m.Content)})
	}
	for _, h := range hooks {
		out.add(Manifest{Source: h.Path, Data: []byte(h.Manifest), Hook: newHook(h)})
	}
	if len(out.Manifests) > maxManifests {
		return Output{}, fmt.Errorf("the chart %s renders to %d manifests; %d is the limit", c.root.Name(), len(out.Manifests), maxManifests)
	}
	return out, nil
}

func checkSize(files map[string]string) error {
	size := 0
	for _, text := range files {
		size += len(text)
	}
	if size > maxOutput {
		return fmt.Errorf("the chart renders to %d bytes; %d is the limit", size, maxOutput)
	}
	return nil
}

// add appends a document that is not empty, with the newline that Helm took from it when
// it split the documents, and writes again.
func (o *Output) add(m Manifest) {
	if !blank(m.Data) {
		m.Data = append(m.Data, '\n')
		o.Manifests = append(o.Manifests, m)
	}
}

// definitions returns the documents of crds/ of the chart and of the sub-charts that
// take part. A chart that takes part twice, by another name, has them once.
func definitions(r rendering) []Manifest {
	var out Output
	seen := map[string]bool{}
	for _, crd := range r.chart.CRDObjects() {
		docs := releaseutil.SplitManifests(string(crd.File.Data))
		for i := range len(docs) {
			doc := docs[fmt.Sprintf("manifest-%d", i)]
			if !seen[doc] {
				out.add(Manifest{Source: path.Clean(crd.Filename), Data: []byte(doc)})
			}
			seen[doc] = true
		}
	}
	return out.Manifests
}

// blank reports whether a document has nothing but comments and markers.
func blank(doc []byte) bool {
	for line := range strings.Lines(string(doc)) {
		line = strings.TrimSpace(line)
		if line != "" && line != "---" && line != "..." && line[0] != '#' {
			return false
		}
	}
	return true
}

func newHook(h *release.Hook) *helm.Hook {
	out := &helm.Hook{Weight: h.Weight}
	for _, e := range h.Events {
		out.Events = append(out.Events, string(e))
	}
	for _, p := range h.DeletePolicies {
		out.DeletePolicies = append(out.DeletePolicies, string(p))
	}
	out.Events = slices.Compact(out.Events)
	return out
}
