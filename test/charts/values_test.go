package build

import (
	"strings"
	"testing"
)

// Values that are taken from the cluster, and overrides of the release itself, give
// each cluster its own result of one chart.
func TestClustersGetTheirOwnValues(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0", "1.1.0")
	files := source(shelf.URL, "1.0.x")
	files["release.yaml"] += `  valuesFrom:
  - {kind: Cluster, valuesKey: name, targetPath: cluster}
  - {kind: ConfigMap, name: money}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: money, namespace: shop}
data: {values.yaml: "currency: GBP\n"}
`
	files["override.yaml"] = `apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: us, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: shop}]
  overrideRules:
  - targetCluster: {clusterNames: [us]}
    overriders:
      plaintext:
      - {path: /spec/values, operator: add, value: {currency: USD}}
      - {path: /spec/chart/spec/version, operator: replace, value: 1.1.x}
`
	f := newFleet(t, files, shelf.URL)
	f.publish().exits(1, "chart-not-locked", "1.0.x", "1.1.x")
	f.lock()
	f.locked("constraint: 1.0.x", "constraint: 1.1.x")
	f.publish().exits(0)
	f.holds("eu", shopFile, "chart: shop-1.0.0", "currency: GBP", "cluster: eu")
	f.holds("us", shopFile, "chart: shop-1.1.0", "currency: USD", "cluster: us")
}

// One cluster's chart that cannot be had does not keep the other's from being
// published.
func TestAnOverrideToAChartThatCannotBeHadHoldsThatClusterOnly(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0", "1.1.0")
	f := newFleet(t, source(shelf.URL, "1.0.0"), shelf.URL)
	f.publish().exits(0)
	f.commit(map[string]string{"override.yaml": `apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: us, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: shop}]
  overrideRules:
  - targetCluster: {clusterNames: [us]}
    overriders:
      plaintext:
      - {path: /spec/chart/spec/version, operator: replace, value: 9.9.9}
`, "release.yaml": fromRepository(shelf.URL, "1.1.0")})
	f.publish().exits(1, "chart-unavailable", "9.9.9")
	f.holds("eu", shopFile, "chart: shop-1.1.0")
	f.holds("us", shopFile, "chart: shop-1.0.0")
}

func TestValuesFromASecretThatIsEncrypted(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	files := source(shelf.URL, "1.0.0")
	files["release.yaml"] += `  valuesFrom:
  - {kind: Secret, name: money}
`
	files["secret.yaml"] = `apiVersion: v1
kind: Secret
metadata: {name: money, namespace: shop}
data:
  values.yaml: ENC[AES256_GCM,data:canary,iv:AAAA,tag:BBBB,type:str]
sops:
  mac: ENC[AES256_GCM,data:canary,iv:AAAA,tag:BBBB,type:str]
  age: []
  lastmodified: "2026-11-21T00:00:00Z"
  version: 3.9.0
`
	f := newFleet(t, files, shelf.URL)
	f.waybill("validate", ".").exits(1, "bad-release", "the Secret money is encrypted").lacks("canary")
	f.publish().exits(1)
	f.holds("eu", besideFile, "value: one")
}

func TestValuesFromASecretThatIsNotInTheSource(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	files := source(shelf.URL, "1.0.0")
	files["release.yaml"] += "  valuesFrom:\n  - {kind: Secret, name: money}\n"
	f := newFleet(t, files, shelf.URL)
	f.publish().exits(1, "bad-release", "money")
	f.commit(map[string]string{"release.yaml": strings.Replace(files["release.yaml"], "name: money", "name: money, optional: true", 1)})
	f.publish().exits(0)
	f.holds("eu", shopFile, "chart: shop-1.0.0")
}
