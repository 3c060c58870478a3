package plan_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/test/twin"
)

// helmRelease is one of the namespace shop, whose chart is in the source.
func helmRelease(name string) string {
	return "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + name + ", namespace: shop}\n" +
		"spec: {chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}}}}\n"
}

// chart is that of releases.
const chart = "apiVersion: v2\nname: c\nversion: 1.0.0\n"

// forReleases is the policy for releases instead of ConfigMaps.
var forReleases = strings.Replace(policy, "v1, kind: ConfigMap", "helm.toolkit.fluxcd.io/v2, kind: HelmRelease", 1)

// ofHelm is what a release is called.
func ofHelm(name string) object.Ref {
	return object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: name}
}

// private renders every release to a ConfigMap of its name, in which is a secret that is called as the release, and as its values say.
func private(jobs []engine.Job) ([]engine.Rendered, error) {
	all := make([]engine.Rendered, len(jobs))
	for i, job := range jobs {
		name := strings.TrimPrefix(job.Name(), "release shop/")
		secret := "secret of " + name
		if of := job.Helm.Release.Values["of"]; of != nil {
			secret = fmt.Sprint(of)
		}
		o := object.Decode(name, []byte(configMap(name)+"# "+secret)).Objects[0].RenderedWith([]string{secret})
		all[i] = engine.Rendered{Inputs: name, Manifests: []engine.Manifest{{Object: o}}}
	}
	return all, nil
}

// A plan says which objects releases render, or rendered last, which values of Secrets are in them, and what is bound to clusters.
func TestWhatAPlanSaysOfReleases(t *testing.T) {
	src, err := render.Load(t.Context(), twin.Texts{
		"clusters.yaml": clusters, "policy.yaml": forReleases, "plain.yaml": configMap("plain"),
		"web.yaml": helmRelease("web"), "chart/Chart.yaml": chart,
		"clusters/eu/own.yaml": helmRelease("own") + "---\n" + configMap("bound"),
		"override.yaml": "apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o, namespace: shop}\n" +
			"spec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: web}],\n" +
			" overrideRules: [{targetCluster: {clusterNames: [us]},\n" +
			"  overriders: {plaintext: [{path: /spec/values, operator: add, value: {of: us}}]}}]}\n",
	}, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	was := state.Release{Release: ofHelm("web"), Objects: []object.Ref{ref("was")}}
	in := plan.Input{Source: src, Medium: plan.Branch, Published: map[string]tree.Published{}}
	in.State.Releases = []state.Release{was}
	if err := plan.Expand(&in, private); err != nil {
		t.Fatal(err)
	}
	p := plan.Build(in)
	for name, want := range map[string]bool{"web": true, "own": true, "was": true, "plain": false, "bound": false, "gone": false} {
		if p.OfRelease(ref(name)) != want {
			t.Errorf("%s is rendered by a release: %t", name, !want)
		}
	}
	if (&plan.Plan{}).OfRelease(ref("web")) {
		t.Error("by a plan that nobody made a release renders something")
	}
	want := map[object.Ref][]string{ref("web"): {"secret of web", "us"}, ref("own"): {"secret of own"}}
	if is := p.Private(); !maps.EqualFunc(is, want, func(a, b []string) bool { return slices.Equal(slices.Compact(a), b) }) {
		t.Errorf("values of Secrets are %v", is)
	}
	bound := map[object.Ref]object.Ref{}
	for _, b := range p.Bound("eu") {
		if bound[b.Object.Ref()] = b.Of; b.Cluster != "eu" {
			t.Errorf("%s is bound to %q", b.Object.Ref(), b.Cluster)
		}
	}
	if want := map[object.Ref]object.Ref{ofHelm("own"): {}, ref("own"): ofHelm("own"), ref("bound"): {}}; !maps.Equal(bound, want) {
		t.Errorf("bound are %v, want %v", bound, want)
	}
	if is := p.Bound("us"); len(is) > 0 {
		t.Errorf("bound to us are %v", is)
	}
}

// Something is told for an object and a cluster where that is left as it is, and what templates call an object of a virtual cluster has
// the name that it has there, without the suffix.
func TestWhatAPlanSaysOfACluster(t *testing.T) {
	const virtual = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nspec: {syncMode: Pull}\n" +
		"metadata: {name: v, annotations: {waybill.dev/virtual-of: eu}}\n"
	files := twin.Texts{"virtual.yaml": virtual, "policy.yaml": policy, "x.yaml": configMap("x")}
	before := planned(t, files, func(*plan.Input) {})
	p := planned(t, twin.Texts{"virtual.yaml": virtual, "policy.yaml": policy, "y.yaml": configMap("y")}, func(in *plan.Input) {
		in.Published = published(&before)
		delete(in.Published, "us")
		in.Unlisted = []state.Unlisted{{Object: ref("x"), File: "x.yaml"}}
	})
	kept := rollout.Left{Kept: true, Reason: reason.Unlisted}
	for _, tt := range []struct {
		object, cluster string
		want            rollout.Left
	}{{"x", "eu", kept}, {"x", "v", kept}, {"x", "us", rollout.Left{}}, {"x", "gone", rollout.Left{}}, {"y", "eu", rollout.Left{}}} {
		if is := p.LeftAt(ref(tt.object), tt.cluster); is != tt.want {
			t.Errorf("%s in %s is left as %+v", tt.object, tt.cluster, is)
		}
	}
	there := object.Ref{Kind: "ConfigMap", Namespace: "shop-v", Name: "y"}
	if is := p.Template("v", there); is != ref("y") {
		t.Errorf("%s of v is called %s", there, is)
	}
	if is := p.Template("eu", there); is != there {
		t.Errorf("%s of eu is called %s", there, is)
	}
	if is := p.Stats; is.Templates != 1 || is.Placed != 7 || is.Distinct != 4 {
		t.Errorf("it counts %+v", is)
	}
}

// What makes a plan another one is said of it: the random key where a release drew, or may be recorded, and no key that is thrown away.
func TestWhichKeyAPlanDependsOn(t *testing.T) {
	key, err := draw.NewKey([]byte("0123456789abcdef0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	throwaway, err := draw.Throwaway(bytes.NewReader([]byte("0123456789abcdef0123456789abcdef")))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		key   draw.Key
		drew  bool
		wants string
	}{
		{"nothing is drawn", key, false, ""},
		{"a release drew", key, true, key.Fingerprint()},
		{"a release drew from what is thrown away", throwaway, true, ""},
	} {
		p := planned(t, twin.Texts{"policy.yaml": policy, "a.yaml": configMap("a")}, func(in *plan.Input) {
			in.Random.Key = tt.key
			if err := plan.Expand(in, engine.Unrendered); err != nil {
				t.Fatal(err)
			}
			in.Expanded.Drew = tt.drew
		})
		if is := p.Basis.RandomKey; is != tt.wants {
			t.Errorf("%s: it depends on %q, want %q", tt.name, is, tt.wants)
		}
	}
	random := plan.Random{Key: key, Source: "fleet", Rotate: true}
	if twin := random.Twin(); twin.Key == key || !twin.Key.IsThrowaway() || !twin.Disguised || twin.Source != "fleet" || !twin.Rotate {
		t.Errorf("beside it is planned with %+v", twin)
	}
}

// Whether anything may go out in stages is asked before older versions of a source are read.
func TestWhatMayGoOutInStages(t *testing.T) {
	strategy := strings.TrimPrefix(careful("", "eu", "us"), "---\n")
	conf := func(rollout string) twin.Texts {
		return twin.Texts{"waybill.yaml": config("rollout: {" + rollout + "}"), "c.yaml": configMap("c")}
	}
	window := func(strategy string) twin.Texts {
		return conf("windows: [{kind: allow, schedule: '0 8 * * *', duration: 1h, strategies: [" + strategy + "], stages: [all]}]")
	}
	record := rollouts.Unit{Name: "p"}
	for _, tt := range []struct {
		name  string
		files twin.Texts
		state state.State
		want  bool
	}{
		{"nothing does", conf(""), state.State{}, false},
		{"something did", conf(""), state.State{Rollouts: []rollouts.Rollout{{Unit: record}}}, true},
		{"what did cannot be read", conf(""), state.State{UnreadableRollouts: map[rollouts.Unit]error{record: errors.New("no JSON")}}, true},
		{"by default", conf("default: careful"), state.State{}, true},
		{"by a rule", conf("rules: [{policies: {matchLabels: {a: b}}, strategy: careful}]"), state.State{}, true},
		{"by windows of what has no strategy", window("none"), state.State{}, true},
		{"by no window of that", window("careful"), state.State{}, false},
		{"a strategy", twin.Texts{"s.yaml": strategy}, state.State{}, true},
		{"a policy names one", twin.Texts{"p.yaml": inStages(policy)}, state.State{}, true},
		{"a policy names none", twin.Texts{"p.yaml": policy}, state.State{}, false},
		{"something else names one", twin.Texts{"c.yaml": inStages(configMap("c"))}, state.State{}, false},
	} {
		src, err := render.Load(t.Context(), tt.files, render.With{})
		if err != nil {
			t.Fatal(err)
		}
		if is := plan.Stages(&tt.state, &src); is != tt.want {
			t.Errorf("%s: %t", tt.name, is)
		}
	}
}

// Older commits are asked for in the order of how much depends on them: those of runs, and then those that most clusters show; the
// commit of the source is none of them, and there are at most eight.
func TestWhichOlderCommitsMatter(t *testing.T) {
	shows := func(commits string) map[string]rollouts.Cluster {
		all := map[string]rollouts.Cluster{}
		for i, c := range strings.Fields(commits) {
			all[fmt.Sprint("cluster-", i)] = rollouts.Cluster{Shows: c}
		}
		return all
	}
	run := func(phase rollouts.Phase, base, target, commits string) rollouts.Rollout {
		is := rollouts.Rollout{Clusters: shows(commits)}
		is.Status.Phase, is.Status.Base.Commit, is.Status.Target.Commit = phase, base, target
		return is
	}
	for _, tt := range []struct {
		name string
		list []rollouts.Rollout
		want string
	}{
		{"nothing goes out", nil, ""},
		{"a run goes on", []rollouts.Rollout{run(rollouts.Updating, "base", "target", "")}, "base target"},
		{"it is the first", []rollouts.Rollout{run(rollouts.Updating, "", "now", "")}, ""},
		{"it is done", []rollouts.Rollout{run(rollouts.Done, "base", "target", "")}, ""},
		{"it is done, and clusters show it", []rollouts.Rollout{run(rollouts.Done, "base", "target", "target")}, "base target"},
		{"by clusters", []rollouts.Rollout{
			run(rollouts.Updating, "base", "now", "z b z now"), run(rollouts.Updating, "base", "now", "a b z"),
		}, "base z b a"},
		{"more than eight", []rollouts.Rollout{run(rollouts.Updating, "base", "target", "a b c d e f g h")}, "base target a b c d e f"},
	} {
		in := plan.Input{State: state.State{Rollouts: tt.list}}
		in.Source.Revision.Commit = "now"
		if is := plan.OlderCommits(&in); !slices.Equal(is, strings.Fields(tt.want)) {
			t.Errorf("%s: it asks for %q, want %q", tt.name, is, tt.want)
		}
	}
}

// An older version is read without what is remembered, and one that cannot be read is known; that rendering fails is the error of both.
func TestOlderVersions(t *testing.T) {
	src, err := render.Load(t.Context(), twin.Texts{
		"clusters.yaml": clusters, "web.yaml": helmRelease("web"), "chart/Chart.yaml": chart, "p.yaml": forReleases,
	}, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	away := errors.New("the worker is gone")
	gone := func([]engine.Job) ([]engine.Rendered, error) { return nil, away }
	in := plan.Input{Source: src, Medium: plan.Branch}
	if err := plan.ExpandOlder(&in, "older", src, gone); !errors.Is(err, away) || len(in.Staging.Versions) > 0 {
		t.Errorf("it reads %v, %v", in.Staging.Versions, err)
	}
	if err := plan.Expand(&in, gone); !errors.Is(err, away) {
		t.Errorf("it says %v", err)
	}
	plan.Unreadable(&in, "lost")
	if err := plan.ExpandOlder(&in, "older", src, private); err != nil {
		t.Fatal(err)
	}
	if v, known := in.Staging.Versions["lost"]; !known || v != nil {
		t.Errorf("what cannot be read is %v, %t", v, known)
	}
	if v := in.Staging.Versions["older"]; v == nil || v.Commit != "older" || len(v.Expanded.Releases) != 1 {
		t.Errorf("the older version is %+v", v)
	}
}
