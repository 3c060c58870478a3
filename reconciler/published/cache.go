package published

import (
	"sync"

	"github.com/waybill-dev/waybill/reconciler/folderlog"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/git"
)

// Cache is what was read last of what is published. It saves reading that again, no more: what is in it is known by the
// ids of commits. Several may use it at once; it cannot be copied. The zero value remembers nothing yet.
type Cache struct {
	mu       sync.Mutex
	trail    *folderlog.Log // of the branch that clusters share
	state    *state.State
	branches map[string]Branch // by the addresses of clusters, and that of the state
}

// Branch is a head and, for a cluster's address, what is there: the head has its files only.
type Branch struct {
	Head      git.Head
	Published tree.Published
}

// branch returns what was remembered of an address.
func (c *Cache) branch(address string) (Branch, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, ok := c.branches[address]
	return b, ok
}

// keep remembers what is at an address; nil for nothing.
func (c *Cache) keep(address string, b *Branch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b == nil {
		delete(c.branches, address)
		return
	}
	if c.branches == nil {
		c.branches = map[string]Branch{}
	}
	c.branches[address] = *b
}

// lastState is the state that was read last; nil for none.
func (c *Cache) lastState() *state.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

func (c *Cache) keepState(s *state.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = s
}

// history is that of the folders of the branch that clusters share.
func (c *Cache) history() *folderlog.Log {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trail == nil {
		c.trail = &folderlog.Log{}
	}
	return c.trail
}

// Forget forgets what plans are made from, as when somebody removed it from the repository.
func (c *Cache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state, c.branches, c.trail = nil, nil, nil
}
