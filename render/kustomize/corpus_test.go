package kustomize

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// onDisk builds a folder with kustomize alone, as kubectl kustomize does.
func onDisk(dir string) ([]byte, error) {
	openapi.ResetOpenAPI()
	opts := krusty.MakeDefaultOptions()
	opts.Reorder = krusty.ReorderOptionUnspecified
	m, err := krusty.MakeKustomizer(opts).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	return m.AsYaml()
}

// TestRealKustomizations compares builds of overlays that other people wrote, in the
// folder that WAYBILL_CORPUS names, with those of kustomize on disk.
func TestRealKustomizations(t *testing.T) {
	corpus := os.Getenv("WAYBILL_CORPUS")
	if corpus == "" {
		t.Skip("SKIPPED: set WAYBILL_CORPUS to a folder of repositories")
	}
	newCanary(t) // what is remote fails in both
	repositories, err := os.ReadDir(corpus)
	if err != nil {
		t.Fatal(err)
	}
	built := 0
	for _, repository := range repositories {
		root := filepath.Join(corpus, repository.Name())
		files := os.DirFS(root)
		err := fs.WalkDir(files, ".", func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !isKustomization(path.Base(name)) {
				return err
			}
			dir := path.Dir(name)
			want, wantErr := onDisk(filepath.Join(root, dir))
			got, gotErr := stream(files, Options{Dir: dir})
			if (wantErr == nil) != (gotErr == nil) {
				t.Errorf("%s/%s: %v; kustomize on disk: %v", repository.Name(), dir, gotErr, wantErr)
			} else if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s/%s (-on disk +built):\n%s", repository.Name(), dir, diff)
			}
			if gotErr == nil {
				built++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if built == 0 {
		t.Error("nothing was built")
	}
	t.Logf("%d kustomizations build to the same bytes", built)
}

func isKustomization(base string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), base)
}
