//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/forge/forgetest"
	"github.com/waybill-dev/waybill/test/forges"
	"github.com/waybill-dev/waybill/test/forges/hub"
	"github.com/waybill-dev/waybill/test/program"
)

// TestGitea holds the client to its promises against a real Gitea.
func TestGitea(t *testing.T) {
	t.Parallel()
	h, repositories := hub.Start(t), 0
	forgetest.Run(t, func(t *testing.T) forgetest.World {
		repositories++
		name := fmt.Sprintf("fleet-%d", repositories)
		h.Repository(t, name)
		at, files := "/repos/waybill/"+name, 1
		head := h.Commit(t, name, "main", "change", "a.txt", "a")
		var pull struct{ Number int }
		h.Do(t, "ann", http.MethodPost, at+"/pulls", hub.Fields{"title": "a change", "head": "change", "base": "main"}, &pull)
		return forgetest.World{
			Forge: h.Open(t, "waybill", name), Number: pull.Number, Head: head, Base: "main",
			Author: h.User(t, "ann"), Writer: h.User(t, "wendy"), Reader: h.User(t, "rob"), Stranger: h.User(t, "sam"),
			Say: func(t forgetest.T, as forge.User, body string) {
				h.Do(t, as.Login, http.MethodPost, fmt.Sprintf("%s/issues/%d/comments", at, pull.Number), hub.Fields{"body": body}, nil)
			},
			Edit: func(t forgetest.T, comment int64, body string) {
				h.Do(t, "waybill", http.MethodPatch, fmt.Sprintf("%s/issues/comments/%d", at, comment), hub.Fields{"body": body}, nil)
			},
			Push: func(t forgetest.T) string {
				files++
				return h.Commit(t, name, "change", "change", fmt.Sprintf("%d.txt", files), "b")
			},
			Merge: func(t forgetest.T) string { return h.Merge(t, name, pull.Number) },
			Shown: func(t forgetest.T, commit, about string) forge.Status { return h.Shown(t, name, commit, about) },
			Labels: func(t forgetest.T) (names []string) {
				var all []struct{ Name string }
				h.Do(t, "ann", http.MethodGet, fmt.Sprintf("%s/issues/%d/labels", at, pull.Number), nil, &all)
				for _, l := range all {
					names = append(names, l.Name)
				}
				return names
			},
		}
	})
}

// TestGiteaShowsAChange runs a job of Gitea's Actions, but for the runner: a clone over HTTP, a
// real pull request, and the recipe's command.
func TestGiteaShowsAChange(t *testing.T) {
	t.Parallel()
	h := hub.Start(t)
	h.Repository(t, "fleet")
	work, waybill := t.TempDir(), program.Build(t)
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.test", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@example.test",
		"GITHUB_ACTIONS=true", "GITEA_ACTIONS=true", "GITHUB_SERVER_URL="+h.URL, "GITHUB_REPOSITORY=waybill/fleet", "GITHUB_RUN_NUMBER=3", "GITHUB_EVENT_PATH="+filepath.Join(work, "event.json"),
		"GITEA_TOKEN="+h.People["waybill"].Token)
	run := func(want int, dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = filepath.Join(work, dir), env
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Fatalf("%v ends with %d, want %d\n%s", args, got, want, out)
		}
		return strings.TrimSpace(string(out))
	}
	commit := func(file, text string) (head string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(work, "clone", file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		run(0, "clone", "git", "add", "-A")
		run(0, "clone", "git", "commit", "-qm", "write "+file)
		run(0, "clone", "git", "push", "-q", "origin", "HEAD")
		return run(0, "clone", "git", "rev-parse", "HEAD")
	}
	run(0, "", "git", "clone", "-q", h.Clone(h.People["ann"], "waybill/fleet"), "clone")
	commit("fleet.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n---\n"+
		"apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}\n")
	run(0, "clone", "git", "checkout", "-qb", "change")
	head := commit("one.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: a}\ndata: {k: \"1\"}\n")
	var pull struct{ Number int }
	h.Do(t, "ann", http.MethodPost, "/repos/waybill/fleet/pulls", hub.Fields{"title": "a change", "head": "change", "base": "main"}, &pull)
	var first int64
	for _, want := range []string{"1 object in 1 of 1 cluster**: 1 appears", "2 objects in 1 of 1 cluster**: 2 appear"} {
		event := fmt.Sprintf(`{"pull_request": {"number": %d, "head": {"sha": %q}}}`, pull.Number, head)
		if err := os.WriteFile(filepath.Join(work, "event.json"), []byte(event), 0o600); err != nil {
			t.Fatal(err)
		}
		if out := run(1, "clone", waybill, "diff", "origin/main", "HEAD", "--to", "origin", "--untrusted", "--post", "--plain-http"); strings.Contains(out, h.People["waybill"].Token) {
			t.Errorf("the token is printed: %s", out)
		}
		all, err := h.Open(t, "waybill", "fleet").Comments(t.Context(), pull.Number)
		if err != nil || len(all) != 1 || !strings.Contains(all[0].Body, want) || first != 0 && all[0].ID != first {
			t.Fatalf("%s: the comments are %+v, %v", want, all, err)
		}
		first = all[0].ID
		if s := h.Shown(t, "fleet", head, "waybill/preview"); s.State != forge.Success || s.Description != strings.Replace(want[:strings.Index(want, "*")], "of 1 ", "", 1) {
			t.Errorf("%s: the status is %+v", want, s)
		}
		if head = ""; want[0] == '1' {
			head = commit("two.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two, namespace: a}\n")
		}
	}
}

// TestGiteaWakesTheController has a controller that looks every ten minutes publish what is pushed
// to Gitea at once, because of the webhook that Gitea sends.
func TestGiteaWakesTheController(t *testing.T) {
	t.Parallel()
	h := hub.Start(t)
	h.Repository(t, "fleet")
	h.Commit(t, "fleet", "main", "main", "fleet.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n---\n"+
		"apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}\n")
	port := h.Controls(t)
	within := func(path string) {
		t.Helper()
		h.Until(t, path+" is published", func() bool { return h.Published(t, path) })
	}
	h.Hook(t, port)
	for _, name := range []string{"one", "two", "three"} {
		h.Commit(t, "fleet", "main", "main", name+".yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+", namespace: a}\n")
		within("manifests/a/configmap/" + name + ".yaml")
	}
}

// TestGiteaTakesOrders has a pull request take from a cluster all that it has, which the guard holds
// unless a maintainer's comment allows it and the pull request is merged. All comes by webhooks.
func TestGiteaTakesOrders(t *testing.T) {
	t.Parallel()
	const path = "manifests/a/configmap/one.yaml"
	h := hub.Start(t)
	h.Repository(t, "fleet")
	h.Commit(t, "fleet", "main", "main", "fleet.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n---\n"+
		"apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}\n")
	h.Commit(t, "fleet", "main", "main", "one.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: a}\n")
	h.Hook(t, h.Controls(t, "--orders", "--orders-not-author", "--previews", "--commit-statuses"))
	h.Until(t, "it is published", func() bool { return h.Published(t, path) })
	number, head := h.Removes(t, "all-goes", "one.yaml")
	order := ""
	h.Until(t, "its comment says what allows it", func() bool {
		order = h.Offered(t, number)
		return order != "" && strings.HasSuffix(order, head)
	})
	h.Comment(t, "rob", number, order) // may not write, and is not answered
	h.Comment(t, "ann", number, order)
	h.Until(t, "ann is refused", func() bool {
		return strings.HasPrefix(h.Shown(t, "fleet", head, "waybill/orders").Description, "refused: whoever made the change may not approve it")
	})
	h.Comment(t, "wendy", number, order)
	h.Until(t, "wendy's order is taken", func() bool { return h.Shown(t, "fleet", head, "waybill/orders").State == forge.Success })
	if !h.Published(t, path) {
		t.Error("it is gone before it is merged")
	}
	h.Merge(t, "fleet", number)
	h.Until(t, "it is published", func() bool { return !h.Published(t, path) })
	if message := h.Message(t, "waybill/cluster/eu"); !strings.Contains(message, fmt.Sprintf("Removals-Allowed-By: wendy on pull request %d", number)) {
		t.Errorf("the branch does not say who approved it:\n%s", message)
	}
}

// Who may not ask what others may do is told so, and who sees nothing finds nobody.
func TestGiteaRefuses(t *testing.T) {
	t.Parallel()
	h := hub.Start(t)
	h.Repository(t, "fleet")
	wendy := forge.User{Login: "wendy"}
	if _, err := h.Open(t, "rob", "fleet").Permission(t.Context(), wendy); err == nil || !strings.Contains(err.Error(), "takes an administrator") {
		t.Errorf("a reader asked what others may do: %v", err)
	}
	if may, err := h.Open(t, "sam", "fleet").Permission(t.Context(), wendy); may != forge.None || err != nil {
		t.Errorf("a stranger hears that wendy may %s, %v", may, err)
	}
	h.People["sam"] = forges.User{Login: "sam", Token: "not-a-token"}
	if _, err := h.Open(t, "sam", "fleet").Comments(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "the token is not valid") || strings.Contains(err.Error(), "not-a-token") {
		t.Errorf("a wrong token: %v", err)
	}
}
