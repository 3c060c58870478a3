// Package ui serves the web UI: pages about a fleet, made from what Git says (package facts) by pure
// functions (package pages), and about what open pull requests do (package preview/store), to whoever may log in (package login). It changes nothing: what is not
// asked for by GET or HEAD is refused. Nothing is read unless somebody looks, and what is read is kept
// until a branch moves.
package ui

import (
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/preview/store"
	"github.com/waybill-dev/waybill/reconciler/ui/login"
)

// The bounds of what is done at once, and of how long an answer may take.
const (
	pagesAtOnce   = 64
	streamsAtOnce = 256
	pageTime      = 45 * time.Second
	writeTime     = 15 * time.Second
)

// UI serves the web UI.
type UI struct {
	Reader *facts.Reader
	// Guard says who may look.
	Guard login.Guard
	// Previews are those of open pull requests; nil where nobody looks at these.
	Previews *store.Store
	Now      func() time.Time
	Log      *slog.Logger
	// Stop is closed when the server stops, which ends streams of events.
	Stop <-chan struct{}

	places, streams chan struct{}

	mu    sync.Mutex
	moved chan struct{} // closed when something may have moved
}

// Changed tells that something may have moved: whoever looks is told.
func (u *UI) Changed() {
	u.Reader.Renew()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.moved != nil {
		close(u.moved)
		u.moved = nil
	}
}

// next is closed by the next Changed.
func (u *UI) next() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.moved == nil {
		u.moved = make(chan struct{})
	}
	return u.moved
}

// key is another one when a page should be looked at again: its part before the dot for what Git says, and
// the one behind it for previews.
func (u *UI) key(f *facts.Facts) string {
	switch {
	case f == nil:
		return ""
	case u.Previews == nil:
		return f.Key
	}
	return f.Key + "." + strconv.Itoa(u.Previews.Version())
}

// Handler serves the pages.
func (u *UI) Handler() http.Handler {
	u.places, u.streams = make(chan struct{}, pagesAtOnce), make(chan struct{}, streamsAtOnce)
	inner := http.NewServeMux()
	for path, serve := range map[string]view{
		"/{$}": broken, "/fleet": fleet, "/search": search, "/matrix": matrix, "/clusters/{name}": cluster,
		"/templates/{kind}/{namespace}/{name}": template, "/templates/{kind}/{namespace}/{name}/why": why,
		"/updates": updates, "/rollouts": rollouts, "/rollouts/{folder}/{name}": rollout,
		"/changes": changes, "/changes/{commit}": change, "/previews": previews, "/previews/{number}": preview, "/": nowhere,
	} {
		inner.HandleFunc(path, u.page(serve))
	}
	inner.HandleFunc("/events", u.events)
	outer := http.NewServeMux()
	outer.HandleFunc("/assets/", asset)
	u.Guard.Handle(outer, u.problem)
	outer.Handle("/", u.within(inner))
	return readOnly(outer)
}

// readOnly refuses what would change something, and sets the headers of every answer.
func readOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			header.Set("Allow", "GET, HEAD")
			http.Error(w, "the web UI is read-only: it answers GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		h.ServeHTTP(w, r)
	})
}
