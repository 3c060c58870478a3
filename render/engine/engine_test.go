package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/lock"
)

// release is a release that may draw.
func release(edit func(*helm.Release)) engine.Job {
	r := helm.Release{Name: "web", Namespace: "shop"}
	edit(&r)
	return engine.Job{Helm: &engine.Helm{Chart: engine.Chart{Path: "charts/web"}, Release: r}}
}

// TestWhatIsToldOfAJob before it is done.
func TestWhatIsToldOfAJob(t *testing.T) {
	for _, tt := range []struct {
		name                             string
		job                              engine.Job
		called, namespace, target, chart string
		draws, drawsOnce                 bool
		restless                         string
	}{
		{"a folder", engine.Job{Kustomize: &engine.Kustomize{Dir: "app"}}, "kustomization app", "default", "", "", false, false, ""},
		{"a folder for a namespace", engine.Job{Kustomize: &engine.Kustomize{Dir: "app", Overlay: &kustomize.Overlay{TargetNamespace: "shop"}}}, "kustomization app", "default", "shop", "", false, false, ""},
		{"a release", release(func(*helm.Release) {}), "release shop/web", "shop", "shop", "charts/web", false, false, ""},
		{"one that draws", release(func(r *helm.Release) { r.Draw = &draw.Subkey{} }), "release shop/web", "shop", "shop", "charts/web", true, false, ""},
		{"one that draws once", release(func(r *helm.Release) { r.Draw = &draw.Subkey{Masked: true} }), "release shop/web", "shop", "shop", "charts/web", true, true, ""},
		{"one that tells the time", release(func(r *helm.Release) { r.Allow = []string{"lookup", "now"} }), "release shop/web", "shop", "shop", "charts/web", false, false, "now"},
	} {
		chart := ""
		if c := tt.job.Chart(); c != nil {
			chart = c.Path
		}
		if tt.job.Name() != tt.called || tt.job.Namespace() != tt.namespace || tt.job.Target() != tt.target || chart != tt.chart {
			t.Errorf("%s is called %q, in %q for %q, of the chart %q", tt.name, tt.job.Name(), tt.job.Namespace(), tt.job.Target(), chart)
		}
		if tt.job.Draws() != tt.draws || tt.job.DrawsOnce() != tt.drawsOnce || tt.job.Restless() != tt.restless {
			t.Errorf("%s draws %t, once %t, and calls %q", tt.name, tt.job.Draws(), tt.job.DrawsOnce(), tt.job.Restless())
		}
	}
}

// TestKeysOfJobs are equal for equal jobs alone, and hold nothing of what is drawn from but which it is.
func TestKeysOfJobs(t *testing.T) {
	jobs := []engine.Job{
		{Kustomize: &engine.Kustomize{Dir: "app"}},
		{Kustomize: &engine.Kustomize{Dir: "app", Overlay: &kustomize.Overlay{}}},
		{Kustomize: &engine.Kustomize{Dir: "app", View: []engine.Copy{}}, Secrets: []string{"a"}},
		release(func(*helm.Release) {}),
		release(func(r *helm.Release) { r.Values = helm.Values{"a": int64(1)} }),
		release(func(r *helm.Release) { r.Values = helm.Values{"a": float64(1)} }),
		release(func(r *helm.Release) { r.Draw = &draw.Subkey{Secret: []byte("s"), ID: "one"} }),
		release(func(r *helm.Release) { r.Draw = &draw.Subkey{Secret: []byte("s"), ID: "two"} }),
	}
	seen := map[string]int{}
	for i, j := range jobs {
		key := j.Key()
		if before, is := seen[key]; is || key != j.Key() {
			t.Errorf("the jobs %d and %d have one key", before, i)
		}
		seen[key] = i
	}
	other := release(func(r *helm.Release) { r.Draw = &draw.Subkey{Secret: []byte("other"), ID: "one"} })
	if other.Key() != jobs[6].Key() || string(other.Helm.Release.Draw.Secret) != "other" {
		t.Error("what a job draws from is in its key, or is lost by it")
	}
}

// TestRefsOfCharts that kustomizations list, and that charts need.
func TestRefsOfCharts(t *testing.T) {
	for _, tt := range []struct {
		repository string
		kind       lock.Kind
		is         bool // a chart that another one needs from there is of a repository
	}{
		{"https://charts.example.com", lock.Helm, true},
		{"http://charts.example.com", lock.Helm, true},
		{"oci://r.example.com/charts", lock.OCI, true},
		{"file://../web", lock.Helm, false},
		{"@stable", lock.Helm, false},
		{"alias:stable", lock.Helm, false},
	} {
		want := lock.Ref{Kind: tt.kind, Repository: tt.repository, Name: "web", Constraint: "1.x"}
		if got := engine.ChartRef(kustomize.HelmChart{Repo: tt.repository, Name: "web", Version: "1.x"}); got != want {
			t.Errorf("%s: a kustomization's is %+v", tt.repository, got)
		}
		if !tt.is {
			want = lock.Ref{}
		}
		if got, is := engine.DependencyRef(helm.Dependency{Repository: tt.repository, Name: "web", Version: "1.x"}); is != tt.is || got != want {
			t.Errorf("%s: a chart's is %+v, %t", tt.repository, got, is)
		}
	}
	at := func(repository, constraint string) string {
		return engine.ChartFolder(lock.Ref{Kind: lock.Helm, Repository: repository, Name: "web", Constraint: constraint})
	}
	if at("https://h", "1.x") != at("https://h//", " 1.x ") || at("https://h", "1.x") == at("https://h", "2.x") || at("https://h", "") == at("https://i", "") {
		t.Error("the folders of charts are not told apart as the lock tells them")
	}
}

// TestHooksOfARelease are left out, or are Argo CD's; those of tests are nobody's loss.
func TestHooksOfARelease(t *testing.T) {
	decode := func(text string) *object.Object {
		d := object.Decode("x.yaml", []byte(text))
		if len(d.Objects) != 1 {
			t.Fatal(d.Diags)
		}
		return d.Objects[0]
	}
	job := func(name, more string) *object.Object {
		return decode("apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name + ", namespace: shop, annotations: {keep: me, helm.sh/hook: x, helm.sh/hook-weight: '1', helm.sh/resource-policy: keep" + more + "}}\n")
	}
	r := engine.Rendered{Manifests: []engine.Manifest{
		{Object: decode("apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n")},
		{Object: job("before", ""), Hook: &helm.Hook{Events: []string{"pre-install"}, Weight: 1}},
		{Object: job("back", ""), Hook: &helm.Hook{Events: []string{"pre-rollback"}}},
		{Object: job("check", ""), Hook: &helm.Hook{Events: []string{"test"}}},
	}}
	of := decode("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\n")
	for _, tt := range []struct {
		argoCD        bool
		objects, said []string
	}{
		{false, []string{"Service/shop/web"}, []string{"left out: Job.batch/shop/before, Job.batch/shop/back"}},
		{true, []string{"Service/shop/web", "Job.batch/shop/before"}, []string{"left out: Job.batch/shop/back", "run at each sync: Job.batch/shop/before"}},
	} {
		objects, diags := r.WithHooks(of, tt.argoCD)
		var refs []string
		for _, o := range objects {
			refs = append(refs, o.Ref().String())
		}
		if !slices.Equal(refs, tt.objects) || len(diags) != len(tt.said) {
			t.Fatalf("for Argo CD %t: they are %q, and it says %v", tt.argoCD, refs, diags)
		}
		for i, d := range diags {
			if !strings.HasSuffix(d.Message, tt.said[i]) || d.Pos.File != "x.yaml" {
				t.Errorf("for Argo CD %t: it says %v, want %q", tt.argoCD, d, tt.said[i])
			}
		}
		if tt.argoCD {
			want := map[string]string{"keep": "me", "helm.sh/resource-policy": "keep", "argocd.argoproj.io/hook": "PreSync", "argocd.argoproj.io/sync-wave": "1"}
			if diff := cmp.Diff(want, objects[1].Annotations()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	}
	for kept, argoCD := range map[int]bool{1: false, 2: true} { // no hook, and one that Argo CD runs
		few := engine.Rendered{Manifests: r.Manifests[:kept]}
		if _, diags := few.WithHooks(of, argoCD); len(diags) != kept-1 || kept == 2 && diags[0].Code != diag.HooksTranslated {
			t.Errorf("of %d manifests it says %v", kept, diags)
		}
	}
	if got := r.Manifests[1].Object.Annotations()["helm.sh/hook"]; got != "x" {
		t.Error("what was rendered is changed")
	}
}

// TestDecode holds what a job gave against what a manifest may be, and says of which template it is.
func TestDecode(t *testing.T) {
	output := func(source, text string) []byte {
		data, err := json.Marshal(engine.Output{
			Documents: []engine.Document{{Source: source, Data: []byte(text), Hook: &helm.Hook{Events: []string{"test"}}}},
			Diags:     []diag.Diagnostic{{Code: diag.ChartFloating, Severity: diag.Notice, Message: "as it was"}},
			Places:    []kustomize.Place{{Kind: "Pod", Name: "a", Pos: diag.Pos{File: "base/pod.yaml", Line: 3}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	const pods = "apiVersion: v1\nkind: Pod\nmetadata: {name: x-a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\n"
	r, err := engine.Decode(output("templates/pod.yaml", pods))
	if err != nil || len(r.Manifests) != 2 || len(r.Diags) != 1 || r.Failed() {
		t.Fatalf("%v, %+v", err, r)
	}
	if at := r.Manifests[0].Object.Origin().String(); at != "base/pod.yaml:3" || r.Manifests[1].Hook == nil || r.Manifests[1].Object.Origin().File != "" {
		t.Errorf("the first is written at %s", at)
	}
	for _, tt := range []struct{ source, text, want string }{
		{"templates/a.yaml", "a: b\n", "templates/a.yaml renders a document without apiVersion or kind"},
		{"", "a: b\n", "it renders a document without apiVersion or kind"},
		{"templates/a.yaml", "a: [\n", "templates/a.yaml: the document is no valid YAML"},
		{"", "a: [\n", "the document is no valid YAML"},
	} {
		r, err := engine.Decode(output(tt.source, tt.text))
		if err != nil || len(r.Diags) != 2 || !r.Failed() || !strings.HasPrefix(r.Diags[1].Message, tt.want) {
			t.Errorf("%q of %q: %v, %+v", tt.text, tt.source, err, r.Diags)
		}
	}
	if _, err := engine.Decode([]byte("{")); err == nil {
		t.Error("what is no output is read")
	}
}

// TestWhereNothingRenders no job has a result.
func TestWhereNothingRenders(t *testing.T) {
	got, err := engine.Unrendered(make([]engine.Job, 2))
	if err != nil || len(got) != 2 || !got[0].Failed() || !got[1].Failed() || got[0].Diags[0].Code != diag.NotRendered {
		t.Errorf("%v, %+v", err, got)
	}
}
