package expand_test

import (
	"errors"
	"fmt"
	"maps"
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
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/lock"
)

const clusters = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n---\n" +
	"apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us}\nspec: {syncMode: Pull}\n---\n"

const release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: %s, namespace: a}\nspec: {interval: 5m, chart: {spec: {chart: ./%[1]s, sourceRef: {kind: GitRepository, name: x}}}}\n---\n"

const selected = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: a}\nspec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}], placement: {}}\n---\n"

// expanding expands a source in one file, of which every release goes to both clusters. What
// charts render to is in charts; one that is not there fails.
func expanding(t *testing.T, source string, charts map[string]string, before ...state.Release) (r expand.Result, rounds int) {
	t.Helper()
	d := object.Decode("all.yaml", []byte(source))
	in := expand.Input{
		Source: render.Source{Objects: d.Objects}, Releases: before, Memo: &expand.Memo{},
		Place: func(l *index.Policies, release *template.Template) (*policies.Propagation, []karmada.TargetCluster) {
			return l.Claims.Policy(release.Subject), []karmada.TargetCluster{{Name: "eu"}, {Name: "us"}}
		},
		Override: func(_ *index.Policies, release *template.Template, _ string) (*object.Object, *diag.Diagnostic) {
			return release.Object, nil
		},
	}
	r, err := expand.Expand(in, func(jobs []engine.Job) ([]engine.Rendered, error) {
		rounds++
		out := make([]engine.Rendered, len(jobs))
		for i, j := range jobs {
			text, ok := charts[j.Helm.Chart.Path]
			if text == "lacked" {
				out[i].Lacks, text = []lock.Ref{{Name: j.Helm.Chart.Path}}, ""
			}
			if !ok {
				out[i].Diags = []diag.Diagnostic{{Code: diag.Helm, Severity: diag.Error, Message: "no such chart"}}
			}
			for _, o := range object.Decode("chart", []byte(text)).Objects {
				out[i].Manifests = append(out[i].Manifests, engine.Manifest{Object: o})
			}
		}
		return out, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, rounds
}

func names(r *expand.Result) string {
	var all []string
	for _, tm := range r.Templates {
		line := tm.Ref().Kind + "/" + tm.Ref().Name
		if tm.Part != nil {
			n := 0
			for i := range r.Policies.Fleet.Clusters() {
				if tm.In(i) != nil {
					n++
				}
			}
			line += fmt.Sprintf(" of %s in %d", tm.Part.Release.Ref().Name, n)
		}
		all = append(all, line)
	}
	return strings.Join(all, ", ")
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n---\n"

func TestExpand(t *testing.T) {
	inner := map[string]string{"outer": fmt.Sprintf(release, "inner"), "inner": fmt.Sprintf(configMap, "x")}
	for _, tt := range []struct {
		name, source string
		charts       map[string]string
		want         string
		rounds       int
	}{
		{"no release", fmt.Sprintf(configMap, "x"), nil, "ConfigMap/x", 0},
		{"one that nobody selects", fmt.Sprintf(release, "web"), map[string]string{"web": fmt.Sprintf(configMap, "x")}, "ConfigMap/x", 1},
		{"one that a policy selects", selected + fmt.Sprintf(release, "web"), map[string]string{"web": fmt.Sprintf(configMap, "x")}, "ConfigMap/x of web in 2, HelmRelease/web", 1},
		{"one within another", fmt.Sprintf(release, "outer"), inner, "ConfigMap/x", 2},
		{"what is written out counts", fmt.Sprintf(release, "web") + "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n", map[string]string{"web": fmt.Sprintf(configMap, "x")}, "ConfigMap/x", 1},
		{"one that fails", fmt.Sprintf(release, "web"), nil, "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, rounds := expanding(t, clusters+tt.source, tt.charts)
			if got := names(&r); got != tt.want || rounds != tt.rounds {
				t.Errorf("it expands to %q in %d rounds, want %q in %d", got, rounds, tt.want, tt.rounds)
			}
		})
	}
}

// What the plan before had rendered is asked for at once, so that a release within another
// takes one round more only where it is new; what is gone is forgotten.
func TestWhatThePlanBeforeNeededIsAskedForFirst(t *testing.T) {
	source := object.Decode("all.yaml", []byte(clusters+fmt.Sprintf(release, "outer"))).Objects
	inner := object.Decode("chart", []byte(fmt.Sprintf(release, "inner"))).Objects
	in := expand.Input{Source: render.Source{Objects: source}, Memo: &expand.Memo{}}
	var asked [][]string
	plan := func() {
		t.Helper()
		in.Memo.Turn()
		asked = nil
		if _, err := expand.Expand(in, func(jobs []engine.Job) ([]engine.Rendered, error) {
			var paths []string
			out := make([]engine.Rendered, len(jobs))
			for i, j := range jobs {
				paths = append(paths, j.Helm.Chart.Path)
				if j.Helm.Chart.Path == "outer" {
					out[i].Manifests = []engine.Manifest{{Object: inner[0]}}
				}
			}
			slices.Sort(paths)
			asked = append(asked, paths)
			return out, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name   string
		source []*object.Object
		want   string
	}{
		{"first", source, "[[outer] [inner]]"},
		{"again", source, "[[inner outer]]"},
		{"gone", source[:2], "[[inner outer]]"},
		{"forgotten", source[:2], "[]"},
	} {
		in.Source.Objects = step.source
		if plan(); fmt.Sprint(asked) != step.want {
			t.Errorf("%s: it asks for %v, want %s", step.name, asked, step.want)
		}
	}
}

func TestAReleaseThatFailsIsRemembered(t *testing.T) {
	ref := object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "a", Name: "web"}
	x := object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "x"}
	r, _ := expanding(t, clusters+selected+fmt.Sprintf(release, "web"), nil, state.Release{Release: ref, Objects: []object.Ref{x}})
	if len(r.Failures) != 1 || !slices.Equal(r.Failures[0].Objects, []object.Ref{x}) || !r.Failures[0].In("eu") || !r.Failures[0].Targets["us"] || r.ContentUnknown {
		t.Errorf("failures are %+v, unknown: %t", r.Failures, r.ContentUnknown)
	}
	// Of one that was never rendered nothing is known: what is missing may be in it.
	if r, _ := expanding(t, clusters+selected+fmt.Sprintf(release, "web"), nil); len(r.Failures) != 1 || !r.ContentUnknown {
		t.Errorf("failures are %+v, unknown: %t", r.Failures, r.ContentUnknown)
	}
	// With one that rendered another the other one fails, of which nothing else is heard.
	inner := object.Ref{Group: ref.Group, Kind: ref.Kind, Namespace: "a", Name: "inner"}
	r, _ = expanding(t, clusters+selected+fmt.Sprintf(release, "web"), nil, state.Release{Release: ref, Objects: []object.Ref{inner}}, state.Release{Release: inner, Objects: []object.Ref{x}})
	if len(r.Failures) != 2 || r.Failures[0].ID.Release != inner || !slices.Equal(r.Failures[0].Objects, []object.Ref{x}) || !r.Failures[0].In("eu") || !r.Failures[0].Targets["us"] {
		t.Errorf("failures are %+v", r.Failures)
	}
	// One that rendered a policy leaves it open where everything goes.
	policy := object.Ref{Group: "policy.karmada.io", Kind: "PropagationPolicy", Namespace: "a", Name: "q"}
	if r, _ := expanding(t, clusters+fmt.Sprintf(release, "web"), nil, state.Release{Release: ref, Objects: []object.Ref{policy}}); r.HoldReason == "" {
		t.Error("a policy that cannot be had is not missed")
	}
}

func TestAnErrorOfOursIsReturned(t *testing.T) {
	ours := errors.New("no worker")
	d := object.Decode("all.yaml", []byte(fmt.Sprintf(release, "web")))
	in := expand.Input{Source: render.Source{Objects: d.Objects}, Memo: &expand.Memo{}}
	if _, err := expand.Expand(in, func([]engine.Job) ([]engine.Rendered, error) { return nil, ours }); !errors.Is(err, ours) {
		t.Errorf("it returns %v", err)
	}
}

func TestChartsThatAreLackedAreListed(t *testing.T) {
	r, _ := expanding(t, clusters+selected+fmt.Sprintf(release, "web")+fmt.Sprintf(release, "db"), map[string]string{"web": "lacked", "db": fmt.Sprintf(configMap, "x")})
	if len(r.Lacks) != 1 || r.Lacks[0].Chart.Name != "web" || r.Lacks[0].Pos.File != "all.yaml" || !strings.HasPrefix(r.Lacks[0].By, "HelmRelease.helm.toolkit.fluxcd.io/a/web") {
		t.Errorf("what is lacked is %+v", r.Lacks)
	}
}

// TestAReleaseOfAClustersFolderThatFailsIsRemembered: with what it rendered in that cluster, and with the releases among that, of that cluster
// and no other.
func TestAReleaseOfAClustersFolderThatFailsIsRemembered(t *testing.T) {
	web := object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "a", Name: "web"}
	inner := object.Ref{Group: web.Group, Kind: web.Kind, Namespace: "a", Name: "inner"}
	x, y := object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "x"}, object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "y"}
	own := object.Decode("clusters/eu/web.yaml", []byte(fmt.Sprintf(release, "web"))).Objects
	r, err := expand.Expand(expand.Input{
		Source: render.Source{Objects: object.Decode("all.yaml", []byte(clusters)).Objects, Bound: map[string][]*object.Object{"eu": own}}, Memo: &expand.Memo{},
		Releases: []state.Release{
			{Cluster: "eu", Release: web, Objects: []object.Ref{inner}},
			{Cluster: "eu", Release: inner, Objects: []object.Ref{x}},
			{Cluster: "us", Release: inner, Objects: []object.Ref{y}},
		},
	}, func(jobs []engine.Job) ([]engine.Rendered, error) {
		out := make([]engine.Rendered, len(jobs))
		for i := range out {
			out[i].Diags = []diag.Diagnostic{{Code: diag.Helm, Severity: diag.Error, Message: "no such chart"}}
		}
		return out, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[state.ReleaseID][]object.Ref{}
	for i := range r.Failures {
		f := &r.Failures[i]
		got[f.ID] = f.Objects
		if !f.In("eu") || f.In("us") {
			t.Errorf("%v fails in eu: %t, in us: %t", f.ID, f.In("eu"), f.In("us"))
		}
	}
	want := map[state.ReleaseID][]object.Ref{{Cluster: "eu", Release: web}: {inner}, {Cluster: "eu", Release: inner}: {x}}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("what fails rendered %v, want %v", got, want)
	}
}

// What a release makes of a Secret may be anywhere in what it renders to: one that reads one says so, whichever others do not.
func TestReleasesThatReadSecrets(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: a}\nstringData: {k: hunter2-hunter2}\n---\n"
	plain := func(name string) string { return fmt.Sprintf(release, name) }
	reads := func(name, kind string) string {
		return strings.Replace(plain(name), "spec: {", "spec: {valuesFrom: [{kind: "+kind+", name: s, valuesKey: k, targetPath: v}], ", 1)
	}
	charts := map[string]string{"a": fmt.Sprintf(configMap, "a"), "b": fmt.Sprintf(configMap, "b"), "c": fmt.Sprintf(configMap, "c")}
	for name, tt := range map[string]struct {
		source string
		want   bool
	}{
		"none":                  {plain("a") + plain("b"), false},
		"the one in the middle": {plain("a") + reads("b", "Secret") + plain("c"), true},
		"of a ConfigMap":        {reads("a", "ConfigMap") + "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s, namespace: a}\ndata: {k: v}\n---\n", false},
		"one that is selected":  {selected + reads("a", "Secret"), true},
	} {
		if r, _ := expanding(t, clusters+secret+tt.source, charts); r.Sensitive != tt.want || len(r.Failures) > 0 {
			t.Errorf("%s: it is sensitive: %t, and fails: %v", name, r.Sensitive, r.Failures)
		}
	}
}
