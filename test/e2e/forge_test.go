//go:build e2e

package e2e

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/forge/forgetest"
	"github.com/waybill-dev/waybill/test/controlplane"
	"github.com/waybill-dev/waybill/test/forges"
	"github.com/waybill-dev/waybill/test/program"
)

// hub is a Gitea with people: waybill administers the repositories, ann and wendy write, rob
// reads, and sam is nobody there.
type hub struct {
	*forges.Gitea

	people map[string]forges.User
}

func startHub(t *testing.T) *hub {
	t.Helper()
	g, err := forges.Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Stop)
	h := &hub{Gitea: g, people: map[string]forges.User{}}
	for _, login := range []string{"waybill", "ann", "wendy", "rob", "sam"} {
		if h.people[login], err = g.AddUser(t.Context(), login); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// do makes a call that succeeds.
func (h *hub) do(t forgetest.T, as, method, path string, in, out any) {
	t.Helper()
	if err := h.try(t, as, method, path, in, out); err != nil {
		t.Fatal(err)
	}
}

// try makes a call.
func (h *hub) try(t forgetest.T, as, method, path string, in, out any) error {
	t.Helper()
	return h.Do(t.Context(), h.people[as], forges.Call{Method: method, Path: path, In: in, Out: out})
}

type fields = map[string]any

// repository makes a private repository of waybill's, in which the others may do what they may.
func (h *hub) repository(t *testing.T, name string) {
	t.Helper()
	h.do(t, "waybill", http.MethodPost, "/user/repos", fields{"name": name, "auto_init": true, "default_branch": "main", "private": true}, nil)
	for login, may := range map[string]string{"ann": "write", "wendy": "write", "rob": "read"} {
		h.do(t, "waybill", http.MethodPut, "/repos/waybill/"+name+"/collaborators/"+login, fields{"permission": may}, nil)
	}
}

// commit has ann commit a file to a branch, which is made of another if it is not there.
func (h *hub) commit(t forgetest.T, name, from, branch, file, text string) (sha string) {
	t.Helper()
	in := fields{"branch": from, "content": base64.StdEncoding.EncodeToString([]byte(text)), "message": "write " + file}
	if from != branch {
		in["new_branch"] = branch
	}
	var made struct {
		Commit struct{ SHA string }
	}
	h.do(t, "ann", http.MethodPost, "/repos/waybill/"+name+"/contents/"+file, in, &made)
	return made.Commit.SHA
}

// user is somebody as forges know them.
func (h *hub) user(t *testing.T, login string) forge.User {
	t.Helper()
	var u struct{ ID int64 }
	h.do(t, login, http.MethodGet, "/user", nil, &u)
	return forge.User{ID: u.ID, Login: login}
}

// open opens a repository as somebody.
func (h *hub) open(t *testing.T, as, name string) forge.Forge {
	t.Helper()
	f, err := forge.Open(forge.Options{Kind: forge.Gitea, URL: h.URL, Repository: "waybill/" + name, Token: h.people[as].Token, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestGitea holds the client to its promises against a real Gitea.
func TestGitea(t *testing.T) {
	t.Parallel()
	h, repositories := startHub(t), 0
	forgetest.Run(t, func(t *testing.T) forgetest.World {
		repositories++
		name := fmt.Sprintf("fleet-%d", repositories)
		h.repository(t, name)
		at, files := "/repos/waybill/"+name, 1
		head := h.commit(t, name, "main", "change", "a.txt", "a")
		var pull struct{ Number int }
		h.do(t, "ann", http.MethodPost, at+"/pulls", fields{"title": "a change", "head": "change", "base": "main"}, &pull)
		return forgetest.World{
			Forge: h.open(t, "waybill", name), Number: pull.Number, Head: head, Base: "main",
			Author: h.user(t, "ann"), Writer: h.user(t, "wendy"), Reader: h.user(t, "rob"), Stranger: h.user(t, "sam"),
			Say: func(t forgetest.T, as forge.User, body string) {
				h.do(t, as.Login, http.MethodPost, fmt.Sprintf("%s/issues/%d/comments", at, pull.Number), fields{"body": body}, nil)
			},
			Edit: func(t forgetest.T, comment int64, body string) {
				h.do(t, "waybill", http.MethodPatch, fmt.Sprintf("%s/issues/comments/%d", at, comment), fields{"body": body}, nil)
			},
			Push: func(t forgetest.T) string {
				files++
				return h.commit(t, name, "change", "change", fmt.Sprintf("%d.txt", files), "b")
			},
			Shown: func(t forgetest.T, commit, about string) forge.Status { return h.shown(t, name, commit, about) },
		}
	})
}

// TestGiteaShowsAChange runs a job of Gitea's Actions, but for the runner: a clone over HTTP, a
// real pull request, and the recipe's command.
func TestGiteaShowsAChange(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	h.repository(t, "fleet")
	work, waybill := t.TempDir(), program.Build(t)
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.test", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@example.test",
		"GITHUB_ACTIONS=true", "GITEA_ACTIONS=true", "GITHUB_SERVER_URL="+h.URL, "GITHUB_REPOSITORY=waybill/fleet", "GITHUB_RUN_NUMBER=3", "GITHUB_EVENT_PATH="+filepath.Join(work, "event.json"),
		"GITEA_TOKEN="+h.people["waybill"].Token)
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
	run(0, "", "git", "clone", "-q", h.Clone(h.people["ann"], "waybill/fleet"), "clone")
	commit("fleet.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n---\n"+
		"apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}\n")
	run(0, "clone", "git", "checkout", "-qb", "change")
	head := commit("one.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: a}\ndata: {k: \"1\"}\n")
	var pull struct{ Number int }
	h.do(t, "ann", http.MethodPost, "/repos/waybill/fleet/pulls", fields{"title": "a change", "head": "change", "base": "main"}, &pull)
	var first int64
	for _, want := range []string{"1 object in 1 of 1 cluster**: 1 appears", "2 objects in 1 of 1 cluster**: 2 appear"} {
		event := fmt.Sprintf(`{"pull_request": {"number": %d, "head": {"sha": %q}}}`, pull.Number, head)
		if err := os.WriteFile(filepath.Join(work, "event.json"), []byte(event), 0o600); err != nil {
			t.Fatal(err)
		}
		if out := run(1, "clone", waybill, "diff", "origin/main", "HEAD", "--to", "origin", "--untrusted", "--post", "--plain-http"); strings.Contains(out, h.people["waybill"].Token) {
			t.Errorf("the token is printed: %s", out)
		}
		all, err := h.open(t, "waybill", "fleet").Comments(t.Context(), pull.Number)
		if err != nil || len(all) != 1 || !strings.Contains(all[0].Body, want) || first != 0 && all[0].ID != first {
			t.Fatalf("%s: the comments are %+v, %v", want, all, err)
		}
		first = all[0].ID
		if s := h.shown(t, "fleet", head, "waybill/preview"); s.State != forge.Success || s.Description != strings.Replace(want[:strings.Index(want, "*")], "of 1 ", "", 1) {
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
	h := startHub(t)
	h.repository(t, "fleet")
	h.commit(t, "fleet", "main", "main", "fleet.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n---\n"+
		"apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}\n")
	port := h.controls(t)
	within := func(path string) {
		t.Helper()
		h.until(t, path+" is published", func() bool { return h.published(t, path) })
	}
	h.commit(t, "fleet", "main", "main", "one.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: a}\n")
	h.hook(t, port)
	within("manifests/a/configmap/one.yaml") // by the look at the beginning, or by a webhook
	for _, name := range []string{"two", "three"} {
		h.commit(t, "fleet", "main", "main", name+".yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+", namespace: a}\n")
		within("manifests/a/configmap/" + name + ".yaml")
	}
}

// hookSecret is that of webhooks.
const hookSecret = "for-the-test-and-nothing-else"

// controls starts a controller of the repository fleet that looks every ten minutes, and takes
// webhooks at a port.
func (h *hub) controls(t *testing.T, more ...string) (port string) {
	t.Helper()
	port, err := controlplane.Port()
	if err != nil {
		t.Fatal(err)
	}
	secret, token := filepath.Join(t.TempDir(), "secret"), filepath.Join(t.TempDir(), "token")
	for file, text := range map[string]string{secret: hookSecret, token: h.people["waybill"].Token} {
		if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	controller := exec.Command(program.Build(t), append([]string{
		"controller", h.URL + "/waybill/fleet.git", "--interval", "10m", "--listen", "", "--plain-http", "--username", "waybill", "--password-file", token,
		"--webhook-secret-file", secret, "--webhook-listen", "127.0.0.1:" + port, "--forge", "gitea", "--forge-url", h.URL, "--forge-repository", "waybill/fleet", "--token-file", token,
	}, more...)...)
	var log strings.Builder
	controller.Stderr = &log
	if err := controller.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = controller.Process.Signal(os.Interrupt)
		_ = controller.Wait()
		if t.Failed() {
			t.Log(log.String(), h.Log())
		}
		if strings.Contains(log.String(), hookSecret) || strings.Contains(log.String(), h.people["waybill"].Token) {
			t.Error("the log has a secret")
		}
	})
	return port
}

// hook has Gitea tell a controller what happens.
func (h *hub) hook(t *testing.T, port string) {
	t.Helper()
	h.do(t, "waybill", http.MethodPost, "/repos/waybill/fleet/hooks", fields{
		"type": "gitea", "active": true, "events": []string{"push", "pull_request", "issue_comment"},
		"config": fields{"url": "http://127.0.0.1:" + port + "/webhooks/gitea", "content_type": "json", "secret": hookSecret},
	}, nil)
}

// published reports whether the branch of eu has a file.
func (h *hub) published(t *testing.T, path string) bool {
	t.Helper()
	return h.Do(t.Context(), h.people["waybill"], forges.Call{Method: http.MethodGet, Path: "/repos/waybill/fleet/contents/" + path + "?ref=waybill/cluster/eu"}) == nil
}

// until waits a minute for something.
func (h *hub) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestGiteaTakesOrders has a source lose all that a cluster has, which the guard holds until a
// maintainer's comment on a pull request allows it. The comments come by webhooks.
func TestGiteaTakesOrders(t *testing.T) {
	t.Parallel()
	const path = "manifests/a/configmap/one.yaml"
	h := startHub(t)
	h.repository(t, "fleet")
	h.commit(t, "fleet", "main", "main", "fleet.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n---\n"+
		"apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}\n")
	h.commit(t, "fleet", "main", "main", "one.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: a}\n")
	h.hook(t, h.controls(t, "--orders", "--orders-not-author", "--commit-statuses"))
	h.until(t, "it is published", func() bool { return h.published(t, path) })
	head := h.commit(t, "fleet", "main", "change", "README", "a change")
	var pull struct{ Number int }
	h.do(t, "ann", http.MethodPost, "/repos/waybill/fleet/pulls", fields{"title": "a change", "head": "change", "base": "main"}, &pull)
	var file struct{ SHA string }
	h.do(t, "ann", http.MethodGet, "/repos/waybill/fleet/contents/one.yaml", nil, &file)
	var gone struct{ Commit struct{ SHA string } }
	h.do(t, "ann", http.MethodDelete, "/repos/waybill/fleet/contents/one.yaml", fields{"sha": file.SHA, "branch": "main", "message": "all of it goes"}, &gone)
	h.until(t, "it is held, and the commit says so", func() bool { return h.shown(t, "fleet", gone.Commit.SHA, "waybill/published").State == forge.Failure })
	digest := h.held(t)
	order := "/waybill approve-prune " + digest + " " + head
	for who, why := range map[string]string{"ann": "refused: whoever made the change may not approve it", "rob": "refused: it takes the permission to write, and rob has read"} {
		h.do(t, who, http.MethodPost, fmt.Sprintf("/repos/waybill/fleet/issues/%d/comments", pull.Number), fields{"body": order}, nil)
		h.until(t, who+" is refused", func() bool {
			return strings.HasPrefix(h.shown(t, "fleet", head, "waybill/orders").Description, why)
		})
	}
	if !h.published(t, path) {
		t.Error("it is published without an approval")
	}
	h.do(t, "wendy", http.MethodPost, fmt.Sprintf("/repos/waybill/fleet/issues/%d/comments", pull.Number), fields{"body": order}, nil)
	h.until(t, "it is published", func() bool { return !h.published(t, path) })
	if s := h.shown(t, "fleet", head, "waybill/orders"); s.State != forge.Success {
		t.Errorf("the order shows %+v", s)
	}
}

// held is the digest of what is held, as the program tells whoever asks.
func (h *hub) held(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(program.Build(t), "publish", h.URL+"/waybill/fleet.git", "--rev", "main", "--dry-run", "--plain-http", "--username", "waybill")
	cmd.Env = append(os.Environ(), "WAYBILL_PASSWORD="+h.people["waybill"].Token)
	out, _ := cmd.CombinedOutput()
	_, digest, ok := strings.Cut(string(out), "Waybill-Allow-Prune: ")
	digest, _, _ = strings.Cut(digest, `"`)
	if !ok {
		t.Fatalf("nothing is held:\n%s", out)
	}
	return digest
}

// shown is the status that the forge shows at a commit.
func (h *hub) shown(t forgetest.T, name, commit, about string) forge.Status {
	t.Helper()
	var all struct {
		Statuses []struct {
			Context, Status, Description string
			Target                       string `json:"target_url"`
		}
	}
	h.do(t, "waybill", http.MethodGet, "/repos/waybill/"+name+"/commits/"+commit+"/status", nil, &all)
	for _, s := range all.Statuses {
		if s.Context == about {
			return forge.Status{Commit: commit, Context: about, State: forge.State(s.Status), Description: s.Description, URL: s.Target}
		}
	}
	return forge.Status{}
}

// Who may not ask what others may do is told so, and who sees nothing finds nobody.
func TestGiteaRefuses(t *testing.T) {
	t.Parallel()
	h := startHub(t)
	h.repository(t, "fleet")
	wendy := forge.User{Login: "wendy"}
	if _, err := h.open(t, "rob", "fleet").Permission(t.Context(), wendy); err == nil || !strings.Contains(err.Error(), "takes an administrator") {
		t.Errorf("a reader asked what others may do: %v", err)
	}
	if may, err := h.open(t, "sam", "fleet").Permission(t.Context(), wendy); may != forge.None || err != nil {
		t.Errorf("a stranger hears that wendy may %s, %v", may, err)
	}
	h.people["sam"] = forges.User{Login: "sam", Token: "not-a-token"}
	if _, err := h.open(t, "sam", "fleet").Comments(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "the token is not valid") || strings.Contains(err.Error(), "not-a-token") {
		t.Errorf("a wrong token: %v", err)
	}
}
