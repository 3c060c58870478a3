// Package bench generates sources of any size from a seed and measures what
// Waybill does with them. The package itself only generates; the benchmarks are its
// tests.
package bench

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/test/twin"
)

// Shape is the size and kind of a generated source.
type Shape struct {
	Clusters, Templates int
	Regions             int // clusters are spread over them
	// Overridden is the share of templates, in percent, that differs per region.
	Overridden int
	// Unique makes the overridden templates differ in every cluster instead.
	Unique bool
	// Virtual makes every cluster but the first a virtual cluster of that one.
	Virtual bool
}

// Source is a generated snapshot in memory.
type Source struct {
	twin.Texts

	listed []sources.File
}

// New generates a source.
func New(s Shape) *Source {
	src := &Source{Texts: twin.Texts{}}
	src.fleet(s)
	for i := range s.Templates {
		namespace := fmt.Sprintf("team-%02d", i%20)
		tier := "plain"
		if i*100 < s.Overridden*s.Templates {
			tier = "regional"
		}
		src.Texts[fmt.Sprintf("apps/%s/app-%05d.yaml", namespace, i)] = template(i, namespace, tier)
	}
	src.Texts["policies/everything.yaml"] = policyText
	src.Texts["policies/overrides.yaml"] = overrides(s)
	return src.list()
}

// fleet adds the clusters, a thousand a file.
func (s *Source) fleet(shape Shape) {
	var b strings.Builder
	for i := range shape.Clusters {
		of := ""
		if shape.Virtual && i > 0 {
			of = `, annotations: {waybill.dev/virtual-of: c0000, waybill.dev/node-selector: "location=l` + strconv.Itoa(i) + `"}`
		}
		fmt.Fprintf(&b, clusterText, i, i%shape.Regions, i, of)
		if i%1000 == 999 || i+1 == shape.Clusters {
			s.Texts[fmt.Sprintf("fleet/clusters-%d.yaml", i/1000)] = b.String()
			b.Reset()
		}
	}
}

// With returns the source as somebody edits it: in files whose paths begin so, another text. A
// file that there is not begins with it.
func (s *Source) With(prefix, from, to string) *Source {
	edited := &Source{Texts: maps.Clone(s.Texts)}
	if from == "" {
		edited.Texts[prefix] = to
	}
	for path, text := range s.Texts {
		if from != "" && strings.HasPrefix(path, prefix) {
			edited.Texts[path] = strings.ReplaceAll(text, from, to)
		}
	}
	return edited.list()
}

// list makes the list of files, which a benchmark is not to pay for.
func (s *Source) list() *Source {
	s.listed = s.Texts.Files()
	return s
}

// Revision returns a fixed revision.
func (*Source) Revision() sources.Revision {
	return sources.Revision{Repo: "bench", Commit: strings.Repeat("0", 40), When: time.Unix(1763683200, 0), Subject: "bench"}
}

// Files lists the files.
func (s *Source) Files() []sources.File { return s.listed }

// template is a Deployment, or for every other a ConfigMap, of about 1 KiB.
func template(i int, namespace, tier string) string {
	if i%2 == 1 {
		return fmt.Sprintf(configText, i, namespace, tier, strings.Repeat("option = value\n    ", 40))
	}
	return fmt.Sprintf(deploymentText, i, namespace, tier, i)
}

// overrides has a rule a region, or a cluster.
func overrides(s Shape) string {
	var b strings.Builder
	b.WriteString(overrideHead)
	if s.Unique {
		for i := range s.Clusters {
			fmt.Fprintf(&b, "  - targetCluster: {clusterNames: [c%04d]}\n    overriders:\n      labelsOverrider: [{operator: add, value: {cluster: c%04d}}]\n", i, i)
		}
		return b.String()
	}
	for i := range s.Regions {
		fmt.Fprintf(&b, "  - targetCluster: {labelSelector: {matchLabels: {region: r%d}}}\n    overriders:\n      labelsOverrider: [{operator: add, value: {region: r%d}}]\n      imageOverrider: [{component: Registry, operator: replace, value: r%d.example.com}]\n", i, i, i)
	}
	return b.String()
}

const clusterText = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: c%04d, labels: {region: r%d, index: "%d"}%s}
spec: {syncMode: Pull}
---
`

const policyText = `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: everything}
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment}
  - {apiVersion: v1, kind: ConfigMap}
  placement: {clusterAffinity: {}}
`

// Moving is a policy for the templates that are overridden, which places them in the clusters of
// one half of ten regions: "r0, r1, r2, r3, r4".
const Moving = `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: moving}
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {tier: regional}}}
  - {apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {tier: regional}}}
  placement: {clusterAffinity: {labelSelector: {matchExpressions: [{key: region, operator: In, values: [r0, r1, r2, r3, r4]}]}}}
`

const overrideHead = `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: {name: regional}
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {tier: regional}}}
  - {apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {tier: regional}}}
  overrideRules:
`

const configText = `apiVersion: v1
kind: ConfigMap
metadata: {name: app-%05d, namespace: %s, labels: {tier: %s}}
data:
  settings: |
    %s
`

const deploymentText = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: app-%05d
  namespace: %s
  labels: {tier: %s}
spec:
  replicas: 3
  selector: {matchLabels: {app: app-%d}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: main
        image: registry.example.io/shop/web:v1.2.3
        args: ["--listen=:8080", "--verbose"]
        ports: [{containerPort: 8080}]
        resources:
          requests: {cpu: 100m, memory: 128Mi}
          limits: {memory: 256Mi}
        env:
        - {name: MODE, value: "on"}
        - {name: CONFIG, valueFrom: {configMapKeyRef: {name: web, key: config}}}
        readinessProbe:
          httpGet: {path: /healthz, port: 8080}
`
