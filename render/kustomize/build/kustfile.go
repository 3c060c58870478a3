package build

import (
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// kustfile is one kustomization file, decoded as kustomize decodes it.
type kustfile struct {
	dir   string // inside the file system
	file  string // inside the file system
	root  *kyaml.Node
	bases []string // folders it builds on, inside the file system
	// rendered are the resources that its charts became.
	rendered []string
	// changed reports that Kustomization is no longer what the file holds.
	changed bool
	types.Kustomization
}

// files returns the kustomization files of a folder: one, if all is well.
func (v *view) kustfiles(dir string) []string {
	var found []string
	for _, base := range konfig.RecognizedKustomizationFileNames() {
		if file := path.Join(dir, base); v.isFile(file) {
			found = append(found, file)
		}
	}
	return found
}

// field is the path of a value in a file: names and indices.
type field []any

// String writes a field as patches[0].path.
func (f field) String() string { return object.FieldPath(f) }

// pos returns the place of a field, or of what holds it where it is not found.
func (k *kustfile) pos(f field) diag.Pos {
	p := diag.Pos{File: k.file}
	n := k.root
	for _, step := range f {
		if n = within(n, step); n == nil {
			break
		}
		p.Line = n.Line
	}
	return p
}

// within returns the value at a key, which kustomize matches without regard to case,
// or at an index. It returns nil where there is none.
func within(n *kyaml.Node, step any) *kyaml.Node {
	if n != nil && n.Kind == kyaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	if n != nil && n.Kind == kyaml.AliasNode {
		n = n.Alias
	}
	if n == nil {
		return nil
	}
	switch step := step.(type) {
	case int:
		if n.Kind == kyaml.SequenceNode && step < len(n.Content) {
			return n.Content[step]
		}
	case string:
		for i := 0; n.Kind == kyaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if strings.EqualFold(n.Content[i].Value, step) {
				return n.Content[i+1]
			}
		}
	}
	return nil
}
