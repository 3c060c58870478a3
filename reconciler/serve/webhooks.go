package serve

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// Hooks takes in what a forge says of repositories. Who says it is proven before anything of it
// is read: by a signature over the bytes that came or, with GitLab, by a token. What it says is
// not trusted all the same: it wakes those who look for themselves, and nothing of it is kept.
type Hooks struct {
	Kind    forge.Kind
	Secrets [][]byte // any of which proves it, so that one can be replaced
	// Repositories are those whose messages wake, by their whole names.
	Repositories []string
	Bell         *Bell // of whoever looks at branches
	// Commented is told of a comment that was made on a pull request; nil: nobody is.
	Commented *Bell
	// Pulled is told of a pull request that is there, or has another head; nil: nobody is.
	Pulled *Bell

	short, long chan struct{}
	results     *prometheus.CounterVec
}

// The secrets of webhooks are longer than what is guessed.
const leastSecret = 16 // bytes

// ParseSecrets reads secrets, one a line.
func ParseSecrets(text []byte) (secrets [][]byte, err error) {
	for line := range bytes.Lines(text) {
		if secret := bytes.TrimSpace(line); len(secret) >= leastSecret {
			secrets = append(secrets, secret)
		} else if len(secret) > 0 {
			return nil, fmt.Errorf("a secret of webhooks has %d bytes, and needs at least %d: anybody could guess it", len(secret), leastSecret)
		}
	}
	if len(secrets) == 0 {
		return nil, errors.New("there is no secret of webhooks, and without one anybody could send them")
	}
	return secrets, nil
}

// Handler serves POST /webhooks/KIND, and counts what comes in the server's metrics.
func (h *Hooks) Handler(s *Server) http.Handler {
	h.short, h.long = make(chan struct{}, shortHooks), make(chan struct{}, longHooks)
	h.results = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waybill_webhooks_total", Help: "Messages of the forge, by what became of them: woke, ignored, refused or limited."}, []string{"result"})
	s.registry.MustRegister(h.results)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /webhooks/"+string(h.Kind), h.serve)
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
	if h.Kind == forge.GitLab && !h.known([]byte(r.Header.Get("X-Gitlab-Token"))) {
		return refused, http.StatusUnauthorized, "the token is not the secret"
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
	if h.Kind != forge.GitLab && !h.signed(r.Header, body) {
		return refused, http.StatusUnauthorized, "the signature is not made with the secret"
	}
	event, err := read(h.Kind, r.Header, body)
	if err != nil {
		return refused, http.StatusBadRequest, "the message is no JSON; have the webhook send the content type application/json"
	}
	return h.wake(event)
}

// wake wakes who looks.
func (h *Hooks) wake(e event) (result string, status int, why string) {
	ours := false
	for _, name := range h.Repositories {
		ours = ours || strings.EqualFold(name, e.repository) // as forges have it
	}
	switch {
	case !ours:
		return ignored, http.StatusAccepted, "ignored: it is of another repository"
	case e.pushed:
		h.Bell.Ring()
	case e.commented && h.Commented != nil:
		h.Commented.Ring()
	case e.pulled && h.Pulled != nil:
		h.Pulled.Ring()
	default:
		return ignored, http.StatusAccepted, "ignored: nothing is to be looked at"
	}
	return woke, http.StatusAccepted, "somebody looks"
}

// known reports a secret, in a time that does not depend on it.
func (h *Hooks) known(token []byte) bool {
	got, found := sha256.Sum256(token), false
	for _, secret := range h.Secrets {
		want := sha256.Sum256(secret)
		found = hmac.Equal(got[:], want[:]) || found
	}
	return found
}

// signed reports that a body is signed, as GitHub, Gitea and Forgejo do: with HMAC-SHA256 (RFC
// 2104) over its bytes.
func (h *Hooks) signed(header http.Header, body []byte) bool {
	text, github := strings.CutPrefix(header.Get("X-Hub-Signature-256"), "sha256=")
	if !github {
		text = header.Get("X-Gitea-Signature")
	}
	got, err := hex.DecodeString(text)
	found := false
	for _, secret := range h.Secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		found = hmac.Equal(got, mac.Sum(nil)) || found
	}
	return found && err == nil
}

// event is what of a message counts.
type event struct {
	repository string
	pushed     bool // a branch moved, or there is a new one, or one is gone
	commented  bool // somebody made a comment
	pulled     bool // a pull request is there, or has another head
}

// read reads a message. What it is, its header says.
func read(kind forge.Kind, header http.Header, body []byte) (event, error) {
	var said struct {
		Action     string
		Repository struct {
			FullName string `json:"full_name"`
		}
		Project struct {
			Path string `json:"path_with_namespace"`
		}
		ObjectAttributes struct {
			Action string
		} `json:"object_attributes"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return event{}, err //nolint:wrapcheck // it is not shown
	}
	if kind == forge.GitLab {
		what := header.Get("X-Gitlab-Event")
		made := said.ObjectAttributes.Action == "create" || said.ObjectAttributes.Action == "" // which older versions leave out
		return event{repository: said.Project.Path, pushed: what == "Push Hook", commented: what == "Note Hook" && made, pulled: what == "Merge Request Hook"}, nil
	}
	what := header.Get("X-GitHub-Event") // which Gitea sends, too
	return event{
		repository: said.Repository.FullName, pushed: what == "push" || what == "create" || what == "delete",
		commented: (what == "issue_comment" || what == "pull_request_comment") && said.Action == "created",
		pulled:    what == "pull_request" || what == "pull_request_sync",
	}, nil
}
