package flux

import (
	"cmp"
	"fmt"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/kustomize"
)

func (r *reader) helmRelease() *engine.Job {
	spec, problems := helm.ReadRelease(r.release.Content())
	r.add(problems)
	if spec.Suspend {
		r.suspended()
		return nil
	}
	if diag.HasErrors(r.diags) {
		return nil
	}
	values, problems := spec.Compose(r.value)
	r.add(problems)
	chart, ok := r.chart()
	if !ok {
		return nil
	}
	files, ignore := r.valuesFiles(&spec)
	if wrong := r.setting.Random.Wrong; wrong != "" && spec.Draws() {
		r.diags = append(r.diags, draw.WrongKey(r.release, []any{"metadata", "annotations", helm.AllowAnnotation}, "it draws nothing: "+wrong))
		return nil
	}
	return &engine.Job{Helm: &engine.Helm{
		Chart: chart,
		Release: helm.Release{
			Name: spec.ReleaseName, Namespace: r.namespace(spec.Namespace), Values: values,
			ValuesFiles: files, IgnoreMissingValuesFiles: ignore,
			KubeVersion: r.setting.KubeVersion, APIVersions: r.setting.APIVersions,
			CRDs: spec.CRDs, SkipSchema: spec.SkipSchema, Allow: spec.Allow, Draw: r.draw(&spec),
		},
		NoHooks: spec.DisableHooks,
		Post:    overlays(&spec),
	}}
}

// namespace is what the namespace of a release is called in the cluster.
func (r *reader) namespace(name string) string {
	if name == "" {
		return ""
	}
	return name + r.setting.Suffix
}

// draw is what the release draws from; nil if it may not, or if there is no key.
func (r *reader) draw(spec *helm.Spec) *draw.Subkey {
	random := r.setting.Random
	if !spec.Draws() || random.Key.IsZero() {
		return nil
	}
	ref := r.release.Ref()
	of := random.Key.For(random.Source, random.Cluster, ref.Namespace+"/"+ref.Name)
	return &of
}

// add reports what is wrong with the release.
func (r *reader) add(problems []helm.Problem) {
	for _, p := range problems {
		r.report(diag.BadRelease, p.Severity, p.Path, p.Message, p.Hint)
	}
}

// chart says where the chart is.
func (r *reader) chart() (engine.Chart, bool) {
	content := r.release.Content()
	if ref := fieldAt(content, "spec", "chartRef"); ref != nil {
		return r.chartOf(ref, []any{"spec", "chartRef"})
	}
	return r.chartAt(fieldAt(content, "spec", "chart", "spec"), r.release, []any{"spec", "chart", "spec"})
}

// valuesFiles are those of the release or, where it names a HelmChart, of that, and whether one may
// be missing.
func (r *reader) valuesFiles(spec *helm.Spec) (files []string, ignoreMissing bool) {
	ref := fieldAt(r.release.Content(), "spec", "chartRef")
	if textAt(ref, "kind") != "HelmChart" {
		return spec.Chart.ValuesFiles, spec.Chart.IgnoreMissingValuesFiles
	}
	o := r.shelf.find(sourceGroup, "HelmChart", cmp.Or(textAt(ref, "namespace"), r.release.Ref().Namespace), textAt(ref, "name"))
	for _, v := range listAt(o.Content(), "spec", "valuesFiles") {
		if file, ok := v.(string); ok {
			files = append(files, file)
		}
	}
	return files, isTrue(fieldAt(o.Content(), "spec", "ignoreMissingValuesFiles"))
}

// isTrue reports a field that is there, and true.
func isTrue(field any) bool {
	value, _ := field.(bool)
	return value
}

// value looks up what valuesFrom names.
func (r *reader) value(ref helm.ValuesRef) (text []byte, found bool, err error) {
	if ref.Kind == "Cluster" {
		if r.setting.Cluster == nil {
			return nil, false, fmt.Errorf("the release is rendered for no cluster; it has to be selected by a policy, or bound to a cluster, to take its %s", ref.Key)
		}
		value, ok := r.setting.Cluster[ref.Key]
		return []byte(value), ok, nil
	}
	data, err := r.data(ref.Kind, ref.Name)
	if err == nil && data == nil && !ref.Optional {
		err = r.missing(ref.Kind, ref.Name)
	}
	if err != nil {
		return nil, false, err
	}
	value, ok := data[ref.Key]
	return []byte(value), ok, nil
}

// overlays are what comes after the chart: post-renderers, then common metadata.
func overlays(spec *helm.Spec) []kustomize.Overlay {
	var all []kustomize.Overlay
	for _, p := range spec.PostRenderers {
		var o kustomize.Overlay
		for _, patch := range p.Patches {
			one := kustomize.Patch{Patch: patch.Patch}
			if patch.Target != nil {
				target := kustomize.Target(*patch.Target)
				one.Target = &target
			}
			o.Patches = append(o.Patches, one)
		}
		for _, i := range p.Images {
			o.Images = append(o.Images, kustomize.Image(i))
		}
		all = append(all, o)
	}
	if m := spec.CommonMetadata; len(m.Labels)+len(m.Annotations) > 0 {
		all = append(all, kustomize.Overlay{CommonMetadata: &kustomize.Metadata{Labels: m.Labels, Annotations: m.Annotations}})
	}
	return all
}
