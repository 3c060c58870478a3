// Package git reads repositories people write to and branches Waybill writes, and
// advances many branches at once. It is the only package that imports go-git; no
// git binary runs and nothing is checked out. A Repo is either a repository on disk
// (onDisk, and shallow for a clone without its whole history), or one behind a URL
// (behindURL) together with a bare cache on disk, which may be deleted at any time while
// no Waybill runs. What differs between them is in the interface kind.
//
// It promises that a branch moves from the commit that the caller expects or not at
// all, that no branch ever points at an object that is not stored, that history is
// only added to unless an Update says Anew, and that credentials go to the host of the
// location and nowhere else: not to another host, a log, an error or a file name. It does
// not follow symbolic links and submodules, run hooks, write reflogs, merge, or force.
//
// # Reading
//
// WorkTree reads a folder as Git would commit it, without a commit. Packages index and
// attr, in internal, know Git's files for that.
//
// A commit's folders are read once each and shared: a folder is remembered by its
// id, so that a thousand branches that hold the same things hold the same pointers.
// Each folder is checked against its id, which checks everything below it, too.
// Files are read when somebody asks. What a hostile repository could blow up is
// bounded: paths in a tree, depth, bytes of a folder, a file, a pack and a listing
// of refs. A repository that is larger gives a LimitError.
//
// What a name stands for is looked up once; from then on there are only ids. Behind a
// URL, Heads, Resolve and Snapshot ask the server; Fetch and Branch go by what it
// answered last, and only get objects.
//
// A shallow clone that was told where it was made gets commits that it lacks from there,
// each alone, and as much history as it takes to tell which of two came first. They lie
// in a second cache, of which no server is told: a cache whose commits lack their parents
// would promise what is not there. What cannot be had is an error that is ErrShallow.
//
// # Writing
//
// Publish writes the objects that are missing as one pack, then moves all branches. A file
// that is made of another (files.Patch), a folder that is like the first of its path, and
// every commit but the first are deltas; nothing looks for others.
//
// Missing is what is not below a branch that was read or written by this Repo and
// still is where it was. So an object is not looked up in the store, and one that
// became unreachable, and may be collected as garbage, is written again.
//
// On disk, the refs move by Git's own lock protocol, all or none (see internal/refs).
// Behind a URL, one push sends the pack and a command for each branch, with the
// expected commit as its old value: the server compares and sets. The push is atomic
// if the server can; otherwise branches move in the order given. Whatever the
// answer was, lost or an error, it is not interpreted: the refs are read again, and
// where they are tells what happened.
//
//	at our commit        it is done
//	at the old commit    the server refused; its message is in the error
//	anywhere else        a RaceError: read again, plan again, publish again
//
// A commit is a function of its Update alone, so that to publish again after a kill
// or a lost answer comes to the same ids and finds them done.
//
// # A kill at any moment
//
// Unfinished packs and locks of ours are removed by the next Publish or Fetch, which
// knows that they are nobody's, because all of it happens under one flock a
// repository. A pack that no ref led to yet is garbage that git gc collects. Where
// branches have no loose files, which is so once Waybill has moved them, a kill leaves
// all of them at their old commits or all at their new ones.
//
// # Decisions
//
// Sessions of go-git's transports are used directly, with an HTTP client of the
// Repo's own, instead of go-git's Remote: a Remote takes its transport from a table
// that is global to the process, walks history to decide what to push, and cannot
// say what it expects a ref to be. Given up: Git's protocol version 2, so a listing
// always has all refs.
//
// Locally, new values go to packed-refs and not to a file a ref: one rename moves all
// branches. Given up: reflogs, which Git keeps in work trees only.
//
// A repository on disk is as its owner's tools left it: packs that add up, one a
// publication, are for git gc to join. The cache of a URL is never repacked; delete
// it when it has grown too large.
//
// # Limits
//
// SHA-1 repositories with refs as files only; no SHA-256, no reftable. A push over
// HTTP is held in memory. Submodules and links are listed, never followed.
package git
