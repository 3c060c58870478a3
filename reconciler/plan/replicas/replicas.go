// Package replicas tells how many replicas manifests have, each manifest once, and remembers it for the next plan.
package replicas

import (
	"maps"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Count is a number of replicas; unknown if it cannot be told.
type Count struct {
	N     int32
	Known bool
}

// counted is what was counted, and the steps that scripts took for it.
type counted struct {
	Count

	steps int
}

// Memo remembers counts from one plan to the next. The zero value is empty.
type Memo struct {
	interpreter string
	of          map[files.ID]counted // nothing modifies it
}

// Counter counts the replicas of manifests, and remembers them by the ids of their blobs.
type Counter struct {
	interpreter *interpret.Interpreter
	digest      string
	known       map[files.ID]counted
	before      map[files.ID]counted
}

// Counter returns a counter by some customizations, which the digest identifies.
func (m *Memo) Counter(in *interpret.Interpreter, digest string) *Counter {
	c := &Counter{interpreter: in, digest: digest, known: map[files.ID]counted{}}
	if m.interpreter == digest {
		c.before = m.of
	}
	return c
}

// Keep remembers what a counter counted, for the next one.
func (m *Memo) Keep(c *Counter) { m.interpreter, m.of = c.digest, maps.Clone(c.known) }

// Of returns the replicas of a manifest: one that says none has those that an API server gives it. What scripts took for
// what is remembered of an earlier plan is taken again, so that a plan which remembers ends where one that does not would have.
func (c *Counter) Of(b *files.Blob) Count {
	if is, ok := c.known[b.ID()]; ok {
		return is.Count
	}
	is, ok := c.before[b.ID()]
	if !ok || !c.interpreter.Respend(is.steps) {
		before := c.interpreter.Spent()
		is.Count = c.read(b)
		is.steps = c.interpreter.Spent() - before
	}
	c.known[b.ID()] = is
	return is.Count
}

func (c *Counter) read(b *files.Blob) Count {
	content, ok := contentOf(b)
	if !ok {
		return Count{}
	}
	content, _ = interpret.Default(content)
	n, _, ok, err := c.interpreter.Replicas(content)
	return Count{n, ok && err == nil}
}

// contentOf is what a manifest says: one that Waybill wrote, or that somebody edited.
func contentOf(b *files.Blob) (map[string]any, bool) {
	if content, err := object.ReadCanonical(b); err == nil {
		return content, true
	}
	data, err := b.Bytes()
	if err != nil {
		return nil, false
	}
	edited, _ := object.Single("manifest.yaml", data)
	if edited == nil {
		return nil, false
	}
	return edited.Content(), true
}
