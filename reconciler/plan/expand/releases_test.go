package expand_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/subscribe"
)

// world is a source whose releases that a policy selects go to eu and us.
type world struct {
	source string
	bound  map[string]string // what stands in the folders of clusters
	// charts are what charts and folders of the source render to, by path, with $version, $color and $cluster in the place of what a
	// release is given. One that is not there fails, and so does one with "fails CLUSTER" for that.
	charts map[string]string
	config render.ConfigSpec
	before []state.Release

	jobs []string // that were asked for, in all rounds
}

// overridden is a release as the override rules that match make it.
func overridden(l *index.Policies, release *template.Template, matching string) (*object.Object, *diag.Diagnostic) {
	rules := l.Overrides.Rules(release.Subject)
	content, bad := rules.Rewrite(release.Object, release.Object.Content(), matching)
	if bad != nil {
		return nil, bad
	}
	return release.Object.With(content), nil
}

func (w *world) render(jobs []engine.Job) ([]engine.Rendered, error) {
	out := make([]engine.Rendered, len(jobs))
	for i, j := range jobs {
		var path, cluster string
		given := strings.NewReplacer()
		switch {
		case j.Helm != nil:
			path = j.Helm.Chart.Path
			color, _ := j.Helm.Release.Values["color"].(string)
			cluster, _ = j.Helm.Release.Values["cluster"].(string)
			given = strings.NewReplacer("$version", j.Helm.Release.KubeVersion, "$color", color, "$cluster", cluster, "$namespace", j.Helm.Release.Namespace)
		default:
			path = j.Kustomize.Dir
		}
		w.jobs = append(w.jobs, path)
		text, ok := w.charts[path]
		if !ok || strings.Contains(text, "fails "+cluster) && cluster != "" {
			out[i].Diags = []diag.Diagnostic{{Code: diag.Helm, Severity: diag.Error, Message: "no such chart"}}
		}
		out[i].Inputs = "files of " + path
		for _, o := range object.Decode("chart", []byte(given.Replace(text))).Objects {
			m := engine.Manifest{Object: o}
			if on := o.Annotations()["helm.sh/hook"]; on != "" {
				m.Hook = &helm.Hook{Events: []string{on}}
			}
			out[i].Manifests = append(out[i].Manifests, m)
		}
	}
	return out, nil
}

func (w *world) expand(t *testing.T) *expand.Result {
	t.Helper()
	d := object.Decode("all.yaml", []byte(w.source))
	if len(d.Diags) > 0 {
		t.Fatal(d.Diags)
	}
	in := expand.Input{
		Source: render.Source{Objects: d.Objects, Bound: map[string][]*object.Object{}, Config: w.config}, Releases: w.before, Memo: &expand.Memo{},
		Place: func(l *index.Policies, release *template.Template) (*policies.Propagation, []karmada.TargetCluster) {
			return l.Claims.Policy(release.Subject), []karmada.TargetCluster{{Name: "eu"}, {Name: "gone"}, {Name: "us"}}
		},
		Override: overridden,
	}
	for cluster, text := range w.bound {
		in.Source.Bound[cluster] = object.Decode("clusters/"+cluster+"/all.yaml", []byte(text)).Objects
	}
	r, err := expand.Expand(in, w.render)
	if err != nil {
		t.Fatal(err)
	}
	return &r
}

// content says what objects are: the data of a ConfigMap, and that something is preserved.
func content(o *object.Object) string {
	data, _ := o.Content()["data"].(map[string]any)
	text := fmt.Sprint(data["v"])
	if o.Annotations()["waybill.dev/preserve-resources-on-deletion"] == "true" {
		text += " kept"
	}
	return text
}

// told lists the templates: with what they say, and where, if a release renders them, and what stands in folders of clusters.
func told(r *expand.Result) string {
	var all []string
	for _, tm := range r.Templates {
		line := tm.Ref().Kind + " " + tm.Ref().Namespace + "/" + tm.Ref().Name
		switch {
		case tm.Part != nil:
			var in []string
			for i, c := range r.Policies.Fleet.Clusters() {
				if v := tm.In(i); v != nil {
					in = append(in, c.Name+" "+content(v.Object))
				}
			}
			line += " of " + tm.Part.Release.Ref().Name + " (" + strings.Join(in, ", ") + ")"
			if tm.Subject.File != "" {
				line += " from " + tm.Subject.File
			}
		case tm.Ref().Kind == "ConfigMap":
			line += " (" + content(tm.Object) + ")"
		}
		if tm.UsedUp {
			line += " used up"
		}
		all = append(all, line)
	}
	for _, cluster := range slices.Sorted(maps.Keys(r.Bound)) {
		for _, o := range r.Bound[cluster] {
			all = append(all, cluster+": "+o.Ref().Kind+" "+o.Ref().Namespace+"/"+o.Ref().Name+" ("+content(o)+")")
		}
	}
	return strings.Join(all, "\n")
}

// said lists the codes of diagnostics.
func said(ds []diag.Diagnostic) string {
	codes := make([]string, 0, len(ds))
	for _, d := range ds {
		codes = append(codes, string(d.Code))
	}
	return strings.Join(codes, " ")
}

// cluster registers a cluster with a version of Kubernetes.
func cluster(name, version, more string) string {
	return fmt.Sprintf("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s%s}\nspec: {syncMode: Pull}\nstatus: {kubernetesVersion: %s}\n---\n", name, more, version)
}

// helmRelease is a release, in the namespace a, of the chart of its name.
func helmRelease(name, metadata, spec string) string {
	return fmt.Sprintf("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: %s, namespace: a%s}\nspec: {interval: 5m, chart: {spec: {chart: ./%[1]s, sourceRef: {kind: GitRepository, name: x}}}%[3]s}\n---\n", name, metadata, spec)
}

// override is a policy that is for a cluster, and replaces the color of releases of that name.
func override(target, name, op string) string {
	return fmt.Sprintf("apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o-%s, namespace: a}\nspec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease%s}], overrideRules: [{targetCluster: {clusterNames: [%[1]s]}, overriders: {plaintext: [%[3]s]}}]}\n---\n", target, name, op)
}

const (
	red  = `{path: /spec/values, operator: add, value: {color: red}}`
	none = `{path: /spec/no/such/field, operator: replace, value: 1}`
	// ofClusters takes the name of the cluster as a value.
	ofClusters = ", valuesFrom: [{kind: Cluster, valuesKey: name, targetPath: cluster}]"
	said1      = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {v: %q}\n---\n"
)

func TestWhatReleasesRenderTo(t *testing.T) {
	alike := cluster("eu", "v1.30.0", "") + cluster("us", "v1.30.0", "")
	others := cluster("eu", "v1.30.0", "") + cluster("us", "v1.31.0", "")
	only := cluster("eu", "v1.30.0", "") + strings.Replace(cluster("us", "v1.30.0", ""), "v1.30.0}", "v1.30.0, apiEnablements: [{groupVersion: x.io/v1, resources: [{kind: X, name: xs}]}]}", 1)
	served := regexp.MustCompile(`(v1[.0-9]+)}`).ReplaceAllString(others, "$1, apiEnablements: [{groupVersion: x.io/v1, resources: [{kind: X, name: xs}]}]}")
	virtual := cluster("eu", "v1.30.0", "") + cluster("us", "v1.30.0", ", annotations: {waybill.dev/virtual-of: eu}")
	x := func(v string) string { return fmt.Sprintf(said1, v) }
	web := helmRelease("web", "", "")
	for _, tt := range []struct {
		name  string
		world world
		want  string
		says  string
		jobs  int
	}{
		{"clusters that are alike are rendered for once", world{source: alike + selected + web, charts: map[string]string{"web": x("$version")}}, "ConfigMap a/x of web (eu v1.30.0, us v1.30.0)\nHelmRelease a/web", "", 1},
		{"those of two versions twice", world{source: others + selected + web, charts: map[string]string{"web": x("$version")}}, "ConfigMap a/x of web (eu v1.30.0, us v1.31.0)\nHelmRelease a/web", "", 2},
		{"those that serve other kinds twice", world{source: only + selected + web, charts: map[string]string{"web": x("$version")}}, "ConfigMap a/x of web (eu v1.30.0, us v1.30.0)\nHelmRelease a/web", "", 2},
		{"those of two versions that serve the same kinds twice", world{source: served + selected + web, charts: map[string]string{"web": x("$version")}}, "ConfigMap a/x of web (eu v1.30.0, us v1.31.0)\nHelmRelease a/web", "", 2},
		{"a virtual one, and its host", world{source: virtual + selected + web, charts: map[string]string{"web": x("$namespace")}}, "ConfigMap a/x of web (eu a, us a-us)\nHelmRelease a/web", "", 2},
		{"one that asks for its cluster", world{source: alike + selected + helmRelease("web", "", ofClusters), charts: map[string]string{"web": x("$cluster")}}, "ConfigMap a/x of web (eu eu, us us)\nHelmRelease a/web", "", 2},
		{"one that an override has ask for its cluster, in one", world{source: alike + selected + override("us", "", "{path: /spec/valuesFrom, operator: add, value: [{kind: Cluster, valuesKey: name, targetPath: cluster}]}") + web, charts: map[string]string{"web": x("on $cluster")}}, "ConfigMap a/x of web (eu on , us on us)\nHelmRelease a/web", "", 2},
		{"one that is overridden in a cluster", world{source: alike + selected + override("us", "", red) + web, charts: map[string]string{"web": x("is $color")}}, "ConfigMap a/x of web (eu is , us is red)\nHelmRelease a/web", "", 2},
		{"one whose override fails in a cluster", world{source: alike + selected + override("us", "", none) + web, charts: map[string]string{"web": x("1")}}, "ConfigMap a/x of web (eu 1)\nHelmRelease a/web", "override-failed", 1},
		{"one that fails in a cluster", world{source: alike + selected + helmRelease("web", "", ofClusters), charts: map[string]string{"web": x("1") + "# fails us"}}, "ConfigMap a/x of web (eu 1)\nHelmRelease a/web", "helm", 2},
		{"one that is suspended", world{source: alike + helmRelease("web", "", ", suspend: true"), charts: map[string]string{"web": x("1")}}, "", "release-suspended", 0},
		{"an object that the source has", world{source: alike + selected + web + "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n", charts: map[string]string{"web": x("1")}}, "ConfigMap a/x (<nil>)\nHelmRelease a/web", "duplicate-object", 1},
		{"an object that the source has, of one that no policy selects", world{source: alike + web + "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n", charts: map[string]string{"web": x("1")}}, "ConfigMap a/x (<nil>)", "duplicate-object", 1},
		{"an object that two render", world{source: alike + web + helmRelease("api", "", ""), charts: map[string]string{"web": x("1"), "api": x("2")}}, "ConfigMap a/x (1)", "duplicate-object", 2},
		{"an object that two render that policies select", world{source: alike + selected + web + helmRelease("api", "", ""), charts: map[string]string{"web": x("1"), "api": x("2")}}, "ConfigMap a/x of api (eu 2, us 2)\nHelmRelease a/api\nHelmRelease a/web", "duplicate-object", 2},
		{"what each cluster has of its own", world{source: alike + selected + web, charts: map[string]string{"web": "apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}\n---\n" + x("1")}}, "ConfigMap a/x of web (eu 1, us 1)\nHelmRelease a/web", "never-propagated", 1},
		{"a policy acts on what is rendered beside it", world{source: alike + web, charts: map[string]string{"web": selected + helmRelease("inner", "", ""), "inner": x("1")}}, "ConfigMap a/x of inner (eu 1, us 1)\nHelmRelease a/inner", "", 2},
		{"a policy does not act for a cluster", world{source: alike + selected + web, charts: map[string]string{"web": strings.Replace(selected, "name: p,", "name: q,", 1) + x("1")}}, "ConfigMap a/x of web (eu 1, us 1)\nHelmRelease a/web", "nested-policy", 1},
		{"what is to be kept", world{source: alike + selected + web, charts: map[string]string{"web": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, annotations: {helm.sh/resource-policy: keep}}\ndata: {v: \"1\"}\n"}}, "ConfigMap a/x of web (eu 1 kept, us 1 kept)\nHelmRelease a/web", "", 1},
		{"a hook is left out", world{source: alike + web, charts: map[string]string{"web": x("1") + "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n"}}, "ConfigMap a/x (1)", "hooks-dropped", 1},
		{"a hook that Argo CD runs", world{source: alike + web, config: render.ConfigSpec{Publish: render.Publish{Hooks: render.HooksArgoCD}}, charts: map[string]string{"web": x("1") + "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n"}}, "ConfigMap a/hook (<nil>)\nConfigMap a/x (1)", "hooks-translated", 1},

		{"one in the folder of a cluster", world{source: others, bound: map[string]string{"us": web, "eu": ""}, charts: map[string]string{"web": x("$version")}}, "us: ConfigMap a/x (v1.31.0)", "", 1},
		{"one in the folders of two clusters", world{source: others, bound: map[string]string{"us": web, "eu": web}, charts: map[string]string{"web": x("$version")}}, "eu: ConfigMap a/x (v1.30.0)\nus: ConfigMap a/x (v1.31.0)", "", 2},
		{"one within another", world{source: alike + selected + web, charts: map[string]string{"web": helmRelease("inner", "", ofClusters) + x("1"), "inner": strings.Replace(x("$cluster"), "name: x", "name: y", 1)}}, "ConfigMap a/x of web (eu 1, us 1)\nConfigMap a/y of web (eu eu, us us)\nHelmRelease a/web", "", 3},
		{"one within another that is overridden by name", world{source: alike + selected + override("us", ", name: inner", red) + web, charts: map[string]string{"web": helmRelease("inner", "", ""), "inner": x("is $color")}}, "ConfigMap a/x of web (eu is , us is red)\nHelmRelease a/web", "", 3},
		{"one within another that is overridden with all", world{source: alike + selected + override("us", "", red) + web, charts: map[string]string{"web": helmRelease("inner", "", ""), "inner": x("is $color")}}, "ConfigMap a/x of web (eu is , us is red)\nHelmRelease a/web", "", 4},
		{
			"one within another, and an override of all of its namespace, which is not the other one's",
			world{
				source: alike + selected + strings.NewReplacer("resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}], ", "", "namespace: a", "namespace: b").Replace(override("us", "", red)) + web,
				charts: map[string]string{"web": strings.Replace(helmRelease("inner", "", ""), "namespace: a", "namespace: b", 1), "inner": x("is $color")},
			},
			"HelmRelease a/web\nConfigMap b/x of web (eu is , us is red)", "", 3,
		},
		{
			"one within another, and an override is for the file that renders it",
			world{
				source: alike + selected + web +
					strings.Replace(override("us", ", name: inner", red), "o-us", "o-us, annotations: {waybill.dev/paths: all.yaml}", 1),
				charts: map[string]string{"web": helmRelease("inner", "", ""), "inner": x("is $color")},
			},
			"ConfigMap a/x of web (eu is , us is )\nHelmRelease a/web", "not-karmadas", 2,
		},
		{"one within another whose override fails in a cluster", world{source: alike + selected + override("us", ", name: inner", none) + web, charts: map[string]string{"web": helmRelease("inner", "", ""), "inner": x("1")}}, "ConfigMap a/x of web (eu 1)\nHelmRelease a/web", "override-failed", 2},
		{"one within itself", world{source: alike + web, charts: map[string]string{"web": web}}, "", "nested-release", 1},

		{"values that another one renders", world{source: alike + helmRelease("a", "", ", valuesFrom: [{kind: ConfigMap, name: values}]") + web, charts: map[string]string{"web": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: values}\ndata: {values.yaml: \"color: red\"}\n", "a": x("is $color")}}, "ConfigMap a/values (<nil>)\nConfigMap a/x (is red)", "", 2},
		{"values that nothing has", world{source: alike + helmRelease("a", "", ", valuesFrom: [{kind: ConfigMap, name: values}]") + web, charts: map[string]string{"web": x("1")}}, "ConfigMap a/x (1)", "bad-release", 1},

		{"a source that only releases use", world{source: alike + selected + "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: x, namespace: a}\nspec: {url: https://example.com}\n---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: x, namespace: a}\nspec: {url: https://example.com}\n---\n" + web, charts: map[string]string{"web": x("1")}, config: render.ConfigSpec{Flux: render.Flux{Self: []string{"GitRepository/a/x"}}}}, "ConfigMap a/x of web (eu 1, us 1)\nHelmRelease a/web\nGitRepository a/x used up\nHelmRepository a/x", "", 1},
		{
			"a source that releases use, and an alert in the folder of a cluster",
			world{
				source: alike + selected + "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: x, namespace: a}\nspec: {url: https://example.com}\n---\n" + web,
				bound:  map[string]string{"us": "apiVersion: notification.toolkit.fluxcd.io/v1beta3\nkind: Alert\nmetadata: {name: told, namespace: a}\nspec: {providerRef: {name: chat}, eventSources: [{kind: GitRepository, name: x}]}\n", "eu": ""},
				charts: map[string]string{"web": x("1")}, config: render.ConfigSpec{Flux: render.Flux{Self: []string{"GitRepository/a/x"}}},
			},
			"ConfigMap a/x of web (eu 1, us 1)\nHelmRelease a/web\nGitRepository a/x\nus: Alert a/told (<nil>)", "", 1,
		},
		{"a source that a release renders for itself", world{source: alike + selected + web, charts: map[string]string{"web": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: x, namespace: a}\nspec: {url: https://example.com}\n---\n" + x("1")}}, "ConfigMap a/x of web (eu 1, us 1)\nHelmRelease a/web", "", 1},

		{"what clusters import, which something else makes", world{source: alike + "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceImport\nmetadata: {name: x, namespace: a}\nspec: {type: ClusterSetIP, ports: [{port: 80}]}\n---\n" + x("1"), config: render.ConfigSpec{Services: exchange.Services{Endpoints: exchange.External}}}, "ConfigMap /x (1)", "kind-not-acting", 0},
		{"what clusters import", world{source: alike + "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceImport\nmetadata: {name: x, namespace: a}\nspec: {type: ClusterSetIP, ports: [{port: 80}]}\n---\n"}, "Service a/derived-x\nServiceImport a/x", "", 0},
		{"what says which images are taken", world{source: alike + "apiVersion: image.toolkit.fluxcd.io/v1beta2\nkind: ImageRepository\nmetadata: {name: x, namespace: a}\nspec: {image: example.com/x, interval: 5m}\n---\n"}, "", "", 0},
		{"what says which images are taken, for somebody else", world{source: alike + "apiVersion: image.toolkit.fluxcd.io/v1beta2\nkind: ImageRepository\nmetadata: {name: x, namespace: a}\nspec: {image: example.com/x, interval: 5m}\n---\n", config: render.ConfigSpec{Updates: subscribe.Updates{Mode: subscribe.ModeOff}}}, "ImageRepository a/x", "", 0},
		{"folders of the source", world{config: render.ConfigSpec{Flux: render.Flux{Self: []string{"GitRepository/a/x"}}}, source: alike + "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: web, namespace: a}\nspec: {interval: 5m, prune: true, path: ./web, sourceRef: {kind: GitRepository, name: x}}\n---\n", charts: map[string]string{"web": strings.Replace(x("1"), "name: x", "name: x, namespace: a", 1)}}, "ConfigMap a/x (1)", "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.world.expand(t)
			if got := told(r); got != tt.want {
				t.Errorf("it expands to\n%s\nwant\n%s", got, tt.want)
			}
			if got := said(r.Diags); got != tt.says || len(tt.world.jobs) != tt.jobs {
				t.Errorf("it says %q after %d jobs (%v); want %q after %d\n%v", got, len(tt.world.jobs), tt.world.jobs, tt.says, tt.jobs, r.Diags)
			}
		})
	}
}

// What is said of releases names the release, and clusters that stand for all that are alike, or all in whose folders it stands.
func TestWhatIsSaidOfReleases(t *testing.T) {
	fleet := cluster("eu", "v1.30.0", "") + cluster("us", "v1.30.0", "")
	const name = "HelmRelease.helm.toolkit.fluxcd.io/a/web"
	ref := object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "a", Name: "web"}
	for _, tt := range []struct {
		name  string
		world world
		want  string
		why   bool // it is why the release fails
	}{
		{"one that no policy selects", world{source: fleet + helmRelease("web", "", "")}, "all.yaml " + name + ": no such chart", true},
		{"one that a policy selects", world{source: fleet + selected + helmRelease("web", "", "")}, "all.yaml " + name + " for clusters like eu: no such chart", true},
		{"one that is another one in each cluster", world{source: fleet + selected + helmRelease("web", "", ofClusters)}, "all.yaml " + name + " for clusters like eu: no such chart, all.yaml " + name + " for clusters like us: no such chart", true},
		{"one in the folders of two clusters", world{source: fleet, bound: map[string]string{"eu": helmRelease("web", "", ""), "us": helmRelease("web", "", "")}}, "clusters/eu/all.yaml " + name + " for eu, us: no such chart", true},
		{"one whose override fails", world{source: fleet + selected + override("us", "", none) + helmRelease("web", "", ""), charts: map[string]string{"web": ""}}, "all.yaml OverridePolicy a/o-us rule 0 cannot be applied to " + name + ": applying plaintext[0]: /spec/no/such/field: replace operation does not apply: doc is missing path: /spec/no/such/field: missing value (clusters like us)", true},
		{"one within it whose override fails", world{source: fleet + selected + override("us", ", name: inner", none) + helmRelease("web", "", ""), charts: map[string]string{"web": helmRelease("inner", "", ""), "inner": ""}}, "all.yaml OverridePolicy a/o-us rule 0 cannot be applied to HelmRelease.helm.toolkit.fluxcd.io/a/inner: applying plaintext[0]: /spec/no/such/field: replace operation does not apply: doc is missing path: /spec/no/such/field: missing value (clusters like us)", false},
		{"a policy that it renders is wrong", world{source: fleet + helmRelease("web", "", ""), charts: map[string]string{"web": strings.Replace(selected, "placement: {}", "placement: {x: 1}", 1)}}, "all.yaml PropagationPolicy a/p: spec.placement.x: is not a field here", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.world.expand(t)
			got := make([]string, 0, len(r.Diags))
			for _, d := range r.Diags {
				got = append(got, d.Pos.File+" "+d.Message)
			}
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("it says %s\nwant %s", got, tt.want)
			}
			if why := r.About.Why(ref); (why != "") != tt.why {
				t.Errorf("it fails because %q", why)
			}
		})
	}
}

// What a release that fails, or failed somewhere, rendered before and renders elsewhere is not known to be gone there.
func TestWhatFailingReleasesHide(t *testing.T) {
	fleet := cluster("eu", "v1.30.0", "") + cluster("us", "v1.30.0", "")
	ref := func(name string) object.Ref {
		return object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "a", Name: name}
	}
	configs := func(names ...string) (all []object.Ref) {
		for _, name := range names {
			all = append(all, object.Ref{Kind: "ConfigMap", Namespace: "a", Name: name})
		}
		return all
	}
	x, web := fmt.Sprintf(said1, "1"), helmRelease("web", "", "")
	for _, tt := range []struct {
		name  string
		world world
		want  string
	}{
		{"it renders", world{source: fleet + selected + web, charts: map[string]string{"web": x}, before: []state.Release{{Release: ref("web"), Objects: configs("y")}}}, ""},
		{"it fails everywhere", world{source: fleet + web, before: []state.Release{{Release: ref("web"), Objects: configs("y")}}}, "web in eu us [y]"},
		{"it fails in each of its clusters", world{source: fleet + selected + web, before: []state.Release{{Release: ref("web"), Objects: configs("y")}}}, "web in eu us to eu gone us [y]"},
		{"it fails in one of its clusters", world{source: fleet + selected + helmRelease("web", "", ofClusters), charts: map[string]string{"web": x + "# fails us"}, before: []state.Release{{Release: ref("web"), Objects: configs("x", "y")}}}, "web in us to eu gone us [x y]"},
		{"it is suspended", world{source: fleet + helmRelease("web", "", ", suspend: true"), before: []state.Release{{Release: ref("web"), Objects: configs("y")}}}, "web in eu us [y]"},
		{"it fails in the folder of a cluster", world{source: fleet, bound: map[string]string{"us": web}, before: []state.Release{{Release: ref("web"), Cluster: "us", Objects: configs("y")}}}, "us/web in us to us [y]"},
		{"its override fails", world{source: fleet + selected + override("us", "", none) + web, charts: map[string]string{"web": x}, before: []state.Release{{Release: ref("web"), Objects: configs("x")}}}, "web in us to eu gone us [x]"},
		{"one within it fails", world{source: fleet + selected + web, charts: map[string]string{"web": helmRelease("inner", "", "")}, before: []state.Release{{Release: ref("inner"), Objects: configs("y")}}}, "inner in eu us to eu gone us [y]"},
		{"the override of one within it fails", world{source: fleet + selected + override("us", ", name: inner", none) + web, charts: map[string]string{"web": helmRelease("inner", "", ""), "inner": x}, before: []state.Release{{Release: ref("inner"), Objects: configs("y")}}}, "inner in us to eu gone us [x y]"},
		{"it was in the folder of a cluster before", world{source: fleet + web, before: []state.Release{{Release: ref("web"), Cluster: "us", Objects: configs("y")}}}, "web in eu us [], us/web in us [y]"},
		{"it was outside of the folder before", world{source: fleet, bound: map[string]string{"us": web}, before: []state.Release{{Release: ref("web"), Objects: configs("y")}}}, "web in eu us [y], us/web in us to us []"},
		{"it is in another folder as well, and there it renders", world{source: fleet, bound: map[string]string{"us": helmRelease("web", "", ofClusters), "eu": helmRelease("web", "", ofClusters)}, charts: map[string]string{"web": x + "# fails us"}, before: []state.Release{{Release: ref("web"), Cluster: "eu", Objects: configs("y")}}}, "us/web in us to us []"},
		{"nothing is known of it", world{source: fleet + web}, "web in eu us [] unknown"},
		{"it is made from the same files", world{source: fleet + web, before: []state.Release{{Release: ref("web"), Inputs: "files of web", Objects: configs("y")}}}, "web in eu us [y]"},
		{"it is made from other files", world{source: fleet + web, before: []state.Release{{Release: ref("web"), Inputs: "other files", Objects: configs("y")}}}, "web in eu us [y] unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.world.expand(t)
			var all []string
			hidden := map[object.Ref]bool{}
			for i := range r.Failures {
				f := &r.Failures[i]
				line := f.ID.Release.Name + " in"
				if f.ID.Cluster != "" {
					line = f.ID.Cluster + "/" + line
				}
				in := slices.DeleteFunc([]string{"eu", "us"}, func(c string) bool { return !f.In(c) })
				line += " " + strings.Join(in, " ")
				if len(f.Targets) > 0 {
					line += " to " + strings.Join(slices.Sorted(maps.Keys(f.Targets)), " ")
				}
				names := make([]string, 0, len(f.Objects))
				for _, o := range f.Objects {
					names = append(names, o.Name)
					if f.ID.Cluster == "" {
						hidden[o] = true
					}
				}
				all = append(all, fmt.Sprintf("%s %v", line, names))
			}
			got := strings.Join(all, ", ")
			if r.ContentUnknown {
				got += " unknown"
			}
			if got != tt.want {
				t.Errorf("what fails is %q; want %q", got, tt.want)
			}
			if is := r.Unrendered(); fmt.Sprint(is) != fmt.Sprint(hidden) {
				t.Errorf("it is not known whether %v are there; want %v", is, hidden)
			}
		})
	}
}

// What the next plans have to know of releases: what they render to, from what, which no policy selects, which are within others, and
// which may be others each time.
func TestWhatIsRememberedOfReleases(t *testing.T) {
	fleet := cluster("eu", "v1.30.0", "") + cluster("us", "v1.30.0", "")
	x := fmt.Sprintf(said1, "1")
	y := strings.Replace(x, "name: x", "name: y", 1)
	const now = ", annotations: {waybill.dev/allow-functions: now}"
	for _, tt := range []struct {
		name  string
		world world
		want  string
	}{
		{"one that no policy selects", world{source: fleet + helmRelease("web", "", ""), charts: map[string]string{"web": x}}, "web: x from files of web, unclaimed web: x"},
		{"one that a policy selects", world{source: fleet + selected + helmRelease("web", "", ""), charts: map[string]string{"web": x}}, "web: x from files of web, recipe of web"},
		{"one that is another one in each cluster", world{source: fleet + selected + helmRelease("web", "", ofClusters), charts: map[string]string{"web": strings.Replace(x, "name: x", "name: $cluster", 1)}}, "web: eu us from files of web"},
		{"one in the folder of a cluster", world{source: fleet, bound: map[string]string{"us": helmRelease("web", now, "")}, charts: map[string]string{"web": x}}, "us/web: x from files of web, unclaimed web in us: x"},
		{"one within one that no policy selects", world{source: fleet + helmRelease("web", "", ""), charts: map[string]string{"web": helmRelease("inner", "", ""), "inner": x}}, "inner: x from files of inner, web: inner from files of web, unclaimed web: inner, unclaimed inner: x"},
		{"one within one that a policy selects", world{source: fleet + selected + helmRelease("web", "", ""), charts: map[string]string{"web": helmRelease("inner", "", "") + y, "inner": x}}, "inner: x from files of inner, web: y inner from files of web, recipe of web, inner within web"},
		{"two that may call a function of time", world{source: fleet + selected + helmRelease("web", now, "") + helmRelease("api", "", ""), charts: map[string]string{"web": x, "api": y}}, "api: y from files of api, web: x from files of web, recipe of api, recipe of web, web restless by now, x restless by now"},
		{"how a cluster syncs itself", world{source: fleet + "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: web, namespace: a}\nspec: {interval: 5m, prune: true, path: ./, sourceRef: {kind: GitRepository, name: x}}\n", config: render.ConfigSpec{Flux: render.Flux{Self: []string{"GitRepository/a/x"}}}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.world.expand(t)
			var all []string
			names := func(refs []object.Ref) string {
				var all []string
				for _, r := range refs {
					all = append(all, r.Name)
				}
				return strings.Join(all, " ")
			}
			for _, known := range r.Releases {
				id := known.Release.Name
				if known.Cluster != "" {
					id = known.Cluster + "/" + id
				}
				all = append(all, fmt.Sprintf("%s: %s from %s", id, names(known.Objects), known.Inputs))
			}
			for _, ref := range slices.SortedFunc(maps.Keys(r.Recipes), object.Ref.Compare) {
				all = append(all, "recipe of "+ref.Name)
			}
			for _, u := range r.Unclaimed {
				line := "unclaimed " + u.Release.Ref().Name
				if u.Cluster != "" {
					line += " in " + u.Cluster
				}
				var rendered []object.Ref
				for _, o := range u.Rendered {
					rendered = append(rendered, o.Ref())
				}
				all = append(all, line+": "+names(rendered))
			}
			for _, n := range r.Inners {
				all = append(all, n.Release.Ref().Name+" within "+n.Of.Name)
				inner, outer, ok := r.Within(func(r object.Ref) bool { return r.Name == n.Release.Ref().Name })
				if _, _, other := r.Within(func(r object.Ref) bool { return r.Name == "other" }); !ok || inner != n.Release.Ref() || outer != n.Of || other {
					t.Errorf("%v is within %v: %t", inner, outer, ok)
				}
			}
			for _, ref := range slices.SortedFunc(maps.Keys(r.Restless), func(a, b object.Ref) int { return -a.Compare(b) }) {
				all = append(all, ref.Name+" restless by "+r.Restless[ref].Function)
			}
			if got := strings.Join(all, ", "); got != tt.want {
				t.Errorf("it remembers %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A plan in which a release renders a policy that is wrong moves nothing.
func TestAWrongPolicyThatAReleaseRenders(t *testing.T) {
	fleet := cluster("eu", "v1.30.0", "")
	wrong := strings.Replace(selected, "placement: {}", "placement: {x: 1}", 1)
	for source, want := range map[string]bool{
		fleet + helmRelease("web", "", ""):            true,
		fleet + helmRelease("web", "", "") + selected: false, // what the source writes out counts
	} {
		w := world{source: source, charts: map[string]string{"web": wrong}}
		if r := w.expand(t); (r.HoldReason != "") != want {
			t.Errorf("it holds because %q", r.HoldReason)
		}
	}
}
