package bench

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/test/twin"
)

// Charts generates a source with a chart of some 20 manifests and a release of it that
// a policy sends to every cluster, with other values in each region.
func Charts(clusters, regions int) *Source {
	src := &Source{Texts: twin.Texts{}}
	src.fleet(Shape{Clusters: clusters, Regions: regions})
	var rules strings.Builder
	for i := range regions {
		fmt.Fprintf(&rules, "  - targetCluster: {labelSelector: {matchLabels: {region: r%d}}}\n    overriders:\n      plaintext: [{operator: replace, path: /spec/values/region, value: r%d}]\n", i, i)
	}
	src.Texts["policies/release.yaml"] = releasePolicy + rules.String()
	src.Texts["apps/release.yaml"] = releaseText
	for name, text := range ChartFiles() {
		src.Texts["charts/shop/"+name] = text
	}
	return src.list()
}

// ChartFiles are the files of the chart that Charts sends around.
func ChartFiles() map[string]string {
	return map[string]string{
		"Chart.yaml":              "apiVersion: v2\nname: shop\nversion: 1.0.0\nappVersion: 2.4.0\n",
		"values.yaml":             chartValues,
		"templates/_helpers.tpl":  chartHelpers,
		"templates/services.yaml": chartServices,
	}
}

const releasePolicy = `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: releases}
spec:
  resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}]
  placement: {clusterAffinity: {}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: {name: regional}
spec:
  resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}]
  overrideRules:
`

const releaseText = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: shop}
spec:
  interval: 10m
  chart: {spec: {chart: ./charts/shop, sourceRef: {kind: GitRepository, name: fleet}}}
  values: {region: none}
`

const chartValues = `region: none
services: [web, cart, search, pay, mail, stock, users, feed, ads, edge]
image: {registry: registry.example.com, tag: ""}
resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}
`

const chartHelpers = `{{- define "shop.labels" -}}
app.kubernetes.io/name: {{ .service }}
app.kubernetes.io/instance: {{ .top.Release.Name }}
app.kubernetes.io/version: {{ .top.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .top.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .top.Chart.Name .top.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}
`

const chartServices = `{{- range $service := .Values.services }}
{{- $at := dict "service" $service "top" $ }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $.Release.Name }}-{{ $service }}
  labels: {{- include "shop.labels" $at | nindent 4 }}
spec:
  selector: {app.kubernetes.io/name: {{ $service }}}
  ports: [{name: http, port: 80, targetPort: http}]
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $.Release.Name }}-{{ $service }}
  labels: {{- include "shop.labels" $at | nindent 4 }}
spec:
  selector:
    matchLabels: {app.kubernetes.io/name: {{ $service }}}
  template:
    metadata:
      labels: {{- include "shop.labels" $at | nindent 8 }}
    spec:
      containers:
      - name: {{ $service }}
        image: "{{ $.Values.image.registry }}/{{ $service }}:{{ $.Values.image.tag | default $.Chart.AppVersion }}"
        env: [{name: REGION, value: {{ $.Values.region | quote }}}]
        ports: [{name: http, containerPort: 8080}]
        resources: {{- toYaml $.Values.resources | nindent 10 }}
{{- end }}
`
