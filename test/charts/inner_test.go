package build

import (
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
)

// A kustomization may list charts of repositories, which kustomize renders with Helm.
func TestAKustomizationThatListsAChart(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0", "1.1.0")
	f := newFleet(t, map[string]string{
		"fleet.yaml":  strings.Replace(two, "- {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}", "- {apiVersion: v1, kind: ConfigMap, name: shop}", 1),
		"beside.yaml": beside("one"),
		"app/kustomization.yaml": `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: shop
helmCharts:
- {name: shop, releaseName: shop, repo: "` + shelf.URL + `", version: 1.0.x, valuesInline: {currency: CHF}}
`,
	}, shelf.URL)
	f.publish().exits(1, "is not in waybill.lock; run waybill update")
	f.holds("eu", besideFile, "value: one")
	f.lock()
	f.locked("constraint: 1.0.x", "version: 1.0.0")
	f.publish().exits(0)
	f.holds("eu", shopFile, "chart: shop-1.0.0", "currency: CHF")
}

// A chart of the source may depend on one of a repository, and that on another.
func TestAChartOfTheSourceThatDependsOnARepository(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	f := newFleet(t, map[string]string{
		"fleet.yaml": two, "beside.yaml": beside("one"),
		"charts/mall/Chart.yaml":        "apiVersion: v2\nname: mall\nversion: 0.1.0\ndependencies:\n- {name: shop, version: 1.x, repository: \"" + shelf.URL + "\"}\n",
		"charts/mall/values.yaml":       "shop: {currency: SEK}\n",
		"charts/mall/templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mall}\n",
		"release.yaml": `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: shop}
spec: {interval: 1h, chart: {spec: {chart: ./charts/mall, sourceRef: {kind: GitRepository, name: fleet}}}}
`,
	}, shelf.URL)
	f.publish().exits(1, "shop")
	f.holds("eu", besideFile, "value: one")
	f.lock()
	f.publish().exits(0)
	f.holds("eu", shopFile, "chart: shop-1.0.0", "currency: SEK")
	f.holds("eu", "manifests/shop/configmap/mall.yaml", "name: mall")
}

// A chart of a repository brings its dependencies in its archive, and needs nothing
// else of any repository.
func TestAChartThatBringsItsDependencies(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t)
	mall := shop("mall", "1.0.0")
	mall.Metadata.Dependencies = []*chart.Dependency{{Name: "shop", Version: "2.x", Repository: "https://charts.example.com"}}
	part := shop("shop", "2.0.0")
	part.Templates[0].Data = []byte(strings.Replace(string(part.Templates[0].Data), "{{ .Release.Name }}", "shop", 1))
	mall.SetDependencies(part)
	shelf.add(mall)
	f := newFleet(t, map[string]string{"fleet.yaml": two, "release.yaml": repository("charts", shelf.URL) + release("mall", "1.x")}, shelf.URL)
	f.lock()
	f.publish().exits(0)
	f.holds("eu", "manifests/shop/configmap/mall.yaml", "chart: mall-1.0.0")
	f.holds("eu", shopFile, "chart: shop-2.0.0")
}
