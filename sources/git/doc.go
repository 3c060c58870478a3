// Package git reads and writes Git repositories, and is the only importer of
// go-git. It reads from the object store of a commit, never from a work tree, and
// starts no git. It writes what it is given and nothing else: it makes no decision
// about what a branch should hold.
//
// # Reading
//
// A repository is a folder on this machine, bare or not, or a remote by URL, whose
// objects are kept in a bare repository below CacheDir; losing that costs time
// only. Snapshot resolves a revision once and then deals in ids, so it is one
// commit or an error. Branch reads a head as folders; equal folders of any branches
// are one pointer, and file contents are read when they are asked for.
//
// # Writing
//
// Publish writes all new objects of all branches as one pack, without deltas,
// compressed on every processor, and then moves the branches. What the heads that
// were read hold is known to be stored and is not written again.
//
// A branch moves by compare-and-set from the head that the caller planned against,
// to a commit whose only parent is that head; there is no way to force. On this
// machine Publish takes Git's own lock of every branch, compares all of them, and
// then moves all or none. A remote gets one push with every branch and exactly the
// new objects; it is atomic if the server can do that. After an answer that is an
// error, or none at all, the branches are read again, and what they say decides:
// all ours, or a RaceError, or the server's error.
//
// # After a kill
//
// Objects come before the branches that need them, so a branch never names what is
// not there. Publish holds a lock of the operating system on waybill.lock in the
// repository, which ends with the process, and records there which branches it is
// about to lock and for which commits. The next Publish removes the locks that this
// record names, if they hold what it says, and half-written packs of ours.
//
// # Limits
//
// SHA-1 repositories with refs as files; no reftable, no submodules, no LFS. A
// snapshot has at most 200,000 entries and 64 levels.
package git
