package state

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/sources/files"
)

// A folder of a namespace has a file for each template or release, and Git hosts recommend
// at most 3,000 entries a folder. A folder that gets more than shardAbove files is divided
// into up to 256, by a digest of each file's name, and is one again only when it has fewer
// than joinBelow: a namespace whose size goes up and down at the threshold stays as it is.
const (
	shardAbove = 1000
	joinBelow  = 500
)

// shardOf names the folder in which a divided folder has a file: the first two digits of the
// SHA-256 of the file's name.
func shardOf(file string) string {
	sum := sha256.Sum256([]byte(file))
	return hex.EncodeToString(sum[:1])
}

// withoutShard returns a path of the state branch as it would be if no folder were divided. A file
// in a shard that is not its own stays where it is.
func withoutShard(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) != 4 || parts[2] != shardOf(parts[3]) {
		return path
	}
	return strings.Join(slices.Delete(parts, 2, 3), "/")
}

// isDivided reports whether a folder is divided.
func isDivided(f *files.Folder) bool {
	return f != nil && slices.ContainsFunc(f.Entries(), func(e files.Entry) bool { return e.Dir != nil })
}

// isAnyDivided reports whether some folder of the folders of namespaces is divided.
func isAnyDivided(kinds ...*files.Folder) bool {
	return slices.ContainsFunc(kinds, func(kind *files.Folder) bool {
		return kind != nil && slices.ContainsFunc(kind.Entries(), func(e files.Entry) bool { return isDivided(e.Dir) })
	})
}

// foldersOf makes a folder of folders, divided as they are before or as their sizes ask for;
// nil of none. The folder before may be nil.
func foldersOf(dirs map[string][]files.Entry, before *files.Folder) *files.Folder {
	if len(dirs) == 0 {
		return nil
	}
	entries := make([]files.Entry, 0, len(dirs))
	for dir, list := range dirs {
		folder := files.NewFolder(list)
		if len(list) > shardAbove || len(list) >= joinBelow && isDivided(folderAt(before, dir)) {
			folder = divided(list)
		}
		entries = append(entries, files.DirEntry(dir, folder))
	}
	return files.NewFolder(entries)
}

func divided(list []files.Entry) *files.Folder {
	shards := map[string][]files.Entry{}
	for _, e := range list {
		shards[shardOf(e.Name)] = append(shards[shardOf(e.Name)], e)
	}
	entries := make([]files.Entry, 0, len(shards))
	for name, shard := range shards {
		entries = append(entries, files.DirEntry(name, files.NewFolder(shard)))
	}
	return files.NewFolder(entries)
}

// folderAt returns the folder at a path in a folder, which may be nil; nil if there is none.
func folderAt(f *files.Folder, path string) *files.Folder {
	if f == nil {
		return nil
	}
	e, _ := f.Lookup(path)
	return e.Dir
}
