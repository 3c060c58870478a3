package build

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/waybill-dev/waybill/render/diag"
)

// rootOf reads the kustomization of a folder, or makes one of all manifests below it.
func (s *scan) rootOf(dir string) *kustfile {
	if !s.view.IsDir(dir) {
		s.refuse(diag.Pos{}, diag.FluxKustomization, fmt.Sprintf("spec.path: %q is no folder of the repository", dir), "name an existing folder")
		return nil
	}
	if len(s.view.kustfiles(dir)) > 0 {
		return s.read(dir, diag.Pos{})
	}
	k := &kustfile{dir: dir, file: path.Join(dir, "kustomization.yaml"), root: &kyaml.Node{}}
	k.Kind, k.APIVersion = types.KustomizationKind, types.KustomizationVersion
	err := fs.WalkDir(s.view.fsys, dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == dir:
			return nil
		case ignored(name, d):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() && len(s.view.kustfiles(name)) > 0:
			k.Resources = append(k.Resources, below(dir, name))
			return fs.SkipDir
		case d.Type()&fs.ModeIrregular != 0:
			return fmt.Errorf("%s cannot be read", name)
		case d.Type().IsRegular() && isYAML(name):
			s.manifests(name)
			k.Resources = append(k.Resources, below(dir, name))
		}
		return nil
	})
	if err != nil {
		s.refuse(diag.Pos{}, diag.FluxKustomization, fmt.Sprintf("listing the manifests below %s: %s", dir, err), "")
		return nil
	}
	return k
}

// manifests reports a file that holds anything else than manifests.
func (s *scan) manifests(name string) {
	if content, ok := s.yaml(name); ok && !s.areManifests(content) {
		s.refuse(diag.Pos{File: name}, diag.KustomizeNoManifest,
			"the file holds something else than manifests, and a folder without a kustomization is built from every YAML file below it",
			"list the manifests in a kustomization.yaml, or move the file")
	}
}

// below returns name as seen from dir, in a form that can only be a path.
func below(dir, name string) string {
	if dir == "." {
		return "./" + name
	}
	return "." + strings.TrimPrefix(name, dir)
}

func isYAML(name string) bool {
	ext := path.Ext(name)
	return ext == ".yaml" || ext == ".yml"
}

// ignored reports what Flux leaves out of a source unless told otherwise, as far as it
// can be YAML: the configuration of Git, of continuous integration and of other tools.
func ignored(name string, d fs.DirEntry) bool {
	base := path.Base(name)
	if d.IsDir() {
		return base == ".git" || name == ".github" || name == ".circleci"
	}
	switch base {
	case ".goreleaser.yml", ".sops.yaml", ".flux.yaml":
		return true
	}
	switch name {
	case ".travis.yml", ".gitlab-ci.yml", "appveyor.yml", ".drone.yml", "cloudbuild.yaml", "codeship-services.yml", "codeship-steps.yml":
		return true
	}
	return false
}
