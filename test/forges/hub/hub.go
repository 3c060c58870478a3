// Package hub is a real Gitea with people in it, as tests use one: repositories with commits and
// pull requests, and controllers that watch them.
package hub

import (
	"encoding/base64"
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

// Hub is a Gitea with people: waybill administers the repositories, ann and wendy write, rob
// reads, and sam is nobody there.
type Hub struct {
	*forges.Gitea

	People map[string]forges.User
}

// Start starts one, which ends with the test.
func Start(t *testing.T) *Hub {
	t.Helper()
	g, err := forges.Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Stop)
	h := &Hub{Gitea: g, People: map[string]forges.User{}}
	for _, login := range []string{"waybill", "ann", "wendy", "rob", "sam"} {
		if h.People[login], err = g.AddUser(t.Context(), login); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// Do makes a call that succeeds.
func (h *Hub) Do(t forgetest.T, as, method, path string, in, out any) { //nolint:revive // what a call of the API has
	t.Helper()
	if err := h.Try(t, as, method, path, in, out); err != nil {
		t.Fatal(err)
	}
}

// Try makes a call.
func (h *Hub) Try(t forgetest.T, as, method, path string, in, out any) error { //nolint:revive // what a call of the API has
	t.Helper()
	return h.Gitea.Do(t.Context(), h.People[as], forges.Call{Method: method, Path: path, In: in, Out: out})
}

// Fields is an object of the API.
type Fields = map[string]any

// Repository makes a private repository of waybill's, in which the others may do what they may.
func (h *Hub) Repository(t *testing.T, name string) {
	t.Helper()
	h.Do(t, "waybill", http.MethodPost, "/user/repos", Fields{"name": name, "auto_init": true, "default_branch": "main", "private": true}, nil)
	for login, may := range map[string]string{"ann": "write", "wendy": "write", "rob": "read"} {
		h.Do(t, "waybill", http.MethodPut, "/repos/waybill/"+name+"/collaborators/"+login, Fields{"permission": may}, nil)
	}
}

// Commit has ann commit a file to a branch, which is made of another if it is not there.
func (h *Hub) Commit(t forgetest.T, name, from, branch, file, text string) (sha string) { //nolint:revive // what a commit of the API has
	t.Helper()
	in := Fields{"branch": from, "content": base64.StdEncoding.EncodeToString([]byte(text)), "message": "write " + file}
	if from != branch {
		in["new_branch"] = branch
	}
	var made struct {
		Commit struct{ SHA string }
	}
	h.Do(t, "ann", http.MethodPost, "/repos/waybill/"+name+"/contents/"+file, in, &made)
	return made.Commit.SHA
}

// User is somebody as forges know them.
func (h *Hub) User(t *testing.T, login string) forge.User {
	t.Helper()
	var u struct{ ID int64 }
	h.Do(t, login, http.MethodGet, "/user", nil, &u)
	return forge.User{ID: u.ID, Login: login}
}

// Open opens a repository as somebody.
func (h *Hub) Open(t *testing.T, as, name string) forge.Forge {
	t.Helper()
	f, err := forge.Open(forge.Options{Kind: forge.Gitea, URL: h.URL, Repository: "waybill/" + name, Token: h.People[as].Token, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// hookSecret is that of webhooks.
const hookSecret = "for-the-test-and-nothing-else"

// Controls starts a controller of the repository fleet that looks every ten minutes, and takes
// webhooks at a port.
func (h *Hub) Controls(t *testing.T, more ...string) (port string) {
	t.Helper()
	port, err := controlplane.Port()
	if err != nil {
		t.Fatal(err)
	}
	secret, token := filepath.Join(t.TempDir(), "secret"), filepath.Join(t.TempDir(), "token")
	for file, text := range map[string]string{secret: hookSecret, token: h.People["waybill"].Token} {
		if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	controller := exec.Command(program.Build(t), append([]string{ //nolint:gosec,noctx // the program of the tests, which is interrupted at their end
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
		if strings.Contains(log.String(), hookSecret) || strings.Contains(log.String(), h.People["waybill"].Token) {
			t.Error("the log has a secret")
		}
	})
	return port
}

// Hook has Gitea tell a controller what happens.
func (h *Hub) Hook(t *testing.T, port string) {
	t.Helper()
	h.Do(t, "waybill", http.MethodPost, "/repos/waybill/fleet/hooks", Fields{
		"type": "gitea", "active": true, "events": []string{"push", "pull_request", "issue_comment"},
		"config": Fields{"url": "http://127.0.0.1:" + port + "/webhooks/gitea", "content_type": "json", "secret": hookSecret},
	}, nil)
}

// Published reports whether the branch of eu has a file.
func (h *Hub) Published(t *testing.T, path string) bool {
	t.Helper()
	return h.Gitea.Do(t.Context(), h.People["waybill"], forges.Call{Method: http.MethodGet, Path: "/repos/waybill/fleet/contents/" + path + "?ref=waybill/cluster/eu"}) == nil
}

// Until waits a minute for something.
func (*Hub) Until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// Held is the digest of what is held, as the program tells whoever asks.
func (h *Hub) Held(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program.Build(t), "publish", h.URL+"/waybill/fleet.git", "--rev", "main", "--dry-run", "--plain-http", "--username", "waybill") //nolint:gosec // the program of the tests
	cmd.Env = append(os.Environ(), "WAYBILL_PASSWORD="+h.People["waybill"].Token)
	out, _ := cmd.CombinedOutput()
	_, digest, ok := strings.Cut(string(out), "Waybill-Allow-Prune: ")
	digest, _, _ = strings.Cut(digest, `"`)
	if !ok {
		t.Fatalf("nothing is held:\n%s", out)
	}
	return digest
}

// Shown is the status that the forge shows at a commit.
func (h *Hub) Shown(t forgetest.T, name, commit, about string) forge.Status {
	t.Helper()
	var all struct {
		Statuses []struct {
			Context, Status, Description string
			Target                       string `json:"target_url"`
		}
	}
	h.Do(t, "waybill", http.MethodGet, "/repos/waybill/"+name+"/commits/"+commit+"/status", nil, &all)
	for _, s := range all.Statuses {
		if s.Context == about {
			return forge.Status{Commit: commit, Context: about, State: forge.State(s.Status), Description: s.Description, URL: s.Target}
		}
	}
	return forge.Status{}
}
