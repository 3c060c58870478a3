package rendering

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/peers"
)

// TestABranchBuilds holds the kustomizations of a branch with parts against kustomize, which
// Flux builds them with: each gives what it lists, and one with nothing left gives nothing.
func TestABranchBuilds(t *testing.T) {
	settings := fluxsync.Default()
	settings.Form = fluxsync.FormSplit
	sync, _ := settings.For("eu-1", nil)
	var manifests []tree.Manifest
	for _, r := range []object.Ref{{Kind: "Namespace", Name: "shop"}, {Kind: "ConfigMap", Namespace: "shop", Name: "a"}, {Kind: "ConfigMap", Namespace: "shop", Name: "b"}} {
		content := map[string]any{"apiVersion": "v1", "kind": r.Kind, "metadata": map[string]any{"name": r.Name, "namespace": r.Namespace}}
		if r.Namespace == "" {
			content["metadata"] = map[string]any{"name": r.Name}
		}
		manifests = append(manifests, tree.Manifest{Ref: r, Blob: files.NewBlob(object.Encode(content))})
	}
	full, err := tree.NewBuilder().LayOut(manifests).Tree(tree.Flux{Sync: sync})
	if err != nil {
		t.Fatal(err)
	}
	empty, err := tree.NewBuilder().LayOut(manifests[:1]).Tree(tree.Flux{Sync: sync, Before: tree.Published{Built: full}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, path string
		branch     *files.Folder
		want       []string
	}{
		{"the root", ".", full, []string{"Kustomization waybill-eu-1.part.1", "Namespace shop"}},
		{"a part", "flux/part.1", full, []string{"ConfigMap a", "ConfigMap b"}},
		{"a part with nothing left", "flux/part.1", empty, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := builtBy(t, tt.branch, tt.path); !slices.Equal(got, tt.want) {
				t.Errorf("builds to %q, want %q", got, tt.want)
			}
		})
	}
}

var kindAndName = regexp.MustCompile(`(?m)^kind: (.*)$[^-]*?^metadata:\n  name: (.*)$`)

// builtBy returns the kinds and names of what kustomize makes of a folder of a branch. Like
// Flux it may read all of the branch.
func builtBy(t *testing.T, branch *files.Folder, path string) []string {
	t.Helper()
	dir := t.TempDir()
	for name, e := range branch.All() {
		data, err := e.Blob.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := peers.Output(exec.CommandContext(t.Context(), peers.Build(t).Kustomize, "build", "--load-restrictor", "LoadRestrictionsNone", filepath.Join(dir, path)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for doc := range strings.SplitSeq(out, "---\n") {
		if m := kindAndName.FindStringSubmatch(doc); m != nil {
			got = append(got, m[1]+" "+m[2])
		}
	}
	slices.Sort(got)
	return got
}
