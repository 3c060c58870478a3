// Package files is an immutable folder of files, addressed by content. Ids are
// Git's own (SHA-1 of a blob or tree object), so a folder that was computed and a
// folder that was read from a branch are equal exactly if their ids are, and an
// unchanged folder needs neither reading nor writing. Folders share their
// subfolders: with one Folder for each different content, a thousand clusters
// that hold the same things hold the same pointers.
//
// The package does no I/O: a Blob that was not built here is loaded by a function
// that its maker supplies.
package files

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // Git's object ids are SHA-1; nothing is authenticated by it here
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// ID is a Git object id.
type ID [20]byte

// String returns the id in lower-case hex.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether id names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// ParseID reads 40 hex digits.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 2*len(id) {
		return id, fmt.Errorf("object id %q is not 40 hex digits", s)
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, fmt.Errorf("object id %q: %w", s, err)
	}
	return id, nil
}

// Sum returns the id of a Git object of the given type ("blob", "tree", "commit").
func Sum(kind string, data []byte) ID {
	h := sha1.New() //nolint:gosec // see the import
	h.Write([]byte(kind + " " + strconv.Itoa(len(data)) + "\x00"))
	h.Write(data)
	return ID(h.Sum(nil))
}

// Blob is the content of one file. It is immutable and safe for concurrent use; only
// where its bytes are can change.
type Blob struct {
	id   ID
	held atomic.Pointer[content]
}

// content is the bytes of a blob, or how to fetch or to make them.
type content struct {
	data  []byte // the content, if there is nothing else
	load  func(ID) ([]byte, error)
	patch *Patch
}

// NewBlob returns the blob of data, which must not be changed afterwards.
func NewBlob(data []byte) *Blob {
	b := &Blob{id: Sum("blob", data)}
	b.held.Store(&content{data: data})
	return b
}

// ErrMissing says that what a blob's bytes are loaded from has no such object.
var ErrMissing = errors.New("it is not in the repository")

// StoredBlob returns the blob with the given id whose bytes load fetches when
// they are asked for. It is not kept in memory afterwards.
func StoredBlob(id ID, load func(ID) ([]byte, error)) *Blob {
	b := &Blob{id: id}
	b.held.Store(&content{load: load})
	return b
}

// Stored lets go of a blob's bytes: they are now where load fetches them. A blob whose
// bytes are stored already stays as it is.
func (b *Blob) Stored(load func(ID) ([]byte, error)) {
	if b.held.Load().load == nil {
		b.held.Store(&content{load: load})
	}
}

// ID returns the blob's id.
func (b *Blob) ID() ID { return b.id }

// Bytes returns the content.
func (b *Blob) Bytes() ([]byte, error) {
	switch c := b.held.Load(); {
	case c.load != nil:
		return c.load(b.id)
	case c.patch != nil:
		return c.patch.bytes(), nil
	default:
		return c.data, nil
	}
}

// Mode is a Git file mode.
type Mode uint32

// The modes that a tree can hold.
const (
	ModeDir        Mode = 0o40000
	ModeRegular    Mode = 0o100644
	ModeExecutable Mode = 0o100755
	ModeSymlink    Mode = 0o120000
	ModeSubmodule  Mode = 0o160000
)

// Entry is one name in a folder. Dir is set for ModeDir, Blob for files and
// links; a submodule has neither, only its ID.
type Entry struct {
	Name string
	Mode Mode
	ID   ID
	Dir  *Folder
	Blob *Blob
}

// FileEntry names a blob.
func FileEntry(name string, b *Blob) Entry {
	return Entry{Name: name, Mode: ModeRegular, ID: b.id, Blob: b}
}

// DirEntry names a folder.
func DirEntry(name string, f *Folder) Entry {
	return Entry{Name: name, Mode: ModeDir, ID: f.id, Dir: f}
}

// Folder is an immutable folder. Its entries are in Git's order.
type Folder struct {
	id      ID
	entries []Entry
}

// NewFolder returns the folder with the given entries, which it takes over and
// sorts. A name that stands twice is a broken invariant of the caller.
func NewFolder(entries []Entry) *Folder {
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(sortKey(a), sortKey(b)) })
	for i := 1; i < len(entries); i++ {
		if entries[i].Name == entries[i-1].Name {
			panic("files: name " + strconv.Quote(entries[i].Name) + " stands twice in a folder")
		}
	}
	f := &Folder{entries: entries}
	f.id = Sum("tree", f.Encode())
	return f
}

// sortKey orders names as Git does: a folder sorts as if its name ended in "/".
func sortKey(e Entry) string {
	if e.Mode == ModeDir {
		return e.Name + "/"
	}
	return e.Name
}

// ID returns the folder's tree id.
func (f *Folder) ID() ID { return f.id }

// Entries returns the entries in Git's order. The slice belongs to the folder.
func (f *Folder) Entries() []Entry { return f.entries }

// Encode returns the folder as the body of a Git tree object.
func (f *Folder) Encode() []byte {
	n := 0
	for _, e := range f.entries {
		n += len(e.Name) + 28
	}
	buf := make([]byte, 0, n)
	for _, e := range f.entries {
		buf = strconv.AppendUint(buf, uint64(e.Mode), 8)
		buf = append(buf, ' ')
		buf = append(buf, e.Name...)
		buf = append(buf, 0)
		buf = append(buf, e.ID[:]...)
	}
	return buf
}

// Lookup returns the entry at a slash-separated path below f.
func (f *Folder) Lookup(path string) (Entry, bool) {
	name, rest, deeper := strings.Cut(path, "/")
	e, ok := f.named(name)
	if !ok || !deeper {
		return e, ok
	}
	if e.Dir == nil {
		return Entry{}, false
	}
	return e.Dir.Lookup(rest)
}

// named finds an entry by its name: a file is where its name is in the order, a folder
// where its name and a slash are.
func (f *Folder) named(name string) (Entry, bool) {
	for _, key := range []string{name, name + "/"} {
		i, ok := slices.BinarySearchFunc(f.entries, key, func(e Entry, key string) int { return compareKey(e, key) })
		if ok && f.entries[i].Name == name {
			return f.entries[i], true
		}
	}
	return Entry{}, false
}

// compareKey compares sortKey(e) with a key.
func compareKey(e Entry, key string) int {
	if e.Mode != ModeDir {
		return strings.Compare(e.Name, key)
	}
	n := len(e.Name)
	if len(key) < n {
		return cmp.Or(strings.Compare(e.Name[:len(key)], key), 1)
	}
	if c := strings.Compare(e.Name, key[:n]); c != 0 || len(key) == n {
		return cmp.Or(c, 1)
	}
	return cmp.Or(cmp.Compare('/', key[n]), cmp.Compare(n+1, len(key)))
}

// All yields every entry below f that is not a folder, with its path, in Git's
// order.
func (f *Folder) All() iter.Seq2[string, Entry] {
	return func(yield func(string, Entry) bool) { f.walk("", yield) }
}

func (f *Folder) walk(prefix string, yield func(string, Entry) bool) bool {
	for _, e := range f.entries {
		if e.Dir != nil {
			if !e.Dir.walk(prefix+e.Name+"/", yield) {
				return false
			}
		} else if !yield(prefix+e.Name, e) {
			return false
		}
	}
	return true
}
