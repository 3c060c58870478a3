package ui

import (
	"fmt"
	"net/http"
	"time"
)

// quiet is how long nothing is sent, at most, on a stream of events.
const quiet = 20 * time.Second

// events tells, as server-sent events, whenever there are other facts. A stream ends with the
// session, and when the server stops.
func (u *UI) events(w http.ResponseWriter, r *http.Request) {
	select {
	case u.streams <- struct{}{}:
		defer func() { <-u.streams }()
	default:
		w.Header().Set("Retry-After", "30")
		http.Error(w, "too many streams of events at once", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	s := stream{ui: u, w: w, control: http.NewResponseController(w)}
	_ = s.control.SetReadDeadline(time.Time{}) // that of the request, which has been read
	var over <-chan time.Time
	if until := sessionOf(r).Until; !until.IsZero() {
		timer := time.NewTimer(until.Sub(u.Now()))
		defer timer.Stop()
		over = timer.C
	}
	tick := time.NewTicker(max(u.Reader.Fresh, time.Second))
	defer tick.Stop()
	for {
		moved := u.next()
		f, err := u.Reader.Look(r.Context())
		if key := u.key(f); err == nil && f != nil && key != s.key {
			s.key = key
			s.send("event: facts\ndata: " + s.key + "\n\n")
		} else {
			s.still()
		}
		if s.gone {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-u.Stop:
			return
		case <-over:
			s.send("event: end\ndata: the session is over\n\n")
			return
		case <-moved:
		case <-tick.C:
		}
	}
}

// stream is a stream of events.
type stream struct {
	ui      *UI
	w       http.ResponseWriter
	control *http.ResponseController
	key     string    // of the facts that were told last
	sent    time.Time // when something was
	gone    bool      // nobody listens any longer
}

// still says that the stream is there, if it said nothing for long.
func (s *stream) still() {
	if s.ui.Now().Sub(s.sent) >= quiet {
		s.send(": still here\n\n")
	}
}

func (s *stream) send(text string) {
	s.sent = s.ui.Now()
	_ = s.control.SetWriteDeadline(s.sent.Add(writeTime)) // a test's has none
	_, err := fmt.Fprint(s.w, text)
	if err == nil {
		err = s.control.Flush()
	}
	s.gone = err != nil
}
