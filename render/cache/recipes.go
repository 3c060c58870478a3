package cache

import (
	"container/list"
	"sync"
)

// Recipes remembers values by what they were made from: a key, and the digest of
// everything that was read on the way, where that something was not there is a
// reading, too. It forgets what was not used for the longest time once it holds too
// much. It is safe for concurrent use; the zero value is not ready, see NewRecipes.
type Recipes[V any] struct {
	mu    sync.Mutex
	most  int
	known map[string][]*list.Element // by key
	order *list.List                 // of *recipe[V], most recently used first
	disk  *disk[V]                   // nil for none
}

type recipe[V any] struct {
	key   string
	reads map[string]string
	value V
}

// NewRecipes returns a cache of at most so many values.
func NewRecipes[V any](most int) *Recipes[V] {
	return &Recipes[V]{most: most, known: map[string][]*list.Element{}, order: list.New()}
}

// Get returns the value that was made from the key and from what digest still gives
// for everything that was read.
func (c *Recipes[V]) Get(key string, digest func(read string) string) (V, bool) {
	value, ok := c.get(key, digest)
	if ok || c.disk == nil {
		return value, ok
	}
	value, reads, ok := c.disk.get(key, digest)
	if ok {
		c.keep(key, reads, value)
	}
	return value, ok
}

func (c *Recipes[V]) get(key string, digest func(read string) string) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.known[key] {
		r, _ := e.Value.(*recipe[V])
		if holds(r.reads, digest) {
			c.order.MoveToFront(e)
			return r.value, true
		}
	}
	return value, false
}

func holds(reads map[string]string, digest func(string) string) bool {
	for read, was := range reads {
		if digest(read) != was {
			return false
		}
	}
	return true
}

// Keep remembers a value, and the digest of everything that was read for it. Data is what
// it is decoded from where a disk remembers it, too; nil for a value that nothing after
// this process asks for.
func (c *Recipes[V]) Keep(key string, reads map[string]string, value V, data []byte) {
	c.keep(key, reads, value)
	if c.disk != nil && data != nil {
		c.disk.put(key, reads, data)
	}
}

func (c *Recipes[V]) keep(key string, reads map[string]string, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[key] = append(c.known[key], c.order.PushFront(&recipe[V]{key, reads, value}))
	for c.order.Len() > c.most {
		c.forget(c.order.Back())
	}
}

func (c *Recipes[V]) forget(e *list.Element) {
	r, _ := c.order.Remove(e).(*recipe[V])
	var rest []*list.Element
	for _, other := range c.known[r.key] {
		if other != e {
			rest = append(rest, other)
		}
	}
	if c.known[r.key] = rest; len(rest) == 0 {
		delete(c.known, r.key)
	}
}
