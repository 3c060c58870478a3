package rendering

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/kustomize/build"
	"github.com/waybill-dev/waybill/test/corpus"
	"github.com/waybill-dev/waybill/test/peers"
)

// byKustomize runs kustomize build, with charts rendered by helm.
func byKustomize(t *testing.T, dir string) (string, error) {
	t.Helper()
	p := peers.Build(t)
	cmd := exec.CommandContext(t.Context(), p.Kustomize, "build", "--enable-helm", "--helm-command", p.Helm, dir)
	cmd.Env = []string{"HOME=" + t.TempDir(), "KUBECONFIG=/dev/null", "PATH=" + os.Getenv("PATH")}
	return peers.Output(cmd)
}

// sameBytes checks that kustomize build and Build give the same stream, or that both
// fail, and returns whether they gave one.
func sameBytes(t *testing.T, root, dir string) bool {
	t.Helper()
	want, wantErr := byKustomize(t, filepath.Join(root, dir))
	built, gotErr := build.Kustomization(os.DirFS(root), build.Options{Dir: dir})
	if (wantErr == nil) != (gotErr == nil) {
		t.Fatalf("ours says %v, kustomize build says %v", gotErr, wantErr)
	}
	if wantErr != nil {
		t.Logf("neither builds: ours says %v, kustomize build says %v", gotErr, wantErr)
		return false
	}
	if diff := cmp.Diff(want, string(built.Stream)); diff != "" {
		t.Errorf("(-kustomize build +ours):\n%s", diff)
	}
	return want != ""
}

// sameDocuments checks the same of what the engine makes of the folder, which is what is
// placed and published. It renders the charts, too.
func sameDocuments(t *testing.T, root, dir string) bool {
	t.Helper()
	want, wantErr := byKustomize(t, filepath.Join(root, dir))
	rendered := run(t, engine.Job{Kustomize: &engine.Kustomize{Dir: dir}}, root)
	if (wantErr == nil) == rendered.Failed() {
		t.Fatalf("ours says %v, kustomize build says %v", rendered.Diags, wantErr)
	}
	if wantErr != nil {
		t.Logf("neither builds: ours says %v, kustomize build says %v", rendered.Diags, wantErr)
		return false
	}
	same(t, documents(t, want), manifests(t, rendered))
	return want != ""
}

func run(t *testing.T, job engine.Job, root string) engine.Rendered {
	t.Helper()
	text, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	out, err := engines.Run(text, os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := engine.Decode(out)
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

// manifests are the objects of a rendering as documents.
func manifests(t *testing.T, r engine.Rendered) []document {
	t.Helper()
	var all []document
	for _, m := range r.Manifests {
		if d, ok := decode(t, m.Object.YAML()); ok {
			all = append(all, d)
		}
	}
	return all
}

func TestRealKustomizationsBuildAsKustomizeBuildsThem(t *testing.T) {
	root := corpus.Dir(t)
	for _, dir := range folders(t, konfig.RecognizedKustomizationFileNames()...) {
		name, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		repository, dir, _ := strings.Cut(filepath.ToSlash(name), "/")
		if dir == "" {
			dir = "."
		}
		t.Run(name, func(t *testing.T) { sameBytes(t, filepath.Join(root, repository), dir) })
	}
}

// A fixture is a folder root and what it uses.
func TestKustomizationsBuildAsKustomizeBuildsThem(t *testing.T) {
	for _, f := range fixtures(t, "kustomizations") {
		t.Run(f.name, func(t *testing.T) {
			dir := unpack(t, f.archive)
			if sameDocuments(t, dir, "root") != f.sound() {
				t.Errorf("that it builds was to be %t", f.sound())
			}
			if !strings.Contains(string(txtar.Format(f.archive)), "helmCharts:") {
				sameBytes(t, dir, "root")
			}
		})
	}
}

// remote are kustomizations that use what is elsewhere, with where they are refused.
var remote = []struct{ name, text, field string }{
	{"a file", "resources: [SERVER/x.yaml]", "resources[0]"},
	{"a repository", "resources: [\"git::SERVER/r.git?ref=main\"]", "resources[0]"},
	{"a base", "bases: [SERVER/r.git//base]", "bases[0]"},
	{"a component", "components: [SERVER/r.git//c]", "components[0]"},
	{"a patch", "patches: [{path: SERVER/p.yaml}]", "patches[0].path"},
	{"a schema", "openapi: {path: SERVER/s.json}", "openapi.path"},
	{"data", "configMapGenerator: [{name: c, files: [SERVER/f]}]", "configMapGenerator[0].files[0]"},
	{"a replacement", "replacements: [{path: SERVER/r.yaml}]", "replacements[0].path"},
}

func TestRemoteResourcesAreRefusedBeforeAnythingIsFetched(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.NotFound(w, nil)
	}))
	defer server.Close()
	for _, tt := range remote {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			text := strings.ReplaceAll(tt.text, "SERVER", server.URL)
			write(t, filepath.Join(dir, "root/kustomization.yaml"), []byte(text+"\n"))
			before := asked.Load()
			_, err := build.Kustomization(os.DirFS(dir), build.Options{Dir: "root"})
			refusal, ok := errors.AsType[*build.Error](err)
			if !ok {
				t.Fatalf("ours says %v", err)
			}
			want := diag.Pos{File: "root/kustomization.yaml", Line: 1}
			if d := refusal.Diags[0]; d.Pos != want || !strings.Contains(d.Message, tt.field) {
				t.Errorf("%v; it was to name %s and %s", d, want, tt.field)
			}
			if asked.Load() != before {
				t.Error("the server was asked")
			}
			if _, err := byKustomize(t, filepath.Join(dir, "root")); err == nil || asked.Load() == before {
				t.Errorf("kustomize build was to fail after it asked the server: %v", err)
			}
		})
	}
}
