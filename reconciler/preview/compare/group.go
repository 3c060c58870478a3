package compare

import (
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// group notes what changes in a group of clusters.
func (c *comparer) group(n int) error {
	g := &c.groups[n]
	out := &g.cluster
	if g.head == nil {
		*out = preview.Cluster{Gone: true, Objects: preview.Span{Before: g.base.Objects, After: g.base.Objects}}
		return nil // its branch stays
	}
	*out = preview.Cluster{New: g.base == nil, Held: c.reason(g.head), Already: c.already([2]*plan.Cluster{g.base, g.head}), Objects: preview.Span{After: g.head.Objects}}
	if g.base != nil {
		out.Objects.Before = g.base.Objects
	}
	if out.Held != "" {
		out.Objects.After = out.Objects.Before
	}
	for ch := range files.Diff(c.from([2]*plan.Cluster{g.base, g.head}), g.head.Tree) {
		if ch.Path == tree.ServicesFile && out.Held == "" {
			if err := c.exchanges.note(n, ch, &c.within); err != nil {
				return err
			}
		}
		if !strings.HasPrefix(ch.Path, tree.ManifestDir+"/") {
			continue
		}
		if err := c.file(n, ch); err != nil {
			return err
		}
	}
	return nil
}

// file notes what a group's trees have in one file.
func (c *comparer) file(n int, ch files.Change) error {
	g := &c.groups[n]
	blob, of := ch.New.Blob, c.head // which knows the cluster
	if blob == nil {
		blob, of = ch.Old.Blob, c.base
	}
	data, err := bytesOf(ch.Path, blob)
	if err != nil {
		return err
	}
	ref, err := object.RefOf(ch.Path, data)
	if err != nil {
		return err
	}
	ref = of.Template(g.names[0], ref)
	if !c.within.object(ref) {
		return nil
	}
	it := c.item(ref)
	if g.cluster.Held != "" {
		g.cluster.Left++
		it.leave(left{reason.Held, ch.Old.Blob != nil}, n)
		return nil
	}
	from, was := c.before.replicas(g.names[0], ch.Path, ch.Old.Blob)
	to, is := c.after.replicas(g.names[0], ch.Path, ch.New.Blob)
	g.cluster.Replicas.Before += int(from)
	g.cluster.Replicas.After += int(to)
	it.counted = it.counted || was || is
	it.replicas.Before += int(from) * len(g.names)
	it.replicas.After += int(to) * len(g.names)
	switch {
	case ch.Old.Blob == nil:
		g.cluster.Added++
		it.added = append(it.added, n)
	case ch.New.Blob == nil:
		g.cluster.Removed++
		it.removed = append(it.removed, n)
	default:
		g.cluster.Changed++
		if was && is && from != to {
			it.scale([2]int32{from, to}, n)
		}
		return c.changed(it, ch, n)
	}
	return nil
}

func bytesOf(path string, b *files.Blob) ([]byte, error) {
	data, err := b.Bytes()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return data, nil
}
