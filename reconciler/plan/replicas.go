package plan

import (
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// count is a number of replicas; unknown if it cannot be told.
type count struct {
	n     int32
	known bool
}

// counter counts the replicas of manifests, and remembers them by the ids of their blobs.
type counter struct {
	interpreter *interpret.Interpreter
	known       map[files.ID]count
}

// of reads the replicas of a manifest: one that says none has those that an API server gives it.
func (c *counter) of(b *files.Blob) count {
	if known, ok := c.known[b.ID()]; ok {
		return known
	}
	var read count
	if data, err := b.Bytes(); err == nil {
		if content, err := object.DecodeCanonical(data); err == nil {
			content, _ = interpret.Default(content)
			n, _, ok, err := c.interpreter.Replicas(content)
			read = count{n, ok && err == nil}
		}
	}
	c.known[b.ID()] = read
	return read
}
