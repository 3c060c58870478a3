package seal

import (
	"fmt"

	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Memo remembers documents, the keys that they are sealed with, which take long, and what
// they were sealed to. It changes speed only; the zero value is empty and ready.
type Memo struct {
	texts   cache.Generation[files.ID, []byte]
	masters cache.Generation[files.ID, Key]
	sealed  cache.Generation[recipe, *files.Blob]
}

// recipe is a document, those it is encrypted to, and the fingerprint of the random key.
type recipe struct {
	document        files.ID
	recipients, key string
}

// Turn forgets what was not asked for since the last turn.
func (m *Memo) Turn() {
	m.texts.Turn()
	m.masters.Turn()
	m.sealed.Turn()
}

// Document is the manifest of a Secret, in canonical YAML.
type Document struct {
	memo    *Memo
	ref     object.Ref
	id      files.ID
	text    []byte
	content map[string]any
}

// Open reads the manifest of the Secret that is called ref. Its text is remembered, because
// a manifest that was published lets go of its own.
func (m *Memo) Open(ref object.Ref, manifest *files.Blob) (Document, error) {
	d := Document{memo: m, ref: ref, id: manifest.ID()}
	var err error
	text, ok := m.texts.Get(d.id)
	if !ok {
		if text, err = manifest.Bytes(); err != nil {
			return d, fmt.Errorf("reading the manifest of %s: %w", ref, err)
		}
		m.texts.Put(d.id, text)
	}
	d.text = text
	if d.content, err = object.DecodeCanonical(text); err != nil {
		return d, fmt.Errorf("decoding the manifest of %s: %w", ref, err)
	}
	return d, nil
}

// HoldsValues reports that there is something to seal, or that cannot be sealed.
func (d *Document) HoldsValues() bool {
	return !isEmpty(d.content["data"]) || !isEmpty(d.content["stringData"]) || Unknown(d.content) != ""
}

func isEmpty(v any) bool {
	m, ok := v.(map[string]any)
	return v == nil || ok && len(m) == 0
}

// Seal returns the document encrypted to recipients, keyed with a random key, which may be
// zero.
func (d *Document) Seal(to Recipients, random draw.Key) (*files.Blob, error) {
	r := recipe{d.id, to.String(), random.Fingerprint()}
	if b, ok := d.memo.sealed.Get(r); ok {
		return b, nil
	}
	master := d.memo.masters.Or(d.id, func() Key { return Master(d.ref, d.text) })
	data, err := master.Keyed(random.Seal()).Seal(d.content, to)
	if err != nil {
		return nil, err
	}
	b := files.NewBlob(data)
	d.memo.sealed.Put(r, b)
	return b, nil
}
