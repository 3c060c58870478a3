package serve

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waybill-dev/waybill/sources/forge"
)

// The bounds of webhooks. A forge says how long its message is; many short ones are read at once,
// and few long ones, so that all of them together take some 24 MiB. Who comes on top of that is
// told to come again.
const (
	maxHook    = 5 << 20 // bytes
	shortHook  = 64 << 10
	shortHooks = 64
	longHooks  = 4
)

// Hooks takes in what a forge says of repositories. Package forge proves who says it before it
// reads anything of it. What it says is not trusted all the same: it wakes those who look for
// themselves, and nothing of it is kept.
type Hooks struct {
	Forge forge.Webhook // whose messages they are
	// Repositories are those whose messages wake, by their whole names.
	Repositories []string
	Pushed       *Debouncer // of whoever looks at branches
	// Commented is told of a comment that was made on a pull request; nil: nobody is.
	Commented *Debouncer
	// Pulled is told of a pull request that is there, or has another head; nil: nobody is.
	Pulled *Debouncer

	short, long chan struct{}
	results     *prometheus.CounterVec
}

// Handler serves POST /webhooks/KIND, and counts what comes in the server's metrics.
func (h *Hooks) Handler(s *Server) http.Handler {
	h.short, h.long = make(chan struct{}, shortHooks), make(chan struct{}, longHooks)
	h.results = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waybill_webhooks_total", Help: "Messages of the forge, by what became of them: woke, ignored, refused or limited."}, []string{"result"})
	s.registry.MustRegister(h.results)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /webhooks/"+string(h.Forge.Kind), h.serve)
	return mux
}

// The results of a message.
const (
	woke    = "woke"
	ignored = "ignored" // it says nothing of interest
	refused = "refused" // it is not proven who says it, or it is no message
	limited = "limited" // too much at once, or too long
)

func (h *Hooks) serve(w http.ResponseWriter, r *http.Request) {
	result, status, why := h.take(w, r)
	h.results.WithLabelValues(result).Inc()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if result == limited || result == refused {
		w.Header().Set("Connection", "close") // the rest of it is not read
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, why+"\n") //nolint:gosec // it is one of our own sentences, as plain text; who asked may be gone
}

// take takes a message in.
func (h *Hooks) take(w http.ResponseWriter, r *http.Request) (result string, status int, why string) {
	if r.ContentLength > maxHook {
		return limited, http.StatusRequestEntityTooLarge, "a message is not as long as that"
	}
	if err := h.Forge.Admit(r.Header); err != nil {
		return refused, http.StatusUnauthorized, err.Error()
	}
	places := h.short
	if r.ContentLength < 0 || r.ContentLength > shortHook {
		places = h.long
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	default:
		return limited, http.StatusTooManyRequests, "too much at once"
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxHook))
	if err != nil {
		return limited, http.StatusRequestEntityTooLarge, "the message is too long, or came too slowly"
	}
	event, err := h.Forge.Read(r.Header, body)
	switch {
	case errors.Is(err, forge.ErrUnproven):
		return refused, http.StatusUnauthorized, err.Error()
	case err != nil:
		return refused, http.StatusBadRequest, "the message is no JSON; have the webhook send the content type application/json"
	}
	return h.wake(event)
}

// wake wakes who looks.
func (h *Hooks) wake(e forge.Event) (result string, status int, why string) {
	ours := false
	for _, name := range h.Repositories {
		ours = ours || strings.EqualFold(name, e.Repository) // as forges have it
	}
	switch {
	case !ours:
		return ignored, http.StatusAccepted, "ignored: it is of another repository"
	case e.Pushed:
		h.Pushed.Wake()
	case e.Commented && h.Commented != nil:
		h.Commented.Wake()
	case e.Pulled && h.Pulled != nil:
		h.Pulled.Wake()
	default:
		return ignored, http.StatusAccepted, "ignored: nothing is to be looked at"
	}
	return woke, http.StatusAccepted, "somebody looks"
}
