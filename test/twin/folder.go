package twin

import (
	"maps"
	"path"
	"strings"

	"github.com/waybill-dev/waybill/sources/files"
)

// Tree is the files and links of a folder, by path.
type Tree map[string]files.Entry

// File is a file, wherever it stands.
func File(data []byte) files.Entry { return files.FileEntry("", files.NewBlob(data)) }

// Link is a symbolic link, wherever it stands.
func Link(to string) files.Entry {
	e := File([]byte(to))
	e.Mode = files.ModeSymlink
	return e
}

// Of returns what is below a folder.
func Of(f *files.Folder) Tree {
	t := Tree{}
	maps.Insert(t, f.All())
	return t
}

// Folder returns the folder that holds the tree.
func (t Tree) Folder() *files.Folder {
	var entries []files.Entry
	below := map[string]Tree{}
	for at, e := range t {
		dir, rest, deep := strings.Cut(at, "/")
		if !deep {
			e.Name = at
			entries = append(entries, e)
			continue
		}
		if below[dir] == nil {
			below[dir] = Tree{}
		}
		below[dir][rest] = e
	}
	for dir, t := range below {
		entries = append(entries, files.DirEntry(dir, t.Folder()))
	}
	return files.NewFolder(entries)
}

// Remove removes a file, or a folder with all that is below it. It reports whether there
// was one.
func (t Tree) Remove(name string) bool { return t.Rename(name, "") }

// Rename gives a file or a folder another name; an empty one removes it. It reports whether
// there was one.
func (t Tree) Rename(from, to string) bool {
	found := false
	for at, e := range maps.Clone(t) {
		rest, below := strings.CutPrefix(at, from+"/")
		if at != from && !below {
			continue
		}
		found = true
		delete(t, at)
		switch {
		case to == "":
		case below:
			t[path.Join(to, rest)] = e
		default:
			t[to] = e
		}
	}
	return found
}
