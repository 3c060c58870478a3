package reconciler_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/sources/git"
)

const fleet = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: all}
spec:
  resourceSelectors:
  - {apiVersion: v1, kind: ConfigMap}
  - {apiVersion: v1, kind: Secret}
  placement: {}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop}
data: {k: v}
---
apiVersion: v1
kind: Secret
metadata: {name: filled-in-later, namespace: shop}
`

// run runs git.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func open(ctx context.Context, t *testing.T, dir string) *git.Repo {
	t.Helper()
	r, err := git.Open(ctx, git.Options{Location: dir, CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWhatIsLostFromTheTargetIsMadeAgain removes every branch and object of the target of
// a reconciler that remembers what it published.
func TestWhatIsLostFromTheTargetIsMadeAgain(t *testing.T) {
	src, bare := t.TempDir(), filepath.Join(t.TempDir(), "bare.git")
	run(t, ".", "init", "-q", "--bare", bare)
	run(t, ".", "init", "-q", "-b", "main", src)
	if err := os.WriteFile(filepath.Join(src, "fleet.yaml"), []byte(fleet), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, src, "add", ".")
	run(t, src, "commit", "-q", "-m", "a fleet")
	r := &reconciler.Reconciler{
		Seen:   reconciler.NewCache(),
		Source: open(t.Context(), t, src), Target: open(t.Context(), t, bare), Cache: cache.Memory(), Now: time.Now,
	}
	publish := func() string {
		t.Helper()
		if _, err := r.Publish(t.Context(), "main"); err != nil {
			t.Fatal(err)
		}
		return run(t, bare, "for-each-ref", "--format=%(refname) %(tree)")
	}
	want := publish()
	if strings.Count(want, "\n") != 1 {
		t.Fatalf("two branches were to be published, not:\n%s", want)
	}
	for ref := range strings.Lines(want) {
		run(t, bare, "update-ref", "-d", strings.Fields(ref)[0])
	}
	run(t, bare, "gc", "-q", "--prune=now")
	if got := publish(); got != want {
		t.Errorf("published again:\n%s\nwant:\n%s", got, want)
	}
	run(t, bare, "fsck", "--strict")
}
