package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// Recovery is what was made up for files of the state that cannot be read.
type Recovery struct {
	Refs  map[object.Ref]bool // the templates whose bindings were made up
	Diags []diag.Diagnostic
}

// Recover makes up for files of the state that cannot be read. In the place of a binding
// it puts what is published: where the template is, and with how many replicas. Which
// policy sent it there, and why, is not known, so that the template should stay as it is.
// Of the objects of the source it needs the releases, which are published as what they
// render to.
func (s *State) Recover(published map[string]tree.Published, source []*object.Object) Recovery {
	out := Recovery{Refs: map[object.Ref]bool{}}
	bindings := make(map[object.Ref]*karmada.ResourceBinding, len(s.Bindings))
	maps.Copy(bindings, s.Bindings)
	for _, u := range s.Unreadable {
		made := s.bindingsAt(u.Path, published, source)
		out.Diags = append(out.Diags, unreadable(u, made))
		for _, b := range made {
			r := TemplateRef(b)
			bindings[r], out.Refs[r] = b, true
		}
	}
	s.Bindings = bindings
	return out
}

// unreadable says that a file cannot be read, and which objects stay for that.
func unreadable(u Unreadable, made []*karmada.ResourceBinding) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: diag.StateUnreadable, Severity: diag.Warning,
		Message: fmt.Sprintf("%s on branch %s cannot be read: %s", u.Path, Branch, u.Reason),
		Hint:    fmt.Sprintf("git log -p %s -- %s shows what it was", Branch, u.Path),
	}
	if len(made) > 0 {
		refs := make([]string, len(made))
		for i, b := range made {
			refs[i] = TemplateRef(b).String()
		}
		d.Severity = diag.Error
		d.Message += fmt.Sprintf("; %s stays as it was last published", words.List(refs))
		d.Hint = "publish again: what is published is its binding by then; " + d.Hint
	}
	return d
}

// bindingsAt makes the bindings that may have been in a file of the state.
func (s *State) bindingsAt(path string, published map[string]tree.Published, source []*object.Object) []*karmada.ResourceBinding {
	made := map[object.Ref]*karmada.ResourceBinding{}
	sent := func(o *object.Object, to karmada.TargetCluster) {
		r := o.Ref()
		if made[r] == nil {
			made[r] = NewBinding(o.APIVersion(), r)
		}
		made[r].Spec.Clusters = append(made[r].Spec.Clusters, to)
	}
	kinds, known, virtuals := interpret.New(), map[files.ID][]*object.Object{}, virtualsOf(source)
	for _, cluster := range slices.Sorted(maps.Keys(published)) {
		built := published[cluster].Built
		if built == nil {
			continue
		}
		m := virtuals[cluster]
		for _, o := range manifestsFor(path, built, m, known) {
			if s.Bindings[o.Ref()] == nil {
				replicas, _, _, _ := kinds.Replicas(o.Content())
				sent(o, karmada.TargetCluster{Name: cluster, Replicas: replicas})
			}
		}
		for _, o := range source {
			if flux.IsRelease(o) && IsBindingOf(path, o.Ref()) && s.Bindings[o.Ref()] == nil && s.hasSome(built, m, o.Ref()) {
				sent(o, karmada.TargetCluster{Name: cluster})
			}
		}
	}
	return slices.SortedFunc(maps.Values(made), func(x, y *karmada.ResourceBinding) int { return TemplateRef(x).Compare(TemplateRef(y)) })
}

// virtualsOf returns the mappings of the virtual clusters among objects, by their names.
func virtualsOf(source []*object.Object) map[string]*virtual.Mapping {
	all := map[string]*virtual.Mapping{}
	for _, o := range source {
		if r := o.Ref(); r.Group == "cluster.karmada.io" && r.Kind == "Cluster" {
			all[r.Name] = virtual.Of(&karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: r.Name, Annotations: o.Annotations()}})
		}
	}
	return all
}

// manifestsFor returns the objects in a published tree that a binding at path may be of, by the
// names that templates have. Known is what was found in folders, which many clusters share.
func manifestsFor(path string, built *files.Folder, m *virtual.Mapping, known map[files.ID][]*object.Object) []*object.Object {
	parts := strings.Split(withoutShard(path), "/")
	if len(parts) != 3 {
		return nil
	}
	namespace := parts[1]
	if !strings.HasPrefix(namespace, "_") { // else it is that of what has none
		namespace = m.Namespace(namespace)
	}
	dir, _ := built.Lookup(tree.FolderOf(namespace))
	if dir.Dir == nil {
		return nil
	}
	var found []*object.Object
	for _, kind := range dir.Dir.Entries() {
		name, _, _ := strings.Cut(kind.Name, ".")
		if kind.Dir == nil || !strings.Contains(parts[2], "-"+name) {
			continue
		}
		if _, ok := known[kind.Dir.ID()]; !ok {
			known[kind.Dir.ID()] = boundAt(path, kind.Dir, m)
		}
		found = append(found, known[kind.Dir.ID()]...)
	}
	return found
}

// boundAt returns the objects of a folder that a binding at path may be of.
func boundAt(path string, folder *files.Folder, m *virtual.Mapping) []*object.Object {
	var found []*object.Object
	for name, e := range folder.All() {
		if e.Blob == nil {
			continue
		}
		data, err := e.Blob.Bytes()
		if err != nil {
			continue // the guard says so of what would be removed
		}
		for _, o := range object.Decode(name, data).Objects {
			if o = o.InNamespace(m.Template(o.Ref()).Namespace); IsBindingOf(path, o.Ref()) {
				found = append(found, o)
			}
		}
	}
	return found
}

// hasSome reports whether a published tree has something of what a release rendered to.
func (s *State) hasSome(built *files.Folder, m *virtual.Mapping, release object.Ref) bool {
	return slices.ContainsFunc(s.Releases, func(r Release) bool {
		return r.Release == release && r.Cluster == "" && slices.ContainsFunc(r.Objects, func(o object.Ref) bool {
			_, ok := built.Lookup(tree.Path(m.Ref(o)))
			return ok
		})
	})
}
