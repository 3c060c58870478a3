package kustomize

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func docs(s string) []string {
	var all []string
	for _, d := range strings.Split("\n"+s, "\n---\n") {
		if d = strings.TrimSpace(d); d != "" && d != "---" {
			all = append(all, d)
		}
	}
	slices.Sort(all)
	return all
}

func TestZZ(t *testing.T) {
	tmp := t.TempDir()
	exec.Command("cp", "-r", "/work/shared/corpus/.", tmp).Run()
	repos, _ := os.ReadDir(tmp)
	n, same := 0, 0
	for _, r := range repos {
		root := filepath.Join(tmp, r.Name())
		files := os.DirFS(root)
		var dirs []string
		fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if d.IsDir() && strings.Count(name, "/") < 3 && !strings.Contains(name, "helm-chart") && !strings.Contains(r.Name(), "argo-helm") && !strings.Contains(r.Name(), "community") {
				dirs = append(dirs, name)
			}
			return nil
		})
		for _, d := range dirs {
			flux := "spec: {path: ./" + d + ", namePrefix: p-, targetNamespace: ns, images: [{name: ghcr.io/stefanprodan/podinfo, newTag: x}], postBuild: {substitute: {city: a}}}"
			ff := filepath.Join(t.TempDir(), "f.yaml")
			os.WriteFile(ff, []byte(flux), 0o644)
			f, _ := ReadFlux(decodedMap(t, flux))
			got, err := Build(files, Options{Dir: f.Path, Overlay: &f.Overlay})
			work := t.TempDir()
			exec.Command("cp", "-r", root+"/.", work).Run()
			out, _ := exec.Command("/tmp/fluxcheck/fluxcheck", work, ff, filepath.Join(work, d)).Output()
			n++
			ferr := strings.Contains(string(out), "ERR")
			if ferr != (err != nil) {
				t.Errorf("%s/%s: ours %v\nflux %.300s", r.Name(), d, err, out)
				continue
			}
			if err != nil { continue }
			same++
			if diff := cmp.Diff(docs(string(out)), docs(string(got))); diff != "" {
				t.Errorf("%s/%s -flux +ours\n%.1500s", r.Name(), d, diff)
			}
		}
	}
	t.Log(n, same)
}
