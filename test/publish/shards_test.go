//go:build e2e

package publish

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A namespace that gets too large for a folder is divided on the state branch, and no cluster
// moves for that; whatever reads the state reads both.
func TestALargeNamespace(t *testing.T) {
	src, bare := t.TempDir(), bare(t)
	git(t, src, "init", "-q", "-b", "main")
	write(t, filepath.Join(src, "clusters.yaml"), []byte(fleet))
	write(t, filepath.Join(src, "policy.yaml"), fmt.Appendf(nil, policy, "eu"))
	run := func(want int, args ...string) string {
		t.Helper()
		out, code := status(t, waybill(t, nil, args...))
		if code != want {
			t.Fatalf("%v: status %d, want %d\n%s", args, code, want, out)
		}
		return out
	}
	for _, step := range []struct {
		templates int
		binding   string
	}{{1000, "bindings/a/c0000-configmap.yaml"}, {1001, "bindings/a/f1/c0000-configmap.yaml"}, {999, "bindings/a/f1/c0000-configmap.yaml"}, {400, "bindings/a/c0000-configmap.yaml"}} {
		var all [][]byte
		for i := range step.templates {
			all = append(all, configMap(fmt.Sprintf("c%04d", i), "1"))
		}
		write(t, filepath.Join(src, "all.yaml"), bytes.Join(all, []byte("---\n")))
		git(t, src, "add", "-A")
		git(t, src, "commit", "-qm", strconv.Itoa(step.templates))
		run(0, "publish", src, "--to", bare, "--allow-prune")
		if n := strings.Count(git(t, bare, "ls-tree", "-r", "--name-only", "waybill/cluster/eu", "manifests/"), "\n") + 1; n != step.templates {
			t.Errorf("with %d templates eu has %d", step.templates, n)
		}
		git(t, bare, "cat-file", "-e", "waybill/state:"+step.binding)
		heads := git(t, bare, "for-each-ref", "refs/heads/waybill")
		run(0, "verify", "waybill/state", "-C", src, "--to", bare)
		run(0, "verify", "waybill/cluster/eu", "-C", src, "--to", bare)
		if n := strings.Count(run(0, "get", "bindings", "-C", src, "--to", bare), "-configmap"); n != step.templates {
			t.Errorf("with %d templates get lists %d bindings", step.templates, n)
		}
		run(0, "publish", src, "--to", bare)
		if again := git(t, bare, "for-each-ref", "refs/heads/waybill"); again != heads {
			t.Errorf("nothing changed, and branches move:\n%s", again)
		}
		if step.templates == 1001 {
			eu := git(t, bare, "rev-parse", "waybill/cluster/eu")
			breakState(t, bare, step.binding)
			if out := run(1, "publish", src, "--to", bare); !strings.Contains(out, "ConfigMap/a/c0000 stays as it was last published") {
				t.Errorf("a binding that cannot be read: %s", out)
			}
			run(0, "publish", src, "--to", bare)
			if now := git(t, bare, "rev-parse", "waybill/cluster/eu"); now != eu {
				t.Error("eu moved because a binding could not be read")
			}
		}
	}
}

// breakState commits to the state branch that a file of it cannot be read.
func breakState(t *testing.T, bare, path string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	git(t, bare, "worktree", "add", "-q", dir, "waybill/state")
	write(t, filepath.Join(dir, path), []byte("<<<<<<< ours\n"))
	git(t, dir, "commit", "-qam", "by hand")
	git(t, bare, "worktree", "remove", "--force", dir)
	_ = os.RemoveAll(dir)
}
