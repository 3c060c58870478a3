// Package sources holds the values that everything above it is computed from:
// revisions and snapshots of a repository people write to. A Snapshot is one
// commit, or a directory as it stands, and is read whole or not at all; nothing
// here fetches, checks out or follows a link.
//
// Words used throughout the project: a source is a repository that people write
// to; a snapshot is one commit of it; an object is one manifest; a ref is an
// object's group, kind, namespace and name; a template is an object that a policy
// may place; a fleet is the clusters at one instant; a decision says where one
// template goes and why; a plan is all decisions and each cluster's tree; a tree
// is the files of one cluster; to publish is to write a tree to its branch; the
// state is the branch that remembers decisions.
package sources

import "time"

// Revision says which version of which repository a snapshot is. For a directory
// as it stands only Repo is set, and When is the zero time.
type Revision struct {
	Repo    string    // location without credentials: a URL or a path
	Path    string    // the folder of the repository that is read; empty for all of it
	Ref     string    // what was asked for: a branch, tag or "HEAD"
	Commit  string    // full commit id, lower-case hex; empty for a directory
	When    time.Time // committer date of the commit
	Subject string    // first line of the commit message
	Message string    // the whole commit message
}

// FileKind tells apart what a path of a snapshot can be.
type FileKind int

// The kinds of file. Only Regular files are ever read.
const (
	Regular FileKind = iota
	Symlink
	Submodule
	// Unreadable is a file that is not in the store, or a folder of which nothing is known.
	Unreadable
)

// File is one path of a snapshot.
type File struct {
	Path   string   // slash-separated, relative to the snapshot's root
	Kind   FileKind // what the path is
	Size   int64    // bytes; 0 where the store does not tell
	Digest string   // equal digests mean equal bytes; empty means unknown
	Folder bool     // it is Unreadable and stands for all that is in it
	Why    string   // it is Unreadable
	Target string   // of a symbolic link, as it is written; empty where the store does not tell
}

// Snapshot is an immutable set of files. Implementations are safe for
// concurrent use.
type Snapshot interface {
	Revision() Revision
	// Files lists every path in byte order. The slice belongs to the snapshot.
	Files() []File
	// ReadFile returns the content of a regular file of Files.
	ReadFile(path string) ([]byte, error)
}
