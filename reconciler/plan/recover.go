package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// recovery is what was made up for files of the state that cannot be read.
type recovery struct {
	refs  map[object.Ref]bool // whose bindings were made up
	diags []diag.Diagnostic
}

// recover makes up for files of the state that cannot be read. In the place of a binding
// it puts what is published: where the template is, and with how many replicas. Which
// policy sent it there, and why, is not known, so that the template stays in this plan as
// it is; what this plan writes can be read again.
func (in *Input) recover() {
	if len(in.State.Unreadable) == 0 || in.recovery.refs != nil {
		return
	}
	bindings := maps.Clone(in.State.Bindings)
	in.recovery = recovery{refs: map[object.Ref]bool{}}
	for _, u := range in.State.Unreadable {
		made := in.recoverBindings(u.Path)
		in.recovery.diags = append(in.recovery.diags, unreadableDiag(u, made))
		for _, rb := range made {
			r := state.TemplateRef(rb)
			bindings[r], in.recovery.refs[r] = rb, true
		}
	}
	in.State.Bindings = bindings
}

// unreadableDiag says that a file cannot be read, and which objects stay for that.
func unreadableDiag(u state.Unreadable, made []*karmada.ResourceBinding) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: "state-unreadable", Severity: diag.Warning,
		Message: fmt.Sprintf("%s on branch %s cannot be read: %s", u.Path, state.Branch, u.Reason),
		Hint:    fmt.Sprintf("git log -p %s -- %s shows what it was", state.Branch, u.Path),
	}
	if len(made) > 0 {
		refs := make([]string, len(made))
		for i, rb := range made {
			refs[i] = state.TemplateRef(rb).String()
		}
		d.Severity = diag.Error
		d.Message += fmt.Sprintf("; %s stays as it was last published", diag.List(refs))
		d.Hint = "publish again: what is published is its binding by then; " + d.Hint
	}
	return d
}

// recoverBindings returns the bindings that may have been in a file of the state.
func (in *Input) recoverBindings(path string) []*karmada.ResourceBinding {
	made := map[object.Ref]*karmada.ResourceBinding{}
	known := map[files.ID][]*object.Object{}
	for _, cluster := range slices.Sorted(maps.Keys(in.Published)) {
		for _, o := range manifestsFor(path, in.Published[cluster].Built, known) {
			if in.State.Bindings[o.Ref()] == nil {
				replicas, _, _, _ := interpret.New().Replicas(o.Content())
				recovered(made, o).Spec.Clusters = append(recovered(made, o).Spec.Clusters, karmada.TargetCluster{Name: cluster, Replicas: replicas})
			}
		}
	}
	for _, o := range in.Source.Objects {
		if flux.IsRelease(o) && state.IsBindingOf(path, o.Ref()) && in.State.Bindings[o.Ref()] == nil {
			for _, cluster := range in.clustersOf(o.Ref()) {
				recovered(made, o).Spec.Clusters = append(recovered(made, o).Spec.Clusters, karmada.TargetCluster{Name: cluster})
			}
		}
	}
	return slices.SortedFunc(maps.Values(made), func(x, y *karmada.ResourceBinding) int {
		return state.TemplateRef(x).Compare(state.TemplateRef(y))
	})
}

// recovered returns the binding that is being made of an object.
func recovered(made map[object.Ref]*karmada.ResourceBinding, o *object.Object) *karmada.ResourceBinding {
	r := o.Ref()
	if made[r] == nil {
		rb := &karmada.ResourceBinding{}
		rb.Name, rb.Namespace = state.BindingName(r), r.Namespace
		rb.Spec.Resource = karmada.ObjectReference{APIVersion: o.APIVersion(), Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		made[r] = rb
	}
	return made[r]
}

// manifestsFor returns the objects in a published tree that a binding at path may be of.
// Known is what was found in folders, which many clusters share.
func manifestsFor(path string, built *files.Folder, known map[files.ID][]*object.Object) []*object.Object {
	parts := strings.Split(path, "/")
	if built == nil || len(parts) != 3 {
		return nil
	}
	dir, _ := built.Lookup(tree.FolderOf(parts[1]))
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
			known[kind.Dir.ID()] = boundAt(path, kind.Dir)
		}
		found = append(found, known[kind.Dir.ID()]...)
	}
	return found
}

// boundAt returns the objects of a folder that a binding at path may be of.
func boundAt(path string, folder *files.Folder) []*object.Object {
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
			if state.IsBindingOf(path, o.Ref()) {
				found = append(found, o)
			}
		}
	}
	return found
}

// clustersOf returns the clusters that have something of what a release rendered to.
func (in *Input) clustersOf(release object.Ref) []string {
	var clusters []string
	for _, cluster := range slices.Sorted(maps.Keys(in.Published)) {
		built := in.Published[cluster].Built
		for _, r := range in.State.Releases {
			if built != nil && r.Release == release && r.Cluster == "" && slices.ContainsFunc(r.Objects, func(o object.Ref) bool {
				_, ok := built.Lookup(tree.Path(o))
				return ok
			}) {
				clusters = append(clusters, cluster)
			}
		}
	}
	return clusters
}
