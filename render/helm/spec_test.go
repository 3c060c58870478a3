package helm_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/helm"
)

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var content map[string]any
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		t.Fatal(err)
	}
	return content
}

const head = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: podinfo, namespace: apps}
`

const minimal = head + `
spec:
  chart: {spec: {chart: ./charts/podinfo}}
`

func TestReadRelease(t *testing.T) {
	tests := []struct {
		name, text string
		want       helm.Spec
	}{
		{"the least", minimal, helm.Spec{
			ReleaseName: "podinfo", Namespace: "apps", StorageNamespace: "apps", CRDs: helm.Create,
			Chart: helm.ChartRef{Chart: "./charts/podinfo", Version: "*"},
		}},
		{"all", strings.Replace(head, "namespace: apps", `namespace: apps, annotations: {waybill.dev/allow-functions: "now, randAlpha,now"}`, 1) + `
spec:
  interval: 5m
  timeout: 1m
  suspend: true
  maxHistory: 3
  persistentClient: false
  serviceAccountName: sa
  releaseName: web
  targetNamespace: web
  storageNamespace: store
  dependsOn: [{name: a}, {name: b, namespace: other}]
  chart:
    metadata: {labels: {a: b}}
    spec:
      chart: podinfo
      version: 6.x
      interval: 5m
      reconcileStrategy: ChartVersion
      sourceRef: {kind: HelmRepository, name: podinfo, namespace: flux-system}
      valuesFile: a.yaml
      valuesFiles: [b.yaml]
      ignoreMissingValuesFiles: true
  install: {crds: Skip, createNamespace: true, disableHooks: true, disableSchemaValidation: true, remediation: {retries: 3}}
  upgrade: {crds: CreateReplace}
  rollback: {}
  uninstall: {}
  test: {enable: true}
  driftDetection: {mode: enabled}
  commonMetadata: {labels: {team: x}}
  values: {replicas: 2}
  valuesFrom:
  - {kind: ConfigMap, name: v}
  - {kind: Secret, name: v, valuesKey: k, targetPath: a.b, optional: true}
  - {kind: Cluster, valuesKey: labels.tier, targetPath: tier}
  postRenderers:
  - kustomize:
      patches: [{patch: "a: b", target: {kind: Deployment}}]
      images: [{name: a, newName: b, newTag: c}]
  - kustomize:
      patchesStrategicMerge: [{kind: Deployment}]
      patchesJson6902: [{target: {name: x}, patch: [{op: remove, path: /a}]}]
`, helm.Spec{
			ReleaseName: "web", Namespace: "web", StorageNamespace: "store", CRDs: helm.CreateReplace,
			Suspend: true, DisableHooks: true, SkipSchema: true, CreateNamespace: true,
			Chart: helm.ChartRef{
				Chart: "podinfo", Version: "6.x", ReconcileStrategy: "ChartVersion",
				Source:      helm.ObjectRef{Kind: "HelmRepository", Namespace: "flux-system", Name: "podinfo"},
				ValuesFiles: []string{"a.yaml", "b.yaml"}, IgnoreMissingValuesFiles: true,
			},
			DependsOn:      []helm.ObjectRef{{Namespace: "apps", Name: "a"}, {Namespace: "other", Name: "b"}},
			CommonMetadata: helm.Labelled{Labels: map[string]string{"team": "x"}},
			Values:         map[string]any{"replicas": float64(2)},
			ValuesFrom: []helm.ValuesRef{
				{Kind: "ConfigMap", Name: "v", Key: "values.yaml"},
				{Kind: "Secret", Name: "v", Key: "k", TargetPath: "a.b", Optional: true},
				{Kind: "Cluster", Key: "labels.tier", TargetPath: "tier", Literal: true},
			},
			PostRenderers: []helm.PostRenderer{
				{Patches: []helm.Patch{{Patch: "a: b", Target: &helm.Target{Kind: "Deployment"}}}, Images: []helm.Image{{Name: "a", NewName: "b", NewTag: "c"}}},
				{Patches: []helm.Patch{{Patch: `{"kind":"Deployment"}`}, {Patch: `[{"op":"remove","path":"/a"}]`, Target: &helm.Target{Name: "x"}}}},
			},
			Allow: []string{"now", "randAlpha"},
		}},
		{"a chart of its own source", head + "spec: {targetNamespace: web, chartRef: {kind: OCIRepository, name: oci}, install: {skipCRDs: true}}\n", helm.Spec{
			ReleaseName: "web-podinfo", Namespace: "web", StorageNamespace: "apps", CRDs: helm.Skip,
			Chart: helm.ChartRef{Version: "*", Source: helm.ObjectRef{Kind: "OCIRepository", Namespace: "apps", Name: "oci"}},
		}},
		{"a name that Flux shortens", strings.Replace(minimal, "{spec: {chart", "{spec: {chart", 1) + "  targetNamespace: a-very-lengthy-target-namespace\n", helm.Spec{
			ReleaseName: "a-very-lengthy-target-namespace-podinfo", Namespace: "a-very-lengthy-target-namespace", StorageNamespace: "apps", CRDs: helm.Create,
			Chart: helm.ChartRef{Chart: "./charts/podinfo", Version: "*"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := helm.ReadRelease(decoded(t, tt.text))
			if len(problems) > 0 {
				t.Errorf("problems: %v", problems)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The example is that of Flux's documentation.
func TestLongNamesAreShortenedAsFluxDoes(t *testing.T) {
	text := strings.Replace(minimal, "name: podinfo", "name: with-a-nice-object-name", 1) + "  targetNamespace: a-very-lengthy-target-namespace\n"
	got, _ := helm.ReadRelease(decoded(t, text))
	if want := "a-very-lengthy-target-namespace-with-a-n-97af5d7f41f3"; got.ReleaseName != want {
		t.Errorf("got %q, want %q", got.ReleaseName, want)
	}
}

func TestReadReleaseReports(t *testing.T) {
	tests := []struct {
		name, text, want string
		severity         diag.Severity
	}{
		{"another version", strings.Replace(minimal, "/v2", "/v2beta1", 1), `apiVersion is "helm.toolkit.fluxcd.io/v2beta1"`, diag.Error},
		{"no spec", head, "spec is missing", diag.Error},
		{"a spec that is no mapping", head + "spec: 3\n", "spec is no mapping", diag.Error},
		{"no chart", head + "spec: {}\n", "spec.chart is missing", diag.Error},
		{"two charts", minimal + "  chartRef: {kind: OCIRepository, name: a}\n", "spec.chartRef stands beside spec.chart", diag.Error},
		{"no source", head + "spec: {chart: {spec: {chart: podinfo}}}\n", "spec.chart.spec.sourceRef.kind is missing", diag.Error},
		{"a source of another kind", head + "spec: {chart: {spec: {chart: podinfo, sourceRef: {kind: X, name: a}}}}\n", `spec.chart.spec.sourceRef.kind is "X"; it must be HelmRepository or`, diag.Error},
		{"a kubeconfig", minimal + "  kubeConfig: {secretRef: {name: a}}\n", "spec.kubeConfig is not read: policies choose the cluster", diag.Error},
		{"an unknown field", minimal + "  replicas: 3\n", "spec.replicas is no field that is known here", diag.Warning},
		{"a wrong type", minimal + "  suspend: 'yes'\n", "spec.suspend is no boolean", diag.Error},
		{"a long name", minimal + "  releaseName: " + strings.Repeat("a", 54) + "\n", "spec.releaseName is", diag.Error},
		{"no policy", minimal + "  install: {crds: Maybe}\n", `spec.install.crds is "Maybe"; it must be Skip or Create or CreateReplace`, diag.Error},
		{"values of no kind", minimal + "  valuesFrom: [{name: a}]\n", "spec.valuesFrom[0].kind is missing", diag.Error},
		{"values of no name", minimal + "  valuesFrom: [{kind: Secret}]\n", "spec.valuesFrom[0].name is missing", diag.Error},
		{"an unknown fact of a cluster", minimal + "  valuesFrom: [{kind: Cluster, valuesKey: token, targetPath: a}]\n", `spec.valuesFrom[0].valuesKey is "token"`, diag.Error},
		{"a fact of a cluster without a place", minimal + "  valuesFrom: [{kind: Cluster, valuesKey: name}]\n", "spec.valuesFrom[0].targetPath is missing", diag.Error},
		{"a cluster by name", minimal + "  valuesFrom: [{kind: Cluster, valuesKey: name, targetPath: a, name: b}]\n", `spec.valuesFrom[0].name is "b"`, diag.Error},
		{"a function that is not refused", strings.Replace(minimal, "namespace: apps", "namespace: apps, annotations: {waybill.dev/allow-functions: toYaml}", 1), `lists "toYaml"`, diag.Error},
		{"a function that is always refused", strings.Replace(minimal, "namespace: apps", "namespace: apps, annotations: {waybill.dev/allow-functions: genCA}", 1), `lists "genCA", which is always refused`, diag.Error},
		{"values that are no mapping", minimal + "  values: [a]\n", "spec.values is no mapping", diag.Error},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := helm.ReadRelease(decoded(t, tt.text))
			for _, p := range problems {
				if strings.Contains(p.Message, tt.want) && p.Severity == tt.severity {
					return
				}
			}
			t.Errorf("got %v, want a problem with %q", problems, tt.want)
		})
	}
}

// TestReadReleaseSaysOneThing of one mistake, where it is.
func TestReadReleaseSaysOneThing(t *testing.T) {
	const chart = "  chart: {spec: {chart: ./charts/podinfo"
	with := func(more string) string { return head + "spec:\n" + more + "\n" }
	for _, tt := range []struct{ name, text, want string }{
		{"a chart of another kind", with("  chart: {kind: Chart, spec: {chart: ./a}}"), `spec.chart.kind is "Chart"; it must be HelmChart`},
		{"a field of a chart that there is not", with("  chart: {name: a, spec: {chart: ./a}}"), "spec.chart.name is no field that is known here"},
		{"a field of its spec that there is not", with(chart + ", versions: 1.x}}"), "spec.chart.spec.versions is no field that is known here"},
		{"a field of its source that there is not", with("  chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: a, url: b}}}"), "spec.chart.spec.sourceRef.url is no field that is known here"},
		{"a source of another kind", with("  chart: {spec: {chart: a, sourceRef: {kind: OCIRepository, name: a}}}"), `spec.chart.spec.sourceRef.kind is "OCIRepository"; it must be HelmRepository or GitRepository or Bucket`},
		{"a strategy that there is not", with(chart + ", reconcileStrategy: Always}}"), `spec.chart.spec.reconcileStrategy is "Always"; it must be ChartVersion or Revision`},
		{"a reference of another kind", with("  chartRef: {kind: HelmRepository, name: a}"), `spec.chartRef.kind is "HelmRepository"; it must be OCIRepository or HelmChart`},
		{"a reference of no kind", with("  chartRef: {name: a}"), "spec.chartRef.kind is missing"},
		{"a reference of no name", with("  chartRef: {kind: OCIRepository}"), "spec.chartRef.name is missing"},
		{"a field of it that there is not", with("  chartRef: {kind: OCIRepository, name: a, tag: b}"), "spec.chartRef.tag is no field that is known here"},
		{"a post-renderer that there is not", minimal + "  postRenderers: [{helm: {}}]\n", "spec.postRenderers[0].helm is no field that is known here"},
		{"a patch without a patch", minimal + "  postRenderers: [{kustomize: {patches: [{target: {kind: a}}]}}]\n", "spec.postRenderers[0].kustomize.patches[0].patch is missing"},
		{"a JSON patch without operations", minimal + "  postRenderers: [{kustomize: {patchesJson6902: [{target: {kind: a}}]}}]\n", "spec.postRenderers[0].kustomize.patchesJson6902[0].patch is missing"},
		{"a field of a patch that there is not", minimal + "  postRenderers: [{kustomize: {patches: [{patch: a, options: {}}]}}]\n", "spec.postRenderers[0].kustomize.patches[0].options is no field that is known here"},
		{"a field of a target that there is not", minimal + "  postRenderers: [{kustomize: {patches: [{patch: a, target: {kind: a, labels: b}}]}}]\n", "spec.postRenderers[0].kustomize.patches[0].target.labels is no field that is known here"},
		{"a field of an image that there is not", minimal + "  postRenderers: [{kustomize: {images: [{name: a, tag: b}]}}]\n", "spec.postRenderers[0].kustomize.images[0].tag is no field that is known here"},
		{"a field beside patches that there is not", minimal + "  postRenderers: [{kustomize: {namespace: a}}]\n", "spec.postRenderers[0].kustomize.namespace is no field that is known here"},
		{"an image without a name", minimal + "  postRenderers: [{kustomize: {images: [{newTag: a}]}}]\n", "spec.postRenderers[0].kustomize.images[0].name is missing"},
		{"a name that Helm takes for none", minimal + "  releaseName: Web\n", `spec.releaseName is "Web", which Helm takes for no name`},
		{"a label of a cluster without a key", minimal + "  valuesFrom: [{kind: Cluster, valuesKey: labels., targetPath: a}]\n", `spec.valuesFrom[0].valuesKey is "labels."`},
		{"a fact with more behind it", minimal + "  valuesFrom: [{kind: Cluster, valuesKey: name.a, targetPath: a}]\n", `spec.valuesFrom[0].valuesKey is "name.a"`},
		{"a key of values that there is not", minimal + "  valuesFrom: [{kind: Secret, name: a, key: b}]\n", "spec.valuesFrom[0].key is no field that is known here"},
		{"values of another kind", minimal + "  valuesFrom: [{kind: Pod, name: a}]\n", `spec.valuesFrom[0].kind is "Pod"; it must be ConfigMap or Secret or Cluster`},
		{"a dependency without a name", minimal + "  dependsOn: [{namespace: a}]\n", "spec.dependsOn[0].name is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := helm.ReadRelease(decoded(t, tt.text))
			if len(problems) != 1 || !strings.HasPrefix(problems[0].Message, tt.want) {
				t.Errorf("it says %v, want %q", problems, tt.want)
			}
		})
	}
	for _, fact := range []string{"name", "region", "provider", "zone", "labels.tier", "annotations.example.com/x"} {
		if _, problems := helm.ReadRelease(decoded(t, minimal+"  valuesFrom: [{kind: Cluster, valuesKey: "+fact+", targetPath: a}]\n")); len(problems) > 0 {
			t.Errorf("%s: %v", fact, problems)
		}
	}
	if _, problems := helm.ReadRelease(decoded(t, minimal+"  releaseName: "+strings.Repeat("a", 53)+"\n")); len(problems) > 0 {
		t.Errorf("the longest name: %v", problems)
	}
}
