package helm_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/helm"
)

const kube = "1.34.2"

// byHelm renders a folder as helm template does, with Helm's own loader, values and
// engine and none of our code, and returns the documents in order.
func byHelm(t *testing.T, dir string, values map[string]any) []any {
	t.Helper()
	c, err := loader.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, values); err != nil {
		t.Fatal(err)
	}
	version, err := chartutil.ParseKubeVersion(kube)
	if err != nil {
		t.Fatal(err)
	}
	caps := chartutil.DefaultCapabilities.Copy()
	caps.KubeVersion = *version
	options := chartutil.ReleaseOptions{Name: "rel", Namespace: "ns", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(c, values, options, caps)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(c, all)
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasSuffix(name, "NOTES.txt") })
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		t.Fatal(err)
	}
	var docs []any
	for _, crd := range c.CRDObjects() {
		for doc := range strings.SplitSeq(string(crd.File.Data), "\n---\n") {
			docs = appendDecoded(t, docs, []byte(doc))
		}
	}
	for _, m := range manifests {
		docs = appendDecoded(t, docs, []byte(m.Content))
	}
	for _, h := range hooks {
		if !slices.Contains(h.Events, release.HookTest) {
			docs = appendDecoded(t, docs, []byte(h.Manifest))
		}
	}
	return docs
}

func appendDecoded(t *testing.T, all []any, doc []byte) []any {
	t.Helper()
	var o any
	if err := yaml.Unmarshal(doc, &o); err != nil {
		t.Fatal(err)
	}
	if o == nil {
		return all
	}
	return append(all, o)
}

func TestRealChartsRenderAsHelmRendersThem(t *testing.T) {
	corpus := os.Getenv("WAYBILL_CORPUS")
	if corpus == "" {
		t.Skip("SKIPPED: there are no real charts; set WAYBILL_CORPUS")
	}
	var charts []string
	err := filepath.WalkDir(corpus, func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == "Chart.yaml" {
			charts = append(charts, filepath.Dir(path))
		}
		return err
	})
	if err != nil || len(charts) == 0 {
		t.Fatalf("found no charts in %s: %v", corpus, err)
	}
	for _, dir := range charts {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			want := byHelm(t, dir, map[string]any{})
			out, err := helm.Template(os.DirFS(dir), helm.Release{Name: "rel", Namespace: "ns", KubeVersion: kube})
			if err != nil {
				t.Fatal(err)
			}
			var got []any
			for _, m := range out.Manifests {
				if m.Hook != nil && m.Hook.Test() {
					continue
				}
				got = appendDecoded(t, got, m.Data)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-helm +waybill):\n%s", diff)
			}
			t.Logf("%d documents", len(got))
		})
	}
}
