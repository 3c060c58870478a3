package layout

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// rows makes rows of "NAME CLUSTER:TEXT...", and the blobs that they name.
func rows(blobs *manifest.Blobs, lines ...string) (all []manifest.Row) {
	for _, line := range lines {
		f := strings.Fields(line)
		row := manifest.Row{Ref: object.Ref{Kind: "ConfigMap", Namespace: "a", Name: f[0]}}
		for _, want := range f[1:] {
			var cluster int32
			var text string
			if _, err := fmt.Sscanf(strings.ReplaceAll(want, ":", " "), "%d %s", &cluster, &text); err != nil {
				panic(err)
			}
			row.Wants = append(row.Wants, manifest.Want{Cluster: cluster, Blob: blobs.Add(files.NewBlob([]byte(text)))})
		}
		all = append(all, row)
	}
	return all
}

// text prints the manifests of a tree.
func text(t *testing.T, f *files.Folder) string {
	t.Helper()
	var all []string
	for path, e := range f.All() {
		if name, ok := strings.CutPrefix(path, tree.ManifestDir+"/a/configmap/"); ok {
			data, err := e.Blob.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, strings.TrimSuffix(name, ".yaml")+"="+string(data))
		}
	}
	return strings.Join(all, " ")
}

func TestTrees(t *testing.T) {
	var blobs manifest.Blobs
	in := Input{Rows: rows(&blobs, "x 0:one 1:one 2:two", "y 0:one 1:one", "z 2:one"), Blobs: &blobs, Flux: make([]tree.Flux, 4)}
	trees := Trees(in)
	for i, want := range []string{"x=one y=one", "x=one y=one", "x=two z=one", ""} {
		if got := text(t, trees[i].Folder); got != want || trees[i].Objects != strings.Count(want, "=") {
			t.Errorf("cluster %d holds %q, %d objects, want %q", i, got, trees[i].Objects, want)
		}
	}
	if trees[0].Folder != trees[1].Folder {
		t.Error("clusters that hold the same have two trees")
	}
}

func TestWhatIsLeftStandsInstead(t *testing.T) {
	var blobs manifest.Blobs
	in := Input{Rows: rows(&blobs, "x 0:one 1:one", "y 0:one 1:one", "z"), Blobs: &blobs, Flux: make([]tree.Flux, 3)}
	kept := blobs.Add(files.NewBlob([]byte("kept")))
	in.Instead = map[int]groups.By[int32]{
		0: {{Is: kept, Clusters: groups.Of(1)}}, 1: {{Is: Nothing, Clusters: groups.Of(0)}}, 2: {{Is: kept, Clusters: groups.Of(2)}},
	}
	for row, want := range []string{"[0 1]", "[1]", "[2]"} {
		var holders []int32
		in.Holders(row, func(cluster int32) { holders = append(holders, cluster) })
		slices.Sort(holders)
		if got := fmt.Sprint(holders); got != want {
			t.Errorf("row %d is held by %s, want %s", row, got, want)
		}
	}
	trees := Trees(in)
	for i, want := range []string{"x=one", "x=kept y=one", "z=kept"} {
		if got := text(t, trees[i].Folder); got != want {
			t.Errorf("cluster %d holds %q, want %q", i, got, want)
		}
	}
}

func TestATreeThatStays(t *testing.T) {
	var blobs manifest.Blobs
	before := Trees(Input{Rows: rows(&blobs, "x 0:one", "y 0:one"), Blobs: &blobs, Flux: make([]tree.Flux, 1)})[0].Folder
	in := Input{
		Rows: rows(&blobs, "x 0:two 1:two 2:two"), Blobs: &blobs, Flux: make([]tree.Flux, 3),
		Stays: map[int]reason.Reason{0: reason.NotMapped, 2: reason.NotMapped},
	}
	in.Flux[0].Before.Built, in.Flux[1].Before.Built = before, before
	trees := Trees(in)
	for i, want := range []string{"x=one y=one", "x=two", "x=two"} {
		if got := text(t, trees[i].Folder); got != want || trees[i].Objects != strings.Count(want, "=") {
			t.Errorf("cluster %d holds %q, %d objects, want %q", i, got, trees[i].Objects, want)
		}
	}
}

// clusters are a host, and a virtual cluster of it.
const clusters = "{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: host}, spec: {syncMode: Pull}}\n---\n" +
	"{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, spec: {syncMode: Pull}, metadata: {name: v, " +
	"annotations: {waybill.dev/virtual-of: host, waybill.dev/namespace-suffix: -z}}}\n"

// A virtual cluster holds the same under the names that its namespaces have on its host, in their order; its host holds it as it is written.
func TestATreeOfAVirtualCluster(t *testing.T) {
	set, _, _ := policies.Load(object.Decode("all.yaml", []byte(clusters)).Objects, nil)
	var blobs manifest.Blobs
	in := Input{
		Rows: rows(&blobs, "x 0:one 1:one", "y 0:one 1:one"), Blobs: &blobs, Flux: make([]tree.Flux, 2),
		Virtual: index.Of(set, nil, &index.Memo{}).Virtual,
	}
	in.Rows[1].Ref.Namespace = "a-b"
	for i, want := range []string{"a/configmap/x.yaml a-b/configmap/y.yaml", "a-b-z/configmap/y.yaml a-z/configmap/x.yaml"} {
		var got []string
		tr := Trees(in)[i]
		for path := range tr.Folder.All() {
			if name, ok := strings.CutPrefix(path, tree.ManifestDir+"/"); ok {
				got = append(got, name)
			}
		}
		wanted := strings.Fields(want)
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) || tr.Objects != 2 || tr.Err != nil {
			t.Errorf("cluster %d holds %q, want %q: %v", i, got, wanted, tr.Err)
		}
	}
}

// A virtual cluster's tree is that of a cluster whose namespaces are called so, in their order.
func TestATreeOfAVirtualClusterIsInOrder(t *testing.T) {
	set, _, _ := policies.Load(object.Decode("all.yaml", []byte(clusters)).Objects, nil)
	var blobs manifest.Blobs
	in := Input{
		Rows: rows(&blobs, "x 1:one", "y 1:one"), Blobs: &blobs, Flux: make([]tree.Flux, 2), Virtual: index.Of(set, nil, &index.Memo{}).Virtual,
	}
	in.Rows[1].Ref.Namespace = "a-b"
	plain := Input{Rows: rows(&blobs, "y 0:one", "x 0:one"), Blobs: &blobs, Flux: make([]tree.Flux, 1)}
	plain.Rows[0].Ref.Namespace, plain.Rows[1].Ref.Namespace = "a-b-z", "a-z"
	if is, want := Trees(in)[1].Folder, Trees(plain)[0].Folder; is.ID() != want.ID() {
		t.Errorf("it is\n%s\nwant\n%s", is.Encode(), want.Encode())
	}
}

// A tree of which it cannot be read how the one before was divided stays as that one, and says why; clusters that hold the same have the
// same division where they had the same, and another where Flux goes by another form.
func TestATreeIsDividedAsTheOneBefore(t *testing.T) {
	var blobs manifest.Blobs
	in := Input{Rows: rows(&blobs, "x 0:one 1:one 2:one 3:one 4:one", "y 0:one 1:one 2:one 3:one 4:one"), Blobs: &blobs}
	for i, name := range []string{"a", "b", "c", "c", "d"} {
		in.Flux = append(in.Flux, tree.Flux{Sync: fluxsync.Sync{Cluster: name}})
		if i > 0 {
			in.Flux[i].Sync.Form = fluxsync.FormSplit
		}
	}
	unread := files.NewBlob([]byte("resources: [manifests/a/configmap/x.yaml]\n"))
	unread.Stored(func(files.ID) ([]byte, error) { return nil, errors.New("the store is gone") })
	lost := files.NewFolder([]files.Entry{files.FileEntry("kustomization.yaml", unread)})
	in.Flux[1].Before.Built = lost
	trees := Trees(in)
	if is := trees[1]; is.Folder != lost || is.Err == nil || !strings.Contains(is.Err.Error(), "the store is gone") || is.Objects != 2 {
		t.Errorf("what cannot be read is %v, %v", is, is.Err)
	}
	parts := func(f *files.Folder) (all []string) {
		for path := range f.All() {
			if !strings.HasPrefix(path, tree.ManifestDir) {
				all = append(all, path)
			}
		}
		return all
	}
	for i, want := range map[int][]string{
		0: {".gitattributes", "kustomization.yaml"},
		2: {".gitattributes", "flux/part.1.yaml", "flux/part.1/kustomization.yaml", "kustomization.yaml"},
		4: {".gitattributes", "flux/part.1.yaml", "flux/part.1/kustomization.yaml", "kustomization.yaml"},
	} {
		if got := parts(trees[i].Folder); !slices.Equal(got, want) || trees[i].Err != nil || trees[i].Objects != 2 {
			t.Errorf("cluster %d has %q, want %q: %v", i, got, want, trees[i].Err)
		}
	}
	if trees[2] != trees[3] || trees[0].Folder == trees[2].Folder || trees[4].Folder.ID() == trees[2].Folder.ID() {
		t.Errorf("they are %v", trees)
	}
	in.Stays = map[int]reason.Reason{1: reason.NotMapped}
	if is := Trees(in)[1]; is.Folder != lost || is.Err == nil || is.Objects != 0 {
		t.Errorf("what stays, and cannot be read, is %v", is)
	}
}

// FuzzSignatures holds clusters that share a tree to holding the same.
func FuzzSignatures(f *testing.F) {
	f.Add([]byte("0010203112132"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var blobs manifest.Blobs
		in := Input{Blobs: &blobs, Flux: make([]tree.Flux, 4)}
		want := make([]string, 4)
		for n, b := range data[:min(len(data), 24)] {
			row := manifest.Row{Ref: object.Ref{Kind: "ConfigMap", Namespace: "a", Name: fmt.Sprintf("n%02d", n)}}
			for cluster := range int32(4) {
				if b>>cluster&1 == 1 {
					content := strconv.Itoa(int(b>>4) & (1 << cluster))
					row.Wants = append(row.Wants, manifest.Want{Cluster: cluster, Blob: blobs.Add(files.NewBlob([]byte(content)))})
					want[cluster] = strings.TrimSpace(fmt.Sprintf("%s n%02d=%s", want[cluster], n, content))
				}
			}
			in.Rows = append(in.Rows, row)
		}
		for i, tr := range Trees(in) {
			if got := text(t, tr.Folder); got != want[i] {
				t.Errorf("cluster %d holds %q, want %q", i, got, want[i])
			}
		}
	})
}
