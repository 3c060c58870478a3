package build

import "strings"

// two is the beginning of a source: two clusters, the namespace shop, and a policy
// that sends the releases and a ConfigMap to both.
const two = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull, region: eu}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Pull, region: us}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: shop}
spec:
  resourceSelectors:
  - {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}
  - {apiVersion: v1, kind: ConfigMap, name: beside}
  placement: {}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
`

// beside is that ConfigMap, which has nothing to do with charts, with one value.
func beside(value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: beside, namespace: shop}\ndata: {value: " + value + "}\n"
}

// repository is a HelmRepository.
func repository(name, url string) string {
	kind := "default"
	if strings.HasPrefix(url, "oci://") {
		kind = "oci"
	}
	return `apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: ` + name + `, namespace: shop}
spec: {interval: 1h, type: ` + kind + `, url: "` + url + `"}
---
`
}

// release is a release of the chart of its own name from the HelmRepository charts.
// More fields of its spec may follow.
func release(name, constraint string) string {
	return `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: ` + name + `, namespace: shop}
spec:
  interval: 1h
  chart:
    spec:
      chart: ` + name + `
      version: "` + constraint + `"
      sourceRef: {kind: HelmRepository, name: charts}
`
}

// fromRepository is a release of the chart shop, and its HelmRepository.
func fromRepository(url, constraint string) string {
	return repository("charts", url) + release("shop", constraint)
}

// source is the files of a source with the chart shop from a repository.
func source(url, constraint string) map[string]string {
	return map[string]string{"fleet.yaml": two, "beside.yaml": beside("one"), "release.yaml": fromRepository(url, constraint)}
}

// Where what becomes of a source is on a branch.
const (
	shopFile   = "manifests/shop/configmap/shop.yaml"
	besideFile = "manifests/shop/configmap/beside.yaml"
)
