// Package pack writes Git objects to a directory of packs: any number of objects,
// one pack and its index. It looks for no deltas, and writes those that it is told of.
//
// It promises that a reader sees the whole pack or none of it, that nothing is
// visible before it is on stable storage, and that equal objects in equal order
// give equal bytes, whatever the number of processors. It does not ask which
// objects are stored already.
package pack

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the checksum that the format asks for
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/waybill-dev/waybill/sources/files"
)

// Kind is the type of an object, as a pack numbers it.
type Kind byte

// The kinds of object.
const (
	Commit Kind = 1
	Tree   Kind = 2
	Blob   Kind = 3

	refDelta Kind = 7
)

// Object is one object to write. Data is called once, perhaps from another
// goroutine, and what it returns must have ID for its id.
type Object struct {
	Kind Kind
	ID   files.ID
	// From is another object of the pack, which is whole; Data is then the Delta that makes
	// this one of it. Zero if this one is whole.
	From files.ID
	Data func() ([]byte, error)
}

// tempPrefix begins the name of every file that is not finished. Git's own prune
// knows "tmp_" and removes such files, too, when they are old.
const tempPrefix = "tmp_waybill_"

// packFolder is where packs are, in a folder of objects. Unfinished files are beside
// it: readers that list packs would stumble over what comes and goes.
const packFolder = "pack"

// Write stores objects, each of which must stand once, in a new pack of the folder of
// objects dir, and returns the path of the pack. No objects make no pack, and the
// path is empty.
func Write(ctx context.Context, dir string, objects []Object) (path string, err error) {
	if len(objects) == 0 {
		return "", nil
	}
	if len(objects) > math.MaxUint32 {
		return "", fmt.Errorf("a pack cannot hold %d objects", len(objects))
	}
	if err := os.MkdirAll(filepath.Join(dir, packFolder), 0o777); err != nil { //nolint:gosec // the umask decides, as for Git
		return "", err
	}
	f, err := os.CreateTemp(dir, tempPrefix+"*.pack")
	if err != nil {
		return "", err
	}
	defer func() {
		f.Close()
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	w := newWriter(f, len(objects))
	if err := w.objects(ctx, objects); err != nil {
		return "", err
	}
	sum, err := w.finish()
	if err != nil {
		return "", fmt.Errorf("writing %s: %w", f.Name(), err)
	}
	if err := harden(f); err != nil {
		return "", err
	}
	index, err := writeIndex(dir, w.entries, sum)
	if err != nil {
		return "", err
	}
	return install(dir, f.Name(), index, sum)
}

// Encode returns a pack of a few objects.
func Encode(ctx context.Context, objects []Object) ([]byte, error) {
	var b bytes.Buffer
	w := newWriter(&b, len(objects))
	if err := w.objects(ctx, objects); err != nil {
		return nil, err
	}
	_, err := w.finish()
	return b.Bytes(), err
}

// Empty returns a pack without objects.
func Empty() []byte {
	header := []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x00")
	sum := sha1.Sum(header) //nolint:gosec // see the import
	return append(header, sum[:]...)
}

// install gives a pack and its index their names. The pack comes last: readers that
// look for indexes pass over one without a pack, but readers that look for packs, as
// go-git, stumble over one without an index.
func install(dir, pack, index string, sum [sha1.Size]byte) (string, error) {
	dir = filepath.Join(dir, packFolder)
	base := filepath.Join(dir, "pack-"+hex.EncodeToString(sum[:]))
	if err := os.Rename(index, base+".idx"); err != nil {
		os.Remove(index)
		return "", err
	}
	if err := os.Rename(pack, base+".pack"); err != nil {
		return "", err
	}
	d, err := os.Open(dir) //nolint:gosec // a path of the repository that was opened
	if err != nil {
		return "", err
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return "", err
	}
	return base + ".pack", nil
}

// harden makes a file read-only, as packs are, and waits until it is stored.
func harden(f *os.File) error {
	return errors.Join(f.Chmod(0o444), f.Sync())
}

// Sweep removes the unfinished files that Write left behind in the folder of objects
// dir when it was killed, and those in its folder of packs whose names begin with one
// of the other prefixes. No writer may be at work there.
func Sweep(dir string, others ...string) error {
	err := remove(dir, tempPrefix)
	for _, prefix := range others {
		err = errors.Join(err, remove(filepath.Join(dir, packFolder), prefix))
	}
	return err
}

// remove deletes the files in dir whose names begin with prefix.
func remove(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// entry says where an object is in a pack.
type entry struct {
	id     files.ID
	offset int64
	crc    uint32 // of the object as it stands in the pack
}

// writer writes the body of a pack and remembers where everything is.
type writer struct {
	buf     *bufio.Writer
	sum     hash.Hash
	out     io.Writer // buf and sum
	offset  int64
	entries []entry
}

func newWriter(f io.Writer, n int) *writer {
	w := &writer{buf: bufio.NewWriterSize(f, 1<<20), sum: sha1.New(), entries: make([]entry, 0, n)} //nolint:gosec // see the import
	w.out = io.MultiWriter(w.buf, w.sum)
	header := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(n)) //nolint:gosec // Write checked it
	w.write(header)
	return w
}

// write appends bytes. A failure stays in the bufio.Writer until finish.
func (w *writer) write(p []byte) {
	w.out.Write(p) //nolint:errcheck // see above
	w.offset += int64(len(p))
}

// finish writes the checksum, which it returns, and empties the buffer.
func (w *writer) finish() ([sha1.Size]byte, error) {
	sum := [sha1.Size]byte(w.sum.Sum(nil))
	w.buf.Write(sum[:]) //nolint:errcheck // Flush tells
	return sum, w.buf.Flush()
}
