// Package cache remembers what the files of a source decoded to, what was rendered from
// them, and what was made of their objects, so that a source that is read again costs what
// changed. It changes speed only: everything in it can be had again from the source.
package cache

import (
	"sync"

	"github.com/waybill-dev/waybill/render/object"
)

// Decoded remembers decoded files by path and content. Files that a whole
// generation of lookups did not ask for are forgotten. It is safe for concurrent
// use.
type Decoded struct {
	mu       sync.Mutex
	now, old map[string]object.Decoded
}

// generation is how many files are remembered before the ones that were not asked
// for since are forgotten.
const generation = 20_000

// Memory returns an empty cache.
func Memory() *Decoded {
	return &Decoded{now: map[string]object.Decoded{}, old: map[string]object.Decoded{}}
}

// Decoded returns what Keep was given for key.
func (c *Decoded) Decoded(key string) (object.Decoded, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, ok := c.now[key]
	if !ok {
		if d, ok = c.old[key]; ok {
			c.put(key, d)
		}
	}
	return d, ok
}

// Keep remembers what a file decoded to.
func (c *Decoded) Keep(key string, d object.Decoded) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, d)
}

func (c *Decoded) put(key string, d object.Decoded) {
	if len(c.now) >= generation {
		c.old, c.now = c.now, map[string]object.Decoded{}
	}
	c.now[key] = d
}
