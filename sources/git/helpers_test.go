package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/files"
)

const (
	user   = "publisher"
	secret = "s3cret/with:odd@chars"
)

var (
	noID = files.ID{}
	when = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	who  = Author{"Waybill", "waybill@example.com"}
)

// run runs the real git, which these tests need.
func run(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	out, err := attempt(tb, dir, args...)
	if err != nil {
		tb.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

func attempt(tb testing.TB, dir string, args ...string) (string, error) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// newBare makes an empty bare repository.
func newBare(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "repo.git")
	run(tb, ".", "init", "-q", "--bare", "-b", "main", dir)
	return dir
}

// sound fails the test if the repository is not as Git wants it, or if something of
// ours was left in it.
func sound(tb testing.TB, dir string) {
	tb.Helper()
	if out := run(tb, dir, "fsck", "--strict", "--full", "--no-dangling"); strings.Contains(out, "error") {
		tb.Errorf("fsck: %s", out)
	}
	if left := leftovers(tb, dir); len(left) > 0 {
		tb.Errorf("left behind: %v", left)
	}
}

func leftovers(tb testing.TB, dir string) []string {
	tb.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		base := filepath.Base(path)
		if base != "waybill.lock" && (strings.HasSuffix(base, ".lock") || strings.HasPrefix(base, "tmp_") || base == "waybill.packed-refs") {
			found = append(found, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // git, which was killed as well, may be clearing away
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// server is Git's own HTTP server, with a password, over repositories in a folder.
type server struct {
	*httptest.Server
	root     string
	requests atomic.Int64
	wrap     func(next http.Handler) http.Handler // nil for none
}

func newServer(tb testing.TB) *server {
	tb.Helper()
	path := run(tb, ".", "--exec-path")
	s := &server{root: tb.TempDir()}
	backend := &cgi.Handler{
		Path: filepath.Join(path, "git-http-backend"), Dir: s.root,
		Env: []string{
			"GIT_PROJECT_ROOT=" + s.root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=" + user,
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		},
		InheritEnv: []string{"PATH"}, Stderr: io.Discard,
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s.requests.Add(1)
		if u, p, ok := req.BasicAuth(); !ok || u != user || p != secret {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you, "+p+"?", http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(req.Body) // git-http-backend spins if its client dies in the middle
		if err != nil {
			return
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		var h http.Handler = backend
		if s.wrap != nil {
			h = s.wrap(h)
		}
		h.ServeHTTP(w, req)
	}))
	tb.Cleanup(s.Close)
	return s
}

// repo makes a bare repository on the server and returns its folder.
func (s *server) repo(tb testing.TB, name string) string {
	tb.Helper()
	dir := filepath.Join(s.root, name)
	run(tb, ".", "init", "-q", "--bare", "-b", "main", dir)
	return dir
}

func (s *server) open(tb testing.TB, name, cache string) *Repo {
	tb.Helper()
	return mustOpen(tb, Options{Location: s.URL + "/" + name, CacheDir: cache, Auth: Auth{Username: user, Password: secret, PlainHTTP: true}})
}

func mustOpen(tb testing.TB, o Options) *Repo {
	tb.Helper()
	r, err := Open(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// tree makes a folder of files from paths and contents.
func tree(contents map[string]string) *files.Folder {
	var entries []files.Entry
	below := map[string]map[string]string{}
	for path, text := range contents {
		dir, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			entries = append(entries, files.FileEntry(path, files.NewBlob([]byte(text))))
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]string{}
		}
		below[dir][rest] = text
	}
	for dir, c := range below {
		entries = append(entries, files.DirEntry(dir, tree(c)))
	}
	return files.NewFolder(entries)
}

func update(branch string, old files.ID, contents map[string]string) Update {
	return Update{Branch: branch, Old: old, Tree: tree(contents), Message: "m\n", Author: who, When: when}
}

func mustPublish(tb testing.TB, r *Repo, updates ...Update) []files.ID {
	tb.Helper()
	ids, err := r.Publish(tb.Context(), updates)
	if err != nil {
		tb.Fatal(err)
	}
	return ids
}

// text reads a file of a branch.
func text(ctx context.Context, r *Repo, branch, path string) (string, error) {
	h, ok, err := r.Branch(ctx, branch)
	if err != nil || !ok {
		return "", fmt.Errorf("branch %s: %t, %w", branch, ok, err)
	}
	e, ok := h.Tree.Lookup(path)
	if !ok {
		return "", fmt.Errorf("no file %s", path)
	}
	data, err := e.Blob.Bytes()
	return string(data), err
}

// number of packs, and of objects in them.
func packed(tb testing.TB, dir string) (packs, objects int) {
	tb.Helper()
	for line := range strings.Lines(run(tb, dir, "count-objects", "-v")) {
		_, _ = fmt.Sscanf(line, "packs: %d", &packs)
		_, _ = fmt.Sscanf(line, "in-pack: %d", &objects)
	}
	return packs, objects
}
