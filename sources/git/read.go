package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// The limits of a snapshot.
const (
	maxEntries = 200_000
	maxDepth   = 64
	maxBlob    = 16<<20 + 1
)

// Head is a commit, and what it holds.
type Head struct {
	Commit  files.ID
	Parent  files.ID // the first; zero for a root commit
	Tree    *files.Folder
	Message string
	When    time.Time // committer date
}

// Heads returns the head of every branch. For a remote it asks the server, once.
func (r *Repo) Heads(ctx context.Context) (map[string]files.ID, error) {
	if r.remote != nil {
		return r.remoteHeads(ctx)
	}
	iter, err := r.store.IterReferences()
	if err != nil {
		return nil, fmt.Errorf("reading the branches of %s: %w", r.name, err)
	}
	heads := map[string]files.ID{}
	err = iter.ForEach(func(ref *plumbing.Reference) error {
		if ref.Name().IsBranch() && ref.Type() == plumbing.HashReference {
			heads[ref.Name().Short()] = files.ID(ref.Hash())
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the branches of %s: %w", r.name, err)
	}
	return heads, nil
}

// Resolve returns the commit that a revision names: a branch, a tag, a full or
// short commit id, HEAD, or one of these with ~n or ^.
func (r *Repo) Resolve(ctx context.Context, rev string) (files.ID, error) {
	if r.remote != nil {
		if err := r.fetchRevision(ctx, rev); err != nil {
			return files.ID{}, err
		}
	}
	repo, err := gogit.Open(r.store, nil)
	if err != nil {
		return files.ID{}, fmt.Errorf("opening %s: %w", r.name, err)
	}
	h, err := repo.ResolveRevision(plumbing.Revision(rev))
	if err != nil {
		return files.ID{}, r.unknownRevision(ctx, rev, err)
	}
	return files.ID(*h), nil
}

// unknownRevision names the branches that there are.
func (r *Repo) unknownRevision(ctx context.Context, rev string, cause error) error {
	heads, err := r.Heads(ctx)
	if err != nil {
		return fmt.Errorf("resolving %q in %s: %w", rev, r.name, cause)
	}
	names := make([]string, 0, len(heads))
	for n := range heads {
		names = append(names, n)
	}
	slices.Sort(names)
	switch {
	case len(names) == 0:
		return fmt.Errorf("resolving %q in %s: the repository has no commit yet; commit first", rev, r.name)
	case len(names) > 5:
		names = append(names[:5], fmt.Sprintf("and %d more", len(heads)-5))
	}
	return fmt.Errorf("resolving %q in %s: there is no such revision; branches are %s", rev, r.name, strings.Join(names, ", "))
}

// Snapshot reads the commit that rev names, or a folder of it.
func (r *Repo) Snapshot(ctx context.Context, rev, subdir string) (sources.Snapshot, error) {
	id, err := r.Resolve(ctx, rev)
	if err != nil {
		return nil, err
	}
	c, err := object.GetCommit(r.store, hashOf(id))
	if err != nil {
		return nil, fmt.Errorf("reading commit %s of %s: %w", id, r.name, err)
	}
	tree, err := c.Tree()
	if err == nil && subdir != "" {
		tree, err = tree.Tree(subdir)
	}
	if err != nil {
		return nil, fmt.Errorf("reading folder %q of commit %s of %s: %w", subdir, id, r.name, err)
	}
	subject, _, _ := strings.Cut(c.Message, "\n")
	s := &snapshot{repo: r, revision: sources.Revision{
		Repo: r.name, Ref: rev, Commit: id.String(), When: c.Committer.When, Subject: strings.TrimSpace(subject), Message: c.Message,
	}, blobs: map[string]plumbing.Hash{}}
	if err := s.walk(tree, "", 0); err != nil {
		return nil, fmt.Errorf("reading commit %s of %s: %w", id, r.name, err)
	}
	slices.SortFunc(s.files, func(a, b sources.File) int { return strings.Compare(a.Path, b.Path) })
	return s, nil
}

// snapshot is one commit.
type snapshot struct {
	repo     *Repo
	revision sources.Revision
	files    []sources.File
	blobs    map[string]plumbing.Hash
}

func (s *snapshot) Revision() sources.Revision { return s.revision }
func (s *snapshot) Files() []sources.File      { return s.files }

// walk lists a tree. Names that could escape a folder or reach Git's own files are
// refused, though nothing is ever checked out.
func (s *snapshot) walk(t *object.Tree, prefix string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("folder %s is over %d levels deep", prefix, maxDepth)
	}
	for _, e := range t.Entries {
		name := path.Join(prefix, e.Name)
		if e.Name == "." || e.Name == ".." || strings.EqualFold(e.Name, ".git") || strings.ContainsAny(e.Name, "/\\\x00") {
			return fmt.Errorf("the name %q is not allowed", name)
		}
		if len(s.files) >= maxEntries {
			return fmt.Errorf("it has over %d files", maxEntries)
		}
		f := sources.File{Path: name, Digest: e.Hash.String()}
		switch e.Mode {
		case filemode.Dir:
			sub, err := object.GetTree(s.repo.store, e.Hash)
			if err != nil {
				return fmt.Errorf("reading folder %s: %w", name, err)
			}
			if err := s.walk(sub, name, depth+1); err != nil {
				return err
			}
			continue
		case filemode.Symlink:
			f.Kind = sources.Symlink
		case filemode.Submodule:
			f.Kind = sources.Submodule
		default:
			size, err := s.repo.store.EncodedObjectSize(e.Hash)
			if err != nil {
				return fmt.Errorf("reading %s: %w", name, err)
			}
			f.Size = size
			s.blobs[name] = e.Hash
		}
		s.files = append(s.files, f)
	}
	return nil
}

// ReadFile returns the content of a regular file.
func (s *snapshot) ReadFile(path string) ([]byte, error) {
	h, ok := s.blobs[path]
	if !ok {
		return nil, fmt.Errorf("reading %s: it is no regular file of the commit", path)
	}
	return s.repo.blob(h, maxBlob)
}

// blob reads a blob of at most limit bytes.
func (r *Repo) blob(h plumbing.Hash, limit int64) ([]byte, error) {
	o, err := r.store.EncodedObject(plumbing.BlobObject, h)
	if err != nil {
		return nil, fmt.Errorf("reading blob %s of %s: %w", h, r.name, err)
	}
	if o.Size() > limit {
		return nil, fmt.Errorf("reading blob %s of %s: it has %d bytes; the limit is %d", h, r.name, o.Size(), limit)
	}
	reader, err := o.Reader()
	if err != nil {
		return nil, fmt.Errorf("reading blob %s of %s: %w", h, r.name, err)
	}
	defer reader.Close()
	data, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("reading blob %s of %s: %w", h, r.name, err)
	}
	return data, nil
}

// Branch reads the head of a branch; false if there is no such branch. Of a remote
// it reads what Fetch brought.
func (r *Repo) Branch(ctx context.Context, name string) (Head, bool, error) {
	ref, err := storer.ResolveReference(r.store, plumbing.NewBranchReferenceName(name))
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return Head{}, false, nil
	}
	if err != nil {
		return Head{}, false, fmt.Errorf("reading branch %s of %s: %w", name, r.name, err)
	}
	h, err := r.Commit(ctx, files.ID(ref.Hash()))
	if err != nil {
		return Head{}, false, fmt.Errorf("branch %s: %w", name, err)
	}
	return h, true, nil
}

// Commit reads a commit.
func (r *Repo) Commit(_ context.Context, id files.ID) (Head, error) {
	c, err := object.GetCommit(r.store, hashOf(id))
	if err != nil {
		return Head{}, fmt.Errorf("reading commit %s of %s: %w", id, r.name, err)
	}
	h := Head{Commit: id, Message: c.Message, When: c.Committer.When}
	if len(c.ParentHashes) > 0 {
		h.Parent = files.ID(c.ParentHashes[0])
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	h.Tree, err = r.folder(c.TreeHash, 0)
	if err != nil {
		return Head{}, fmt.Errorf("reading commit %s of %s: %w", id, r.name, err)
	}
	return h, nil
}

// folder reads a tree, each different one once. The caller holds r.mu.
func (r *Repo) folder(h plumbing.Hash, depth int) (*files.Folder, error) {
	if f, ok := r.folders[files.ID(h)]; ok {
		return f, nil
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("a folder is over %d levels deep", maxDepth)
	}
	t, err := object.GetTree(r.store, h)
	if err != nil {
		return nil, fmt.Errorf("reading tree %s: %w", h, err)
	}
	entries := make([]files.Entry, 0, len(t.Entries))
	for _, e := range t.Entries {
		entry := files.Entry{Name: e.Name, Mode: files.Mode(e.Mode), ID: files.ID(e.Hash)}
		switch e.Mode {
		case filemode.Dir:
			if entry.Dir, err = r.folder(e.Hash, depth+1); err != nil {
				return nil, err
			}
		case filemode.Submodule:
		default:
			entry.Blob = files.StoredBlob(entry.ID, func() ([]byte, error) { return r.blob(e.Hash, maxBlob) })
		}
		entries = append(entries, entry)
	}
	f := files.NewFolder(entries)
	if f.ID() != files.ID(h) {
		return nil, fmt.Errorf("tree %s is not written as Git writes trees", h)
	}
	r.folders[f.ID()] = f
	return f, nil
}
