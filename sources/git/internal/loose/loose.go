// Package loose reads commits that came with all that is below them, and have no parent.
package loose

import (
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/waybill-dev/waybill/sources/files"
)

// Commit is one as it came.
type Commit struct {
	object.Commit

	Data []byte
	Tree *files.Folder
}

// UnfitError says why what came is no such commit.
type UnfitError struct{ Why string }

// Error says so.
func (e *UnfitError) Error() string { return e.Why }

// deepest is how many folders may be in each other.
const deepest = 8

// Read reads a commit, whose folders hold plain files: so many paths at most.
func Read(store *memory.Storage, id files.ID, paths int) (c Commit, err error) {
	o, err := store.EncodedObject(plumbing.CommitObject, plumbing.Hash(id))
	if err != nil {
		return c, &UnfitError{"it is no commit"}
	}
	if c.Data, err = content(o); err != nil {
		return c, err
	}
	if err := c.Decode(o); err != nil {
		return c, &UnfitError{"its commit cannot be read: " + err.Error()}
	}
	if len(c.ParentHashes) > 0 {
		return c, &UnfitError{"its commit has a parent"}
	}
	r := reader{store: store, left: paths, folders: map[plumbing.Hash]counted{}, blobs: map[plumbing.Hash]*files.Blob{}}
	all, err := r.folder(c.TreeHash, deepest)
	c.Tree = all.Folder
	return c, err
}

func content(o plumbing.EncodedObject) ([]byte, error) {
	in, err := o.Reader()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(in)
}

// emptyTree is the id of a folder without files, which need not come along.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// counted is a folder, and how many paths are below it.
type counted struct {
	*files.Folder

	paths int
}

// reader reads what somebody else wrote: each object once, however often folders name it, and no more paths than are left. A path is a
// file or a folder at a place.
type reader struct {
	store   *memory.Storage
	left    int
	folders map[plumbing.Hash]counted
	blobs   map[plumbing.Hash]*files.Blob
}

// spend takes paths off those that are left.
func (r *reader) spend(paths int) error {
	if r.left -= paths; r.left < 0 {
		return &UnfitError{"it has more files than it may have"}
	}
	return nil
}

// folder reads a folder with all that is below it.
func (r *reader) folder(id plumbing.Hash, depth int) (counted, error) {
	if id.String() == emptyTree {
		return counted{files.NewFolder(nil), 0}, nil
	}
	if known, ok := r.folders[id]; ok {
		return known, r.spend(known.paths)
	}
	o, err := r.store.EncodedObject(plumbing.TreeObject, id)
	if err != nil || depth == 0 {
		return counted{}, &UnfitError{"a folder of it is missing, or too deep"}
	}
	var t object.Tree
	if err := t.Decode(o); err != nil {
		return counted{}, &UnfitError{"a folder of it cannot be read: " + err.Error()}
	}
	before := r.left
	if err := r.spend(len(t.Entries)); err != nil {
		return counted{}, err
	}
	entries, names := make([]files.Entry, 0, len(t.Entries)), make(map[string]bool, len(t.Entries))
	for _, e := range t.Entries {
		if names[e.Name] {
			return counted{}, &UnfitError{"a name in a folder of it stands twice"}
		}
		names[e.Name] = true
		is, err := r.entry(e, depth)
		if err != nil {
			return counted{}, err
		}
		entries = append(entries, is)
	}
	f := counted{files.NewFolder(entries), before - r.left}
	if f.ID() != files.ID(id) {
		return counted{}, &UnfitError{"a folder of it is not as Git writes one"}
	}
	r.folders[id] = f
	return f, nil
}

func (r *reader) entry(e object.TreeEntry, depth int) (files.Entry, error) {
	switch files.Mode(e.Mode) {
	case files.ModeDir:
		f, err := r.folder(e.Hash, depth-1)
		if err != nil {
			return files.Entry{}, err
		}
		return files.DirEntry(e.Name, f.Folder), nil
	case files.ModeRegular:
		b, err := r.blob(e.Hash)
		if err != nil {
			return files.Entry{}, err
		}
		return files.FileEntry(e.Name, b), nil
	default:
		return files.Entry{}, &UnfitError{"it has something else than plain files"}
	}
}

func (r *reader) blob(id plumbing.Hash) (*files.Blob, error) {
	if known := r.blobs[id]; known != nil {
		return known, nil
	}
	o, err := r.store.EncodedObject(plumbing.BlobObject, id)
	if err != nil {
		return nil, &UnfitError{"a file of it is missing"}
	}
	data, err := content(o)
	if err != nil {
		return nil, err
	}
	r.blobs[id] = files.NewBlob(data)
	return r.blobs[id], nil
}
