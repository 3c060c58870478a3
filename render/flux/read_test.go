package flux_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/lock"
)

// reading reads the first of some objects in a setting. It returns what is to be rendered, and what is said first.
func reading(t *testing.T, objs string, in flux.Setting) (job *engine.Job, said string) {
	t.Helper()
	all := written(t, objs)
	repository := flux.Identify([]string{"GitRepository/a/this"}, all, nil)
	in.Repository = &repository
	job, diags := flux.Read(all[0], flux.NewIndex(all), in)
	if len(diags) > 0 {
		said, _, _ = strings.Cut(diags[0].String(), "\n")
	}
	return job, said
}

// TestChartOfARelease holds where the chart of a release is, by whatever names it.
func TestChartOfARelease(t *testing.T) {
	template := func(chart string) string {
		return "x.yaml HelmRelease a/web {interval: 1h, chart: {spec: {" + chart + "}}}\n"
	}
	ref := func(ref string) string {
		return "x.yaml HelmRelease a/web {interval: 1h, chartRef: {" + ref + "}}\n"
	}
	const this = "x.yaml GitRepository a/this {url: https://git.example.com/fleet}\nx.yaml GitRepository a/other {url: https://git.example.com/other}\n"
	const charts = "x.yaml HelmRepository a/charts {url: https://charts.example.com/}\n"
	const oci = "x.yaml OCIRepository a/web {url: 'oci://r.example.com/charts/web/', ref: {%s}}\n"
	locked := lock.Lock{}.With(lock.Entry{Ref: lock.Ref{Kind: lock.Helm, Repository: "https://charts.example.com", Name: "web", Constraint: "1.x"}, Version: "1.2.0"})
	for _, tt := range []struct{ name, objs, want, said string }{
		{"a folder of this repository", template("chart: ./charts/web, sourceRef: {kind: GitRepository, name: this}") + this, "charts/web", ""},
		{"a folder without a dot", template("chart: charts/web, sourceRef: {kind: GitRepository, name: this}") + this, "charts/web", ""},
		{"a folder of a source that is not in the source", template("chart: ./charts/web, sourceRef: {kind: HelmRepository, name: none}"), "charts/web", ""},
		{"a folder of another repository", template("chart: ./charts/web, sourceRef: {kind: GitRepository, name: other}") + this, "", "its source is the GitRepository a/other, which is git.example.com/other, another repository than this one"},
		{"a folder outside", template("chart: ./../web, sourceRef: {kind: GitRepository, name: this}") + this, "", `its chart "./../web" is not in this repository`},
		{"the folder outside", template("chart: ./.., sourceRef: {kind: GitRepository, name: this}") + this, "", `its chart "./.." is not in this repository`},
		{"a folder that begins with dots", template("chart: ./..web, sourceRef: {kind: GitRepository, name: this}") + this, "..web", ""},
		{"a folder of the machine", template("chart: /charts/web, sourceRef: {kind: GitRepository, name: this}") + this, "", `its chart "/charts/web" is not in this repository`},
		{"a version", template("chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}") + charts, "helm https://charts.example.com//web 1.0.0 false", ""},
		{"a range that is locked", template("chart: web, version: 1.x, sourceRef: {kind: HelmRepository, name: charts}") + charts, "helm https://charts.example.com//web 1.x true", ""},
		{"a range that is not", template("chart: web, version: 2.x, sourceRef: {kind: HelmRepository, name: charts}") + charts, "", "https://charts.example.com//web 2.x is not in waybill.lock, so that what it is depends on the day [chart-not-locked]"},
		{"no version", template("chart: web, sourceRef: {kind: HelmRepository, name: charts}") + charts, "", "is not in waybill.lock"},
		{"no name of a chart", template("chart: web/api, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}") + charts, "", "its chart cannot be asked for: "},
		{"a repository of images by its URL", template("chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}") + strings.Replace(charts, "https:", "oci:", 1), "oci oci://charts.example.com//web 1.0.0 false", ""},
		{"a repository of images by its type, and not by its URL", template("chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}") + strings.Replace(charts, "{url", "{type: oci, url", 1), "", "its chart cannot be asked for: "},
		{"a repository of another namespace", template("chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts, namespace: b}") + charts, "", "the HelmRepository b/charts is not in the source"},
		{"a repository of another kind", template("chart: web, version: 1.0.0, sourceRef: {kind: HelmChart, name: charts}"), "", `spec.chart.spec.sourceRef.kind is "HelmChart"; it must be`},
		{"a HelmChart", ref("kind: HelmChart, name: web") + "x.yaml HelmChart a/web {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}\n" + charts, "helm https://charts.example.com//web 1.0.0 false", ""},
		{"a HelmChart of a kind from which none is taken", ref("kind: HelmChart, name: web") + "x.yaml HelmChart a/web {chart: web, version: 1.0.0, sourceRef: {kind: ExternalArtifact, name: charts}}\n", "", "its chart is in a ExternalArtifact, from which no chart is taken"},
		{"a HelmChart whose repository is beside it", ref("kind: HelmChart, name: web, namespace: b") + "x.yaml HelmChart b/web {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}\n" + charts, "", "the HelmRepository b/charts is not in the source"},
		{"an artifact by its tag", ref("kind: OCIRepository, name: web") + fmt.Sprintf(oci, "tag: 1.0.0"), "oci oci://r.example.com/charts/web 1.0.0 false", ""},
		{"a range counts before a tag", ref("kind: OCIRepository, name: web") + fmt.Sprintf(oci, "tag: 1.0.0, semver: 2.0.0"), "oci oci://r.example.com/charts/web 2.0.0 false", ""},
		{"a digest counts before both", ref("kind: OCIRepository, name: web") + fmt.Sprintf(oci, "tag: 1.0.0, semver: 2.x, digest: 'sha256:"+strings.Repeat("a", 64)+"'"), "oci oci://r.example.com/charts/web sha256:" + strings.Repeat("a", 64) + " false", ""},
		{"a tag that moves", ref("kind: OCIRepository, name: web") + fmt.Sprintf(oci, "tag: latest"), "", "is not in waybill.lock, so that what it is depends on the day"},
		{"a repository of charts has no digests", template("chart: web, version: 'sha256:"+strings.Repeat("a", 64)+"', sourceRef: {kind: HelmRepository, name: charts}") + charts, "", "is not in waybill.lock"},
		{"an artifact that is not in the source", ref("kind: OCIRepository, name: web, namespace: b") + fmt.Sprintf(oci, "tag: 1.0.0"), "", "the OCIRepository b/web is not in the source"},
		{"an artifact whose URL is none", ref("kind: OCIRepository, name: web") + "x.yaml OCIRepository a/web {url: web}\n", "", "its chart cannot be asked for: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			job, said := reading(t, tt.objs, flux.Setting{Pinned: true, Lock: locked})
			got := ""
			if job != nil {
				c := job.Helm.Chart
				if got = c.Path; got == "" {
					got = fmt.Sprintf("%s %s %v", c.Ref.Kind, c.Ref, c.Locked != nil)
				}
			}
			if got != tt.want || (said == "") != (tt.said == "") || !strings.Contains(said, tt.said) {
				t.Errorf("it is %q, and it says %s\nwant %q, and %s", got, said, tt.want, tt.said)
			}
		})
	}
	job, said := reading(t, template("chart: web, version: 2.x, sourceRef: {kind: HelmRepository, name: charts}")+charts, flux.Setting{Lock: locked})
	if job == nil || job.Helm.Chart.Locked != nil {
		t.Errorf("where nothing has to be locked it is refused: %s", said)
	}
}

// TestVariables holds from where a Kustomization has its variables, and in which order they count.
func TestVariables(t *testing.T) {
	kustomization := func(post string) string {
		return "x.yaml Kustomization a/web {interval: 1h, path: ./apps, sourceRef: {name: this}, postBuild: {" + post + "}}\n"
	}
	const settings = "x.yaml ConfigMap a/settings {color: blue, size: large}\n"
	const secret = "x.yaml Secret a/secret {token: %s}\n"
	const by = "{kind: ConfigMap, name: settings}"
	for _, tt := range []struct{ name, objs, want, said string }{
		{"none", kustomization(""), "map[]", ""},
		{"its own", kustomization("substitute: {color: red}"), "map[color:red]", ""},
		{"a ConfigMap's", kustomization("substituteFrom: ["+by+"]") + settings, "map[color:blue size:large]", ""},
		{"its own count before a ConfigMap's", kustomization("substituteFrom: ["+by+"], substitute: {color: red}") + settings, "map[color:red size:large]", ""},
		{"a later one counts", kustomization("substituteFrom: ["+by+", {kind: ConfigMap, name: more}]") + settings + "x.yaml ConfigMap a/more {color: green}\n", "map[color:green size:large]", ""},
		{"a Secret's are decoded", kustomization("substituteFrom: [{kind: Secret, name: secret}]") + fmt.Sprintf(secret, "aHVudGVyMg=="), "map[token:hunter2]", ""},
		{"a Secret's that are none", kustomization("substituteFrom: [{kind: Secret, name: secret}]") + fmt.Sprintf(secret, "'*'"), "", `x.yaml:4: error: Kustomization.kustomize.toolkit.fluxcd.io/a/web: the Secret secret has a key "token" that is no base64`},
		{"a Secret's stringData are none", kustomization("substituteFrom: [{kind: Secret, name: secret}]") + "x.yaml Secret a/secret {}; stringData: {token: aHVudGVyMg==}\n", "map[token:aHVudGVyMg==]", ""},
		{"a Secret's stringData count before its data", kustomization("substituteFrom: [{kind: Secret, name: secret}]") + "x.yaml Secret a/secret {token: b2xk, user: YW5u}; stringData: {token: new}\n", "map[token:new user:ann]", ""},
		{"a ConfigMap has no stringData", kustomization("substituteFrom: ["+by+"]") + strings.TrimSpace(settings) + "; stringData: {color: red}\n", "map[color:blue size:large]", ""},
		{"a ConfigMap's binaryData are nobody's", kustomization("substituteFrom: ["+by+"]") + strings.TrimSpace(settings) + "; binaryData: {logo.png: iVBORw==}\n", "map[color:blue size:large]", ""},
		{"one that is not there", kustomization("substituteFrom: [" + by + "]"), "", "the ConfigMap a/settings is not in the source"},
		{"one that need not be there", kustomization("substituteFrom: [{kind: ConfigMap, name: settings, optional: true}]"), "map[]", ""},
		{"one of another namespace", kustomization("substituteFrom: ["+by+"]") + strings.Replace(settings, "a/", "b/", 1), "", "the ConfigMap a/settings is not in the source"},
		{"one of another cluster", kustomization("substituteFrom: ["+by+"]") + strings.Replace(settings, "x.yaml", "clusters/eu/x.yaml", 1) + "clusters/eu/sync.yaml Kustomization a/eu {path: ./clusters/eu, sourceRef: {name: this}}\n", "", "the ConfigMap settings of clusters/eu/x.yaml is another cluster's"},
		{"one that an ExternalSecret makes", kustomization("substituteFrom: [{kind: Secret, name: token}]") + "x.yaml ExternalSecret a/other {target: {name: token}}\n", "", "the Secret a/token is made in the clusters, by the ExternalSecret other of x.yaml:1, and is not there when a release is rendered"},
		{"one that a SealedSecret of its name makes", kustomization("substituteFrom: [{kind: Secret, name: token}]") + "x.yaml SealedSecret a/token {}\n", "", "is made in the clusters, by the SealedSecret token"},
		{"one that a Certificate makes", kustomization("substituteFrom: [{kind: Secret, name: token}]") + "x.yaml Certificate a/token {secretName: tls}\nx.yaml Certificate a/other {secretName: token}\n", "", "is made in the clusters, by the Certificate other"},
		{"one that is made in another namespace", kustomization("substituteFrom: [{kind: Secret, name: token}]") + "x.yaml SealedSecret b/token {}\n", "", "the Secret a/token is not in the source"},
		{"a ConfigMap is made by none of these", kustomization("substituteFrom: [{kind: ConfigMap, name: token}]") + "x.yaml SealedSecret a/token {}\n", "", "the ConfigMap a/token is not in the source"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			job, said := reading(t, tt.objs+"x.yaml GitRepository a/this {url: https://git.example.com/fleet}\n", flux.Setting{})
			got := ""
			if job != nil {
				got = fmt.Sprint(job.Kustomize.Overlay.Substitute)
			}
			if got != tt.want || (said == "") != (tt.said == "") || !strings.Contains(said, tt.said) {
				t.Errorf("it has %q, and it says %s\nwant %q, and %s", got, said, tt.want, tt.said)
			}
		})
	}
}

// TestWhatIsSaidOfASource holds what somebody has to know of the source of a Kustomization.
func TestWhatIsSaidOfASource(t *testing.T) {
	const from = "x.yaml Kustomization a/web {interval: 1h, path: ./apps, targetNamespace: shop, sourceRef: {name: %s}}\n"
	const this = "x.yaml GitRepository a/this {url: https://git.example.com/fleet%s}\n"
	for _, tt := range []struct {
		name, objs string
		built      bool
		said       string
	}{
		{"this repository", fmt.Sprintf(from, "this") + fmt.Sprintf(this, ""), true, ""},
		{"it leaves files out", fmt.Sprintf(from, "this") + fmt.Sprintf(this, ", ignore: /docs"), true, "warning: Kustomization.kustomize.toolkit.fluxcd.io/a/web: its source, the GitRepository/a/this, leaves files out by spec.ignore"},
		{"it includes others", fmt.Sprintf(from, "this") + fmt.Sprintf(this, ", include: [{repository: {name: other}}]"), false, "includes files of other repositories (spec.include)"},
		{"it is assumed", fmt.Sprintf(from, "any"), true, "warning: Kustomization.kustomize.toolkit.fluxcd.io/a/web: nothing says that its source, the GitRepository/a/any, is this repository, for which it is taken"},
		{"it is assumed, and all of it would be built", strings.Replace(fmt.Sprintf(from, "any"), "./apps", "./", 1), false, "all of which it would build"},
		{"it is an artifact that nobody makes", strings.Replace(fmt.Sprintf(from, "made"), "{name", "{kind: ExternalArtifact, name", 1), false, "which no ArtifactGenerator of this repository makes"},
		{
			"it is an artifact that is made of another repository", strings.Replace(fmt.Sprintf(from, "made"), "{name", "{kind: ExternalArtifact, name", 1) +
				"x.yaml ArtifactGenerator a/g {sources: [{alias: o, kind: GitRepository, name: other}], artifacts: [{name: made, copy: [{from: '@o/**', to: '@artifact/'}]}]}\n" +
				fmt.Sprintf(this, "") + "x.yaml GitRepository a/other {url: https://git.example.com/other}\n", false, "another repository than this one",
		},
		{
			"it is an artifact that is made for each folder", strings.Replace(fmt.Sprintf(from, "made"), "{name", "{kind: ExternalArtifact, name", 1) +
				"x.yaml ArtifactGenerator a/g {pathPattern: 'apps/{app}', artifacts: [{name: made}]}\n", false, `makes an artifact for each folder of "apps/{app}" (spec.pathPattern)`,
		},
		{
			"it is an artifact that is copied from nowhere", strings.Replace(fmt.Sprintf(from, "made"), "{name", "{kind: ExternalArtifact, name", 1) +
				"x.yaml ArtifactGenerator a/g {artifacts: [{name: made, copy: [{from: '@o/**', to: '@artifact/'}]}]}\n", false, `copies "@o/**", which is not from a GitRepository among its sources`,
		},
		{
			"it is an artifact that is copied to nowhere", strings.Replace(fmt.Sprintf(from, "made"), "{name", "{kind: ExternalArtifact, name", 1) +
				"x.yaml ArtifactGenerator a/g {sources: [{alias: o, kind: GitRepository, name: this}], artifacts: [{name: made, copy: [{from: '@o/**', to: apps/}]}]}\n" + fmt.Sprintf(this, ""), false, `copies to "apps/"; it must begin with @artifact/`,
		},
		{"it is suspended", strings.Replace(fmt.Sprintf(from, "this"), "{interval", "{suspend: true, interval", 1), false, "notice: Kustomization.kustomize.toolkit.fluxcd.io/a/web: it is suspended"},
		{"it is ordered", strings.Replace(fmt.Sprintf(from, "this"), "{interval", "{dependsOn: [{name: base}], interval", 1), true, "its dependsOn does not act on a branch"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			job, said := reading(t, tt.objs, flux.Setting{Suffix: "-eu"})
			if (job != nil) != tt.built || (said == "") != (tt.said == "") || !strings.Contains(said, tt.said) {
				t.Errorf("it is built: %v, and it says %s", job != nil, said)
			}
			if job != nil && job.Kustomize.Overlay.TargetNamespace != "shop-eu" {
				t.Errorf("in a virtual cluster its namespace is %s", job.Kustomize.Overlay.TargetNamespace)
			}
		})
	}
}

// TestWhatAReleaseDependsOn holds which releases may be others in each cluster, and which have to wait for others.
func TestWhatAReleaseDependsOn(t *testing.T) {
	const settings = "x.yaml ConfigMap a/settings {color: blue}\n"
	for _, tt := range []struct {
		name, objs      string
		asks, waits, is bool
	}{
		{"a release", "x.yaml HelmRelease a/web {}\n", false, false, true},
		{"one with values of the source", "x.yaml HelmRelease a/web {valuesFrom: [{kind: ConfigMap, name: settings}]}\n" + settings, false, false, true},
		{"one with values that may be rendered", "x.yaml HelmRelease a/web {valuesFrom: [{kind: Secret, name: settings}]}\n" + settings, false, true, true},
		{"one with values of the cluster", "x.yaml HelmRelease a/web {valuesFrom: [{kind: Cluster, valuesKey: name}]}\n", true, false, true},
		{"a Kustomization", "x.yaml Kustomization a/web {}\n", true, false, true},
		{"one with variables that may be rendered", "x.yaml Kustomization a/web {postBuild: {substituteFrom: [{kind: ConfigMap, name: other}]}}\n" + settings, true, true, true},
		{"one with variables of the source", "x.yaml Kustomization a/web {postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}}\n" + settings, true, false, true},
		{"no release", "x.yaml HelmRepository a/web {valuesFrom: []}\n", false, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			objs := written(t, tt.objs)
			r := objs[0].Ref()
			if got := flux.AsksCluster(objs[0]); got != tt.asks {
				t.Errorf("it may be another one in each cluster: %v", got)
			}
			if got := flux.NewIndex(objs).Waits(objs[0]); got != tt.waits {
				t.Errorf("it waits for others: %v", got)
			}
			if flux.IsRelease(objs[0]) != tt.is || flux.IsReleaseKind(r.Group, r.Kind) != tt.is || flux.IsReleaseKind("example.com", r.Kind) {
				t.Errorf("it is a release: %v", !tt.is)
			}
		})
	}
	if !flux.NewIndex(nil).With(nil).Waits(written(t, "x.yaml HelmRelease a/web {valuesFrom: [{kind: ConfigMap, name: settings}]}")[0]) {
		t.Error("it waits for nothing, though what it names is not there")
	}
}

// TestWhatAReleaseIsRenderedWith holds what a HelmRelease takes from its cluster, from Secrets and from a random key.
func TestWhatAReleaseIsRenderedWith(t *testing.T) {
	const from = "x.yaml HelmRelease a/web {interval: 1h, chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: this}}}, valuesFrom: [%s]}\n"
	const secret = "x.yaml Secret a/secret {values.yaml: 'dG9rZW46IGh1bnRlcjI='}\n" // token: hunter2
	eu := flux.Setting{Cluster: flux.Facts(flux.Cluster{Name: "eu", Region: "west", Zones: []string{"a", "b"}, Labels: map[string]string{"tier": "prod"}, Annotations: map[string]string{"x/y": "z"}})}
	const fact = "{kind: Cluster, valuesKey: %s, targetPath: v}"
	for _, tt := range []struct {
		name, from string
		in         flux.Setting
		want, said string
	}{
		{"the name of its cluster", fmt.Sprintf(fact, "name"), eu, "map[v:eu]", ""},
		{"the first zone", fmt.Sprintf(fact, "zone"), eu, "map[v:a]", ""},
		{"a label", fmt.Sprintf(fact, "labels.tier"), eu, "map[v:prod]", ""},
		{"an annotation", fmt.Sprintf(fact, "annotations.x/y"), eu, "map[v:z]", ""},
		{"a label that there is not", fmt.Sprintf(fact, "labels.ring"), eu, "", "labels.ring"},
		{"no cluster", fmt.Sprintf(fact, "name"), flux.Setting{}, "", "the release is rendered for no cluster"},
		{"a Secret", "{kind: Secret, name: secret}", flux.Setting{}, "map[token:hunter2]", ""},
		{"a Secret that is disguised", "{kind: Secret, name: secret}", flux.Setting{Random: flux.Random{Disguised: true}}, "map[token:ivoufs3]", ""},
		{"a Secret that is not there", "{kind: Secret, name: none}", flux.Setting{}, "", "none"},
		{"a Secret that need not be there", "{kind: Secret, name: none, optional: true}", flux.Setting{}, "map[]", ""},
		{"an entry that there is not", "{kind: Secret, name: secret, valuesKey: other}", flux.Setting{}, "", "other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			job, said := reading(t, fmt.Sprintf(from, tt.from)+secret+"x.yaml GitRepository a/this {url: https://git.example.com/fleet}\n", tt.in)
			got := ""
			if job != nil {
				got = fmt.Sprint(job.Helm.Release.Values)
			}
			if got != tt.want || (said == "") != (tt.said == "") || !strings.Contains(said, tt.said) {
				t.Errorf("values are %s, and it says %s\nwant %s, and %s", got, said, tt.want, tt.said)
			}
		})
	}
	for _, open := range []bool{false, true} {
		job, said := reading(t, fmt.Sprintf(from, "{kind: Secret, name: secret}")+secret+"x.yaml GitRepository a/this {url: https://git.example.com/fleet}\n", flux.Setting{Open: open})
		if job == nil || !slices.Contains(job.Secrets, "hunter2") || slices.Contains(job.Secrets, "token") {
			t.Fatalf("its Secrets are not told: %s", said)
		}
		if masked := job.Masked; (masked == nil) != open || masked != nil && fmt.Sprint(masked.Helm.Release.Values) != "map[token:ivoufs3]" {
			t.Errorf("where everybody may read Secrets: %v, what stands for it is %+v", open, masked)
		}
	}
}

// TestAReleaseThatWasRenderedWithSecrets has a release that another one made: what that one took from Secrets is secret in it, too, and
// other values stand for all of it where names are compared, also for one that begins with another.
func TestAReleaseThatWasRenderedWithSecrets(t *testing.T) {
	all := written(t, "x.yaml HelmRelease a/web {interval: 1h, chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: this}}}, values: {user: shop, token: shop-hunter2, list: [{at: 'db://shop-hunter2@db'}], port: 5432}}\n"+
		"x.yaml GitRepository a/this {url: https://git.example.com/fleet}\n")
	repository := flux.Identify([]string{"GitRepository/a/this"}, all, nil)
	release := all[0].RenderedWith([]string{"shop", "shop-hunter2"})
	job, diags := flux.Read(release, flux.NewIndex(all), flux.Setting{Repository: &repository})
	if job == nil || job.Masked == nil {
		t.Fatal(diags)
	}
	if want := []string{"shop", "shop-hunter2"}; !slices.Equal(job.Secrets, want) {
		t.Errorf("its secrets are %q, want %q", job.Secrets, want)
	}
	const is, masked = "map[list:[map[at:db://shop-hunter2@db]] port:5432 token:shop-hunter2 user:shop]", "map[list:[map[at:db://tipq-ivoufs3@db]] port:5432 token:tipq-ivoufs3 user:tipq]"
	if got := fmt.Sprint(job.Helm.Release.Values); got != is {
		t.Errorf("its values are %s, want %s", got, is)
	}
	if got := fmt.Sprint(job.Masked.Helm.Release.Values); got != masked || job.Masked.Helm.Chart != job.Helm.Chart {
		t.Errorf("what stands for them is %s, want %s", got, masked)
	}
	if got := fmt.Sprint(release.Content()["spec"]); !strings.Contains(got, "token:shop-hunter2") {
		t.Errorf("the release became %s", got)
	}
}

// allowing is a release that may call functions; an empty text is none.
func allowing(release *object.Object, functions string) *object.Object {
	if functions == "" {
		return release
	}
	content := maps.Clone(release.Content())
	content["metadata"] = map[string]any{
		"name": release.Ref().Name, "namespace": release.Ref().Namespace, "annotations": map[string]any{"waybill.dev/allow-functions": functions},
	}
	return release.With(content)
}

// TestWhatAReleaseDrawsFrom holds that a release draws if it says so, there is a key, and nothing is wrong with that.
func TestWhatAReleaseDrawsFrom(t *testing.T) {
	key, err := draw.NewKey([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, allow string
		random      flux.Random
		draws       bool
		said        string
	}{
		{"it says so", "randAlphaNum", flux.Random{Key: key, Source: "fleet"}, true, ""},
		{"it does not", "", flux.Random{Key: key, Source: "fleet"}, false, ""},
		{"it allows something else", "now", flux.Random{Key: key, Source: "fleet"}, false, ""},
		{"there is no key", "randAlphaNum", flux.Random{Source: "fleet"}, false, ""},
		{"the key is another one", "randAlphaNum", flux.Random{Key: key, Source: "fleet", Wrong: "the key is another one"}, false, "it draws nothing: the key is another one"},
		{"the key is another one, and nothing is drawn", "", flux.Random{Key: key, Source: "fleet", Wrong: "the key is another one"}, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := written(t, "x.yaml HelmRelease a/web {interval: 1h, chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: this}}}}\nx.yaml GitRepository a/this {url: https://git.example.com/fleet}\n")
			release := allowing(all[0], tt.allow)
			repository := flux.Identify([]string{"GitRepository/a/this"}, all, nil)
			job, diags := flux.Read(release, flux.NewIndex(all), flux.Setting{Repository: &repository, Random: tt.random})
			if draws := job != nil && job.Draws(); draws != tt.draws || (job == nil) != (tt.said != "") || !strings.Contains(fmt.Sprint(diags), tt.said) {
				t.Errorf("it draws: %v, and it says %v", draws, diags)
			}
			if flux.AsksCluster(release) != (tt.allow == "randAlphaNum") {
				t.Errorf("it may be another one in each cluster: %v", flux.AsksCluster(release))
			}
		})
	}
}

// TestEachReleaseDrawsForItself: of one key, whatever its name is elsewhere, and the same each time.
func TestEachReleaseDrawsForItself(t *testing.T) {
	key, err := draw.NewKey([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	from := func(release, source, cluster string) draw.Subkey {
		all := written(t, "x.yaml HelmRelease "+release+" {interval: 1h, chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: this, namespace: a}}}}\nx.yaml GitRepository a/this {url: https://git.example.com/fleet}\n")
		repository := flux.Identify([]string{"GitRepository/a/this"}, all, nil)
		job, diags := flux.Read(allowing(all[0], "randAlphaNum"), flux.NewIndex(all), flux.Setting{Repository: &repository, Random: flux.Random{Key: key, Source: source, Cluster: cluster}})
		if job == nil || !job.Draws() {
			t.Fatal(diags)
		}
		return *job.Helm.Release.Draw
	}
	is := from("a/web", "fleet", "eu")
	for _, tt := range []struct {
		release, source, cluster string
		isEqual                  bool
	}{
		{"a/web", "fleet", "eu", true},
		{"b/web", "fleet", "eu", false},
		{"a/db", "fleet", "eu", false},
		{"a/web", "other", "eu", false},
		{"a/web", "fleet", "us", false},
	} {
		if got := from(tt.release, tt.source, tt.cluster); reflect.DeepEqual(got, is) != tt.isEqual {
			t.Errorf("%s of %s in %s draws from %+v, a/web of fleet in eu from %+v", tt.release, tt.source, tt.cluster, got, is)
		}
	}
}

// What comes after a chart is in its order: patches with their targets, images, and at last the metadata that all of it has.
func TestWhatComesAfterAChart(t *testing.T) {
	const this = "x.yaml GitRepository a/this {url: https://git.example.com/fleet}\n"
	read := func(more string) string {
		t.Helper()
		job, said := reading(t, "x.yaml HelmRelease a/web {interval: 1h, chart: {spec: {chart: ./web, sourceRef: {kind: GitRepository, name: this}}}"+more+"}\n"+this, flux.Setting{})
		if job == nil || said != "" {
			t.Fatal(said)
		}
		data, err := json.Marshal(job.Helm.Post)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	post := `, postRenderers: [{kustomize: {images: [{name: a, newName: b, newTag: "1"}, {name: c, digest: "sha256:d"}]}}, ` +
		`{kustomize: {patches: [{patch: "a: b", target: {kind: ConfigMap, name: x, namespace: y, group: g, version: v, labelSelector: l, annotationSelector: n}}, {patch: "c: d"}]}}]`
	metadata := `, commonMetadata: {labels: {a: b}, annotations: {c: d}}`
	for more, want := range map[string]string{
		"":       "null",
		post:     `[{"images":[{"name":"a","newName":"b","newTag":"1"},{"name":"c","digest":"sha256:d"}]},{"patches":[{"patch":"a: b","target":{"group":"g","version":"v","kind":"ConfigMap","name":"x","namespace":"y","labelSelector":"l","annotationSelector":"n"}},{"patch":"c: d"}]}]`,
		metadata: `[{"commonMetadata":{"labels":{"a":"b"},"annotations":{"c":"d"}}}]`,
		`, postRenderers: [{kustomize: {images: [{name: a, newTag: "2"}]}}]` + metadata: `[{"images":[{"name":"a","newTag":"2"}]},{"commonMetadata":{"labels":{"a":"b"},"annotations":{"c":"d"}}}]`,
	} {
		if is := read(more); is != want {
			t.Errorf("after%s comes\n%s, want\n%s", more, is, want)
		}
	}
}
