package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/tree"
)

const folder = `
-- src/fleet.yaml --
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu, annotations: {waybill.dev/path: clusters/eu}}
spec: {syncMode: Push}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Push}
-- src/shop.yaml --
apiVersion: v1
kind: Secret
metadata: {name: password, namespace: shop}
stringData: {password: hunter2}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: shop}
spec: {resourceSelectors: [{apiVersion: v1, kind: Secret}], placement: {}}
-- src/clusters/eu/own.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: own, namespace: shop}
-- empty/README.md --
-- broken/broken.yaml --
kind: [
-- newer/fleet.yaml --
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Push}
-- newer/waybill.yaml --
apiVersion: waybill.dev/v1alpha1
kind: Config
spec: {updates: {mode: pullRequest}}
-- newer/policy.yaml --
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: web, namespace: shop}
spec: {imageRepositoryRef: {name: none}, policy: {semver: {range: '>=1.0.0'}}}
-- out/eu/.keep --
-- file --
`

// TestWhatIsSaidOfAFolder that is in no repository: it is to be rendered unless something else is said, nothing is remembered of it, and
// what needs a repository says so.
func TestWhatIsSaidOfAFolder(t *testing.T) {
	at := t.TempDir()
	unpack(t, at, folder)
	if err := os.Remove(filepath.Join(at, "out", "eu", ".keep")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(at, "cache"))
	hold(t, map[string]string{"SRC": filepath.Join(at, "src"), "AT": at}, []saying{
		{"validate SRC", 0, nil},
		{"validate SRC --for render", 0, nil},
		{"validate SRC --for publish", 1, []string{`^shop.yaml:1: error: .*Secret`}},
		{"validate SRC -v", 0, []string{"^planning"}},
		{"validate SRC --rev HEAD", 2, []string{"^error: "}},
		{"validate AT/empty", 2, []string{"^error: .*empty"}},
		{"validate AT/broken", 1, []string{`^broken.yaml:\d: error`}},
		{"validate AT/newer", 1, []string{`^policy.yaml:\d: error: .*none`}},
		{"validate https://127.0.0.1:9/fleet", 2, []string{"^error: .*127.0.0.1:9"}},
		{"validate SRC --chart-private all", 2, []string{"^error: .*--chart-private"}},
		{"validate SRC --password-file AT/none", 2, []string{"reading --password-file"}},
		{"explain cm/own -C SRC", 0, []string{"ConfigMap/shop/own", `\beu\b`}},
		{"explain cm/own -n other -C SRC", 2, []string{"has no template cm/own"}},
		{"explain secret/password -C SRC", 0, []string{"^eu ", "^us "}},
		{"explain secret password -C SRC --rev HEAD", 2, []string{"^error: "}},
		{"explain secret/password secret/other -C SRC", 2, []string{"are two objects"}},
		{"render SRC --out AT/out", 0, nil}, // which has an empty folder eu
		{"render SRC --out AT/file", 2, []string{"^error: "}},
		{"render SRC --render-cache AT/remembered", 0, []string{"password"}},
		{"render SRC --render-cache AT/file", 2, []string{"^error: .*file"}},
		{"update SRC", 0, []string{"waybill.lock is up to date: 0 of the source's charts"}},
		{"update AT/newer --check", 1, []string{`^policy.yaml:\d: error`}},
		{"update https://127.0.0.1:9/fleet", 2, []string{"^error: .*127.0.0.1:9"}},
		{"update SRC --commit", 2, []string{"^error: "}},
		{"cluster drain eu -C SRC --dry-run", 0, []string{"^what this changes is not known: ", `waybill.dev/drain`}},
		{"cluster drain none -C SRC --dry-run", 2, []string{"none"}},
		{"logs web --cluster eu -C AT/none", 2, []string{"there is no folder"}},
		{"apply eu -C SRC --password-file AT/none", 2, []string{"reading --password-file"}},
		{"help apply", 0, []string{"--timeout duration", "--wait"}},
		{"help top pods", 0, []string{"waybill top --cluster eu-1 pod", "!kubectl top pod "}},
		{"completion frob", 2, []string{"frob"}},
		{"help frob", 2, []string{"frob"}},
	})
	for _, file := range []string{"manifests/shop/configmap/own.yaml", "manifests/shop/secret/password.yaml", tree.MetadataFile} {
		if _, err := os.Stat(filepath.Join(at, "out", "eu", filepath.FromSlash(file))); err != nil {
			t.Errorf("it was not rendered: %v", err)
		}
	}
	if all, err := os.ReadDir(filepath.Join(at, "remembered")); err != nil || len(all) == 0 {
		t.Errorf("there is no folder that remembers: %v", err)
	}
}

// TestWhatIsSaidOfARepository: of which versions are, from whom commands are, and where it is published to.
func TestWhatIsSaidOfARepository(t *testing.T) {
	source, git := workTree(t)
	at := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(at, "cache"))
	t.Setenv("HOME", at)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(at, "gitconfig"))
	unpack(t, at, "-- broken/README.md --\n-- committed/broken.yaml --\nkind: [\n")
	git("init", "--quiet", "--bare", filepath.Join(at, "bare"))
	for _, repo := range []string{"broken", "committed"} {
		git("init", "--quiet", "--initial-branch=main", filepath.Join(at, repo))
		git("-C", filepath.Join(at, repo), "add", "--all")
		git("-C", filepath.Join(at, repo), "commit", "--quiet", "--message=first")
	}
	unpack(t, at, "-- broken/broken.yaml --\nkind: [\n")
	for _, name := range []string{"EMAIL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "")
	}
	places := map[string]string{"SRC": source, "AT": at}
	hold(t, places, []saying{
		{"rollout approve web canary -C SRC", 2, []string{`^error: who gives it\? say so with --by, or set user.email of Git`}},
		{"rollout approve web canary -C SRC --by Ada", 2, []string{"!who gives it"}},
		{"diff -C AT/broken", 2, []string{`^broken.yaml:\d: error`, `the source has errors \(1\)`}},
		{"diff -C AT/committed", 2, []string{`^broken.yaml:\d: error`, "!registers no cluster"}}, // both versions are broken
		{"render SRC --rev HEAD --out AT/out", 0, nil},
		{"publish SRC", 0, []string{"!this is a clone"}},
	})
	if data, err := os.ReadFile(filepath.Join(at, "out", "eu", tree.MetadataFile)); err != nil || !strings.Contains(string(data), strings.TrimSpace(git("rev-parse", "HEAD"))) {
		t.Errorf("what was rendered does not name its commit: %s, %v", data, err)
	}
	git("remote", "add", "another", filepath.Join(at, "bare"))
	hold(t, places, []saying{{"publish SRC", 0, []string{"the branches are written to the clone alone; --to another publishes there"}}})
	git("remote", "add", "origin", filepath.Join(at, "bare"))
	hold(t, places, []saying{
		{"publish SRC", 0, []string{"the branches are written to the clone alone; --to origin publishes there"}},
		{"publish SRC --quiet", 0, []string{"!written to the clone alone"}},
		{"publish SRC --to AT/none", 2, []string{"the remotes of .* are another, origin"}},
	})
}
