package object

import (
	"maps"

	"github.com/waybill-dev/waybill/render/diag"
)

// At returns the object as if it stood at another place: what a release renders to
// stands where the release does. FieldPos then is that place for every field.
func (o *Object) At(pos diag.Pos) *Object {
	c := *o
	c.pos, c.node = pos, nil
	return &c
}

// From returns the object as what another one gave: it stands where that one does, and is
// written there unless it is known where.
func (o *Object) From(giver *Object) *Object {
	c := o.At(giver.pos)
	if c.written == (diag.Pos{}) {
		c.written = giver.written
	}
	return c
}

// Made returns another object that is made of one, with content that it takes over. It stands where that one does.
func Made(o *Object, content map[string]any) *Object {
	meta, _ := content["metadata"].(map[string]any)
	c := &Object{pos: o.pos, written: o.written, content: content}
	c.apiVersion, _ = content["apiVersion"].(string)
	c.ref.Group, _ = GroupVersion(c.apiVersion)
	c.ref.Kind, _ = content["kind"].(string)
	c.ref.Namespace, _ = meta["namespace"].(string)
	c.ref.Name, _ = meta["name"].(string)
	return c
}

// Written returns the object with the place where a person edits it.
func (o *Object) Written(at diag.Pos) *Object {
	c := *o
	c.written = at
	return &c
}

// Named returns the object under another name.
func (o *Object) Named(name string) *Object {
	meta, _ := o.content["metadata"].(map[string]any)
	c := o.With(with(o.content, "metadata", with(meta, "name", name)))
	c.ref.Name = name
	return c
}

// Annotated returns the object with one more annotation.
func (o *Object) Annotated(key, value string) *Object { return o.With(Annotate(o.content, key, value)) }

// Annotate returns a manifest with one more annotation. What changes of it is copied.
func Annotate(content map[string]any, key, value string) map[string]any {
	meta, _ := content["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	return with(content, "metadata", with(meta, "annotations", with(annotations, key, value)))
}

// with returns a copy of a map with another value.
func with(m map[string]any, key string, value any) map[string]any {
	if m = maps.Clone(m); m == nil {
		m = map[string]any{}
	}
	m[key] = value
	return m
}
