package rendering

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	kubejson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/helm/build"
	"github.com/waybill-dev/waybill/test/peers"
)

// release is a chart with what it is rendered for.
type release struct {
	chart  string // a folder
	values string // a file; empty for the chart's own values alone
	crds   helm.CRDPolicy
	tests  tests
	kube   string // version of Kubernetes; empty for the one that both assume
}

// tests says what becomes of the hooks that helm test runs.
type tests string

const (
	with    tests = ""
	without tests = "without"
)

// chance are the real charts whose tests have random names, so that no two renderings
// of them are equal.
var chance = []string{"podinfo"}

const (
	releaseName = "rel"
	namespace   = "ns"
)

// template runs helm template, with nothing of the user's own.
func template(tb testing.TB, r release) (string, error) {
	tb.Helper()
	args := []string{"template", releaseName, r.chart, "--namespace", namespace}
	if r.values != "" {
		args = append(args, "--values", r.values)
	}
	if r.crds == helm.Create {
		args = append(args, "--include-crds")
	}
	if r.tests == without {
		args = append(args, "--skip-tests")
	}
	if r.kube != "" {
		args = append(args, "--kube-version", r.kube)
	}
	cmd := exec.CommandContext(tb.Context(), peers.Build(tb).Helm, args...)
	cmd.Env = []string{"HOME=" + tb.TempDir(), "KUBECONFIG=/dev/null"}
	return peers.Output(cmd)
}

// ours renders the same with Waybill.
func ours(t *testing.T, r release) ([]document, error) {
	t.Helper()
	out, err := build.Template(os.DirFS(r.chart), helm.Release{
		Name: releaseName, Namespace: namespace, CRDs: r.crds, Values: values(t, r.values), KubeVersion: r.kube,
	})
	if err != nil {
		return nil, err
	}
	var all []document
	for _, m := range out.Manifests {
		if r.tests == without && m.Hook != nil && m.Hook.Test() {
			continue
		}
		if d, ok := decode(t, m.Data); ok {
			d.Source = m.Source
			all = append(all, d)
		}
	}
	return all, nil
}

// values reads a file of values as an object is read, with integers where there are no
// fractions.
func values(tb testing.TB, file string) helm.Values {
	tb.Helper()
	if file == "" {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := yaml.YAMLToJSON(data)
	if err != nil {
		tb.Fatal(err)
	}
	var v map[string]any
	if err := kubejson.Unmarshal(text, &v); err != nil {
		tb.Fatal(err)
	}
	return helm.NewValues(v)
}

// equal checks that both render to the same, or that neither renders, and returns
// whether they do.
func equal(t *testing.T, r release) bool {
	t.Helper()
	text, wantErr := template(t, r)
	got, gotErr := ours(t, r)
	if (wantErr == nil) != (gotErr == nil) {
		t.Fatalf("ours says %v, helm template says %v", gotErr, wantErr)
	}
	if wantErr != nil {
		t.Logf("neither renders: ours says %v, helm template says %v", gotErr, wantErr)
		return false
	}
	want := documents(t, text)
	same(t, want, got)
	same(t, plain(want), delivered(t, r))
	return len(want) > 0
}

// delivered renders the same with the engine, as a job: its values went through JSON,
// and its objects were decoded as what is placed and published.
func delivered(t *testing.T, r release) []document {
	t.Helper()
	rendered := run(t, engine.Job{Helm: &engine.Helm{Release: helm.Release{
		Name: releaseName, Namespace: namespace, CRDs: r.crds, Values: values(t, r.values), KubeVersion: r.kube,
	}}}, r.chart)
	if rendered.Failed() {
		t.Fatal(rendered.Diags)
	}
	rendered.Manifests = slices.DeleteFunc(rendered.Manifests, func(m engine.Manifest) bool {
		return r.tests == without && m.Hook != nil && m.Hook.Test()
	})
	return manifests(t, rendered)
}

// plain is documents as the engine gives them: without their sources, and with the items
// of a list in its place.
func plain(all []document) []document {
	var out []document
	for _, d := range all {
		o, _ := d.Object.(map[string]any)
		items, ok := o["items"].([]any)
		if !ok || o["kind"] != "List" {
			items = []any{d.Object}
		}
		for _, item := range items {
			out = append(out, document{Key: key(item.(map[string]any)), Object: item})
		}
	}
	return out
}

// variants are the values with which a chart of the corpus is rendered: its own, those
// of the files that its authors test it with, and one file of ours.
func variants(t *testing.T, chart string) []string {
	t.Helper()
	all := []string{""}
	for _, pattern := range []string{"ci/*.y*ml", "values-*.yaml"} {
		found, err := filepath.Glob(filepath.Join(chart, pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return append(all, "testdata/override.yaml")
}

func TestRealChartsRenderAsHelmTemplateRendersThem(t *testing.T) {
	t.Parallel()
	for _, chart := range folders(t, "Chart.yaml") {
		t.Run(filepath.Base(chart), func(t *testing.T) {
			t.Parallel()
			r := release{chart: chart, crds: helm.Create}
			if slices.Contains(chance, filepath.Base(chart)) {
				r.tests = without
			}
			for _, file := range variants(t, chart) {
				t.Run("values "+filepath.Base(file), func(t *testing.T) {
					r := r
					if r.values = file; file != "" {
						r.kube = "1.34.2"
					}
					if !equal(t, r) {
						t.Error("it renders to nothing, which compares nothing")
					}
				})
			}
			withoutDefinitions(t, r)
		})
	}
}

// A fixture is a folder chart and any number of files of values beside it, each of which
// has to render, or, if the fixture's name says so, to be refused.
func TestChartsRenderAsHelmTemplateRendersThem(t *testing.T) {
	t.Parallel()
	for _, f := range fixtures(t, "charts") {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			dir := unpack(t, f.archive)
			files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			r := release{chart: filepath.Join(dir, "chart"), crds: helm.Create}
			for _, file := range slices.Concat([]string{""}, files) {
				t.Run("values "+filepath.Base(file), func(t *testing.T) {
					r := r
					r.values = file
					if equal(t, r) != f.sound() {
						t.Errorf("that it renders was to be %t", f.sound())
					}
				})
			}
			withoutDefinitions(t, r)
		})
	}
}

// withoutDefinitions renders a chart that has a folder crds without it.
func withoutDefinitions(t *testing.T, r release) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(r.chart, "crds")); err != nil {
		return
	}
	r.crds = helm.Skip
	t.Run("without definitions", func(t *testing.T) { equal(t, r) })
}
