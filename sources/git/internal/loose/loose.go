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

// Read reads a commit, whose folders hold plain files.
func Read(store *memory.Storage, id files.ID) (c Commit, err error) {
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
	c.Tree, err = folder(store, c.TreeHash, deepest)
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

// folder reads a folder with all that is below it.
func folder(store *memory.Storage, id plumbing.Hash, depth int) (*files.Folder, error) {
	if id.String() == emptyTree {
		return files.NewFolder(nil), nil
	}
	o, err := store.EncodedObject(plumbing.TreeObject, id)
	if err != nil || depth == 0 {
		return nil, &UnfitError{"a folder of it is missing, or too deep"}
	}
	var t object.Tree
	if err := t.Decode(o); err != nil {
		return nil, &UnfitError{"a folder of it cannot be read: " + err.Error()}
	}
	entries := make([]files.Entry, 0, len(t.Entries))
	for _, e := range t.Entries {
		is, err := entry(store, e, depth)
		if err != nil {
			return nil, err
		}
		entries = append(entries, is)
	}
	f := files.NewFolder(entries)
	if f.ID() != files.ID(id) {
		return nil, &UnfitError{"a folder of it is not as Git writes one"}
	}
	return f, nil
}

func entry(store *memory.Storage, e object.TreeEntry, depth int) (files.Entry, error) {
	switch files.Mode(e.Mode) {
	case files.ModeDir:
		f, err := folder(store, e.Hash, depth-1)
		if err != nil {
			return files.Entry{}, err
		}
		return files.DirEntry(e.Name, f), nil
	case files.ModeRegular:
		o, err := store.EncodedObject(plumbing.BlobObject, e.Hash)
		if err != nil {
			return files.Entry{}, &UnfitError{"a file of it is missing"}
		}
		data, err := content(o)
		return files.FileEntry(e.Name, files.NewBlob(data)), err
	default:
		return files.Entry{}, &UnfitError{"it has something else than plain files"}
	}
}
