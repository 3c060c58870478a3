package serve

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/heartbeat/receive"
)

// beatTime is how long a client may take to send a heartbeat, once its headers are there.
const beatTime = 5 * time.Second

// Receive has POST /heartbeats/{cluster} pass heartbeats on. It is called before Serve.
func (s *Server) Receive(r *receive.Receiver) { s.receiver = r }

// hear passes a heartbeat on, and answers what became of it: 200 if it is taken, 409 if not, and 503 if
// none are. Nobody waits for one that is slow: it is passed on when all of it is there.
func (s *Server) hear(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetReadDeadline(s.receiver.Now().Add(beatTime)) // a recorder of tests has none
	sealed, err := io.ReadAll(http.MaxBytesReader(w, r.Body, heartbeat.MaxSize))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		http.Error(w, "a heartbeat is not as large as that", http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		http.Error(w, "the heartbeat did not come in time", http.StatusRequestTimeout)
		return
	}
	answer, err := s.receiver.Receive(r.PathValue("cluster"), sealed)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	if answer.Session != "" { // it is signed
		verified(r.Context())
	}
	w.Header().Set("Content-Type", "application/json")
	if !answer.Taken {
		w.WriteHeader(http.StatusConflict)
	}
	_ = json.NewEncoder(w).Encode(answer) // who asked is gone
}
