// Package object is one manifest: decoded, located, immutable. Decode is the
// only way in, so every object was held against the YAML limits and carries the
// file and line it came from; YAML is the only way out, and is canonical: equal
// contents give equal bytes on every machine and with every library version.
//
// The package knows nothing of policies or clusters. It does not default, prune
// or validate a manifest beyond what it takes to name it.
package object

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/waybill-dev/waybill/render/diag"
)

// Ref names an object within a cluster: the version of its API is not part of
// its name.
type Ref struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Argument prints the ref as kubectl takes it: KIND.GROUP/NAME -n NAMESPACE.
func (r Ref) Argument() string {
	s := r.Kind
	if r.Group != "" {
		s += "." + r.Group
	}
	s += "/" + r.Name
	if r.Namespace != "" {
		s += " -n " + r.Namespace
	}
	return s
}

// String returns Kind.group/namespace/name, without what is empty.
func (r Ref) String() string {
	s := r.Kind
	if r.Group != "" {
		s += "." + r.Group
	}
	if r.Namespace != "" {
		s += "/" + r.Namespace
	}
	return s + "/" + r.Name
}

// Compare orders refs by namespace, group, kind and name.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Namespace, o.Namespace), cmp.Compare(r.Group, o.Group),
		cmp.Compare(r.Kind, o.Kind), cmp.Compare(r.Name, o.Name))
}

// Object is one manifest. It is immutable and safe for concurrent use.
type Object struct {
	ref        Ref
	apiVersion string
	pos        diag.Pos
	written    diag.Pos // where it is written, if that is not at pos; else zero
	content    map[string]any
	node       *yaml.Node // the document, where FieldPos may be asked; else nil
	sealed     []byte     // the document as written, where it must stay so; else nil
	secrets    []string
	base       bool
}

// Ref returns the object's name.
func (o *Object) Ref() Ref { return o.ref }

// APIVersion returns the apiVersion as written.
func (o *Object) APIVersion() string { return o.apiVersion }

// Pos returns where the object is taken from: the file that policies select it by, and with
// which it comes and goes. Of what a kustomization or a release gives it is theirs.
func (o *Object) Pos() diag.Pos { return o.pos }

// Origin returns where a person edits the object: where it is written, or else Pos.
func (o *Object) Origin() diag.Pos {
	if o.written != (diag.Pos{}) {
		return o.written
	}
	return o.pos
}

// OfBase returns the object as one of a kustomization that others build on and that a policy names:
// no other policy may have it.
func (o *Object) OfBase() *Object {
	c := *o
	c.base = true
	return &c
}

// IsBase reports an object that OfBase returned, or one made of it.
func (o *Object) IsBase() bool { return o.base }

// Content returns the decoded manifest: maps, slices, strings, bools, int64,
// float64 and nil. It is shared and must not be changed.
func (o *Object) Content() map[string]any { return o.content }

// Labels returns metadata.labels; nil where there are none.
func (o *Object) Labels() map[string]string { return stringMap(o.content, "labels") }

// Annotations returns metadata.annotations; nil where there are none.
func (o *Object) Annotations() map[string]string { return stringMap(o.content, "annotations") }

// Sealed returns the document byte for byte if it may not be written in any other
// way: SOPS computes a checksum over an encrypted document as it stands.
func (o *Object) Sealed() ([]byte, bool) { return o.sealed, o.sealed != nil }

// With returns an object of the same origin with other content, which must name
// the same ref and which the object takes over.
func (o *Object) With(content map[string]any) *Object {
	c := *o
	c.content, c.sealed = content, nil
	return &c
}

// InNamespace returns the object in the given namespace; o itself if it is there.
func (o *Object) InNamespace(namespace string) *Object {
	if o.ref.Namespace == namespace {
		return o
	}
	content := make(map[string]any, len(o.content))
	maps.Copy(content, o.content)
	meta := map[string]any{}
	if old, ok := o.content["metadata"].(map[string]any); ok {
		maps.Copy(meta, old)
	}
	if namespace == "" {
		delete(meta, "namespace")
	} else {
		meta["namespace"] = namespace
	}
	content["metadata"] = meta
	c := o.With(content)
	c.ref.Namespace = namespace
	return c
}

// YAML returns the object as canonical YAML (see Encode), or as it was written if
// it is sealed.
func (o *Object) YAML() []byte {
	if o.sealed != nil {
		return o.sealed
	}
	return Encode(o.content)
}

// FieldPos returns where the field at path stands, or the nearest field above it
// that stands in the file. Path elements are string keys and int indexes. Lines
// within a document are known for objects of the karmada.io, fluxcd.io and waybill.dev groups, of KubeFleet's
// placements, and for ConfigMaps that have scripts for Argo CD.
func (o *Object) FieldPos(path []any) diag.Pos {
	pos, _ := o.field(path)
	return pos
}

// LinePos returns where a line of the text at path stands, from 1: FieldPos where the text is not
// written as a block of lines, or the line is 0.
func (o *Object) LinePos(path []any, line int) diag.Pos {
	pos, n := o.field(path)
	if n != nil && n.Kind == yaml.ScalarNode && n.Style&yaml.LiteralStyle != 0 && line > 0 {
		pos.Line = n.Line + line
	}
	return pos
}

// field finds a field; no node if the file has none at path.
func (o *Object) field(path []any) (diag.Pos, *yaml.Node) {
	pos := o.Origin()
	n := o.node
	for _, step := range path {
		for n != nil && n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		n = child(n, step, &pos)
		if n == nil {
			break
		}
	}
	return pos, n
}

// FieldPath prints the path of a field as kubectl does: spec.rules[0].name.
func FieldPath(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

// ParseFieldPath reads what FieldPath prints.
func ParseFieldPath(printed string) (path []any) {
	for name := range strings.SplitSeq(printed, ".") {
		name, indexes, _ := strings.Cut(name, "[")
		path = append(path, name)
		for index := range strings.SplitSeq(strings.TrimSuffix(indexes, "]"), "][") {
			if i, err := strconv.Atoi(index); err == nil {
				path = append(path, i)
			}
		}
	}
	return path
}

// child returns the node below n that step names and moves pos to its line.
func child(n *yaml.Node, step any, pos *diag.Pos) *yaml.Node {
	switch step := step.(type) {
	case string:
		if n == nil || n.Kind != yaml.MappingNode {
			return nil
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				pos.Line = n.Content[i].Line
				return n.Content[i+1]
			}
		}
	case int:
		if n == nil || n.Kind != yaml.SequenceNode || step >= len(n.Content) {
			return nil
		}
		pos.Line = n.Content[step].Line
		return n.Content[step]
	}
	return nil
}

// Refs returns what objects are called.
func Refs(objs []*Object) map[Ref]bool {
	refs := make(map[Ref]bool, len(objs))
	for _, o := range objs {
		refs[o.ref] = true
	}
	return refs
}

// TargetOf is the object that a reference of something in a namespace means, by the apiVersion, kind and name that it says.
func TargetOf(namespace, apiVersion, kind, name string) Ref {
	group, _ := GroupVersion(apiVersion)
	return Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}
}

// ScaleTarget is what the manifest of an autoscaler in a namespace scales, by its spec.scaleTargetRef.
func ScaleTarget(namespace string, manifest map[string]any) Ref {
	spec, _ := manifest["spec"].(map[string]any)
	target, _ := spec["scaleTargetRef"].(map[string]any)
	text := func(key string) string {
		s, _ := target[key].(string)
		return s
	}
	return TargetOf(namespace, text("apiVersion"), text("kind"), text("name"))
}

// GroupVersion splits an apiVersion at its slash; the core group is "".
func GroupVersion(apiVersion string) (group, version string) {
	if g, v, ok := strings.Cut(apiVersion, "/"); ok {
		return g, v
	}
	return "", apiVersion
}

func stringMap(content map[string]any, field string) map[string]string {
	meta, _ := content["metadata"].(map[string]any)
	m, _ := meta[field].(map[string]any)
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}
