package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// TestListsOfBindings: bindings that share lists of clusters, and of where their objects are not as decided, are written as they would be
// alone, and are read as they were, with lists that they share.
func TestListsOfBindings(t *testing.T) {
	clusters := []karmada.TargetCluster{{Name: "as"}, {Name: "eu", Replicas: 2}}
	left := []karmada.AggregatedStatusItem{
		{ClusterName: "as", Applied: true, AppliedMessage: "its turn: has not come", Reason: "WaitsForStage"}, {ClusterName: "eu", Reason: "Nowhere"},
	}
	cases := map[string]func(*karmada.ResourceBinding){
		"a": func(*karmada.ResourceBinding) {},
		"b": func(*karmada.ResourceBinding) {},
		"c": func(b *karmada.ResourceBinding) { b.Status.Conditions = nil },
		"d": func(b *karmada.ResourceBinding) { b.Spec.Clusters = nil },
		"e": func(b *karmada.ResourceBinding) { b.Status.AggregatedStatus = nil },
		"f": func(b *karmada.ResourceBinding) { b.Status.AggregatedStatus, b.Status.Conditions = nil, nil },
		"g": func(b *karmada.ResourceBinding) {
			b.Spec.Clusters, b.Spec.RequiredBy = nil, []karmada.BindingSnapshot{{Namespace: "shop", Name: "a", Clusters: clusters}}
		},
		"h": func(b *karmada.ResourceBinding) {
			b.Spec.Clusters, b.Spec.RequiredBy = nil, []karmada.BindingSnapshot{{Name: "a", Clusters: clusters}, {Name: "b", Clusters: clusters[:1]}}
		},
		"i": func(b *karmada.ResourceBinding) {
			b.Annotations["a"] = "\nspec:\n  clusters:\n  - name: us\n\nstatus:\n  aggregatedStatus:\n  - clusterName: us\n"
		},
	}
	all, want := []*karmada.ResourceBinding{}, map[object.Ref]*karmada.ResourceBinding{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		ref := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}
		b := binding(ref, "apps/v1")
		b.Spec.Clusters, b.Status.AggregatedStatus = clusters, left
		cases[name](b)
		all, want[ref] = append(all, b), b
	}
	bindings, err := encodeBindings(all, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		e, _ := bindings.Lookup("shop/" + b.Name + ".yaml")
		if alone, _ := encode(b); e.ID != files.Sum("blob", alone) {
			t.Errorf("%s is not written as it would be alone", b.Name)
		}
	}
	s, err := Decode(files.NewFolder([]files.Entry{files.FileEntry(formatFile, files.NewBlob([]byte(format))), files.DirEntry(bindingsDir, bindings)}), nil)
	if err != nil || len(s.Unreadable) > 0 {
		t.Fatal(err, s.Unreadable)
	}
	if d := cmp.Diff(want, s.Bindings); d != "" {
		t.Error(d)
	}
	if len(s.read) != len(all) {
		t.Errorf("%d of %d are read as Encode wrote them", len(s.read), len(all))
	}
	a, b := s.Bindings[TemplateRef(all[0])], s.Bindings[TemplateRef(all[1])]
	if &a.Spec.Clusters[0] != &b.Spec.Clusters[0] || &a.Status.AggregatedStatus[0] != &b.Status.AggregatedStatus[0] {
		t.Error("two bindings do not share their lists")
	}
}

// TestListsThatStandElsewhere: where somebody put a list that Encode puts elsewhere, it is read as YAML, or not at all.
func TestListsThatStandElsewhere(t *testing.T) {
	const head = "apiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\n"
	for _, tt := range []struct {
		text     string
		clusters int
		isError  bool
	}{
		{head + "metadata:\n  name: w\n  requiredBy:\n  - clusters:\n    - name: eu\n    name: x\nspec:\n  replicas: 1\n", 0, false},
		{head + "metadata:\n  name: w\nspec:\n  clusters:\n  - name: eu", 1, false},
		{head + "metadata:\n  name: w\nspec:\n  clusters:\n  - name: eu\n  -\n    name: us\n", 2, false},
		{head + "metadata:\n  name: w\nspec:\n  clusters:\n  - name: [\n", 0, true},
		{head + "metadata:\n  name: w\nspec:\n  clusters:\n", 0, false},
		{head + "metadata:\n  name: w\nstatus:\n  aggregatedStatus:\n  - clusterName: 7\n", 0, true},
	} {
		b, _, err := read{}.decode([]byte(tt.text))
		if (err != nil) != tt.isError || err == nil && len(b.Spec.Clusters) != tt.clusters {
			t.Errorf("%q: %+v, %v", tt.text, b.Spec, err)
		}
	}
}
