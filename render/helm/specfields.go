package helm

import (
	"encoding/json"
	"strings"
)

// chartRef reads chart or chartRef, of which a release has one.
func chartRef(spec node, own string) ChartRef {
	chart, ref := spec.at("chart"), spec.at("chartRef")
	switch {
	case chart.set() && ref.set():
		ref.fail("remove one of them", "stands beside spec.chart")
		return ChartRef{}
	case ref.set():
		ref.at("kind").oneOf("OCIRepository", "HelmChart")
		ref.at("kind").required()
		ref.known("apiVersion", "kind", "name", "namespace")
		return ChartRef{Version: "*", Source: ref.objectRef(own)}
	case chart.set():
		return chart.template(own)
	default:
		chart.fail("", "is missing, and so is spec.chartRef")
		return ChartRef{}
	}
}

// template reads the template of a HelmChart.
func (n node) template(own string) ChartRef {
	n.at("kind").oneOf("HelmChart")
	n.known("kind", "metadata", "spec")
	spec := n.at("spec")
	c := ChartRef{
		Chart:                    spec.at("chart").required(),
		Version:                  spec.at("version").text(),
		ValuesFiles:              spec.at("valuesFiles").texts(),
		IgnoreMissingValuesFiles: spec.at("ignoreMissingValuesFiles").flag(),
		ReconcileStrategy:        spec.at("reconcileStrategy").oneOf("ChartVersion", "Revision"),
	}
	if c.Version == "" {
		c.Version = "*"
	}
	if file := spec.at("valuesFile").text(); file != "" { // of v2beta2: comes before the others
		c.ValuesFiles = append([]string{file}, c.ValuesFiles...)
	}
	source := spec.at("sourceRef")
	if source.set() || !strings.HasPrefix(c.Chart, "./") {
		source.at("kind").oneOf("HelmRepository", "GitRepository", "Bucket")
		source.at("kind").required()
		c.Source = source.objectRef(own)
	}
	source.known("apiVersion", "kind", "name", "namespace")
	spec.known("chart", "ignoreMissingValuesFiles", "interval", "reconcileStrategy", "sourceRef",
		"valuesFile", "valuesFiles", "verify", "version")
	return c
}

// objectRef reads a reference whose namespace is that of the release if left out.
func (n node) objectRef(own string) ObjectRef {
	ref := ObjectRef{Kind: n.at("kind").text(), Namespace: n.at("namespace").text(), Name: n.at("name").required()}
	if ref.Namespace == "" {
		ref.Namespace = own
	}
	return ref
}

// postRenderer reads an entry of postRenderers, the older forms of patches included.
func (n node) postRenderer() PostRenderer {
	n.known("kustomize")
	k := n.at("kustomize")
	var p PostRenderer
	for _, merge := range k.at("patchesStrategicMerge").items() {
		p.Patches = append(p.Patches, Patch{Patch: merge.asText()})
	}
	for _, json6902 := range k.at("patchesJson6902").items() {
		p.Patches = append(p.Patches, Patch{Patch: json6902.at("patch").asText(), Target: json6902.at("target").target()})
	}
	for _, patch := range k.at("patches").items() {
		patch.known("patch", "target")
		p.Patches = append(p.Patches, Patch{Patch: patch.at("patch").required(), Target: patch.at("target").target()})
	}
	for _, i := range k.at("images").items() {
		i.known("name", "newName", "newTag", "digest")
		p.Images = append(p.Images, Image{
			Name: i.at("name").required(), NewName: i.at("newName").text(),
			NewTag: i.at("newTag").text(), Digest: i.at("digest").text(),
		})
	}
	k.known("patches", "patchesStrategicMerge", "patchesJson6902", "images")
	return p
}

func (n node) target() *Target {
	if !n.set() {
		return nil
	}
	n.known("group", "version", "kind", "name", "namespace", "labelSelector", "annotationSelector")
	return &Target{
		Group: n.at("group").text(), Version: n.at("version").text(), Kind: n.at("kind").text(),
		Name: n.at("name").text(), Namespace: n.at("namespace").text(),
		LabelSelector: n.at("labelSelector").text(), AnnotationSelector: n.at("annotationSelector").text(),
	}
}

// asText returns a patch that is written as an object, or as a list of operations.
func (n node) asText() string {
	if text, ok := n.v.(string); ok {
		return text
	}
	if !n.set() {
		n.fail("", "is missing")
		return ""
	}
	data, err := json.Marshal(n.v)
	if err != nil {
		n.fail("", "is no patch: %s", err)
	}
	return string(data)
}
