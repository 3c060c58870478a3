package serve

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/heartbeat/receive"
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
	srv.ConnState(agents, http.StateClosed)
	if c.open[agents] != nil {
		t.Error("an agent's that ended is remembered")
	}
}
