package serve_test

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/heartbeat/receive"
	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/sources/signing"
)

// hearing is a server that takes heartbeats of eu, over real connections.
type hearing struct {
	t        *testing.T
	receiver *receive.Receiver
	address  string
	key      signing.Key
	now      uint64
}

// newHearing starts one whose clock is behind, so that who is slow is waited for less long.
func newHearing(t *testing.T, behind time.Duration) *hearing {
	t.Helper()
	key, _, err := signing.NewKey(rand.Reader, "eu")
	if err != nil {
		t.Fatal(err)
	}
	r := &receive.Receiver{Now: func() time.Time { return time.Now().Add(-behind) }}
	r.Begin("s1")
	r.Agents(map[string]receive.Agent{"eu": {Key: key.Public()}}, time.Now())
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := serve.New()
	s.Receive(r)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context(), l) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &hearing{t: t, receiver: r, address: l.Addr().String(), key: key, now: uint64(time.Now().Add(-behind).UnixMilli())}
}

func (h *hearing) dial() net.Conn {
	h.t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(h.t.Context(), "tcp", h.address)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// beat is a signed heartbeat.
func (h *hearing) beat() string {
	h.t.Helper()
	h.now++
	b := heartbeat.Beat{Cluster: "eu", UID: "5f0c", Agent: "agent-0", Sequence: h.now, Session: "s1"}
	sealed, err := b.Seal(h.key)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(sealed)
}

// post begins a request for a body of a length.
func post(conn net.Conn, cluster string, length int, body string) {
	fmt.Fprintf(conn, "POST /heartbeats/%s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", cluster, length, body)
}

// answer is the status of what is answered; zero if the connection is closed without an answer.
func (h *hearing) answer(conn net.Conn, within time.Duration) int {
	h.t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(within))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		h.t.Errorf("there is no answer within %s", within)
	}
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// TestHeartbeatsThatAreRefused: what is too large, or too slow, or of nobody is answered so at once.
func TestHeartbeatsThatAreRefused(t *testing.T) {
	h := newHearing(t, 4500*time.Millisecond) // a body has five seconds
	taken := h.beat()
	for _, tt := range []struct {
		name, cluster string
		length        int
		body          string
		want          int
	}{
		{"a heartbeat", "eu", len(taken), taken, http.StatusOK},
		{"the same again", "eu", len(taken), taken, http.StatusConflict},
		{"what is too large", "eu", heartbeat.MaxSize + 1, strings.Repeat("x", heartbeat.MaxSize+1), http.StatusRequestEntityTooLarge},
		{"what is as large as may be", "eu", heartbeat.MaxSize, strings.Repeat("x", heartbeat.MaxSize), http.StatusConflict},
		{"what does not come in time", "eu", 1000, "x", http.StatusRequestTimeout},
		{"of a cluster that nobody knows", "xx", 1, "x", http.StatusConflict},
	} {
		conn := h.dial()
		begun := time.Now()
		post(conn, tt.cluster, tt.length, tt.body)
		if got := h.answer(conn, 5*time.Second); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("%s: answered after %s", tt.name, took)
		}
	}
}

// TestWhatAHeartbeatIsAnswered: which session counts and what was heard last is told to whoever signed as the agent, and to nobody else.
func TestWhatAHeartbeatIsAnswered(t *testing.T) {
	h := newHearing(t, 0)
	taken, last := h.beat(), h.now
	for _, tt := range []struct {
		name, cluster, body string
		status              int
		want                receive.Answer
		says                string // of what has no form; empty: it is an answer
	}{
		{"a heartbeat", "eu", taken, http.StatusOK, receive.Answer{Taken: true, Session: "s1", Last: last}, ""},
		{"the same again", "eu", taken, http.StatusConflict, receive.Answer{Session: "s1", Last: last}, ""},
		{"what nobody signed", "eu", "x", http.StatusConflict, receive.Answer{}, ""},
		{"of another cluster", "us", taken, http.StatusConflict, receive.Answer{}, ""},
		{"when another replica leads", "eu", taken, http.StatusServiceUnavailable, receive.Answer{}, "not taken here now"},
	} {
		if tt.says != "" {
			h.receiver.End()
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+h.address+"/heartbeats/"+tt.cluster, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if err := errors.Join(err, res.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if tt.says != "" {
			if res.StatusCode != tt.status || !strings.Contains(string(text), tt.says) {
				t.Errorf("%s: %d %s", tt.name, res.StatusCode, text)
			}
			continue
		}
		var got receive.Answer
		if err := json.Unmarshal(text, &got); err != nil || res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s is answered: %v", tt.name, text, err)
		}
		if why := got.Why; res.StatusCode != tt.status || (why == "") != tt.want.Taken {
			t.Errorf("%s: %d %+v", tt.name, res.StatusCode, got)
		}
		if got.Why = ""; got != tt.want {
			t.Errorf("%s: told is %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestTheSlowestConnectionGoes: past so many connections over which nobody signed anything, the one goes that takes
// longest; one over which a signed heartbeat came stays.
func TestTheSlowestConnectionGoes(t *testing.T) {
	h := newHearing(t, 0)
	agents := h.dial()
	beat := h.beat()
	post(agents, "eu", len(beat), beat)
	if got := h.answer(agents, 5*time.Second); got != http.StatusOK {
		t.Fatalf("a heartbeat is answered %d", got)
	}
	const most = 256 + 4 // of one cluster
	var slow []net.Conn
	for range most {
		conn := h.dial()
		post(conn, "eu", 1000, "x")
		slow = append(slow, conn)
	}
	_ = slow[0].SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	if _, err := slow[0].Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("within the bound the slowest is sent away: %v", err)
	}
	post(h.dial(), "eu", 1000, "x")
	if got := h.answer(slow[0], 3*time.Second); got != 0 {
		t.Errorf("the slowest is answered %d", got)
	}
	beat = h.beat()
	post(agents, "eu", len(beat), beat)
	if got := h.answer(agents, 3*time.Second); got != http.StatusOK {
		t.Errorf("the agent is answered %d", got)
	}
}
