//go:build e2e

package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/waybill-dev/waybill/test/peers"
)

// trap stands in the way of requests. When one comes that it is set for, it does something,
// once, before the request is passed on or after the answer is there, which is then lost.
type trap struct {
	mu      sync.Mutex
	matches func(r *http.Request, body []byte) bool // nil: it is not set
	after   bool
	act     func()
	sprung  chan struct{}
}

// set sets the trap, and returns what is closed when it has sprung.
func (t *trap) set(matches func(r *http.Request, body []byte) bool, after bool, act func()) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.matches, t.after, t.act, t.sprung = matches, after, act, make(chan struct{})
	return t.sprung
}

// unset takes the trap away.
func (t *trap) unset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.matches = nil
}

// caught takes the trap away if it is set for a request.
func (t *trap) caught(r *http.Request, body []byte) (after bool, act func(), sprung chan struct{}, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.matches == nil || !t.matches(r, body) {
		return false, nil, nil, false
	}
	t.matches = nil
	return t.after, t.act, t.sprung, true
}

// pass passes a request on, unless the trap springs.
func (t *trap) pass(on http.Handler, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // who sent it is dead
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	after, act, sprung, ok := t.caught(r, body)
	if !ok {
		on.ServeHTTP(w, r)
		return
	}
	defer close(sprung)
	if after {
		on.ServeHTTP(httptest.NewRecorder(), r)
	}
	act()
	panic(http.ErrAbortHandler) // there is no answer
}

// served serves the source and what is published from it over HTTP, by Git's own server, behind
// a trap, and behind what is put before it.
func (s *site) served(before ...func(http.Handler) http.Handler) (source, published string, t *trap) {
	s.t.Helper()
	backend, err := peers.GitServer(s.t.Context(), filepath.Dir(s.bare))
	if err != nil {
		s.t.Fatal(err)
	}
	t = &trap{}
	var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.pass(backend, w, r) })
	for _, b := range before {
		handler = b(handler)
	}
	server := httptest.NewServer(handler)
	s.t.Cleanup(server.Close)
	byPath, address := s.owns, strings.TrimPrefix(server.URL, "http://")+"/source"
	s.owns = func(cluster string, live map[string]any) bool {
		return byPath(cluster, live) || strings.Contains(text(live, "metadata", "annotations", "waybill.dev/owner"), address)
	}
	return server.URL + "/source/.git", server.URL + "/fleet.git", t
}

func TestTrapLosesTheAnswer(t *testing.T) {
	var asked int
	trapped := &trap{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		trapped.pass(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }), w, r)
	}))
	defer server.Close()
	for _, after := range []bool{false, true} {
		asked = 0
		acted := false
		sprung := trapped.set(func(*http.Request, []byte) bool { return true }, after, func() { acted = true })
		if _, err := http.Post(server.URL, "", nil); err == nil { //nolint:bodyclose // there is none
			t.Error("there was an answer")
		}
		<-sprung
		if !acted || (asked == 1) != after {
			t.Errorf("after %v: it acted: %v, the server was asked %d times", after, acted, asked)
		}
	}
}
