//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/test/forges"
	"github.com/waybill-dev/waybill/test/program"
)

// BenchmarkGitea is a publication of a change of 200 clusters to a real Gitea: to a branch each, by Waybill and by git from a copy of
// what Waybill published, and to the one branch of layout folders. An operation is a push.
func BenchmarkGitea(b *testing.B) {
	const clusters = 200
	g, err := forges.Start(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(g.Stop)
	ann, err := g.AddUser(b.Context(), "ann")
	if err != nil {
		b.Fatal(err)
	}
	repository := func(name string) string {
		err := g.Do(b.Context(), ann, forges.Call{Method: "POST", Path: "/user/repos", In: map[string]any{"name": name, "private": true}})
		if err != nil {
			b.Fatal(err)
		}
		return g.Clone(ann, "ann/"+name)
	}
	work, waybill := b.TempDir(), program.Build(b)
	run := func(dir string, args ...string) {
		b.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = filepath.Join(work, dir)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "XDG_CACHE_HOME="+filepath.Join(work, "cache"),
			"GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.test", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@example.test")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	var fleet strings.Builder
	for i := range clusters {
		fmt.Fprintf(&fleet, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: c%03d}\nspec: {syncMode: Pull}\n---\n", i)
	}
	fleet.WriteString("apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}\n")
	write := func(dir, name, text string) {
		if err := os.WriteFile(filepath.Join(work, dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	commits := 0
	commit := func(dir string) {
		commits++
		write(dir, "one.yaml", fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: a}\ndata: {k: \"%d\"}\n", commits))
		run(dir, "git", "add", "-A")
		run(dir, "git", "commit", "-qm", "change")
	}
	published := map[string]string{}
	for _, layout := range []string{"branches", "folders"} {
		run("", "git", "init", "-q", layout)
		write(layout, "fleet.yaml", fleet.String())
		write(layout, "waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {layout: "+layout+"}}\n")
		published[layout] = repository(layout)
		b.Run("layout="+layout+"/by=waybill", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				commit(layout)
				b.StartTimer()
				run(layout, waybill, "publish", "--to", published[layout], "--plain-http")
			}
		})
	}
	mirror := repository("mirror")
	b.Run("layout=branches/by=git", func(b *testing.B) {
		run("", "git", "init", "-q", "--bare", "mirror")
		for b.Loop() {
			b.StopTimer()
			commit("branches")
			run("branches", waybill, "publish", "--to", filepath.Join(work, "mirror"), "--take-over")
			b.StartTimer()
			run("mirror", "git", "push", "-q", "--atomic", mirror, "refs/heads/*:refs/heads/*")
		}
	})
}
