package pack

import (
	"bufio"
	"bytes"
	"crypto/sha1" //nolint:gosec // the checksum that the format asks for
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
)

// large is the first offset that an index keeps in its table of 64-bit offsets.
const large = 1 << 31

// writeIndex writes the index (version 2) of a pack to an unfinished file in dir
// and returns its path.
func writeIndex(dir string, entries []entry, pack [sha1.Size]byte) (path string, err error) {
	f, err := os.CreateTemp(dir, tempPrefix+"*.idx")
	if err != nil {
		return "", err
	}
	defer func() {
		f.Close()
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := encodeIndex(f, entries, pack); err != nil {
		return "", fmt.Errorf("writing %s: %w", f.Name(), err)
	}
	return f.Name(), harden(f)
}

// encodeIndex sorts entries by id and writes a table for each column: how many ids
// begin with a byte or a lower one, ids, checksums, offsets, and the offsets that
// need 64 bits; then the checksum of the pack, and its own.
func encodeIndex(w io.Writer, entries []entry, pack [sha1.Size]byte) error {
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.id[:], b.id[:]) })
	buf := bufio.NewWriterSize(w, 1<<20)
	sum := sha1.New() //nolint:gosec // see the import
	put := func(p []byte) {
		sum.Write(p)
		buf.Write(p) //nolint:errcheck // Flush tells
	}
	u32 := func(v uint32) { put(binary.BigEndian.AppendUint32(nil, v)) }

	put([]byte("\xfftOc\x00\x00\x00\x02"))
	n := 0
	for b := range 256 {
		for n < len(entries) && int(entries[n].id[0]) == b {
			n++
		}
		u32(uint32(n))
	}
	for _, e := range entries {
		put(e.id[:])
	}
	for _, e := range entries {
		u32(e.crc)
	}
	var far []byte
	for _, e := range entries {
		if e.offset < large {
			u32(uint32(e.offset)) //nolint:gosec // it fits
			continue
		}
		u32(large | uint32(len(far)/8)) //nolint:gosec // fewer than the objects
		far = binary.BigEndian.AppendUint64(far, uint64(e.offset))
	}
	put(far)
	put(pack[:])
	buf.Write(sum.Sum(nil)) //nolint:errcheck // Flush tells
	return buf.Flush()
}
