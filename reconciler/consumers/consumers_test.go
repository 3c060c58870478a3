package consumers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/reconciler/consumers"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/fluxsync"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

const clusters = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: ap}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata:
  name: eu
  annotations:
    waybill.dev/flux-form: roots
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Pull}
`

// said are diagnostics in a line each.
func said(diags []diag.Diagnostic) (all []string) {
	for _, d := range diags {
		all = append(all, d.Severity.String()+" "+string(d.Code)+" "+d.Pos.String()+" "+d.Message)
	}
	return all
}

// check checks the branches of ap, eu and us.
func check(t *testing.T, text string, config render.ConfigSpec, branches ...consumers.Branch) []string {
	t.Helper()
	var memo index.Memo
	set, _, diags := policies.Load(object.Decode("clusters.yaml", []byte(text)).Objects, &memo)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return said(consumers.Check(index.Of(set, nil, &memo), config, branches))
}

// treeOf is the tree of a branch with these files.
func treeOf(texts map[string]string) *files.Folder {
	all := twin.Tree{}
	for path, text := range texts {
		all[path] = twin.File([]byte(text))
	}
	return all.Folder()
}

// A cluster with a setting that is wrong is told of where it stands, and of no other one.
func TestSettingsOfFluxThatAreWrong(t *testing.T) {
	empty := consumers.Branch{Tree: treeOf(nil)}
	want := []string{"error bad-flux clusters.yaml:11 Cluster eu: waybill.dev/flux-form is \"roots\""}
	is := check(t, clusters, render.DefaultConfig(), empty, empty, empty)
	if len(is) != 1 || !strings.HasPrefix(is[0], want[0]) {
		t.Errorf("it says %q, want %q", is, want)
	}
}

// Argo CD applies as it is what SOPS encrypted, and Flux does not. What a branch has beside its manifests is applied by nobody.
func TestWhatArgoCDCannotDecrypt(t *testing.T) {
	right := strings.Replace(clusters, "roots", "single", 1)
	const sealed = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData: {k: 'ENC[AES256_GCM,data:x,type:str]'}\nsops: {mac: 'ENC[x]', version: 3.9.0}\n"
	encrypted := consumers.Branch{Tree: treeOf(map[string]string{"manifests/shop/secret/s.yaml": sealed})}
	plain := consumers.Branch{Tree: treeOf(map[string]string{"manifests/shop/configmap/c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\n", "s.yaml": sealed})}
	for hooks, want := range map[string]string{render.HooksArgoCD: "the branches of ap, us hold documents that SOPS encrypted", render.HooksDrop: ""} {
		config := render.DefaultConfig()
		config.Publish.Hooks = hooks
		is := check(t, right, config, encrypted, plain, encrypted)
		if want == "" && len(is) > 0 || want != "" && (len(is) != 1 || !strings.Contains(is[0], want)) {
			t.Errorf("%s: it says %q, want %q", hooks, is, want)
		}
	}
}

// Folders of the form before that are new are synced by nothing; where nothing is published none is new.
func TestFoldersThatNothingSyncs(t *testing.T) {
	right := strings.Replace(clusters, "roots", "single", 1)
	const listed = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n"
	before := treeOf(map[string]string{"flux/shop/kustomization.yaml": listed})
	now := treeOf(map[string]string{"flux/shop/kustomization.yaml": listed, "flux/blog/kustomization.yaml": listed})
	in := func(built *files.Folder, isHeld bool) consumers.Branch {
		return consumers.Branch{Tree: built, Flux: tree.Flux{Sync: fluxsync.Sync{}, Before: tree.Published{Built: before}}, Held: isHeld}
	}
	is := check(t, right, render.DefaultConfig(), in(now, false), in(now, true), in(before, false))
	if len(is) != 1 || !strings.Contains(is[0], "the branch of ap has a folder for each namespace, and nothing syncs the new ones yet: blog") {
		t.Errorf("it says %q", is)
	}
}

func TestWhatClustersLeave(t *testing.T) {
	branches, folders := render.Addresses{Prefix: "waybill/cluster/"}, render.Addresses{Prefix: "waybill/cluster/", Shared: "all"}
	if is := consumers.Detached(nil, branches); len(is) > 0 {
		t.Errorf("no cluster is detached, and it says %q", said(is))
	}
	is := consumers.Detached([]string{"eu", "us"}, folders)
	if len(is) != 2 || !strings.Contains(is[0].Message, "cluster eu is no longer registered; its folder stays") || !strings.Contains(is[1].Hint, folders.Of("us").Removal()) {
		t.Errorf("it says %q", said(is))
	}
	if is := consumers.Moved(folders, folders); len(is) > 0 {
		t.Errorf("no cluster goes anywhere, and it says %q", said(is))
	}
	is = consumers.Moved(branches, folders)
	if want := []string{"warning clusters-moved waybill.yaml clusters go from branches that begin with waybill/cluster/ to folders of branch all; what is there stays, and nothing is published there any more"}; !slices.Equal(said(is), want) {
		t.Errorf("it says %q, want %q", said(is), want)
	}
}
