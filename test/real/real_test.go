// Package real publishes manifests that other people wrote, as a user would, and
// compares what stands on the branches with what was written, object by object.
//
// The manifests lie beside the checkout, in ../shared/corpus, or where
// WAYBILL_CORPUS says; without them the tests are skipped, and say so.
package real

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/corpus"
)

// objects reads manifests with the parser that kubectl uses, apart from ours.
func objects(t *testing.T, dir string) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	add := func(o map[string]any) {
		meta := o["metadata"].(map[string]any)
		all[fmt.Sprintf("%v %v %v/%v", o["apiVersion"], o["kind"], meta["namespace"], meta["name"])] = o
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" || filepath.Base(path) == "kustomization.yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for doc := range bytes.SplitSeq(data, []byte("\n---")) {
			var o map[string]any
			if err := sigsyaml.Unmarshal(doc, &o); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if o == nil {
				continue
			}
			if items, ok := o["items"].([]any); ok && strings.HasSuffix(o["kind"].(string), "List") {
				for _, item := range items {
					add(item.(map[string]any))
				}
				continue
			}
			add(o)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// large is the size, in bytes of JSON, below which Argo CD can apply any of these objects as
// kubectl does, so that Waybill has nothing to add for it.
const large = 200_000

// clean takes off what Waybill adds and what Karmada prunes (section D.4 of its
// behaviour), and puts an object without a namespace where kubectl would. What tells Argo
// CD to have the server apply an object is taken off a large one only.
func clean(o map[string]any, namespaced bool) string {
	meta := o["metadata"].(map[string]any)
	if labels, ok := meta["labels"].(map[string]any); ok {
		delete(labels, "karmada.io/managed")
		if len(labels) == 0 {
			delete(meta, "labels")
		}
	}
	if namespaced && meta["namespace"] == nil {
		meta["namespace"] = "default"
	}
	delete(meta, "creationTimestamp")
	delete(o, "status")
	data := marshalled(o)
	if annotations, ok := meta["annotations"].(map[string]any); ok && len(data) > large && annotations[syncOptions] == "ServerSideApply=true" {
		if delete(annotations, syncOptions); len(annotations) == 0 {
			delete(meta, "annotations")
		}
		data = marshalled(o)
	}
	return data
}

const syncOptions = "argocd.argoproj.io/sync-options"

func marshalled(o map[string]any) string {
	data, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(data)
}

const clusterText = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: %s, labels: {fleet: "yes"}}
spec: {syncMode: Pull, region: %s}
---
`

// source makes a repository of a folder of manifests, five clusters, and a policy
// that sends every kind in it everywhere.
func source(t *testing.T, manifests string, written map[string]map[string]any) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "apps"), os.DirFS(manifests)); err != nil {
		t.Fatal(err)
	}
	var fleet strings.Builder
	for _, c := range []string{"berlin", "paris", "ohio", "oregon", "tokyo"} {
		fmt.Fprintf(&fleet, clusterText, c, c[:1])
	}
	kinds := map[string]bool{}
	for _, o := range written {
		kinds[fmt.Sprintf("  - {apiVersion: %v, kind: %v}\n", o["apiVersion"], o["kind"])] = true
	}
	var selectors []string
	for k := range kinds {
		selectors = append(selectors, k)
	}
	slices.Sort(selectors)
	policy := "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec:\n  resourceSelectors:\n" +
		strings.Join(selectors, "") + "  placement: {clusterAffinity: {labelSelector: {matchLabels: {fleet: \"yes\"}}}}\n"
	for name, text := range map[string]string{
		"clusters.yaml": fleet.String(), "policy.yaml": policy,
		"waybill.yaml": "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {secrets: allow}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "git", "init", "-q", "-b", "main", ".")
	run(t, dir, "git", "add", "-A")
	run(t, dir, "git", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "real")
	return dir
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

func TestRealManifestsArriveUnchanged(t *testing.T) {
	root := corpus.Dir(t)
	for _, name := range []string{"kube-prometheus/manifests", "online-boutique/release"} {
		t.Run(strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			written := objects(t, filepath.Join(root, name))
			repo, bare := publish(t, source(t, filepath.Join(root, name), written))
			again, err := repo.Publish(t.Context(), "main")
			if err != nil || len(again.Updates) > 0 {
				t.Errorf("publishing twice moves %d branches: %v", len(again.Updates), err)
			}
			run(t, bare, "git", "fsck", "--strict")
			for _, cluster := range []string{"berlin", "paris", "ohio", "oregon", "tokyo"} {
				clone := filepath.Join(t.TempDir(), cluster)
				run(t, bare, "git", "clone", "-q", "-b", "waybill/cluster/"+cluster, bare, clone)
				compare(t, written, objects(t, filepath.Join(clone, "manifests")))
				builds(t, clone, len(objects(t, filepath.Join(clone, "manifests"))))
			}
		})
	}
}

func publish(t *testing.T, src string) (*reconciler.Reconciler, string) {
	t.Helper()
	bare := filepath.Join(t.TempDir(), "bare.git")
	run(t, src, "git", "init", "-q", "--bare", "-b", "main", bare)
	from, err := git.Open(t.Context(), git.Options{Location: src})
	if err != nil {
		t.Fatal(err)
	}
	to, err := git.Open(t.Context(), git.Options{Location: bare})
	if err != nil {
		t.Fatal(err)
	}
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: from, Target: to, Version: "test", Now: time.Now}
	res, err := r.Publish(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	if diag.HasErrors(res.Diags) {
		t.Fatal(res.Diags)
	}
	return r, bare
}

// compare checks that a cluster holds what was written, nothing lost and nothing
// changed.
func compare(t *testing.T, written, held map[string]map[string]any) {
	t.Helper()
	want, got := map[string]string{}, map[string]string{}
	for _, o := range written {
		namespaced := o["kind"] != "Namespace" && !strings.HasPrefix(fmt.Sprint(o["kind"]), "Cluster") && o["kind"] != "CustomResourceDefinition" && o["kind"] != "APIService"
		copied := clone(o)
		text := clean(copied, namespaced)
		want[fmt.Sprint(copied["kind"], copied["metadata"].(map[string]any)["namespace"], copied["metadata"].(map[string]any)["name"])] = text
	}
	for _, o := range held {
		got[fmt.Sprint(o["kind"], o["metadata"].(map[string]any)["namespace"], o["metadata"].(map[string]any)["name"])] = clean(o, false)
	}
	if len(want) == 0 {
		t.Fatal("nothing was written")
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func clone(o map[string]any) map[string]any {
	data, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var c map[string]any
	if err := json.Unmarshal(data, &c); err != nil {
		panic(err)
	}
	return c
}

// builds checks that a clone of a branch is a kustomization that builds to exactly
// its objects, as Flux and kubectl kustomize build it.
func builds(t *testing.T, dir string, objects int) {
	t.Helper()
	m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Size() != objects {
		t.Errorf("the kustomization builds to %d objects, the branch has %d", m.Size(), objects)
	}
}
