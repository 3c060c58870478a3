package serve

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/waybill-dev/waybill/reconciler/heartbeat/receive"
)

// connections bounds how many connections there are over which no signed heartbeat came. There are no
// limits by address: agents of many clusters may be behind one.
type connections struct {
	receiver *receive.Receiver

	mu         sync.Mutex
	unverified list.List // of *connection, the one that takes longest first
	open       map[net.Conn]*connection
}

type connection struct {
	net.Conn

	at *list.Element // nil: a signed heartbeat came over it
	of *connections
}

// most is how many there may be: an agent a cluster has some, and others have some.
func (c *connections) most() int {
	const others, each = 256, 4
	return others + each*c.receiver.Clusters()
}

// limit has a server keep the bound. A server asks for the context of a connection before it says that the
// connection is new.
func (c *connections) limit(srv *http.Server) {
	c.open = map[net.Conn]*connection{}
	srv.ConnState = c.changed
	srv.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		one := &connection{Conn: conn, of: c}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open[conn] = one
		return context.WithValue(ctx, connectionKey{}, one)
	}
}

// changed follows a connection. Where there are too many, the slowest goes: the one that was opened, or
// ended its last request, before all others. It may have been an agent's.
func (c *connections) changed(conn net.Conn, to http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch to {
	case http.StateNew:
		one := c.open[conn]
		one.at = c.unverified.PushBack(one)
		if c.unverified.Len() > c.most() {
			slowest := c.unverified.Front().Value.(*connection) // nothing else is in it
			c.forget(slowest)
			_ = slowest.Close()
			c.receiver.Refuse()
		}
	case http.StateIdle:
		if one := c.open[conn]; one != nil && one.at != nil {
			c.unverified.MoveToBack(one.at)
		}
	case http.StateClosed, http.StateHijacked:
		if one := c.open[conn]; one != nil {
			c.forget(one)
			delete(c.open, conn)
		}
	case http.StateActive:
	}
}

// forget has a connection not count any more.
func (c *connections) forget(one *connection) {
	if one.at != nil {
		c.unverified.Remove(one.at)
		one.at = nil
	}
}

type connectionKey struct{}

// verified notes that a signed heartbeat came over the connection of a request.
func verified(ctx context.Context) {
	if one, ok := ctx.Value(connectionKey{}).(*connection); ok {
		one.of.mu.Lock()
		defer one.of.mu.Unlock()
		one.of.forget(one)
	}
}
