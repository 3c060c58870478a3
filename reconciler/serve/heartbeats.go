package serve

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
)

// beatsAtOnce is how many heartbeats are taken in at the same time. Who comes on top of that is told
// to come again.
const beatsAtOnce = 64

// Hear has POST /heartbeats/{cluster} pass heartbeats on. It is called before Serve.
func (s *Server) Hear(knocks chan<- reconciler.Knock) { s.knocks = knocks }

// hear passes a heartbeat on, and answers what became of it: 200 if it is taken, and 409 if not.
func (s *Server) hear(w http.ResponseWriter, r *http.Request) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		http.Error(w, "too many heartbeats at once", http.StatusTooManyRequests)
		return
	}
	sealed, err := io.ReadAll(http.MaxBytesReader(w, r.Body, heartbeat.MaxSize))
	if err != nil {
		http.Error(w, "a heartbeat is not as large as that", http.StatusRequestEntityTooLarge)
		return
	}
	answers := make(chan reconciler.Answer, 1)
	select {
	case s.knocks <- reconciler.Knock{Cluster: r.PathValue("cluster"), Sealed: sealed, Answer: answers}:
	case <-r.Context().Done():
		return
	}
	var answer reconciler.Answer
	select {
	case answer = <-answers:
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if !answer.Taken {
		w.WriteHeader(http.StatusConflict)
	}
	_ = json.NewEncoder(w).Encode(answer) // who asked is gone
}
