package cache

import (
	"encoding/json"
	"time"
)

// Disk remembers bytes from one process to the next. *Folder is one.
type Disk interface {
	Get(key string) ([]byte, bool)
	Put(key string, data []byte, now time.Time)
}

// On has values kept on a disk, too, of which decode reads them: from what Keep was given,
// and what was read for it. It is called before anything is asked for.
func (c *Recipes[V]) On(d Disk, decode func(data []byte, reads map[string]string) (V, error), now func() time.Time) {
	c.disk = &disk[V]{d, decode, now}
}

type disk[V any] struct {
	on     Disk
	decode func(data []byte, reads map[string]string) (V, error)
	now    func() time.Time
}

// stored is a value on the disk, with the digests of what was read for it.
type stored struct {
	Reads  map[string]string `json:"reads"`
	Output []byte            `json:"output"`
}

// get returns a value. What is there and cannot be read is not there.
func (d *disk[V]) get(key string, digest func(read string) string) (value V, reads map[string]string, ok bool) {
	var s stored
	data, ok := d.on.Get(key)
	if !ok || json.Unmarshal(data, &s) != nil || !holds(s.Reads, digest) {
		return value, nil, false
	}
	value, err := d.decode(s.Output, s.Reads)
	return value, s.Reads, err == nil
}

func (d *disk[V]) put(key string, reads map[string]string, output []byte) {
	if data, err := json.Marshal(stored{reads, output}); err == nil {
		d.on.Put(key, data, d.now())
	}
}
