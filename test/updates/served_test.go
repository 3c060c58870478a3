package updates

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waybill-dev/waybill/test/peers"
)

// gitServer is Git's own server. The user reader, with the password read, may read, and the user updates, with the password write, may
// push, too.
type gitServer struct {
	git http.Handler

	mu     sync.Mutex
	pushed []string // users
}

func (s *gitServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	pushes := strings.Contains(r.URL.String(), "git-receive-pack")
	writes, reads := user == "updates" && password == "write", user == "reader" && password == "read"
	if !writes && (!reads || pushes) {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	if pushes {
		s.mu.Lock()
		s.pushed = append(s.pushed, user)
		s.mu.Unlock()
	}
	s.git.ServeHTTP(w, r)
}

// serve serves the repositories in a folder at $GIT: serve FOLDER
func serve(ts *testscript.TestScript, _ bool, args []string) {
	handler, err := peers.GitServer(context.Background(), ts.MkAbs(args[0]))
	ts.Check(err)
	s := &gitServer{git: handler}
	at := httptest.NewServer(s)
	ts.Defer(at.Close)
	ts.Setenv("GIT", at.URL)
	*ts.Value("served").(**gitServer) = s
}

// pushers prints which users pushed into a file, each once: pushers FILE
func pushers(ts *testscript.TestScript, _ bool, args []string) {
	s := *ts.Value("served").(**gitServer)
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Sorted(slices.Values(s.pushed))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(slices.Compact(all), "\n")+"\n"), 0o600))
}
