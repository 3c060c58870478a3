package twin_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// versions of a source: it is planned, broken, renamed while it is broken, and mended.
func versions() []twin.Tree {
	const cluster = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: %s}\nspec: {syncMode: Pull}\n"
	const policy = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: all, namespace: shop}\nspec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]\n  placement: {}\n"
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: shop}\n"
	first := twin.Tree{
		"clusters.yaml": twin.File(fmt.Appendf(nil, cluster+"---\n"+cluster, "eu", "us")), "policy.yaml": twin.File([]byte(policy)),
		"apps/a.yaml": twin.File(fmt.Appendf(nil, object, "a")), "apps/b.yaml": twin.File(fmt.Appendf(nil, object, "b")), "apps/c.yaml": twin.Link("a.yaml"),
	}
	broken := twin.Of(first.Folder())
	broken["apps/a.yaml"] = twin.File([]byte("b: ["))
	moved := twin.Of(broken.Folder())
	moved.Rename("apps", "programs")
	mended := twin.Of(moved.Folder())
	mended["programs/a.yaml"] = first["apps/a.yaml"]
	return []twin.Tree{first, broken, moved, mended}
}

// over returns a reconciler that publishes to the repository of its source.
func over(r published.Repository) *reconciler.Reconciler {
	return &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: r, Target: r, Engine: renderer.New(&worker.Local{Handler: engines.Run}, nil), Now: func() time.Time { return time.Unix(0, 0) }}
}

func TestTheTwinHasTheCommitsThatGitHas(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "source.git")
	for _, name := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tbare = true\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	disk, err := git.Open(t.Context(), git.Options{Location: dir})
	if err != nil {
		t.Fatal(err)
	}
	memory := twin.New(disk.Name())
	onDisk, inMemory := over(disk), over(memory)
	for i, v := range versions() {
		u := git.Update{Branch: "main", Message: "a change\n", When: memory.Now, Author: git.Author{Name: "a person", Email: "person@example.com"}, Tree: v.Folder()}
		if heads, err := disk.Heads(t.Context()); err == nil {
			u.Old = heads["main"]
		}
		if _, err := disk.Publish(t.Context(), []git.Update{u}); err != nil {
			t.Fatal(err)
		}
		memory.Write("main", "a change\n", v.Folder())
		for _, r := range []*reconciler.Reconciler{onDisk, inMemory} {
			if _, err := r.Publish(t.Context(), "main"); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(heads(t, disk), heads(t, memory)); d != "" {
			t.Errorf("after version %d the twin has other branches: %s", i+1, d)
		}
	}
}

func heads(t *testing.T, r published.Repository) map[string]files.ID {
	t.Helper()
	h, err := r.Heads(t.Context())
	if err != nil || len(h) < 3 {
		t.Fatal(h, err)
	}
	return h
}

func TestARefusedBranchStopsWhatVouchesForIt(t *testing.T) {
	r := twin.New("twin")
	r.Write("main", "a change", versions()[0].Folder())
	r.Refuse("waybill/cluster/eu")
	_, err := over(r).Publish(t.Context(), "main")
	partial, ok := errors.AsType[*git.PartialError](err)
	if !ok || cmp.Diff(partial.Moved, []string{"waybill/cluster/us"}) != "" {
		t.Errorf("the error is %v", err)
	}
	r.Refuse()
	if _, err := over(r).Publish(t.Context(), "main"); err != nil {
		t.Error(err)
	}
}

func TestABranchThatSomebodyMovedIsARace(t *testing.T) {
	r := twin.New("twin")
	id := r.Write("main", "a change", versions()[0].Folder())
	_, err := r.Publish(t.Context(), []git.Update{{Branch: "main", Tree: versions()[1].Folder()}})
	if race, ok := errors.AsType[*git.RaceError](err); !ok || race.Got != id {
		t.Errorf("the error is %v", err)
	}
}
