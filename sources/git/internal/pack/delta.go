package pack

import (
	"encoding/binary"

	"github.com/waybill-dev/waybill/sources/files"
)

// Delta encodes how a file is made of another one, as Git does
// (gitformat-pack, "Deltified representation").
func Delta(p *files.Patch) []byte {
	size := 0
	for _, piece := range p.Pieces {
		size += max(len(piece.Text), piece.Len)
	}
	out := binary.AppendUvarint(nil, uint64(p.Size)) //nolint:gosec // a length
	out = binary.AppendUvarint(out, uint64(size))
	for _, piece := range p.Pieces {
		if len(piece.Text) > 0 {
			out = insert(out, piece.Text)
		} else {
			out = copied(out, piece.At, piece.Len)
		}
	}
	return out
}

// insert appends instructions to insert a text, of at most 127 bytes each.
func insert(out, text []byte) []byte {
	for len(text) > 0 {
		n := min(len(text), 0x7f)
		out = append(append(out, byte(n)), text[:n]...)
		text = text[n:]
	}
	return out
}

// copied appends instructions to copy a run of the base, of at most 65,535 bytes each. An
// instruction has the bytes of offset and length that are not zero, and says which.
func copied(out []byte, at, n int) []byte {
	for n > 0 {
		run := min(n, 0xffff)
		start := len(out)
		out = append(out, 0x80)
		for i, b := range [6]byte{byte(at), byte(at >> 8), byte(at >> 16), byte(at >> 24), byte(run), byte(run >> 8)} { //nolint:gosec // the bytes of a number
			if b != 0 {
				out[start] |= 1 << i
				out = append(out, b)
			}
		}
		at, n = at+run, n-run
	}
	return out
}

// Beginning keeps the first bytes that are written: the two sizes at the beginning of a delta.
type Beginning struct{ first []byte }

func (b *Beginning) Write(p []byte) (int, error) {
	if room := 2*binary.MaxVarintLen64 - len(b.first); room > 0 {
		b.first = append(b.first, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// Makes is how large that is which a delta makes; as large as can be where that cannot be read.
func (b *Beginning) Makes() int64 {
	const largest = 1<<63 - 1
	_, n := binary.Uvarint(b.first)
	if n <= 0 {
		return largest
	}
	size, m := binary.Uvarint(b.first[n:])
	if m <= 0 || size > largest {
		return largest
	}
	return int64(size)
}
