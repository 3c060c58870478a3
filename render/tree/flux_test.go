package tree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

func sync(form string) fluxsync.Sync {
	s := fluxsync.Default()
	s.Form = form
	out, _ := s.For("eu-1", nil)
	return out
}

func configMaps(namespace string, n int) []Manifest {
	var ms []Manifest
	for i := range n {
		ms = append(ms, manifest(object.Ref{Kind: "ConfigMap", Namespace: namespace, Name: fmt.Sprintf("c%05d", i)}, "x"))
	}
	return ms
}

func namespaceManifest(name string) Manifest {
	return manifest(object.Ref{Kind: "Namespace", Name: name}, "n "+name)
}

// grow builds the tree after another one.
func grow(t *testing.T, form string, before *files.Folder, groups ...[]Manifest) *files.Folder {
	t.Helper()
	ms := slices.Concat(groups...)
	slices.SortFunc(ms, func(a, b Manifest) int { return a.Ref.Compare(b.Ref) })
	f, err := NewBuilder().LayOut(ms).Tree(Flux{Sync: sync(form), Before: Published{Built: before}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// places says what lists each manifest: a part, or "".
func places(t *testing.T, f *files.Folder) map[string]string {
	t.Helper()
	at, err := placesOf(f)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for path, c := range at {
		out[path] = c.Part
	}
	return out
}

// counts says how many manifests each kustomization lists, the root as "".
func counts(t *testing.T, f *files.Folder) map[string]int {
	t.Helper()
	n := map[string]int{}
	for _, part := range places(t, f) {
		n[part]++
	}
	return n
}

func text(t *testing.T, f *files.Folder, path string) string {
	t.Helper()
	e, ok := f.Lookup(path)
	if !ok || e.Blob == nil {
		t.Fatalf("there is no %s", path)
	}
	data, err := e.Blob.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestOneRootUpToTwoThousand(t *testing.T) {
	f := grow(t, "", nil, []Manifest{namespaceManifest("a")}, configMaps("a", 1999))
	if _, ok := f.Lookup("flux"); ok {
		t.Error("2,000 manifests are divided")
	}
	if n := counts(t, f); n[""] != 2000 || len(n) != 1 {
		t.Errorf("the root does not list all: %v", n)
	}
}

func TestAboveTwoThousandTheRootHasDefinitionsAndParts(t *testing.T) {
	crd := manifest(object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "x.y"}, "crd")
	role := manifest(object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "r"}, "role")
	f := grow(t, "", nil, []Manifest{namespaceManifest("a"), namespaceManifest("b"), namespaceManifest("large"), crd, role},
		configMaps("a", 900), configMaps("b", 900), configMaps("large", 4500))
	n := counts(t, f)
	if n[""] != 4 || n["part.1"] != 1801 || n["part.2"] != 2000 || n["part.3"] != 2000 || n["part.4"] != 500 {
		t.Errorf("divided into %v", n)
	}
	want := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n" +
		"- manifests/_cluster/customresourcedefinition.apiextensions.k8s.io/x.y.yaml\n" +
		"- manifests/_cluster/namespace/a.yaml\n- manifests/_cluster/namespace/b.yaml\n- manifests/_cluster/namespace/large.yaml\n" +
		"- flux/part.1.yaml\n- flux/part.2.yaml\n- flux/part.3.yaml\n- flux/part.4.yaml\n"
	if got := text(t, f, "kustomization.yaml"); got != want {
		t.Errorf("the root is\n%s", got)
	}
	if got := text(t, f, "flux/part.1/kustomization.yaml"); !strings.Contains(got, "\nresources:\n- ../../manifests/_cluster/clusterrole.rbac.authorization.k8s.io/r.yaml\n- ../../manifests/a/configmap/c00000.yaml\n") {
		t.Errorf("a part is\n%.300s", got)
	}
	child := text(t, f, "flux/part.2.yaml")
	for _, want := range []string{"name: waybill-eu-1.part.2\n", "namespace: flux-system\n", "path: ./flux/part.2\n", "prune: true\n", "retryInterval: 1m\n", "dependsOn:\n  - name: waybill-eu-1\n"} {
		if !strings.Contains(child, want) {
			t.Errorf("a child lacks %q:\n%s", want, child)
		}
	}
	if p, err := (&Published{Built: f}).Paths(); err != nil || len(p) != 6305 {
		t.Errorf("read back: %d paths, %v", len(p), err)
	}
}

func TestNothingMovesWhenABranchGrows(t *testing.T) {
	small := grow(t, "", nil, []Manifest{namespaceManifest("a")}, configMaps("a", 1990))
	large := grow(t, "", small, []Manifest{namespaceManifest("a"), namespaceManifest("b")}, configMaps("a", 1995), configMaps("b", 100))
	if n := counts(t, large); n[""] != 1997 || n["part.1"] != 100 {
		t.Errorf("divided into %v", n)
	}
	back := grow(t, "", large, []Manifest{namespaceManifest("a"), namespaceManifest("b")}, configMaps("a", 10))
	if n := counts(t, back); n[""] != 12 || len(n) != 1 {
		t.Errorf("what is left: %v", n)
	}
	if !strings.Contains(text(t, back, "kustomization.yaml"), "- flux/part.1.yaml\n") || !strings.Contains(text(t, back, "flux/part.1/kustomization.yaml"), "generatorOptions:") {
		t.Error("a part that has nothing left is gone; Flux would not prune by it")
	}
}

// TestWhatIsNewGoesToItsNamespace holds where a manifest is listed that a branch did not have: where its namespace began, if
// there is room.
func TestWhatIsNewGoesToItsNamespace(t *testing.T) {
	roles := func(names ...string) (ms []Manifest) {
		for _, name := range names {
			ms = append(ms, manifest(object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: name}, "role"))
		}
		return ms
	}
	definitions := []Manifest{namespaceManifest("a"), namespaceManifest("b")}
	before := grow(t, fluxsync.FormSplit, nil, definitions, roles("r"), configMaps("a", 1500), configMaps("b", 1500))
	if n := counts(t, before); n[""] != 2 || n["part.1"] != 1501 || n["part.2"] != 1500 {
		t.Fatalf("divided into %v", n)
	}
	for _, tt := range []struct {
		name   string
		groups [][]Manifest
		want   map[string]int
	}{
		{"of the second part", [][]Manifest{roles("r"), configMaps("a", 1500), configMaps("b", 1600)}, map[string]int{"": 2, "part.1": 1501, "part.2": 1600}},
		{"of the second part, which is full", [][]Manifest{roles("r"), configMaps("a", 1500), configMaps("b", 2100)}, map[string]int{"": 2, "part.1": 1501, "part.2": 1500, "part.3": 600}},
		{"of a new namespace", [][]Manifest{roles("r"), configMaps("a", 1500), configMaps("b", 1500), configMaps("c", 100)}, map[string]int{"": 2, "part.1": 1601, "part.2": 1500}},
		{"of none, not where definitions are", [][]Manifest{roles("r", "s"), configMaps("a", 1500), configMaps("b", 1500)}, map[string]int{"": 2, "part.1": 1502, "part.2": 1500}},
	} {
		for _, form := range []string{fluxsync.FormSplit, fluxsync.FormRoot} {
			got := counts(t, grow(t, form, before, append(tt.groups, definitions)...))
			if !maps.Equal(got, tt.want) {
				t.Errorf("%s, with form %q: divided into %v, want %v", tt.name, form, got, tt.want)
			}
		}
	}
}

func TestWhatIsBackIsWhereItWas(t *testing.T) {
	all := [][]Manifest{{namespaceManifest("a"), namespaceManifest("b")}, configMaps("a", 1500), configMaps("b", 300)}
	large := grow(t, "", grow(t, "", nil, all...), append(all, configMaps("c", 500))...)
	gone := grow(t, "", large, all[0], all[1], configMaps("c", 500))
	if back := grow(t, "", gone, append(all, configMaps("c", 500))...); back.ID() != large.ID() {
		t.Errorf("before %v, after %v", counts(t, large), counts(t, back))
	}
}

// TestDividingIsStable walks at random: whatever comes and goes, a manifest stays in the
// kustomization that lists it, none has more than 2,000 but by its own history, all are
// listed once, and building again changes nothing.
func TestDividingIsStable(t *testing.T) {
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var before *files.Folder
		for range 6 {
			var groups [][]Manifest
			total := 0
			for _, ns := range []string{"a", "b", "c", "d"} {
				if n := rnd.IntN(1500); n > 300 {
					groups = append(groups, configMaps(ns, n), []Manifest{namespaceManifest(ns)})
					total += n + 1
				}
			}
			f := grow(t, "", before, groups...)
			now := places(t, f)
			if len(now) != total {
				t.Fatalf("seed %d: %d of %d manifests are listed", seed, len(now), total)
			}
			if before != nil {
				was := places(t, before)
				for path, part := range now {
					if old, ok := was[path]; ok && old != part {
						t.Fatalf("seed %d: %s went from %q to %q", seed, path, old, part)
					}
				}
			}
			for part, n := range counts(t, f) {
				if n > fluxsync.MaxObjects {
					t.Fatalf("seed %d: %q lists %d", seed, part, n)
				}
			}
			if again := grow(t, "", f, groups...); again.ID() != f.ID() {
				t.Fatalf("seed %d: building again changes the tree", seed)
			}
			before = f
		}
	}
}

func TestFormsThatMoveManifestsSaySo(t *testing.T) {
	some := configMaps("a", 30)
	root := grow(t, "", nil, some)
	for _, tt := range []struct {
		name, form string
		before     *files.Folder
		parts      int // manifests in parts
		handover   string
	}{
		{"a new branch is split at once", fluxsync.FormSplit, nil, 30, ""},
		{"a root that is split gives all", fluxsync.FormSplit, root, 30, "30 objects would leave the root"},
		{"what goes from a root that is split does not move", fluxsync.FormSplit, grow(t, "", nil, some, configMaps("b", 5)), 30, "30 objects would leave the root"},
		{"what is split stays so", fluxsync.FormSplit, grow(t, fluxsync.FormSplit, nil, some), 30, ""},
		{"and with another form as well", fluxsync.FormRoot, grow(t, fluxsync.FormSplit, nil, some), 30, ""},
		{"parts go back to the root", fluxsync.FormSingle, grow(t, fluxsync.FormSplit, nil, some), 0, "30 objects would go back to the root"},
		{"and what goes from parts does not move", fluxsync.FormSingle, grow(t, fluxsync.FormSplit, nil, some, configMaps("b", 5)), 0, "30 objects would go back to the root"},
		{"but freely once they are orphans", fluxsync.FormSingle, grow(t, fluxsync.FormOrphan, grow(t, fluxsync.FormSplit, nil, some), some), 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := grow(t, tt.form, tt.before, some)
			why, err := Flux{Sync: sync(tt.form), Before: Published{Built: tt.before}}.Handover(f)
			if got := 30 - counts(t, f)[""]; got != tt.parts || !strings.HasPrefix(why, tt.handover) || (why == "") != (tt.handover == "") || err != nil {
				t.Errorf("%d manifests in parts, handed over: %q, %v; want %d and %q", got, why, err, tt.parts, tt.handover)
			}
		})
	}
	orphan := grow(t, fluxsync.FormOrphan, grow(t, fluxsync.FormSplit, nil, some), some)
	if !strings.Contains(text(t, orphan, "flux/part.1.yaml"), "deletionPolicy: Orphan\n") {
		t.Error("an orphan's child has no deletionPolicy")
	}
}

func TestAChildKeepsItsNamespace(t *testing.T) {
	some := configMaps("a", 30)
	before := grow(t, fluxsync.FormSplit, nil, some)
	moved := sync(fluxsync.FormRoot)
	moved.Namespace = "fleet"
	f, err := NewBuilder().LayOut(some).Tree(Flux{Sync: moved, Before: Published{Built: before}})
	if err != nil {
		t.Fatal(err)
	}
	child := text(t, f, "flux/part.1.yaml")
	if !strings.Contains(child, "  name: waybill-eu-1.part.1\n  namespace: flux-system\n") || strings.Count(child, "namespace: fleet\n") != 2 {
		t.Errorf("the child is another object, or finds its source no more:\n%s", child)
	}
}

func TestChildrenDecryptWhereSomethingIsEncrypted(t *testing.T) {
	secret := manifest(object.Ref{Kind: "Secret", Namespace: "a", Name: "s"}, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  p: ENC[AES256_GCM,data:x]\nsops:\n  mac: ENC[AES256_GCM,data:x]\n  version: 3.9.0\n")
	plain := manifest(object.Ref{Kind: "Secret", Namespace: "a", Name: "p"}, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: p\n")
	if f := grow(t, fluxsync.FormSplit, nil, []Manifest{plain}); strings.Contains(text(t, f, "flux/part.1.yaml"), "decryption") {
		t.Error("there is nothing to decrypt, and a Secret that is not there would be asked for")
	}
	f := grow(t, fluxsync.FormSplit, nil, []Manifest{plain, secret})
	if child := text(t, f, "flux/part.1.yaml"); !strings.Contains(child, "decryption:\n    provider: sops\n    secretRef:\n      name: sops-age\n") {
		t.Errorf("the child does not decrypt:\n%s", child)
	}
	if !NewBuilder().Encrypted(f) || NewBuilder().Encrypted(grow(t, "", nil, []Manifest{plain})) {
		t.Error("what SOPS encrypted is not told from the rest")
	}
}

// folders is a branch in the form before: the tree of today, with a folder for each name.
func folders(t *testing.T, f *files.Folder, names ...string) *files.Folder {
	t.Helper()
	own := maps.Collect(f.All())
	for _, name := range names {
		own["flux/"+name+"/kustomization.yaml"] = files.FileEntry("kustomization.yaml", files.NewBlob([]byte(nothing)))
	}
	return Overlay(files.NewFolder(nil), own)
}

func TestFoldersStayUntilAFormIsSet(t *testing.T) {
	before := folders(t, grow(t, "", nil, configMaps("a", 1)), "a", "gone")
	now := [][]Manifest{configMaps("a", 1), configMaps("b", 2500)}
	f := grow(t, "", before, now...)
	for ns, want := range map[string]string{"a": "- ../../manifests/a/configmap/c00000.yaml\n", "b": "- ../../manifests/b/configmap/c00000.yaml\n", "gone": "generatorOptions:"} {
		if got := text(t, f, "flux/"+ns+"/kustomization.yaml"); !strings.Contains(got, want) {
			t.Errorf("flux/%s: %.200q", ns, got)
		}
	}
	if n := counts(t, f); n[""] != 2501 {
		t.Errorf("the root does not list all: %v", n)
	}
	flux := Flux{Sync: sync(""), Before: Published{Built: before}}
	if got := flux.NewFolders(f); !slices.Equal(got, []string{"b"}) {
		t.Errorf("new folders: %v", got)
	}
	root := grow(t, fluxsync.FormRoot, before, now...)
	if p := (Published{Built: root}); len(p.Folders()) > 0 {
		t.Errorf("with a form, the folders stay: %v", p.Folders())
	}
	if n := counts(t, root); n[""] != 501 || n["part.1"] != 2000 {
		t.Errorf("what the root listed stays there, what is new is divided; got %v", n)
	}
	if all := grow(t, fluxsync.FormRoot, f, now...); counts(t, all)[""] != 2501 {
		t.Errorf("what the root listed went to parts: %v", counts(t, all))
	}
}

func TestABranchWithPartsIsReadBack(t *testing.T) {
	built := grow(t, fluxsync.FormSplit, nil, configMaps("a", 3))
	foreign := map[string]files.Entry{"manifests/a/configmap/theirs.yaml": files.FileEntry("theirs.yaml", files.NewBlob([]byte("theirs")))}
	if p := published(t, built, foreign); p.Edited || p.Built.ID() != built.ID() || len(p.Foreign) != 1 {
		t.Errorf("with a foreign file: edited %v, foreign %v", p.Edited, p.Foreign)
	}
	root, err := WithMetadata(built, Metadata{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	flux, _ := root.Lookup("flux")
	edited := Overlay(without(root, "flux"), map[string]files.Entry{"flux": files.DirEntry("flux", without(flux.Dir, "part.1.yaml"))})
	p, err := Read(edited)
	if err != nil || !p.Edited || len(p.Foreign) > 0 {
		t.Errorf("a child that somebody removed: edited %v, foreign %v, %v", p.Edited, p.Foreign, err)
	}
	if again, err := NewBuilder().LayOut(configMaps("a", 3)).Tree(Flux{Sync: sync(""), Before: p}); err != nil || again.ID() != built.ID() {
		t.Errorf("it is not written again: %v", err)
	}
}

// unreadable is a tree of which the bytes of one file cannot be had.
func unreadable(t *testing.T, f *files.Folder, path string) *files.Folder {
	t.Helper()
	own := maps.Collect(f.All())
	e, ok := own[path]
	if !ok {
		t.Fatalf("there is no %s", path)
	}
	e.Blob = files.StoredBlob(e.Blob.ID(), func(files.ID) ([]byte, error) { return nil, files.ErrMissing })
	own[path] = e
	return Overlay(files.NewFolder(nil), own)
}

// TestWhatCannotBeReadIsNotTakenForNothing holds that each question to a branch whose kustomizations cannot be had is an error: else
// what they list would be divided anew, and lost.
func TestWhatCannotBeReadIsNotTakenForNothing(t *testing.T) {
	some := configMaps("a", 30)
	built := grow(t, fluxsync.FormSplit, nil, some)
	asked := map[string]func(f *files.Folder) error{
		"its manifests": func(f *files.Folder) error { _, err := (&Published{Built: f}).Paths(); return err },
		"the next tree": func(f *files.Folder) error {
			_, err := NewBuilder().LayOut(some).Tree(Flux{Sync: sync(fluxsync.FormSplit), Before: Published{Built: f}})
			return err
		},
		"what moves": func(f *files.Folder) error {
			_, err := Flux{Sync: sync(fluxsync.FormSingle), Before: Published{Built: f}}.Handover(built)
			return err
		},
		"what moves to it": func(f *files.Folder) error {
			_, err := Flux{Sync: sync(fluxsync.FormSingle), Before: Published{Built: built}}.Handover(f)
			return err
		},
		"what is lost": func(f *files.Folder) error {
			_, err := (&Published{Built: f}).Lost(files.NewFolder(nil), "keep", "yes")
			return err
		},
		"what is rooted": func(f *files.Folder) error { _, err := (&Published{Built: f}).RootedWorkloads(); return err },
	}
	for path, passed := range map[string][]string{
		"kustomization.yaml":                      nil,
		"flux/part.1/kustomization.yaml":          {"what is rooted"},
		"flux/part.1.yaml":                        {"what is rooted"},
		"manifests/a/configmap/c00000.yaml":       {"its manifests", "the next tree", "what moves", "what moves to it", "what is rooted"},
		"manifests/apps/deployment.apps/web.yaml": {"its manifests", "the next tree", "what moves", "what moves to it"},
	} {
		broken := built
		if strings.Contains(path, "deployment") {
			web := manifest(object.Ref{Group: "apps", Kind: "Deployment", Namespace: "apps", Name: "web"}, "w")
			broken = grow(t, fluxsync.FormSingle, nil, []Manifest{web})
		}
		broken = unreadable(t, broken, path)
		for what, ask := range asked {
			if err := ask(broken); (err == nil) != slices.Contains(passed, what) {
				t.Errorf("without %s, %s: %v", path, what, err)
			}
		}
	}
	root, err := WithMetadata(built, Metadata{DrySHA: "abc"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := Read(unreadable(t, root, MetadataFile)); err == nil {
		t.Errorf("a branch whose %s cannot be had is read as %+v", MetadataFile, p)
	}
}

// Whether a layout was used before, by which clusters and after which history of their branches,
// changes no tree.
func TestClustersOfOneLayoutAreAsIfAlone(t *testing.T) {
	some := slices.Concat(configMaps("a", 1500), configMaps("b", 1500))
	elsewhere := sync(fluxsync.FormSplit)
	elsewhere.Namespace = "fleet"
	inFleet, err := NewBuilder().LayOut(some).Tree(Flux{Sync: elsewhere})
	if err != nil {
		t.Fatal(err)
	}
	histories := []*files.Folder{
		inFleet,
		nil,
		grow(t, fluxsync.FormSplit, nil, some),
		grow(t, fluxsync.FormSplit, nil, configMaps("b", 10)),
		grow(t, fluxsync.FormSplit, nil, configMaps("a", 10)),
		grow(t, "", nil, configMaps("b", 10)),
		grow(t, fluxsync.FormOrphan, grow(t, fluxsync.FormSplit, nil, some), some),
	}
	layout, alone := NewBuilder().LayOut(some), map[string]files.ID{}
	for range 2 {
		for i, before := range histories {
			for _, form := range []string{"", fluxsync.FormRoot, fluxsync.FormSplit, fluxsync.FormOrphan, fluxsync.FormSingle} {
				for cluster, namespace := range map[string]string{"eu-1": "flux-system", "us-1": "flux-system", "ap-1": "fleet"} {
					f := Flux{Sync: sync(form), Before: Published{Built: before}}
					f.Sync.Cluster, f.Sync.Namespace = cluster, namespace
					got, err := layout.Tree(f)
					if err != nil {
						t.Fatal(err)
					}
					name := fmt.Sprintf("%s after history %d with form %q", cluster, i, form)
					if _, known := alone[name]; !known {
						tree, err := NewBuilder().LayOut(some).Tree(f)
						if err != nil {
							t.Fatal(err)
						}
						alone[name] = tree.ID()
					}
					if got.ID() != alone[name] {
						t.Errorf("%s is another tree than alone", name)
					}
				}
			}
		}
	}
}

func TestClustersShareWhatTheirPartsList(t *testing.T) {
	layout := NewBuilder().LayOut(configMaps("a", 2500))
	var lists []files.Entry
	for _, cluster := range []string{"eu-1", "us-1"} {
		f := Flux{Sync: sync("")}
		f.Sync.Cluster = cluster
		built, err := layout.Tree(f)
		if err != nil {
			t.Fatal(err)
		}
		root, _ := built.Lookup("kustomization.yaml")
		part, _ := built.Lookup("flux/part.1")
		lists = append(lists, root, part)
	}
	if lists[0].Blob == nil || lists[0] != lists[2] || lists[1].Dir == nil || lists[1] != lists[3] {
		t.Error("what lists the manifests is written for each cluster")
	}
}

func TestClustersShareTreesWithoutParts(t *testing.T) {
	for _, tt := range []struct {
		name    string
		form    string
		objects int
		shared  bool
	}{
		{"one root", "", 2000, true},
		{"above the limit", "", 2001, false},
		{"one root at any number", fluxsync.FormSingle, 2001, true},
		{"split", fluxsync.FormSplit, 1, false},
	} {
		one, other := sync(tt.form), sync(tt.form)
		other.Cluster = "us-1"
		if got := (Flux{Sync: one}).Key(tt.objects) == (Flux{Sync: other}).Key(tt.objects); got != tt.shared {
			t.Errorf("%s: shared is %v", tt.name, got)
		}
	}
}
