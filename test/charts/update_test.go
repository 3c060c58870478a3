package build

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestAChartIsLockedThenPublishedThenUpdated(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0", "1.2.0", "2.0.0", "2.1.0-rc.1")
	f := newFleet(t, source(shelf.URL, "1.x"), shelf.URL)

	f.waybill("validate", ".").exits(1, "chart-not-locked", "waybill update")
	f.waybill("validate", ".", "--for", "render").exits(0, "chart-floating", "is version 1.2.0 today", "waybill update")
	f.waybill("render", ".", "--out", filepath.Join(t.TempDir(), "out")).exits(0, "chart-floating")
	f.publish().exits(1, "chart-not-locked", "waybill update")
	f.holds("eu", besideFile, "value: one")

	f.waybill("update", ".", "--check").exits(1)
	f.waybill("update", ".").exits(0, "1.2.0")
	f.locked("version: 1.2.0", "url: "+shelf.URL+"/shop-1.2.0.tgz", "digest: sha256:")
	f.waybill("update", ".", "--check").exits(0)
	f.commit(nil)
	f.publish().exits(0).lacks("chart-")
	f.holds("eu", shopFile, "chart: shop-1.2.0")

	shelf.add(shop("shop", "1.3.0"))
	before := f.head("eu")
	f.publish().exits(0, "nothing to publish")
	if f.head("eu") != before {
		t.Error("a new version of the chart moved the branch before it was locked")
	}
	was := f.read("waybill.lock")
	f.waybill("update", ".", "--check").exits(1)
	if f.read("waybill.lock") != was {
		t.Error("update --check wrote the lock file")
	}
	f.waybill("update", ".").exits(0, "1.2.0", "1.3.0")
	f.commit(nil)
	f.publish().exits(0)
	f.holds("us", shopFile, "chart: shop-1.3.0")
	f.waybill("verify", "waybill/cluster/eu", "--to", f.bare).exits(0)
}

// What was locked once and is not any more keeps the release as it was last published.
func TestALockThatGoesHoldsTheRelease(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.2.0")
	f := newFleet(t, source(shelf.URL, "1.x"), shelf.URL)
	f.lock()
	f.publish().exits(0)
	f.exec(f.dir, "git", "rm", "-q", "waybill.lock")
	f.commit(map[string]string{"beside.yaml": beside("two")})
	f.publish().exits(1, "chart-not-locked")
	f.holds("eu", shopFile, "chart: shop-1.2.0")
	f.holds("eu", besideFile, "value: two")
}

func TestAVersionInFullNeedsNoLock(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0", "1.2.0")
	f := newFleet(t, source(shelf.URL, "1.0.0"), shelf.URL)
	f.publish().exits(0).lacks("chart-floating")
	f.holds("eu", shopFile, "chart: shop-1.0.0")
}

func TestAChartOfARegistryIsLockedThenPublishedThenUpdated(t *testing.T) {
	t.Parallel()
	for name, release := range map[string]func(host string) string{
		"HelmRepository": func(host string) string { return fromRepository("oci://"+host+"/charts", "1.x") },
		"OCIRepository": func(host string) string {
			return `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: shop, namespace: shop}
spec:
  interval: 1h
  url: oci://` + host + `/charts/shop
  ref: {semver: 1.x}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: shop}
spec:
  interval: 1h
  chartRef: {kind: OCIRepository, name: shop}
`
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRegistry(t)
			r.push("charts", shop("shop", "1.2.0+build.7"))
			r.push("charts", shop("shop", "2.0.0"))
			f := newFleet(t, map[string]string{"fleet.yaml": two, "beside.yaml": beside("one"), "release.yaml": release(r.host())}, r.URL)

			f.waybill("validate", ".").exits(1, "chart-not-locked")
			f.waybill("validate", ".", "--for", "render").exits(0, "chart-floating", "is version 1.2.0+build.7 today")
			f.publish().exits(1, "chart-not-locked")
			f.lock()
			f.locked("kind: oci", "version: 1.2.0+build.7", "url: oci://"+r.host()+"/charts/shop:1.2.0_build.7@sha256:", "digest: sha256:")
			f.publish().exits(0)
			f.holds("eu", shopFile, "chart: shop-1.2.0+build.7")

			r.push("charts", shop("shop", "1.3.0"))
			f.publish().exits(0, "nothing to publish")
			f.waybill("update", ".", "--check").exits(1)
			f.lock()
			f.publish().exits(0)
			f.holds("us", shopFile, "chart: shop-1.3.0")
		})
	}
}

func TestUpdateOfNamedChartsLeavesTheOthers(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	shelf.add(shop("till", "1.0.0"))
	files := source(shelf.URL, "1.x")
	files["till.yaml"] = release("till", "1.x")
	f := newFleet(t, files, shelf.URL)
	f.lock()
	shelf.add(shop("shop", "1.1.0"), shop("till", "1.1.0"))
	shelf.takeAsked()
	f.waybill("update", ".", "till").exits(0, "till").lacks("shop  ")
	for _, asked := range shelf.takeAsked() {
		if strings.Contains(asked, "shop-") {
			t.Errorf("it asked %s", asked)
		}
	}
	f.commit(nil)
	f.publish().exits(0)
	f.holds("eu", shopFile, "chart: shop-1.0.0")
	f.holds("eu", "manifests/shop/configmap/till.yaml", "chart: till-1.1.0")
}

func TestUpdateOfAChartThatTheSourceDoesNotNameIsAnError(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	f := newFleet(t, source(shelf.URL, "1.x"), shelf.URL)
	f.lock()
	f.waybill("update", ".", "shpo").exits(2, "shpo")
}

func TestUpdateFollowsAnArchiveThatMoves(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	f := newFleet(t, source(shelf.URL, "1.x"), shelf.URL)
	f.lock()
	shelf.move("shop-1.0.0.tgz", "archive/shop-1.0.0.tgz")
	f.waybill("update", ".").exits(0, "1.0.0 (moved)")
	f.locked("url: " + shelf.URL + "/archive/shop-1.0.0.tgz")
}

func TestUpdateTakesOutWhatTheSourceNoLongerNames(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	shelf.add(shop("till", "1.0.0"))
	files := source(shelf.URL, "1.x")
	files["till.yaml"] = release("till", "1.x")
	f := newFleet(t, files, shelf.URL)
	f.lock()
	f.locked("name: till")
	f.exec(f.dir, "git", "rm", "-q", "till.yaml")
	f.waybill("update", ".", "--check").exits(1, "till    1.x      1.0.0   -")
	f.lock()
	if text := f.read("waybill.lock"); strings.Contains(text, "till") {
		t.Errorf("the lock file is\n%s", text)
	}
}

// A chart that cannot be found does not keep another one from its newer version.
func TestUpdateGoesOnWithoutAChart(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0")
	f := newFleet(t, source(shelf.URL, "1.x"), shelf.URL)
	f.lock()
	shelf.add(shop("shop", "1.1.0"))
	f.commit(map[string]string{"none.yaml": release("none", "1.x")})
	f.waybill("update", ".").exits(2, "1 chart could not be locked", "none.yaml:1: HelmRelease.helm.toolkit.fluxcd.io/shop/none")
	f.locked("version: 1.1.0")
}

// The forms in which a release may name a chart of a registry come to the same chart.
func TestFormsOfAReferenceToARegistry(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	manifest := r.push("charts", shop("shop", "1.2.0"))
	r.push("charts", shop("shop", "1.3.0"))
	const chartRef = `---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: shop}
spec: {interval: 1h, chartRef: {kind: %s, name: shop}}
`
	oci := func(ref string) string {
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: shop, namespace: shop}\nspec: {interval: 1h, url: 'oci://" +
			r.host() + "/charts/shop', ref: " + ref + "}\n" + fmt.Sprintf(chartRef, "OCIRepository")
	}
	for name, c := range map[string]struct{ release, version string }{
		"an OCIRepository with a tag":     {oci("{tag: 1.2.0}"), "1.2.0"},
		"an OCIRepository with a digest":  {oci("{tag: 1.3.0, digest: '" + manifest + "'}"), "1.2.0"},
		"an OCIRepository with a range":   {oci("{tag: 1.2.0, semver: '>=1.0.0'}"), "1.3.0"},
		"a HelmRepository with a slash":   {fromRepository("oci://"+r.host()+"/charts/", "~1.2"), "1.2.0"},
		"a HelmRepository, no constraint": {fromRepository("oci://"+r.host()+"/charts", ""), "1.3.0"},
		"a HelmChart": {repository("charts", "oci://"+r.host()+"/charts") + `apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmChart
metadata: {name: shop, namespace: shop}
spec: {interval: 1h, chart: shop, version: 1.2.x, sourceRef: {kind: HelmRepository, name: charts}}
` + fmt.Sprintf(chartRef, "HelmChart"), "1.2.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, map[string]string{"fleet.yaml": two, "release.yaml": c.release}, r.URL)
			f.lock()
			f.locked("version: " + c.version)
			f.publish().exits(0).lacks("chart-")
			f.holds("eu", shopFile, "chart: shop-"+c.version)
		})
	}
}

// What cannot be read may name charts, so that they stay locked.
func TestUpdateKeepsTheLocksOfWhatItCannotRead(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.2.0")
	f := newFleet(t, source(shelf.URL, "1.x"), shelf.URL)
	f.lock()
	was := f.read("waybill.lock")
	for name, broken := range map[string]string{
		"suspended":  strings.Replace(f.read("release.yaml"), "spec:\n", "spec:\n  suspend: true\n", 1),
		"malformed":  "x: [\n",
		"misspelled": strings.Replace(f.read("release.yaml"), "spec:\n", "spec:\n  releaseName: No_Name\n", 1),
	} {
		good := f.read("release.yaml")
		f.commit(map[string]string{"release.yaml": broken})
		f.waybill("update", ".").exits(0, "release.yaml")
		if f.read("waybill.lock") != was {
			t.Errorf("%s: the lock became %s", name, f.read("waybill.lock"))
		}
		f.commit(map[string]string{"release.yaml": good})
	}
	f.exec(f.dir, "git", "rm", "-q", "release.yaml")
	f.commit(map[string]string{"beside.yaml": beside("two")})
	f.waybill("update", ".").exits(0)
	if strings.Contains(f.read("waybill.lock"), "shop") {
		t.Error("a chart that nothing names stays locked")
	}
}

// TestWhatCanBeLockedIs locks one of two charts, and says which release names the other one. An exact
// version floats nowhere.
func TestWhatCanBeLockedIs(t *testing.T) {
	t.Parallel()
	shelf := newFiles(t, "1.0.0", "1.2.0")
	f := newFleet(t, source(shelf.URL, "1.x"), shelf.URL)
	f.write("more.yaml", `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: nowhere, namespace: shop}
spec:
  interval: 1h
  chart: {spec: {chart: nosuch, version: 1.x, sourceRef: {kind: HelmRepository, name: charts}}}
`)
	f.waybill("update", ".").exits(2, "1.2.0", "1 chart could not be locked", "more.yaml:1: HelmRelease.helm.toolkit.fluxcd.io/shop/nowhere")
	f.locked("version: 1.2.0")
	exact := newFleet(t, source(shelf.URL, "1.0.0"), shelf.URL)
	exact.waybill("validate", ".", "--for", "render").exits(0).lacks("chart-floating")
}
