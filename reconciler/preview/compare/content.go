package compare

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/preview/fields"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// change is a manifest that goes from one content to another.
type change struct {
	object   object.Ref
	from, to files.ID
}

// content is in which fields a manifest changes. Equal ones have one key.
type content struct {
	fields []fields.Field
	key    string
}

// changed notes a changed manifest with the groups in which it changes alike.
func (c *comparer) changed(it *item, ch files.Change, n int) error {
	id := change{it.ref, ch.Old.ID, ch.New.ID}
	found, ok := c.contents[id]
	if !ok {
		cluster := c.groups[n].names[0]
		old, err := c.before.veiled(cluster, it.ref, ch.Path, ch.Old.Blob)
		if err != nil {
			return err
		}
		now, err := c.after.veiled(cluster, it.ref, ch.Path, ch.New.Blob)
		if err != nil {
			return err
		}
		found = &content{fields: c.scaledApart(cluster, ch, fields.Diff(old, now, c.secrets(it.ref)))}
		key, err := json.Marshal(found.fields)
		if err != nil {
			return fmt.Errorf("%s: what changes in it cannot be written: %w", ch.Path, err)
		}
		found.key = string(key)
		c.contents[id] = found
	}
	it.change(found, n)
	return nil
}

// scaledApart leaves out the fields that say no more than that the replicas change.
func (c *comparer) scaledApart(cluster string, ch files.Change, all []fields.Field) []fields.Field {
	from, was := c.before.replicas(cluster, ch.Path, ch.Old.Blob)
	to, is := c.after.replicas(cluster, ch.Path, ch.New.Blob)
	if !was || !is {
		return all
	}
	return slices.DeleteFunc(all, func(f fields.Field) bool {
		return (f.Path == "spec.replicas" || f.Path == "spec.parallelism") && f.From == int64(from) && f.To == int64(to)
	})
}

// contentOf decodes a manifest of a branch.
func contentOf(path string, b *files.Blob) (map[string]any, error) {
	data, err := bytesOf(path, b)
	if err != nil {
		return nil, err
	}
	if content, err := object.DecodeCanonical(data); err == nil {
		return content, nil
	}
	o, diags := object.Single(path, data)
	if o == nil {
		return nil, fmt.Errorf("%s cannot be read: %v", path, diags)
	}
	return o.Content(), nil
}

// secrets returns the values of Secrets that an object was rendered with in either plan.
func (c *comparer) secrets(r object.Ref) []string {
	if c.private == nil {
		c.private = c.base.Private()
		for ref, secrets := range c.head.Private() {
			c.private[ref] = append(c.private[ref], secrets...)
		}
	}
	return c.private[r]
}
