package flux_test

// fixture gives a field a value, with other fields of the spec beside it.
type fixture struct{ value, beside string }

// world is what the fixtures are about: a subject of each kind, and what it refers to or is referred to by.
const world = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./clusters/eu, interval: 1h, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: https://git.example.com/fleet, interval: 1h, ref: {branch: main}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: other, namespace: flux-system}
spec: {url: https://git.example.com/other, interval: 1h, ref: {branch: main}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: elsewhere}
spec: {url: https://git.example.com/other, interval: 1h, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: subject, namespace: flux-system}
spec: {path: ./app, interval: 1h, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: subject, namespace: flux-system}
spec: {interval: 1h, chart: {spec: {chart: chart, sourceRef: {kind: GitRepository, name: flux-system}}}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: subject, namespace: flux-system}
spec: {url: https://git.example.com/fleet.git, interval: 1h, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: by-gitrepository, namespace: flux-system}
spec: {path: ./app, interval: 1h, prune: true, sourceRef: {kind: GitRepository, name: subject}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: Bucket
metadata: {name: subject, namespace: flux-system}
spec: {bucketName: fleet, endpoint: example.com, interval: 1h}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: by-bucket, namespace: flux-system}
spec: {path: ./app, interval: 1h, prune: true, sourceRef: {kind: Bucket, name: subject}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: subject, namespace: flux-system}
spec: {url: https://charts.example.com, interval: 1h}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: by-helmrepository, namespace: flux-system}
spec: {interval: 1h, chart: {spec: {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: subject}}}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: subject, namespace: flux-system}
spec: {url: oci://charts.example.com/web, interval: 1h, ref: {tag: 1.0.0}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: by-ocirepository, namespace: flux-system}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: subject}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmChart
metadata: {name: subject, namespace: flux-system}
spec: {interval: 1h, chart: chart, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: by-helmchart, namespace: flux-system}
spec: {interval: 1h, chartRef: {kind: HelmChart, name: subject}}
---
apiVersion: source.extensions.fluxcd.io/v1beta1
kind: ArtifactGenerator
metadata: {name: subject, namespace: flux-system}
spec:
  sources: [{alias: repo, kind: GitRepository, name: flux-system}]
  artifacts: [{name: made, copy: [{from: "@repo/app/**", to: "@artifact/app/"}]}]
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: by-artifactgenerator, namespace: flux-system}
spec: {path: ./app, interval: 1h, prune: true, sourceRef: {kind: ExternalArtifact, name: made}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: flux-system}
data: {color: blue, values.yaml: "v: from-settings"}
`

// files are what is rendered.
var files = map[string][]byte{
	"app/cm.yaml":                    []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\ndata: {v: \"${color:=none}\"}\n"),
	"app/pod.yaml":                   []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec: {containers: [{name: c, image: web:v1}]}\n"),
	"other/cm.yaml":                  []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: shop}\n"),
	"component/kustomization.yaml":   []byte("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: component-\n"),
	"chart/Chart.yaml":               []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n"),
	"chart/values.yaml":              []byte("v: own\n"),
	"chart/values.schema.json":       []byte(`{"properties": {"v": {"type": "string"}}}`),
	"chart/crds/crd.yaml":            []byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n"),
	"chart/templates/cm.yaml":        []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}\ndata: {v: {{ .Values.v | quote }}}\n"),
	"chart/templates/hook.yaml":      []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n"),
	"other-chart/Chart.yaml":         []byte("apiVersion: v2\nname: other\nversion: 1.0.0\n"),
	"other-chart/templates/all.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other-chart}\n"),
	"values.yaml":                    []byte("v: from-a-file\n"),
}

// The fixtures, by kind and field.
var fixtures = map[string]fixture{
	"Kustomization.path":                         {value: "./other"},
	"Kustomization.sourceRef":                    {value: "{kind: Bucket, name: unknown}"},
	"Kustomization.patches":                      {value: `[{patch: '[{"op": "add", "path": "/data/p", "value": "q"}]', target: {kind: ConfigMap}}]`},
	"Kustomization.images":                       {value: "[{name: web, newTag: v2}]"},
	"Kustomization.components":                   {value: "[../component]"},
	"Kustomization.ignoreMissingComponents":      {value: "true", beside: "components: [../absent]"},
	"Kustomization.buildMetadata":                {value: "[originAnnotations]"},
	"Kustomization.commonMetadata":               {value: "{labels: {team: a}}"},
	"Kustomization.namePrefix":                   {value: "pre-"},
	"Kustomization.nameSuffix":                   {value: "-post"},
	"Kustomization.targetNamespace":              {value: "elsewhere"},
	"Kustomization.postBuild.substitute":         {value: "{color: red}"},
	"Kustomization.postBuild.substituteFrom":     {value: "[{kind: ConfigMap, name: settings}]"},
	"Kustomization.postBuild.substituteStrategy": {value: "Always"},
	"Kustomization.suspend":                      {value: "true"},
	"Kustomization.kubeConfig":                   {value: "{secretRef: {name: spoke}}"},
	"Kustomization.prune":                        {value: "false"},
	"Kustomization.dependsOn":                    {value: "[{name: other}]"},
	"Kustomization.healthChecks":                 {value: "[{kind: Deployment, name: web}]"},
	"Kustomization.healthCheckExprs":             {value: "[{apiVersion: v1, kind: Pod, current: 'true'}]"},

	"HelmRelease.chart.spec.chart":                    {value: "other-chart"},
	"HelmRelease.chart.spec.version":                  {value: "2.0.0", beside: "chart: {spec: {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: subject}}}"},
	"HelmRelease.chart.spec.sourceRef":                {value: "{kind: HelmRepository, name: subject}", beside: "chart: {spec: {chart: chart, version: 1.0.0, sourceRef: {kind: GitRepository, name: flux-system}}}"},
	"HelmRelease.chart.spec.valuesFiles":              {value: "[values.yaml]"},
	"HelmRelease.chart.spec.ignoreMissingValuesFiles": {value: "true", beside: "chart: {spec: {chart: chart, valuesFiles: [absent.yaml], sourceRef: {kind: GitRepository, name: flux-system}}}"},
	"HelmRelease.chart.spec.reconcileStrategy":        {value: "Revision"},
	"HelmRelease.chartRef":                            {value: "{kind: OCIRepository, name: subject}"},
	"HelmRelease.values":                              {value: "{v: inline}"},
	"HelmRelease.valuesFrom":                          {value: "[{kind: ConfigMap, name: settings}]"},
	"HelmRelease.releaseName":                         {value: "named"},
	"HelmRelease.targetNamespace":                     {value: "elsewhere"},
	"HelmRelease.postRenderers":                       {value: `[{kustomize: {patches: [{patch: '[{"op": "add", "path": "/data/p", "value": "q"}]', target: {kind: ConfigMap}}]}}]`},
	"HelmRelease.commonMetadata":                      {value: "{labels: {team: a}}"},
	"HelmRelease.dependsOn":                           {value: "[{name: other}]"},
	"HelmRelease.healthCheckExprs":                    {value: "[{apiVersion: v1, kind: Pod, current: 'true'}]"},
	"HelmRelease.suspend":                             {value: "true"},
	"HelmRelease.install.crds":                        {value: "Skip"},
	"HelmRelease.install.skipCRDs":                    {value: "true"},
	"HelmRelease.install.disableHooks":                {value: "true"},
	"HelmRelease.install.disableSchemaValidation":     {value: "true", beside: "values: {v: 1}"},
	"HelmRelease.upgrade.crds":                        {value: "Create", beside: "install: {crds: Skip}"},
	"HelmRelease.kubeConfig":                          {value: "{secretRef: {name: spoke}}"},

	"GitRepository.url":                  {value: "https://git.example.com/other"},
	"GitRepository.ref":                  {value: "{branch: next}"},
	"GitRepository.include":              {value: "[{repository: {name: flux-system}}]"},
	"GitRepository.ignore":               {value: "/other"},
	"HelmRepository.url":                 {value: "https://other.example.com"},
	"HelmRepository.type":                {value: "oci"},
	"OCIRepository.url":                  {value: "oci://other.example.com/web"},
	"OCIRepository.ref":                  {value: "{tag: 2.0.0}"},
	"HelmChart.chart":                    {value: "other-chart"},
	"HelmChart.version":                  {value: "2.0.0", beside: "{chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: subject}}"},
	"HelmChart.sourceRef":                {value: "{kind: HelmRepository, name: subject}", beside: "{version: 1.0.0}"},
	"HelmChart.valuesFiles":              {value: "[values.yaml]"},
	"HelmChart.ignoreMissingValuesFiles": {value: "true", beside: "{valuesFiles: [absent.yaml]}"},
	"Bucket.ignore":                      {value: "/other"},

	"ArtifactGenerator.sources.alias":            {value: "other"},
	"ArtifactGenerator.sources.kind":             {value: "HelmChart"},
	"ArtifactGenerator.sources.name":             {value: "other"},
	"ArtifactGenerator.sources.namespace":        {value: "elsewhere"},
	"ArtifactGenerator.artifacts.name":           {value: "other"},
	"ArtifactGenerator.artifacts.copy.from":      {value: "'@repo/other/**'"},
	"ArtifactGenerator.artifacts.copy.to":        {value: "'@artifact/other/'"},
	"ArtifactGenerator.artifacts.copy.exclude":   {value: "[pod.yaml]"},
	"ArtifactGenerator.artifacts.copy.strategy":  {value: "Merge"},
	"ArtifactGenerator.pathPattern":              {value: "apps/{app}"},
	"ArtifactGenerator.artifacts.revision":       {value: "'@repo'"},
	"ArtifactGenerator.artifacts.originRevision": {value: "'@repo'"},
	"ArtifactGenerator.commonMetadata":           {value: "{labels: {team: a}}"},
}
