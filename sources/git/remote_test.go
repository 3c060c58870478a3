package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources/files"
)

// noSecret fails the test if an error, or anything in a folder, holds the password.
func noSecret(t *testing.T, err error, dir string) {
	t.Helper()
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), secret) || strings.Contains(e.Error(), url.QueryEscape(secret)) {
			t.Errorf("the error holds the password: %v", e)
			break
		}
	}
	walk := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), secret) || strings.Contains(path, secret) {
			t.Errorf("%s holds the password", path)
		}
		return err
	})
	if walk != nil {
		t.Fatal(walk)
	}
}

func TestErrorsOfServers(t *testing.T) {
	s := newServer(t)
	s.repo(t, "repo.git")
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }))
	t.Cleanup(silent.Close)
	odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprint(w, "001e# service=git-upload-pack\n0000 this is no Git server, "+req.Header.Get("Authorization"))
	}))
	t.Cleanup(odd.Close)
	good := Auth{Username: user, Password: secret, PlainHTTP: true}
	for _, test := range []struct {
		name, location string
		auth           Auth
		want           string
	}{
		{"no credentials", s.URL + "/repo.git", Auth{PlainHTTP: true}, "none were given"},
		{"a wrong password", s.URL + "/repo.git", Auth{Username: user, Password: secret + "x", PlainHTTP: true}, "does not accept"},
		{"a wrong password in the URL", strings.Replace(s.URL, "://", "://"+user+":s3cret%2Fwith:odd%40charsx@", 1) + "/repo.git", Auth{PlainHTTP: true}, "does not accept"},
		{"no such repository", s.URL + "/none.git", good, "no such repository"},
		{"nobody listens", "http://" + user + ":" + "pw@127.0.0.1:1/repo.git", Auth{PlainHTTP: true}, "connection refused"},
		{"no Git server", odd.URL + "/repo.git", good, "not Git's"},
		{"a server that never answers", silent.URL + "/repo.git", good, "deadline"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cache := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			r := mustOpen(t, Options{Location: test.location, CacheDir: cache, Auth: test.auth})
			_, heads := r.Heads(ctx)
			_, publish := r.Publish(ctx, []Update{update("a", noID, map[string]string{"f": "1"})})
			for _, err := range []error{heads, publish} {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %v, want %q", err, test.want)
				}
				noSecret(t, err, cache)
			}
		})
	}
}

func TestCredentialsInAURLServeAndAreNotShown(t *testing.T) {
	s, cache := newServer(t), t.TempDir()
	s.repo(t, "repo.git")
	r := mustOpen(t, Options{Location: strings.Replace(s.URL, "://", "://"+user+":s3cret%2Fwith%3Aodd%40chars@", 1) + "/repo.git/", CacheDir: cache, Auth: Auth{PlainHTTP: true}})
	mustPublish(t, r, update("main", noID, map[string]string{"f": "1"}))
	snapshot, err := r.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	if want := s.URL + "/repo.git"; r.Name() != want || snapshot.Revision().Repo != want {
		t.Errorf("names %q and %q, want %q", r.Name(), snapshot.Revision().Repo, want)
	}
	noSecret(t, nil, cache)
}

func TestRedirects(t *testing.T) {
	var stolen atomic.Int64
	canary := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stolen.Add(1)
		http.Error(w, "thank you", http.StatusTeapot)
	}))
	t.Cleanup(canary.Close)
	for _, code := range []int{301, 302, 307, 308} {
		t.Run(fmt.Sprintf("%d to another port is refused", code), func(t *testing.T) {
			s := newServer(t)
			s.repo(t, "repo.git")
			s.wrap = func(http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					http.Redirect(w, req, canary.URL+req.URL.RequestURI(), code)
				})
			}
			r := s.open(t, "repo.git", t.TempDir())
			_, err := r.Heads(t.Context())
			if err == nil || !strings.Contains(err.Error(), canary.URL) || !strings.Contains(err.Error(), "redirects") {
				t.Errorf("error %v", err)
			}
			if _, err := r.Publish(t.Context(), []Update{update("a", noID, map[string]string{"f": "1"})}); err == nil {
				t.Error("it published")
			}
		})
	}
	if n := stolen.Load(); n > 0 {
		t.Errorf("%d requests came to the other server", n)
	}
	t.Run("to another path of the same server is followed", func(t *testing.T) {
		s := newServer(t)
		s.repo(t, "new.git")
		s.wrap = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if rest, ok := strings.CutPrefix(req.URL.RequestURI(), "/old.git"); ok {
					http.Redirect(w, req, "/new.git"+rest, http.StatusMovedPermanently)
					return
				}
				next.ServeHTTP(w, req)
			})
		}
		r := s.open(t, "old.git", t.TempDir())
		mustPublish(t, r, update("a", noID, map[string]string{"f": "1"}))
		if got, err := text(t.Context(), r, "a", "f"); got != "1" || err != nil {
			t.Errorf("file = %q, %v", got, err)
		}
	})
}

// cut answers a push with less than the server said.
func cut(s *server, keep int64) {
	s.wrap = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, "git-receive-pack") {
				next.ServeHTTP(w, req)
				return
			}
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, req)
			conn, buf, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			fmt.Fprintf(buf, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", rec.Header().Get("Content-Type"), rec.Body.Len())
			_, _ = io.CopyN(buf, rec.Body, keep)
			_ = buf.Flush()
			_ = conn.Close()
		})
	}
}

func TestAnswerLostAfterPush(t *testing.T) {
	for _, keep := range []int64{0, 5, 30} {
		t.Run(fmt.Sprintf("after %d bytes", keep), func(t *testing.T) {
			s := newServer(t)
			dir := s.repo(t, "repo.git")
			cut(s, keep)
			r := s.open(t, "repo.git", t.TempDir())
			ids := mustPublish(t, r, update("a", noID, map[string]string{"f": "1"}), update("b", noID, map[string]string{"f": "1"}))
			if got := run(t, dir, "rev-parse", "a", "b"); got != ids[0].String()+"\n"+ids[1].String() {
				t.Errorf("branches are at %s", got)
			}
		})
	}
}

// hook installs a hook on the server.
func hook(t *testing.T, dir, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "hooks", name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestHooksRefuse(t *testing.T) {
	newThree := func() []Update {
		return []Update{update("a", noID, map[string]string{"f": "1"}), update("b", noID, map[string]string{"f": "1"}), update("c", noID, map[string]string{"f": "1"})}
	}
	const onlyB = "if [ $1 = refs/heads/b ]; then printf 'b is protected\\033[31m, %s %s\\n' '" + secret + "' 's3cret%2Fwith%3Aodd%40chars' >&2; exit 1; fi\n"
	t.Run("one of three branches, atomically", func(t *testing.T) {
		s, cache := newServer(t), t.TempDir()
		dir, three := s.repo(t, "repo.git"), newThree()
		hook(t, dir, "update", onlyB)
		_, err := s.open(t, "repo.git", cache).Publish(t.Context(), three)
		var partial *PartialError
		if err == nil || errors.As(err, &partial) || !strings.Contains(err.Error(), "b is protected") || strings.ContainsRune(err.Error(), '\033') {
			t.Errorf("error %v", err)
		}
		noSecret(t, err, cache)
		if got := run(t, dir, "for-each-ref"); got != "" {
			t.Errorf("refs: %s", got)
		}
		os.Remove(filepath.Join(dir, "hooks", "update"))
		mustPublish(t, s.open(t, "repo.git", cache), three...)
		sound(t, dir)
	})
	t.Run("one of three branches of a server that is not atomic", func(t *testing.T) {
		s := newServer(t)
		dir, three := s.repo(t, "repo.git"), newThree()
		run(t, dir, "config", "receive.advertiseAtomic", "false")
		hook(t, dir, "update", onlyB)
		r := s.open(t, "repo.git", t.TempDir())
		_, err := r.Publish(t.Context(), three)
		var partial *PartialError
		if !errors.As(err, &partial) {
			t.Fatalf("error %v, want a PartialError", err)
		}
		if d := cmp.Diff([]string{"a", "c"}, partial.Moved); d != "" {
			t.Error(d)
		}
		os.Remove(filepath.Join(dir, "hooks", "update"))
		mustPublish(t, r, three...)
		sound(t, dir)
	})
	t.Run("what moved in the stages before is told, too", func(t *testing.T) {
		s := newServer(t)
		dir, three := s.repo(t, "repo.git"), newThree()
		three[1].Stage, three[2].Stage = 1, 1
		run(t, dir, "config", "receive.advertiseAtomic", "false")
		hook(t, dir, "update", onlyB)
		_, err := s.open(t, "repo.git", t.TempDir()).Publish(t.Context(), three)
		var partial *PartialError
		if !errors.As(err, &partial) {
			t.Fatalf("error %v, want a PartialError", err)
		}
		if d := cmp.Diff([]string{"a", "c"}, partial.Moved); d != "" {
			t.Error(d)
		}
	})
	t.Run("what gains comes before what loses on a server that is not atomic", func(t *testing.T) {
		s := newServer(t)
		dir := s.repo(t, "repo.git")
		run(t, dir, "config", "receive.advertiseAtomic", "false")
		r := s.open(t, "repo.git", t.TempDir())
		ids := mustPublish(t, r, update("a", noID, map[string]string{"f": "1", "moves": "x"}), update("b", noID, map[string]string{"f": "1"}), update("state", noID, map[string]string{"moves": "a"}))
		moved := []Update{
			update("b", ids[1], map[string]string{"f": "1", "moves": "x"}), update("state", ids[2], map[string]string{"moves": "b"}),
			update("a", ids[0], map[string]string{"f": "1"}),
		}
		moved[1].Stage, moved[2].Stage = 2, 1
		hook(t, dir, "update", onlyB)
		if _, err := r.Publish(t.Context(), moved); err == nil || !strings.Contains(err.Error(), "b is protected") {
			t.Errorf("error %v", err)
		}
		if got := run(t, dir, "rev-parse", "a", "b", "state"); got != ids[0].String()+"\n"+ids[1].String()+"\n"+ids[2].String() {
			t.Errorf("the branches are at %s, and were at %v", got, ids)
		}
		os.Remove(filepath.Join(dir, "hooks", "update"))
		mustPublish(t, r, moved...)
		sound(t, dir)
	})
	t.Run("a branch that somebody else moves meanwhile is a race", func(t *testing.T) {
		s := newServer(t)
		dir, three := s.repo(t, "repo.git"), newThree()
		r := s.open(t, "repo.git", t.TempDir())
		ids := mustPublish(t, r, three...)
		theirs := mustPublish(t, mustOpen(t, Options{Location: dir}), update("other", noID, map[string]string{"f": "theirs"}))
		hook(t, dir, "pre-receive", "unset GIT_QUARANTINE_PATH; git update-ref refs/heads/b "+theirs[0].String()+"\n")
		_, err := r.Publish(t.Context(), []Update{update("a", ids[0], map[string]string{"f": "2"}), update("b", ids[1], map[string]string{"f": "2"})})
		var race *RaceError
		if !errors.As(err, &race) {
			t.Fatalf("error %v, want a RaceError", err)
		}
		if d := cmp.Diff(RaceError{"b", ids[1], theirs[0]}, *race); d != "" {
			t.Error(d)
		}
	})
	t.Run("everything, by not allowing pushes", func(t *testing.T) {
		s := newServer(t)
		dir, three := s.repo(t, "repo.git"), newThree()
		run(t, dir, "config", "http.receivepack", "false")
		_, err := s.open(t, "repo.git", t.TempDir()).Publish(t.Context(), three)
		if err == nil || !strings.Contains(err.Error(), "do not allow") {
			t.Errorf("error %v", err)
		}
	})
}

func TestRequestsAreFew(t *testing.T) {
	s, cache := newServer(t), t.TempDir()
	s.repo(t, "repo.git")
	r := s.open(t, "repo.git", cache)
	count := func(what string, want int64, f func()) {
		t.Helper()
		before := s.requests.Load()
		f()
		if got := s.requests.Load() - before; got != want {
			t.Errorf("%s took %d requests, want %d", what, got, want)
		}
	}
	read := func(r *Repo) {
		t.Helper()
		if _, err := r.Heads(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.Fetch(t.Context(), "a", "b"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.Branch(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if got, err := text(t.Context(), r, "b", "f"); got != "1" || err != nil {
			t.Fatal(got, err)
		}
	}
	count("opening", 0, func() { r = s.open(t, "repo.git", cache) })
	count("publishing", 2, func() {
		mustPublish(t, r, update("a", noID, map[string]string{"f": "1"}), update("b", noID, map[string]string{"f": "1"}))
	})
	count("reading what was published", 1, func() { read(r) })
	count("reading it with the same cache", 1, func() { read(s.open(t, "repo.git", cache)) })
	count("reading it without a cache", 3, func() { read(s.open(t, "repo.git", t.TempDir())) })
}

// A fetch gets what is new, not everything again.
func TestFetchIsIncremental(t *testing.T) {
	s, cache := newServer(t), t.TempDir()
	dir := s.repo(t, "repo.git")
	writer := mustOpen(t, Options{Location: dir})
	ids := mustPublish(t, writer, large(noID))
	r := s.open(t, "repo.git", cache)
	if _, err := text(t.Context(), r, "b", "f"); err != nil {
		t.Fatal(err)
	}
	u := large(ids[0])
	u.Tree = tree(map[string]string{"f": "small"})
	mustPublish(t, writer, u)
	if _, err := r.Heads(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := text(t.Context(), r, "b", "f"); got != "small" || err != nil {
		t.Errorf("file = %q, %v", got, err)
	}
	packs, _ := filepath.Glob(filepath.Join(cache, "*.git", "objects", "pack", "*.pack"))
	var small bool
	for _, p := range packs {
		if info, err := os.Stat(p); err == nil && info.Size() < 2000 {
			small = true
		}
	}
	if len(packs) != 2 || !small {
		t.Errorf("packs %v, want a large and a small one", packs)
	}
}

// TestPullRequest: a commit that only a ref of a pull request leads to is fetched by its id, and
// nothing else with it; and where it left its branch is known.
func TestPullRequest(t *testing.T) {
	s := newServer(t)
	dir := s.repo(t, "repo.git")
	work := t.TempDir()
	run(t, work, "clone", "-q", dir, ".")
	commit := func(branch, from, file string) string {
		run(t, work, append([]string{"checkout", "-q", "-B", branch}, strings.Fields(from)...)...)
		if err := os.WriteFile(filepath.Join(work, file), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, work, "add", ".")
		run(t, work, "commit", "-q", "-m", file)
		return strings.TrimSpace(run(t, work, "rev-parse", "HEAD"))
	}
	base := commit("main", "", "base")
	head := commit("feature", "main", "feature")
	other := commit("other", "main", "other")
	tip := commit("main", "main", "later")
	run(t, work, "push", "-q", "origin", "main", "feature:refs/pull/1/head", "other:refs/pull/2/head")
	r := s.open(t, "repo.git", t.TempDir())
	id := func(text string) files.ID {
		id, err := files.ParseID(text)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if got, found, err := r.MergeBase(t.Context(), id(tip), id(head)); err != nil || !found || got != id(base) {
		t.Errorf("the merge base is %s, %t, %v; want %s", got, found, err, base)
	}
	snapshot, err := r.Snapshot(t.Context(), head, "")
	if err != nil || len(snapshot.Files()) != 2 {
		t.Errorf("the head has %v, %v", snapshot, err)
	}
	if r.store.has(id(other)) {
		t.Error("another pull request is fetched with it")
	}
	const nowhere = "00000000000000000000000000000000000000ff"
	if _, _, err := r.MergeBase(t.Context(), id(tip), id(nowhere)); err == nil {
		t.Error("a commit that is nowhere has a merge base")
	}
}

func TestRewrittenHistory(t *testing.T) {
	s, cache := newServer(t), t.TempDir()
	dir := s.repo(t, "repo.git")
	writer := mustOpen(t, Options{Location: dir})
	old := mustPublish(t, writer, update("main", noID, map[string]string{"f": "old"}))
	r := s.open(t, "repo.git", cache)
	if got, err := text(t.Context(), r, "main", "f"); got != "old" || err != nil {
		t.Fatalf("file = %q, %v", got, err)
	}
	run(t, dir, "update-ref", "-d", "refs/heads/main")
	run(t, dir, "gc", "-q", "--prune=now")
	mustPublish(t, writer, update("main", noID, map[string]string{"f": "new"}))
	if _, err := r.Heads(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := text(t.Context(), r, "main", "f"); got != "new" || err != nil {
		t.Errorf("file = %q, %v", got, err)
	}
	_, err := s.open(t, "repo.git", t.TempDir()).Commit(t.Context(), old[0])
	if err == nil || !strings.Contains(err.Error(), "rewritten") {
		t.Errorf("a commit that is gone: %v", err)
	}
}

func TestEmptyRepositoryBehindAURL(t *testing.T) {
	s := newServer(t)
	s.repo(t, "repo.git")
	r := s.open(t, "repo.git", t.TempDir())
	if heads, err := r.Heads(t.Context()); len(heads) != 0 || err != nil {
		t.Errorf("Heads = %v, %v", heads, err)
	}
	if _, err := r.Snapshot(t.Context(), "HEAD", ""); err == nil || !strings.Contains(err.Error(), "no commit") {
		t.Errorf("HEAD: %v", err)
	}
}

// A connection that dies in the middle of a pack leaves nothing that counts.
func TestBrokenDownload(t *testing.T) {
	s, cache := newServer(t), t.TempDir()
	dir := s.repo(t, "repo.git")
	mustPublish(t, mustOpen(t, Options{Location: dir}), large(noID))
	whole := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost {
			w = &shortWriter{ResponseWriter: w, left: 20_000}
		}
		whole.ServeHTTP(w, req)
	})
	if _, err := text(t.Context(), s.open(t, "repo.git", cache), "b", "f"); err == nil {
		t.Fatal("half a pack was taken")
	}
	s.Config.Handler = whole
	caches, _ := filepath.Glob(filepath.Join(cache, "*.git"))
	if err := os.WriteFile(filepath.Join(caches[0], "objects", "pack", "tmp_pack_123"), nil, 0o600); err != nil { // as a kill leaves it
		t.Fatal(err)
	}
	if _, err := text(t.Context(), s.open(t, "repo.git", cache), "b", "f"); err != nil {
		t.Error(err)
	}
	sound(t, caches[0])
}

// shortWriter kills the connection after some bytes.
type shortWriter struct {
	http.ResponseWriter
	left int
}

func (w *shortWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return w.ResponseWriter.Write(p)
}

func TestListingWithoutEnd(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "001e# service=git-upload-pack\n0000")
		fmt.Fprintf(w, "%04x%s refs/heads/a\x00 ofs-delta\n", 4+40+1+12+12, strings.Repeat("1", 40))
		line := fmt.Sprintf("%04x%s refs/heads/%s\n", 4+40+1+11+200+1, strings.Repeat("1", 40), strings.Repeat("b", 200))
		for range maxListing/len(line) + 100 {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	_, err := mustOpen(t, Options{Location: s.URL, CacheDir: t.TempDir()}).Heads(t.Context())
	if _, ok := errors.AsType[*LimitError](err); !ok {
		t.Errorf("error %v, want a LimitError", err)
	}
}

func TestSSHServerThatNeverAnswers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	known := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(known, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, Options{Location: "ssh://git@" + l.Addr().String() + "/repo.git", CacheDir: t.TempDir(), Auth: Auth{SSHKey: newKey(t), Passphrase: secret, KnownHosts: known}})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := r.Heads(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
