// Package forges runs a real forge on this machine, for tests and for the demo: Gitea, built
// from the module in servers, once for each state of it, and kept in the user's cache. It has C
// in it, so that building it takes a C compiler.
package forges

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/test/controlplane"
	"github.com/waybill-dev/waybill/test/peers"
)

const (
	pkg     = "code.gitea.io/gitea"
	version = "1.26.0"
)

// Password is that of every user.
const Password = "For-the-test-1"

// Gitea is a forge that runs.
type Gitea struct {
	URL   string
	Admin User

	program, config string
	process         *controlplane.Process
}

// User is somebody, with a token.
type User struct{ Login, Token string }

// Install builds Gitea, which takes six minutes of CPU the first time, or finds it in the user's
// cache. It returns the program, and the folder of the module that it is built from.
func Install() (program, module string, err error) {
	here, err := peers.Go(".", "list", "-f", "{{.Dir}}", "github.com/waybill-dev/waybill/test/forges")
	if err != nil {
		return "", "", err
	}
	module = filepath.Join(strings.TrimSpace(here), "servers")
	program, err = peers.InstallC(module, "gitea", "-trimpath", "-tags", "sqlite sqlite_unlock_notify", "-ldflags", "-s -w -X main.Version="+version, pkg)
	if err != nil {
		return "", "", fmt.Errorf("building Gitea, which takes a C compiler as in Debian's package gcc: %w", err)
	}
	return program, module, nil
}

// Start starts Gitea, which it builds where it must. All that it has lies in dir.
func Start(ctx context.Context, dir string) (*Gitea, error) {
	program, servers, err := Install()
	if err != nil {
		return nil, err
	}
	g := &Gitea{program: program, config: filepath.Join(dir, "app.ini")}
	files, err := peers.Go(servers, "list", "-m", "-f", "{{.Dir}}", pkg)
	if err != nil {
		return nil, err
	}
	if err := g.configure(dir, strings.TrimSpace(files)); err != nil {
		return nil, err
	}
	if _, err := g.run(ctx, "migrate"); err != nil {
		return nil, err
	}
	if err := g.addAdmin(ctx); err != nil {
		return nil, err
	}
	if g.process, err = controlplane.Run(dir, g.program, nil, "--config", g.config, "web"); err != nil {
		return nil, err
	}
	if err := g.ready(ctx); err != nil {
		return g, err
	}
	g.Admin, err = g.token(ctx, g.Admin.Login, "all")
	return g, err
}

// Stop stops the forge.
func (g *Gitea) Stop() { g.process.Stop() }

// Log is the end of what the forge has said.
func (g *Gitea) Log() string { return g.process.Log() }

// configure writes the configuration. Whoever runs the tests may be root, and webhooks go to this
// machine.
func (g *Gitea) configure(dir, static string) error {
	port, err := controlplane.Port()
	if err != nil {
		return err
	}
	g.URL = "http://127.0.0.1:" + port
	secret, err := exec.Command(g.program, "generate", "secret", "INTERNAL_TOKEN").Output() //nolint:gosec,noctx // the forge
	if err != nil {
		return err
	}
	user := "root"
	if os.Getuid() != 0 {
		user = os.Getenv("USER")
	}
	text := fmt.Sprintf(`RUN_MODE = prod
RUN_USER = %s
WORK_PATH = %s
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %s
ROOT_URL = %s/
STATIC_ROOT_PATH = %s
DISABLE_SSH = true
OFFLINE_MODE = true
LFS_START_SERVER = false
[database]
DB_TYPE = sqlite3
SQLITE_JOURNAL_MODE = WAL
[security]
INSTALL_LOCK = true
SECRET_KEY = for-the-test-and-nothing-else
INTERNAL_TOKEN = %s
[oauth2]
ENABLED = true
[service]
DISABLE_REGISTRATION = true
[webhook]
ALLOWED_HOST_LIST = loopback
[session]
PROVIDER = memory
[queue]
TYPE = channel
[indexer]
ISSUE_INDEXER_TYPE = db
[actions]
ENABLED = false
[picture]
DISABLE_GRAVATAR = true
[cron.update_checker]
ENABLED = false
[log]
MODE = console
LEVEL = warn
`, user, dir, port, g.URL, static, bytes.TrimSpace(secret))
	const private = 0o600
	return os.WriteFile(g.config, []byte(text), private) //nolint:gosec // of a folder that the caller names
}

// run runs a command of the forge's.
func (g *Gitea) run(ctx context.Context, args ...string) (string, error) {
	return peers.Output(exec.CommandContext(ctx, g.program, append([]string{"--config", g.config}, args...)...)) //nolint:gosec // the forge
}

// addAdmin makes the administrator, before the forge runs.
func (g *Gitea) addAdmin(ctx context.Context) error {
	const login = "root1"
	g.Admin.Login = login
	_, err := g.run(ctx, "admin", "user", "create", "--admin", "--username", login, "--password", Password, "--email", login+"@example.test", "--must-change-password=false")
	return err
}

// AddUser makes a user.
func (g *Gitea) AddUser(ctx context.Context, login string) (User, error) {
	err := g.Do(ctx, g.Admin, Call{Method: http.MethodPost, Path: "/admin/users", In: map[string]any{
		"username": login, "password": Password, "email": login + "@example.test", "must_change_password": false,
	}})
	if err != nil {
		return User{}, err
	}
	return g.token(ctx, login, "all")
}

// token makes a token of a user.
func (g *Gitea) token(ctx context.Context, login string, scopes ...string) (User, error) {
	var made struct{ SHA1 string }
	err := g.Do(ctx, User{Login: login}, Call{Method: http.MethodPost, Path: "/users/" + login + "/tokens", In: map[string]any{"name": "test", "scopes": scopes}, Out: &made})
	return User{login, made.SHA1}, err
}

// ready waits until the forge answers.
func (g *Gitea) ready(ctx context.Context) error {
	const patience, interval = 2 * time.Minute, 50 * time.Millisecond
	for deadline := time.Now().Add(patience); ; time.Sleep(interval) {
		err := g.Do(ctx, g.Admin, Call{Method: http.MethodGet, Path: "/version"})
		if err == nil {
			return nil
		}
		if g.process.Ended() || time.Now().After(deadline) {
			return fmt.Errorf("there is no answer of Gitea: %w\n%s", err, g.Log())
		}
	}
}

// Call is a call of the API. In is sent, and Out read, as JSON; either may be nil. What is no JSON is
// read into a *string.
type Call struct {
	Method, Path string
	In, Out      any
}

// Do makes a call as somebody, who has the password if there is no token.
func (g *Gitea) Do(ctx context.Context, as User, c Call) error {
	body, err := json.Marshal(c.In)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, g.URL+"/api/v1"+c.Path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.SetBasicAuth(as.Login, Password)
	if as.Token != "" {
		req.Header.Set("Authorization", "token "+as.Token)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s: %s", c.Method, c.Path, resp.Status, answer)
	}
	if text, ok := c.Out.(*string); ok {
		*text = string(answer)
	} else if err == nil && c.Out != nil {
		err = json.Unmarshal(answer, c.Out)
	}
	return err
}

// Clone is the URL by which somebody clones a repository and pushes to it.
func (g *Gitea) Clone(as User, repository string) string {
	return strings.Replace(g.URL, "http://", "http://"+as.Login+":"+as.Token+"@", 1) + "/" + repository + ".git"
}
