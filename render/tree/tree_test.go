package tree

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

func manifest(r object.Ref, content string) Manifest {
	return Manifest{Ref: r, Blob: files.NewBlob([]byte(content))}
}

func build(b *Builder, ms ...Manifest) *files.Folder {
	slices.SortFunc(ms, func(a, b Manifest) int { return a.Ref.Compare(b.Ref) })
	f, err := b.LayOut(ms).Tree(Flux{})
	if err != nil {
		panic(err)
	}
	return f
}

func paths(f *files.Folder) []string {
	var out []string
	for p := range f.All() {
		out = append(out, p)
	}
	return out
}

func TestPath(t *testing.T) {
	for _, tt := range []struct {
		ref  object.Ref
		want string
	}{
		{object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, "manifests/shop/deployment.apps/web.yaml"},
		{object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a.b"}, "manifests/shop/configmap/a.b.yaml"},
		{object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "view"}, "manifests/_cluster/clusterrole.rbac.authorization.k8s.io/view.yaml"},
		{object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "system:Foo"}, "manifests/_cluster/clusterrole.rbac.authorization.k8s.io/system-foo-470679b0f5.yaml"},
		{object.Ref{Kind: "Service", Namespace: "x", Name: "con"}, "manifests/x/service/con-"},
		{object.Ref{Kind: "Service", Namespace: "x", Name: "kustomization"}, "manifests/x/service/kustomization-"},
		{object.Ref{Kind: "Service", Namespace: "con", Name: "a"}, "manifests/con-"},
		{object.Ref{Kind: "Service", Namespace: "x", Name: "con.a"}, "manifests/x/service/con.a-"},
		{object.Ref{Kind: "Service", Namespace: "x", Name: "com0"}, "manifests/x/service/com0-"},
		{object.Ref{Kind: "Service", Namespace: "x", Name: "lpt9.b"}, "manifests/x/service/lpt9.b-"},
		{object.Ref{Kind: "Service", Namespace: "x", Name: "com10"}, "manifests/x/service/com10.yaml"},
		{object.Ref{Kind: "Service", Namespace: "x", Name: "coma"}, "manifests/x/service/coma.yaml"},
		{object.Ref{Kind: "Service", Namespace: "x", Name: "com-"}, "manifests/x/service/com-"},
		{object.Ref{Kind: "Service", Namespace: "x", Name: "usb1"}, "manifests/x/service/usb1.yaml"},
		{object.Ref{Kind: "Service", Namespace: "x", Name: "a.-b"}, "manifests/x/service/a.-b.yaml"},
		{object.Ref{Kind: "Service", Namespace: "x", Name: ".a."}, "manifests/x/service/a-"},
		{object.Ref{Kind: "Service", Namespace: "x", Name: "AZ.az_09"}, "manifests/x/service/az.az-09-"},
		{object.Ref{Kind: "Service", Namespace: "x", Name: strings.Repeat("x", maxName)}, "manifests/x/service/" + strings.Repeat("x", maxName) + ".yaml"},
		{object.Ref{Kind: "Service", Namespace: "x", Name: strings.Repeat("x", maxName+1)}, "manifests/x/service/" + strings.Repeat("x", 100) + "-"},
	} {
		if got := Path(tt.ref); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s stands at %s, want %s", tt.ref, got, tt.want)
		}
	}
	seen := map[string]string{}
	for _, name := range []string{"a:b", "a-b", "A:b", "a.b", "a/b", "ä", "ö", strings.Repeat("x", 250), strings.Repeat("x", 251), "com1", "COM1", "-", "."} {
		p := strings.ToLower(Path(object.Ref{Kind: "K", Name: name}))
		if other, ok := seen[p]; ok {
			t.Errorf("%q and %q are one file for some file systems: %s", name, other, p)
		}
		seen[p] = name
	}
}

func TestBuild(t *testing.T) {
	f := build(NewBuilder(),
		manifest(object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, "w"),
		manifest(object.Ref{Kind: "Namespace", Name: "shop"}, "n"))
	want := []string{".gitattributes", "kustomization.yaml", "manifests/_cluster/namespace/shop.yaml", "manifests/shop/deployment.apps/web.yaml"}
	if d := cmp.Diff(want, paths(f)); d != "" {
		t.Error(d)
	}
	e, _ := f.Lookup("kustomization.yaml")
	data, _ := e.Blob.Bytes()
	wantK := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- manifests/_cluster/namespace/shop.yaml\n- manifests/shop/deployment.apps/web.yaml\n"
	if d := cmp.Diff(wantK, string(data)); d != "" {
		t.Error(d)
	}
}

func TestEqualClustersShareOneTree(t *testing.T) {
	b := NewBuilder()
	web := manifest(object.Ref{Kind: "Service", Namespace: "a", Name: "web"}, "w")
	one := build(b, web, manifest(object.Ref{Kind: "Secret", Namespace: "a", Name: "s"}, "1"))
	same := build(b, manifest(object.Ref{Kind: "Secret", Namespace: "a", Name: "s"}, "1"), web)
	other := build(b, web, manifest(object.Ref{Kind: "Secret", Namespace: "a", Name: "s"}, "2"))
	if one != same {
		t.Error("equal trees are two")
	}
	x, _ := one.Lookup("manifests/a/service")
	y, _ := other.Lookup("manifests/a/service")
	if x.Dir == nil || x.Dir != y.Dir {
		t.Error("an equal folder of different trees is two")
	}
}

func published(t *testing.T, built *files.Folder, foreign map[string]files.Entry) Published {
	t.Helper()
	root, err := WithMetadata(built, Metadata{DrySHA: "abc", Version: "test"}, nil, foreign)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReadTellsForeignFilesFromOurs(t *testing.T) {
	built := build(NewBuilder(), manifest(object.Ref{Kind: "Service", Namespace: "a", Name: "web"}, "w"))
	blob := files.NewBlob([]byte("theirs"))
	foreign := map[string]files.Entry{}
	for _, p := range []string{"README.md", ".github/workflows/ci.yaml", "manifests/a/service/other.yaml", "manifests/new/x.yaml"} {
		foreign[p] = files.FileEntry(p[strings.LastIndex(p, "/")+1:], blob)
	}
	if p := published(t, built, nil); p.Built.ID() != built.ID() || p.Edited || len(p.Foreign) > 0 || p.Metadata.DrySHA != "abc" {
		t.Errorf("our own tree is read as %+v", p)
	}
	p := published(t, built, foreign)
	if p.Built.ID() != built.ID() || p.Edited {
		t.Error("with foreign files, ours are not read as they were written")
	}
	if d := cmp.Diff(slices.Sorted(mapsKeys(foreign)), slices.Sorted(mapsKeys(p.Foreign))); d != "" {
		t.Error(d)
	}
	next := build(NewBuilder(), manifest(object.Ref{Kind: "Service", Namespace: "a", Name: "next"}, "n"))
	if q := published(t, next, p.Foreign); q.Built.ID() != next.ID() || len(q.Foreign) != len(foreign) {
		t.Error("foreign files did not survive the next tree")
	}
}

// TestAPromoterCanReadABranch holds hydrator.metadata against how Argo CD's GitOps Promoter reads
// it: as JSON at the root of the branch, with these fields.
func TestAPromoterCanReadABranch(t *testing.T) {
	built := build(NewBuilder(), manifest(object.Ref{Kind: "Service", Namespace: "a", Name: "web"}, "w"))
	theirs := map[string]files.Entry{hydratorFile: files.FileEntry(hydratorFile, files.NewBlob([]byte("of another hydrator")))}
	root, err := WithMetadata(built, Metadata{DrySHA: "0123456789abcdef0123456789abcdef01234567", RepoURL: "https://git.example.com/acme/fleet.git"}, nil, theirs)
	if err != nil {
		t.Fatal(err)
	}
	var hydrator struct {
		RepoURL string `json:"repoURL"`
		DrySha  string `json:"drySha"`
	}
	e, _ := root.Lookup("hydrator.metadata")
	data, err := e.Blob.Bytes()
	if err != nil || json.Unmarshal(data, &hydrator) != nil || hydrator.DrySha != "0123456789abcdef0123456789abcdef01234567" || hydrator.RepoURL != "https://git.example.com/acme/fleet.git" {
		t.Errorf("a promoter reads %+v of %s, %v", hydrator, data, err)
	}
	// A branch that was written before there was the file is as it was written, and so is one
	// that has it: neither is a reason to write.
	for name, branch := range map[string]*files.Folder{"with": root, "without": without(root, hydratorFile)} {
		if p, err := Read(branch); err != nil || p.Edited || p.Built.ID() != built.ID() || len(p.Foreign) > 0 {
			t.Errorf("a branch %s the file is read as %+v, %v", name, p, err)
		}
	}
	// There is nothing to promote of what is made from no commit.
	if root, err = WithMetadata(built, Metadata{}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, ok := root.Lookup("hydrator.metadata"); ok {
		t.Error("what is made from a folder names a commit")
	}
}

func mapsKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func TestReadNoticesEdits(t *testing.T) {
	built := build(NewBuilder(), manifest(object.Ref{Kind: "Service", Namespace: "a", Name: "web"}, "w"))
	root, err := WithMetadata(built, Metadata{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	edited := Overlay(without(root, "manifests"), map[string]files.Entry{"manifests/a/service/web.yaml": files.FileEntry("web.yaml", files.NewBlob([]byte("edited")))})
	p, err := Read(edited)
	if err != nil || !p.Edited {
		t.Errorf("an edited file of ours is not noticed: %+v, %v", p, err)
	}
	for _, text := range []string{"", "{}", `{"tree": ""}`, "<<<<<<< mine"} { // what is written of the files
		p, err = Read(Overlay(without(root, MetadataFile), map[string]files.Entry{MetadataFile: files.FileEntry(MetadataFile, files.NewBlob([]byte(text)))}))
		if err != nil || !p.Edited || p.Built.ID() != built.ID() {
			t.Errorf("that %s was edited to %q is not noticed: %+v, %v", MetadataFile, text, p, err)
		}
	}
	p, err = Read(files.NewFolder([]files.Entry{files.FileEntry("index.html", files.NewBlob(nil))}))
	if err != nil || p.Built != nil || len(p.Foreign) != 1 {
		t.Errorf("a branch of somebody else is taken for ours: %+v, %v", p, err)
	}
}

// Of a branch that somebody edited, the file about services is ours still, so that it goes when nothing is exchanged any longer.
func TestServicesAreOurs(t *testing.T) {
	services := files.FileEntry(ServicesFile, files.NewBlob([]byte("{}\n")))
	built := Overlay(build(NewBuilder(), manifest(object.Ref{Kind: "Service", Namespace: "a", Name: "web"}, "w")), map[string]files.Entry{ServicesFile: services})
	root, err := WithMetadata(built, Metadata{DrySHA: "c1"}, nil, map[string]files.Entry{"NOTES": files.FileEntry("NOTES", files.NewBlob([]byte("mine")))})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	if _, isOurs := p.Built.Lookup(ServicesFile); !isOurs || len(p.Foreign) != 1 {
		t.Errorf("ours are %v, and foreign are %v", paths(p.Built), p.Foreign)
	}
}

// TestWhatIsInATree holds what others ask of one: its Namespaces, and the workloads that its root lists.
func TestWhatIsInATree(t *testing.T) {
	at := func(group, kind, namespace, name string) Manifest {
		text := "apiVersion: " + strings.TrimPrefix(group+"/v1", "/") + "\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n"
		if namespace != "" {
			text += "  namespace: " + namespace + "\n"
		}
		return manifest(object.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}, text)
	}
	f := build(NewBuilder(), at("", "Namespace", "", "shop"), at("", "Namespace", "", "base"), at("", "ConfigMap", "shop", "c"), at("apps", "Deployment", "shop", "web"),
		at("apps", "StatefulSet", "", "db"), at("apps", "ReplicaSet", "shop", "r"), at("example.com", "DaemonSet", "shop", "d"))
	if d := cmp.Diff([]object.Ref{{Kind: "Namespace", Name: "base"}, {Kind: "Namespace", Name: "shop"}}, Namespaces(f)); d != "" {
		t.Error(d)
	}
	got, err := (&Published{Built: f}).RootedWorkloads()
	want := []map[string]any{
		{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db"},
		{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "shop"},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	for _, none := range []*files.Folder{nil, files.NewFolder(nil), build(NewBuilder(), at("", "ConfigMap", "shop", "c"))} {
		if all := Namespaces(none); all != nil {
			t.Errorf("Namespaces of a tree without are %v", all)
		}
	}
	empty, _ := build(NewBuilder()).Lookup("kustomization.yaml")
	if data, err := empty.Blob.Bytes(); err != nil || !strings.HasSuffix(string(data), "\nresources: []\n") {
		t.Errorf("an empty tree lists %q, %v", data, err)
	}
}
