package serve

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/heartbeat/receive"
	"github.com/waybill-dev/waybill/sources/signing"
)

// TestAConnectionThatEndedDoesNotCount: of many that come and go none sends away one that is open, and which of those that are open goes is
// who asked for nothing for longest.
func TestAConnectionThatEndedDoesNotCount(t *testing.T) {
	c, srv := &connections{receiver: &receive.Receiver{Now: time.Now}}, &http.Server{ReadHeaderTimeout: time.Second}
	c.limit(srv)
	opened := func() (net.Conn, context.Context) {
		conn, _ := net.Pipe()
		ctx := srv.ConnContext(t.Context(), conn)
		srv.ConnState(conn, http.StateNew)
		return conn, ctx
	}
	isOpen := func(conn net.Conn) bool { return conn.SetDeadline(time.Time{}) == nil }
	agents, ctx := opened()
	verified(ctx)
	slow, _ := opened()
	idle, _ := opened()
	for range 2 * c.most() {
		for _, state := range []http.ConnState{http.StateActive, http.StateClosed} {
			conn, _ := opened()
			srv.ConnState(conn, state)
			if state != http.StateClosed {
				srv.ConnState(conn, http.StateHijacked)
			}
		}
	}
	if n := c.unverified.Len(); n != 2 || len(c.open) != 3 || !isOpen(slow) {
		t.Errorf("%d count, of %d that are open, and the slowest is open: %v", n, len(c.open), isOpen(slow))
	}
	srv.ConnState(idle, http.StateIdle)
	for range c.most() - 1 {
		opened()
	}
	if isOpen(slow) || !isOpen(idle) || !isOpen(agents) {
		t.Errorf("the slowest is open: %v, one that asked since: %v, an agent's: %v", isOpen(slow), isOpen(idle), isOpen(agents))
	}
	if opened(); isOpen(idle) || !isOpen(agents) { // that the first one ended is not said yet
		t.Errorf("the next one that is slowest is open: %v, an agent's: %v", isOpen(idle), isOpen(agents))
	}
	srv.ConnState(agents, http.StateClosed)
	if c.open[agents] != nil {
		t.Error("an agent's that ended is remembered")
	}
}

// TestWhatNobodySignedDoesNotFreeAConnection: only a heartbeat that the cluster's agent signed has its connection not count any more, be it
// taken or not.
func TestWhatNobodySignedDoesNotFreeAConnection(t *testing.T) {
	newKey := func() signing.Key {
		key, _, err := signing.NewKey(rand.Reader, "eu")
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	agents, another := newKey(), newKey()
	r := &receive.Receiver{Now: time.Now}
	r.Begin("s1")
	r.Agents(map[string]receive.Agent{"eu": {Key: agents.Public()}}, time.Now())
	s, c, srv := New(), &connections{receiver: r}, &http.Server{ReadHeaderTimeout: time.Second}
	s.Receive(r)
	c.limit(srv)
	beat := func(session string, by signing.Key) string {
		b := heartbeat.Beat{Cluster: "eu", UID: "5f0c", Agent: "agent-0", Sequence: uint64(time.Now().UnixMilli()), Session: session}
		sealed, err := b.Seal(by)
		if err != nil {
			t.Fatal(err)
		}
		return string(sealed)
	}
	for _, tt := range []struct {
		name, cluster, body string
		counts              int // connections
	}{
		{"what is no heartbeat", "eu", "x", 1},
		{"one that another key signed", "eu", beat("s1", another), 1},
		{"one of a cluster that nobody knows", "xx", beat("s1", agents), 1},
		{"one of another session", "eu", beat("s0", agents), 0},
		{"one that is taken", "eu", beat("s1", agents), 0},
	} {
		conn, _ := net.Pipe()
		req := httptest.NewRequestWithContext(srv.ConnContext(t.Context(), conn), http.MethodPost, "/", strings.NewReader(tt.body))
		srv.ConnState(conn, http.StateNew)
		req.SetPathValue("cluster", tt.cluster)
		s.hear(httptest.NewRecorder(), req)
		if n := c.unverified.Len(); n != tt.counts {
			t.Errorf("after %s %d connections count, want %d", tt.name, n, tt.counts)
		}
		srv.ConnState(conn, http.StateClosed)
	}
}
