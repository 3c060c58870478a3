package build

import (
	"fmt"
	"io/fs"

	"sigs.k8s.io/kustomize/api/resmap"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// read reads the kustomization of a folder. It returns nil where there is none that
// can be read.
func (s *scan) read(dir string, from diag.Pos) *kustfile {
	files := s.view.kustfiles(dir)
	switch {
	case len(files) == 0:
		s.refuse(from, diag.KustomizeMissing, fmt.Sprintf("the folder %q has no kustomization file", dir), "add a kustomization.yaml that lists its manifests")
		return nil
	case len(files) > 1:
		s.refuse(diag.Pos{File: files[1]}, diag.KustomizeMissing, fmt.Sprintf("the folder %q has more than one kustomization file: %q", dir, files), "keep one of them")
		return nil
	}
	content, ok := s.yaml(files[0])
	if !ok {
		return nil
	}
	return s.decode(dir, files[0], content)
}

func (s *scan) decode(dir, file string, content []byte) *kustfile {
	k := &kustfile{dir: dir, file: file, root: &kyaml.Node{}}
	err := kyaml.Unmarshal(content, k.root)
	if err == nil {
		err = k.Unmarshal(content)
	}
	if err != nil {
		s.refuse(diag.Pos{File: file}, diag.KustomizeInvalid, s.redacted(err.Error()), "mend the kustomization; kustomize build says the same of it")
		return nil
	}
	return k
}

// resources decodes resources as kustomize does; nil if it cannot.
func (s *scan) resources(content []byte) (m resmap.ResMap) {
	defer func() {
		if recover() != nil { // the parser panics on some invalid objects
			m = nil
		}
	}()
	m, err := s.factory.NewResMapFromBytes(content)
	if err != nil {
		return nil
	}
	return m
}

// areManifests reports that kustomize can decode resources, of which two may have one
// name.
func (s *scan) areManifests(content []byte) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	_, err := s.factory.RF().SliceFromBytes(content)
	return err == nil
}

// yaml reads a file that kustomize would parse, as the source has it, if it is within
// the limits.
func (s *scan) yaml(name string) ([]byte, bool) {
	content, err := fs.ReadFile(s.view.fsys, name)
	if err != nil {
		s.refuse(diag.Pos{File: name}, diag.KustomizeLocation, fmt.Sprintf("reading %s: %s", name, err), "")
		return nil, false
	}
	if ok, done := s.checked[name]; done {
		return content, ok
	}
	diags := object.Scan(name, content)
	s.checked[name] = len(diags) == 0
	s.parsed = append(s.parsed, content)
	s.found = append(s.found, diags...)
	return content, len(diags) == 0
}

// limits holds YAML that stands in a string at pos against the limits of a file, and
// reports whether it is within them. What is no YAML is for kustomize to refuse, which
// may not read it as YAML. Of a string that stands in no file the field is named.
func (s *scan) limits(pos diag.Pos, f field, content []byte) bool {
	s.parsed = append(s.parsed, content)
	for _, d := range object.Scan(pos.File, content) {
		if !isMalformed(d) {
			if pos.File == "" {
				d.Message = f.String() + ": " + d.Message
			}
			s.refuse(pos, d.Code, d.Message, d.Hint)
			return false
		}
	}
	return true
}

func isMalformed(d diag.Diagnostic) bool { return d.Code == diag.Malformed }

// size reads a file that is not parsed, if it is within the limit of its size.
func (s *scan) size(name string) (string, bool) {
	content, err := fs.ReadFile(s.view.fsys, name)
	if err != nil {
		s.refuse(diag.Pos{File: name}, diag.KustomizeLocation, fmt.Sprintf("reading %s: %s", name, err), "")
		return "", false
	}
	if d, big := object.TooLarge(name, int64(len(content))); big {
		s.found = append(s.found, d)
		return "", false
	}
	return string(content), true
}
