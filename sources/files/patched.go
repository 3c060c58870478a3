package files

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // Git's object ids are SHA-1
	"strconv"
)

// Piece is a run of a file's bytes: Text or, where that is empty, the Len bytes of another
// file from At on.
type Piece struct {
	Text    []byte
	At, Len int
}

// of returns the bytes of a piece, of which those without Text are of base.
func (p Piece) of(base []byte) []byte {
	if len(p.Text) > 0 {
		return p.Text
	}
	return base[p.At : p.At+p.Len]
}

// Patch says how a file, or the body of a folder, is made of another one.
type Patch struct {
	Base   ID
	Size   int // of Base, in bytes
	Pieces []Piece

	base []byte
}

// Patched returns the blob of pieces, of which those without Text are of base: a blob of
// NewBlob whose bytes were not let go. It keeps no bytes but base's and each Text, which
// must not be changed afterwards.
func Patched(base *Blob, pieces ...Piece) *Blob {
	text, ok := base.whole()
	if !ok {
		panic("files: a blob is patched whose bytes are not here")
	}
	p := &Patch{Base: base.id, Size: len(text), Pieces: pieces, base: text}
	h := sha1.New() //nolint:gosec // see the import
	h.Write([]byte("blob " + strconv.Itoa(p.size()) + "\x00"))
	for _, piece := range pieces {
		h.Write(piece.of(text))
	}
	b := &Blob{id: ID(h.Sum(nil))}
	b.held.Store(&content{patch: p})
	return b
}

// Like returns the blob of data, which it does not keep. What data has in common with the
// beginning and the end of base, which may be nil, is not kept twice, if that is most of it.
func Like(base *Blob, data []byte) *Blob {
	if base != nil {
		if text, ok := base.whole(); ok {
			if p := Between(base.id, text, data); 2*len(p.Pieces[1].Text) < len(data) {
				p.Pieces[1].Text = bytes.Clone(p.Pieces[1].Text)
				return Patched(base, p.Pieces...)
			}
		}
	}
	return NewBlob(bytes.Clone(data))
}

// Between returns how data is made of an object with the id base and the bytes text: of its
// beginning, of what data has of its own, and of its end. It keeps both.
func Between(base ID, text, data []byte) *Patch {
	first := common(text, data)
	last := commonEnd(text[first:], data[first:])
	return &Patch{Base: base, Size: len(text), base: text, Pieces: []Piece{
		{Len: first}, {Text: data[first : len(data)-last]}, {At: len(text) - last, Len: last},
	}}
}

// whole returns the bytes of a blob if they are here in one piece.
func (b *Blob) whole() ([]byte, bool) {
	c := b.held.Load()
	return c.data, c.load == nil && c.patch == nil
}

// Patch returns how a blob is made of another one; nil if its bytes are here in one piece,
// or stored.
func (b *Blob) Patch() *Patch { return b.held.Load().patch }

func (p *Patch) size() (n int) {
	for _, piece := range p.Pieces {
		n += len(piece.of(p.base))
	}
	return n
}

func (p *Patch) bytes() []byte {
	data := make([]byte, 0, p.size())
	for _, piece := range p.Pieces {
		data = append(data, piece.of(p.base)...)
	}
	return data
}

// stride is how many bytes are compared at a time.
const stride = 64

// common is how many bytes a and b begin with alike.
func common(a, b []byte) (n int) {
	least := min(len(a), len(b))
	for n+stride <= least && bytes.Equal(a[n:n+stride], b[n:n+stride]) {
		n += stride
	}
	for n < least && a[n] == b[n] {
		n++
	}
	return n
}

// commonEnd is how many bytes a and b end with alike.
func commonEnd(a, b []byte) (n int) {
	least := min(len(a), len(b))
	for n+stride <= least && bytes.Equal(a[len(a)-n-stride:len(a)-n], b[len(b)-n-stride:len(b)-n]) {
		n += stride
	}
	for n < least && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	return n
}
