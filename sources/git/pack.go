package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // the checksum that the pack format asks for
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"golang.org/x/sync/errgroup"

	"github.com/waybill-dev/waybill/sources/files"
)

// The object types of the pack format.
const (
	packCommit = 1
	packTree   = 2
	packBlob   = 3
)

// batch is how many objects are compressed before they are written: enough to keep
// every processor busy, few enough to keep little in memory.
const batch = 2048

// tempPrefix marks files of ours that are not whole yet.
const tempPrefix = "tmp_waybill_"

// packed is one object to be written. Its body is made when it is needed.
type packed struct {
	kind byte
	id   files.ID
	body func() ([]byte, error)
}

// collector gathers the objects of folders that are not stored yet.
type collector struct {
	known   func(files.ID) bool
	seen    map[files.ID]bool
	objects []packed
}

func (c *collector) isNew(id files.ID) bool {
	if c.seen[id] || c.known(id) {
		return false
	}
	c.seen[id] = true
	return true
}

// folder adds what is new in f: files and folders before the folders they are in.
func (c *collector) folder(f *files.Folder) {
	if !c.isNew(f.ID()) {
		return
	}
	for _, e := range f.Entries() {
		switch {
		case e.Dir != nil:
			c.folder(e.Dir)
		case e.Blob != nil && !e.Blob.Stored() && c.isNew(e.ID):
			c.objects = append(c.objects, packed{packBlob, e.ID, e.Blob.Bytes})
		}
	}
	c.objects = append(c.objects, packed{packTree, f.ID(), func() ([]byte, error) { return f.Encode(), nil }})
}

// commit adds the commit of an update and returns its id.
func (c *collector) commit(u Update) files.ID {
	c.folder(u.Tree)
	body := encodeCommit(u)
	id := files.Sum("commit", body)
	if c.isNew(id) {
		c.objects = append(c.objects, packed{packCommit, id, func() ([]byte, error) { return body, nil }})
	}
	return id
}

// encodeCommit writes an update as the body of a commit object.
func encodeCommit(u Update) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", u.Tree.ID())
	if !u.Old.IsZero() {
		fmt.Fprintf(&b, "parent %s\n", u.Old)
	}
	who := fmt.Sprintf("%s <%s> %d %s", u.Author.Name, u.Author.Email, u.When.Unix(), u.When.Format("-0700"))
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", who, who, u.Message)
	return b.Bytes()
}

// writePack writes objects as one pack with its index into the repository, and
// returns the pack's path. Either both files are there when it returns, whole and
// on disk, or none is.
func (r *Repo) writePack(ctx context.Context, objects []packed) (path string, err error) {
	dir := filepath.Join(r.gitDir, "objects", "pack")
	f, err := os.CreateTemp(dir, tempPrefix)
	if err != nil {
		return "", fmt.Errorf("writing a pack: %w", err)
	}
	defer func() {
		f.Close()
		os.Remove(f.Name())
	}()
	index := &idxfile.Writer{}
	sum, err := stream(ctx, f, objects, index)
	if err != nil {
		return "", fmt.Errorf("writing a pack: %w", err)
	}
	if err := f.Sync(); err != nil {
		return "", fmt.Errorf("writing a pack: %w", err)
	}
	idx, err := writeIndex(dir, index, sum)
	if err != nil {
		return "", err
	}
	defer os.Remove(idx)
	path = filepath.Join(dir, "pack-"+sum.String()+".pack")
	if err := install(f.Name(), path); err != nil {
		return "", err
	}
	if err := install(idx, path[:len(path)-len("pack")]+"idx"); err != nil {
		return "", err
	}
	r.store.Reindex()
	return path, nil
}

// install makes a finished file read-only and gives it its name.
func install(temp, path string) error {
	if err := os.Chmod(temp, 0o444); err != nil { //nolint:gosec // as Git keeps packs
		return fmt.Errorf("writing a pack: %w", err)
	}
	if err := os.Rename(temp, path); err != nil {
		return fmt.Errorf("writing a pack: %w", err)
	}
	return nil
}

func writeIndex(dir string, w *idxfile.Writer, sum plumbing.Hash) (string, error) {
	if err := w.OnFooter(sum); err != nil {
		return "", fmt.Errorf("indexing a pack: %w", err)
	}
	index, err := w.Index()
	if err != nil {
		return "", fmt.Errorf("indexing a pack: %w", err)
	}
	f, err := os.CreateTemp(dir, tempPrefix)
	if err != nil {
		return "", fmt.Errorf("indexing a pack: %w", err)
	}
	defer f.Close()
	if _, err = idxfile.NewEncoder(f).Encode(index); err == nil {
		err = f.Sync()
	}
	if err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("indexing a pack: %w", err)
	}
	return f.Name(), nil
}

// stream writes the pack to w and tells index where each object stands.
func stream(ctx context.Context, w io.Writer, objects []packed, index *idxfile.Writer) (plumbing.Hash, error) {
	h := sha1.New() //nolint:gosec // see the import
	out := io.MultiWriter(w, h)
	header := append([]byte("PACK\x00\x00\x00\x02"), binary.BigEndian.AppendUint32(nil, uint32(len(objects)))...) //nolint:gosec // a pack has fewer objects
	if _, err := out.Write(header); err != nil {
		return plumbing.ZeroHash, err //nolint:wrapcheck // the caller says of what
	}
	if err := index.OnHeader(uint32(len(objects))); err != nil { //nolint:gosec // as above
		return plumbing.ZeroHash, err //nolint:wrapcheck // the caller says of what
	}
	offset := uint64(len(header))
	for start := 0; start < len(objects); start += batch {
		part := objects[start:min(start+batch, len(objects))]
		entries, err := compress(ctx, part)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		for i, e := range entries {
			index.Add(hashOf(part[i].id), offset, crc32.ChecksumIEEE(e))
			if _, err := out.Write(e); err != nil {
				return plumbing.ZeroHash, err //nolint:wrapcheck // the caller says of what
			}
			offset += uint64(len(e))
		}
	}
	sum := plumbing.Hash(h.Sum(nil))
	_, err := w.Write(sum[:])
	return sum, err //nolint:wrapcheck // the caller says of what
}

// compress makes the pack entries of objects, on every processor.
func compress(ctx context.Context, objects []packed) ([][]byte, error) {
	entries := make([][]byte, len(objects))
	workers := min(runtime.GOMAXPROCS(0), len(objects))
	g, ctx := errgroup.WithContext(ctx)
	for n := range workers {
		g.Go(func() error {
			z, err := zlib.NewWriterLevel(io.Discard, zlib.BestSpeed)
			if err != nil {
				return err //nolint:wrapcheck // the caller says of what
			}
			for i := n; i < len(objects); i += workers {
				if err := ctx.Err(); err != nil {
					return err //nolint:wrapcheck // the caller says of what
				}
				if entries[i], err = entry(z, objects[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return entries, g.Wait() //nolint:wrapcheck // the caller says of what
}

// entry is the header of an object, its type and size in seven bits a byte, and
// its body, deflated.
func entry(z *zlib.Writer, o packed) ([]byte, error) {
	body, err := o.body()
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	size := uint64(len(body))
	first := o.kind<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		buf.WriteByte(first | 0x80)
		first = byte(size & 0x7f)
	}
	buf.WriteByte(first)
	z.Reset(&buf)
	if _, err := z.Write(body); err != nil {
		return nil, err //nolint:wrapcheck // the caller says of what
	}
	if err := z.Close(); err != nil {
		return nil, err //nolint:wrapcheck // the caller says of what
	}
	return buf.Bytes(), nil
}

// Author is who a commit names.
type Author struct{ Name, Email string }

// Update moves a branch to a new commit.
type Update struct {
	Branch  string
	Old     files.ID // the head that is expected and becomes the parent; zero: there is no branch
	Tree    *files.Folder
	Message string
	Author  Author
	When    time.Time
}

// RaceError says that a branch was not where the update expected it. Read it again
// and plan again.
type RaceError struct {
	Branch    string
	Want, Got files.ID // zero: no branch
}

func (e *RaceError) Error() string {
	return fmt.Sprintf("branch %s moved from %s to %s in the meantime", strconv.Quote(e.Branch), describe(e.Want), describe(e.Got))
}

func describe(id files.ID) string {
	if id.IsZero() {
		return "nothing"
	}
	return id.String()[:12]
}
