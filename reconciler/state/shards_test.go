package state

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// of returns content with so many templates in the namespace shop, and one in another.
func of(templates int) Content {
	in := Content{Bindings: []*karmada.ResourceBinding{binding(object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "small"}, "v1")}}
	for i := range templates {
		in.Bindings = append(in.Bindings, binding(object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprintf("c%05d", i)}, "v1"))
	}
	return in
}

// next encodes content after an earlier state, and reads what it encoded.
func next(t *testing.T, in Content, earlier *State) (*files.Folder, State) {
	t.Helper()
	folder, err := Encode(in, earlier, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Decode(folder, nil)
	if err != nil || len(s.Unreadable) > 0 {
		t.Fatal(err, s.Unreadable)
	}
	if len(s.Bindings) != len(in.Bindings) {
		t.Fatalf("%d bindings are read, want %d", len(s.Bindings), len(in.Bindings))
	}
	return folder, s
}

// A namespace is divided above a thousand files and joined below five hundred, and nothing of
// it is lost or written anew by that.
func TestANamespaceIsDivided(t *testing.T) {
	const one, many = "bindings/shop/c00000-configmap.yaml", "bindings/shop/f4/c00000-configmap.yaml"
	var earlier State
	for i, step := range []struct {
		templates int
		at        string
		format    string
	}{
		{1000, one, "2\n"}, {1001, many, "3\n"}, {1000, many, "3\n"}, {500, many, "3\n"}, {499, one, "2\n"}, {1000, one, "2\n"}, {3000, many, "3\n"},
	} {
		folder, s := next(t, of(step.templates), &earlier)
		e, ok := folder.Lookup(step.at)
		if !ok {
			t.Fatalf("step %d: with %d templates there is no %s", i, step.templates, step.at)
		}
		if _, ok := folder.Lookup("bindings/a/small-configmap.yaml"); !ok {
			t.Errorf("step %d: a small namespace moved", i)
		}
		if f, _ := folder.Lookup("format"); string(must(f.Blob.Bytes())) != step.format {
			t.Errorf("step %d: the format is not %q", i, step.format)
		}
		if again, _ := next(t, of(step.templates), &s); again.ID() != folder.ID() {
			t.Errorf("step %d: what is as it was is laid out in another way", i)
		}
		was := earlier.Bindings[object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "c00000"}]
		if was != nil && earlier.files[TemplateRef(was)].ID() != e.Blob.ID() {
			t.Errorf("step %d: the file is another one where it moved", i)
		}
		earlier = s
	}
}

// What was written before anything was divided is read, however many files a folder has.
func TestAFolderThatWasNeverDivided(t *testing.T) {
	folder, s := next(t, of(1000), nil)
	more := binding(object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "more"}, "v1")
	folder = with(folder, "bindings/shop/more-configmap.yaml", files.NewBlob(must(encode(more))))
	s, err := Decode(folder, &s)
	if err != nil || len(s.Unreadable) > 0 || len(s.Bindings) != 1002 {
		t.Fatalf("%v, unreadable are %q, and %d bindings are read", err, s.Unreadable, len(s.Bindings))
	}
	in := of(1000)
	in.Bindings = append(in.Bindings, more)
	divided, again := next(t, in, &s)
	if divided.ID() == folder.ID() || len(again.Bindings) != 1002 {
		t.Error("it is not divided when it is written again")
	}
}

// Where something is divided no folder has more entries than Git hosts recommend.
func TestFoldersAreBounded(t *testing.T) {
	folder, _ := next(t, of(50_000), nil)
	var bound func(path string, f *files.Folder)
	bound = func(path string, f *files.Folder) {
		if n := len(f.Entries()); n > 1000 {
			t.Errorf("%s has %d entries", path, n)
		}
		for _, e := range f.Entries() {
			if e.Dir != nil {
				bound(path+"/"+e.Name, e.Dir)
			}
		}
	}
	bound("", folder)
}

func TestReleasesAreDivided(t *testing.T) {
	var in Content
	for i := range 1001 {
		in.Releases = append(in.Releases, Release{Cluster: fmt.Sprintf("c%04d", i), Release: object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: "web"}})
	}
	folder, s := next(t, in, nil)
	if _, ok := folder.Lookup("releases/shop/" + shardOf("web-helmrelease.c0000.json") + "/web-helmrelease.c0000.json"); !ok || len(s.Releases) != 1001 {
		t.Errorf("%d releases are read", len(s.Releases))
	}
}

// A file of a divided folder that cannot be read costs only itself, and what is published makes
// up for it.
func TestAShardThatCannotBeRead(t *testing.T) {
	folder, sound := next(t, of(1001), nil)
	ref := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "c00000"}
	const path = "bindings/shop/f4/c00000-configmap.yaml"
	for at, blob := range map[string]*files.Blob{path: files.NewBlob([]byte("<<<<<<< ours")), "bindings/shop/f5/c00000-configmap.yaml": sound.files[ref]} {
		got, err := Decode(with(folder, at, blob), &sound)
		if err != nil || len(got.Unreadable) != 1 || got.Unreadable[0].Path != at {
			t.Errorf("%s: %v, unreadable are %q", at, err, got.Unreadable)
		}
		if at != path {
			continue
		}
		manifest := files.NewBlob([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c00000, namespace: shop}\n"))
		published := with(files.NewFolder(nil), tree.Path(ref), manifest)
		rec := got.Recover(map[string]tree.Published{"eu": {Built: published}}, nil)
		if b := got.Bindings[ref]; b == nil || len(b.Spec.Clusters) != 1 || b.Spec.Clusters[0].Name != "eu" || !rec.Refs[ref] {
			t.Errorf("its binding is made up as %+v", b)
		}
		if !strings.Contains(rec.Diags[0].String(), path+" on branch") {
			t.Errorf("it says %s", rec.Diags[0])
		}
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
