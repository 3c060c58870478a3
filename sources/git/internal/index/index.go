// Package index reads the index of a work tree (gitformat-index(5), versions 2 to 4): which
// paths Git tracks there, and what it knows of each. It reads what go-git does not: that a
// file is assumed to be unchanged, and indexes in which a folder stands for all below it.
package index

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // Git's checksum of the file
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/waybill-dev/waybill/sources/files"
)

// Entry is a tracked path.
type Entry struct {
	Path string
	Mode files.Mode // ModeDir for a folder that stands for all below it
	ID   files.ID   // of the blob; zero where objects have other ids than SHA-1
	// Size, Sec and Nsec are what the file had when Git looked at it last: its bytes, as
	// far as 32 bits say, and when it was modified. Nsec is 0 where it is not known.
	Size, Sec, Nsec uint32
	Unchanged       bool // somebody said that it is to be taken for unchanged
	Skip            bool // it is not to be in the work tree
	Stage           int  // of a conflict; 0 for none
}

// ErrSplit says that the index is in two files, which is not supported.
var ErrSplit = errors.New("the index is split; join it with git update-index --no-split-index")

const (
	header    = 12
	statBytes = 40
	flagBytes = 2

	unchanged = 0x8000
	extended  = 0x4000
	stageBits = 12
	nameBits  = 0xfff
	skip      = 0x4000 // of the extended flags
)

// Decode reads an index. Its entries are in the order of their paths, as bytes. Hash is how
// many bytes the ids of objects have.
func Decode(data []byte, hash int) ([]Entry, error) {
	if len(data) < header+hash || string(data[:4]) != "DIRC" {
		return nil, errors.New("it is no index")
	}
	if err := verify(data, hash); err != nil {
		return nil, err
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("its version is %d; want 2, 3 or 4", version)
	}
	d := decoder{rest: data[header : len(data)-hash], hash: hash, version: version}
	entries := make([]Entry, 0, min(int(count), len(data)/(statBytes+hash)))
	for range count {
		e, err := d.entry()
		if err != nil {
			return nil, fmt.Errorf("after %q: %w", d.last, err)
		}
		d.last = e.Path
		entries = append(entries, e)
	}
	return entries, d.extensions()
}

// verify holds an index against its checksum, which it need not have.
func verify(data []byte, hash int) error {
	body, sum := data[:len(data)-hash], data[len(data)-hash:]
	if len(bytes.Trim(sum, "\x00")) == 0 {
		return nil
	}
	have := make([]byte, 0, sha256.Size)
	if hash == sha1.Size {
		s := sha1.Sum(body) //nolint:gosec // see the import
		have = append(have, s[:]...)
	} else {
		s := sha256.Sum256(body)
		have = append(have, s[:]...)
	}
	if !bytes.Equal(have, sum) {
		return errors.New("its checksum is not that of its content")
	}
	return nil
}

// decoder reads the entries of an index.
type decoder struct {
	rest    []byte
	hash    int
	version uint32
	last    string // path of the entry before
}

var errShort = errors.New("it ends in the middle of an entry")

func (d *decoder) entry() (Entry, error) {
	size := statBytes + d.hash + flagBytes
	if len(d.rest) < size {
		return Entry{}, errShort
	}
	at := func(i int) uint32 { return binary.BigEndian.Uint32(d.rest[i:]) }
	e := Entry{Sec: at(8), Nsec: at(12), Mode: files.Mode(at(24)), Size: at(36)}
	if id := d.rest[statBytes : statBytes+d.hash]; d.hash == len(e.ID) {
		e.ID = files.ID(id)
	}
	flags := binary.BigEndian.Uint16(d.rest[statBytes+d.hash:])
	e.Unchanged, e.Stage = flags&unchanged != 0, int(flags>>stageBits&3)
	if flags&extended != 0 {
		if size += flagBytes; len(d.rest) < size {
			return Entry{}, errShort
		}
		e.Skip = binary.BigEndian.Uint16(d.rest[size-flagBytes:])&skip != 0
	}
	rest := d.rest[size:]
	var err error
	if d.version == 4 {
		e.Path, d.rest, err = d.sharedPath(rest)
		return e, err
	}
	end := bytes.IndexByte(rest, 0)
	if end < 0 {
		return Entry{}, errShort
	}
	e.Path = string(rest[:end])
	padded := (size + end + 8) / 8 * 8
	if len(d.rest) < padded {
		return Entry{}, errShort
	}
	d.rest = d.rest[padded:]
	return e, nil
}

// sharedPath reads a path of version 4: how many bytes of the path before are not those of
// this one, and what follows instead.
func (d *decoder) sharedPath(data []byte) (path string, rest []byte, err error) {
	dropped := 0
	for i := 0; ; i++ {
		if i == len(data) || dropped > len(d.last) {
			return "", nil, errShort
		}
		if i > 0 {
			dropped++
		}
		dropped = dropped<<7 | int(data[i]&0x7f)
		if data[i]&0x80 == 0 {
			data = data[i+1:]
			break
		}
	}
	end := bytes.IndexByte(data, 0)
	if end < 0 || dropped > len(d.last) {
		return "", nil, errShort
	}
	return d.last[:len(d.last)-dropped] + string(data[:end]), data[end+1:], nil
}

// extensions refuses those without which the entries are not what is tracked.
func (d *decoder) extensions() error {
	for len(d.rest) >= 8 {
		name, size := string(d.rest[:4]), int64(binary.BigEndian.Uint32(d.rest[4:]))
		if size > int64(len(d.rest)-8) {
			return fmt.Errorf("its extension %q is longer than it", name)
		}
		d.rest = d.rest[8+size:]
		switch {
		case name == "link":
			return ErrSplit
		case name == "sdir": // folders may stand for what is below them
		case strings.ToUpper(name[:1]) != name[:1]:
			return fmt.Errorf("its extension %q is not known; write it without: git update-index --force-write-index", name)
		}
	}
	return nil
}
