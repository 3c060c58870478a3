// Package twin is a Git repository in memory, for tests that publish many times: what a
// Reconciler does over it is what it does over Git, in the time that planning takes.
//
// It promises the ids that Git gives: a commit of the twin has the id that it would have
// in a repository, and a branch moves from the commit that is expected or not at all. A
// server that refuses single branches can be played with Refuse. What the twin does not
// have is all that goes wrong on disks and wires; package sources/git has tests of that.
package twin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// author writes every commit that no Waybill writes.
var author = git.Author{Name: "a person", Email: "person@example.com"}

// Repo is a repository in memory. It implements published.Repository. Its branches may be read and moved at the same time.
type Repo struct {
	// Order, if it is set, rearranges the files of each snapshot before anyone sees them.
	Order func([]sources.File)
	// Now is the date of the next commit that Write makes, which is a minute before that of
	// the one after it.
	Now time.Time
	// Sign signs the commits that follow; nil: they are not signed.
	Sign git.Signer

	name string

	mu      sync.Mutex // of all that follows
	heads   map[string]files.ID
	commits map[files.ID]git.Head
	parents map[files.ID][]files.ID
	refused []string
}

// New returns an empty repository with a name, which stands for its location.
func New(name string) *Repo {
	return &Repo{
		name: name, Now: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC),
		heads: map[string]files.ID{}, commits: map[files.ID]git.Head{}, parents: map[files.ID][]files.ID{},
	}
}

// Clone returns a repository that has what this one has, and goes its own way.
func (r *Repo) Clone() *Repo {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Repo{
		Order: r.Order, Now: r.Now, Sign: r.Sign, name: r.name,
		heads: maps.Clone(r.heads), commits: maps.Clone(r.commits), parents: maps.Clone(r.parents), refused: r.refused,
	}
}

// Write commits a folder on top of a branch, as a person does. What is signed of the commit is
// its message.
func (r *Repo) Write(branch, message string, root *files.Folder) files.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := git.Head{Parent: r.heads[branch], Tree: root, Message: message, Author: author, When: r.Now}
	if r.Sign != nil {
		h.Signed = []byte(message)
		signature, err := r.Sign(h.Signed)
		if err != nil {
			panic(err) // a test has a key that cannot sign
		}
		h.Signature = signature
	}
	r.Now = r.Now.Add(time.Minute)
	if h.Parent.IsZero() {
		return r.move(branch, h)
	}
	return r.move(branch, h, h.Parent)
}

// Delete deletes a branch.
func (r *Repo) Delete(branch string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.heads, branch)
}

// Shallow has a branch be without its history: what it was before cannot be read.
func (r *Repo) Shallow(branch string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := r.commits[r.heads[branch]].Parent; !id.IsZero(); {
		parent := r.commits[id].Parent
		delete(r.commits, id)
		id = parent
	}
}

// SetBack has branches be where they were in another repository. What was committed since is there, as in a cache.
func (r *Repo) SetBack(to *Repo) {
	was := to.Clone()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heads = was.heads
}

// Restore has all be as it was in another repository, as after a restore from a backup.
func (r *Repo) Restore(from *Repo) {
	was := from.Clone()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heads, r.commits, r.parents = was.heads, was.commits, was.parents
}

// Has implements published.Repository.
func (r *Repo) Has(ids ...files.ID) map[files.ID]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	has := map[files.ID]bool{}
	for _, id := range ids {
		_, has[id] = r.commits[id]
	}
	return has
}

// Last implements published.Repository: a twin is on disk.
func (*Repo) Last() (map[string]files.ID, error) { return nil, nil }

// Refuse makes the repository one behind a server that cannot push atomically and takes
// nothing for the given branches, until Refuse is called again. With no branches it is
// one that moves all or none.
func (r *Repo) Refuse(branches ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = branches
}

// move stores a commit and has a branch stand at it. The lock is held.
func (r *Repo) move(branch string, h git.Head, parents ...files.ID) files.ID {
	h.Commit = id(h, parents)
	if len(parents) > 0 {
		h.Parent, h.Others = parents[0], slices.Clone(parents[1:])
	}
	r.commits[h.Commit], r.parents[h.Commit], r.heads[branch] = h, parents, h.Commit
	return h.Commit
}

// id is the id that Git gives a commit.
func id(h git.Head, parents []files.ID) files.ID {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", h.Tree.ID())
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	who := fmt.Sprintf("%s <%s> %d %s", h.Author.Name, h.Author.Email, h.When.Unix(), h.When.Format("-0700"))
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", who, who, h.Message)
	return files.Sum("commit", []byte(b.String()))
}

// Name implements published.Repository.
func (r *Repo) Name() string { return r.name }

// Resolve knows branches and whole ids.
func (r *Repo) Resolve(_ context.Context, rev string) (files.ID, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id, err := files.ParseID(rev); err == nil {
		if _, ok := r.commits[id]; ok {
			return id, nil
		}
		return id, fmt.Errorf("looking up revision %q in %s: %w", rev, r.name, git.ErrMissing)
	}
	if id, ok := r.heads[rev]; ok {
		return id, nil
	}
	return files.ID{}, fmt.Errorf("looking up revision %q in %s: there is no such branch or commit", rev, r.name)
}

// IsAncestor implements published.Repository.
func (r *Repo) IsAncestor(_ context.Context, a, b files.ID) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	open, seen := []files.ID{b}, map[files.ID]bool{}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for _, p := range r.parents[at] {
			if p == a {
				return true, nil
			}
			if !seen[p] {
				seen[p] = true
				open = append(open, p)
			}
		}
	}
	return false, nil
}

// Heads implements published.Repository.
func (r *Repo) Heads(context.Context) (map[string]files.ID, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.heads), nil
}

// Fetch implements published.Repository.
func (*Repo) Fetch(context.Context, ...string) error { return nil }

// Branch implements published.Repository.
func (r *Repo) Branch(_ context.Context, name string) (git.Head, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.commits[r.heads[name]]
	return h, ok, nil
}

// Commit implements published.Repository.
func (r *Repo) Commit(_ context.Context, id files.ID) (git.Head, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.commits[id]
	if !ok {
		return h, fmt.Errorf("reading commit %s: %w", id, git.ErrMissing)
	}
	return h, nil
}

// Root implements published.Repository.
func (r *Repo) Root(ctx context.Context, id files.ID) (git.Head, []files.Entry, error) {
	h, err := r.Commit(ctx, id)
	if err != nil {
		return h, nil, err
	}
	var entries []files.Entry
	for _, e := range h.Tree.Entries() {
		entries = append(entries, files.Entry{Name: e.Name, Mode: e.Mode, ID: e.ID})
	}
	h.Tree = nil
	return h, entries, nil
}

// Within implements published.Repository.
func (r *Repo) Within(ctx context.Context, id files.ID, folder string) (git.Head, bool, error) {
	h, err := r.Commit(ctx, id)
	if err != nil {
		return h, false, err
	}
	e, ok := h.Tree.Lookup(folder)
	h.Tree = e.Dir
	return h, ok && e.Dir != nil, nil
}

// Publish implements published.Repository.
func (r *Repo) Publish(_ context.Context, updates []git.Update) ([]files.ID, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := make([]files.ID, len(updates))
	for i, u := range updates {
		ids[i] = id(head(u), u.Parents())
		if at := r.heads[u.Branch]; at != u.Old && at != ids[i] {
			return nil, &git.RaceError{Branch: u.Branch, Want: u.Old, Got: at}
		}
	}
	var moved []string
	for _, stage := range r.stages(updates) {
		refused := ""
		for _, u := range stage {
			if slices.Contains(r.refused, u.Branch) {
				refused = u.Branch
				continue
			}
			r.move(u.Branch, head(u), u.Parents()...)
			moved = append(moved, u.Branch)
		}
		if refused != "" {
			err := fmt.Errorf("the server refused: %s: pre-receive hook declined", refused)
			if len(moved) > 0 {
				err = &git.PartialError{Moved: moved, Err: err}
			}
			return nil, err
		}
	}
	return ids, nil
}

// stages are the updates that a server is asked for at once: all, or, if it can refuse
// single ones, those of one stage.
func (r *Repo) stages(updates []git.Update) [][]git.Update {
	if len(r.refused) == 0 {
		return [][]git.Update{updates}
	}
	byStage := slices.Clone(updates)
	slices.SortStableFunc(byStage, func(a, b git.Update) int { return a.Stage - b.Stage })
	var stages [][]git.Update
	for len(byStage) > 0 {
		n := slices.IndexFunc(byStage, func(u git.Update) bool { return u.Stage > byStage[0].Stage })
		if n < 0 {
			n = len(byStage)
		}
		stages, byStage = append(stages, byStage[:n]), byStage[n:]
	}
	return stages
}

// head is the commit that carries an update out.
func head(u git.Update) git.Head {
	return git.Head{Tree: u.Tree, Message: u.Message, Author: u.Author, When: u.When}
}

// Snapshot implements published.Repository.
func (r *Repo) Snapshot(ctx context.Context, rev, subdir string) (sources.Snapshot, error) {
	if subdir != "" {
		return nil, errors.New("a twin is read whole")
	}
	id, err := r.Resolve(ctx, rev)
	if err != nil {
		return nil, err
	}
	h, err := r.Commit(ctx, id)
	if err != nil {
		return nil, err
	}
	subject, _, _ := strings.Cut(h.Message, "\n")
	s := &snapshot{root: h.Tree, revision: sources.Revision{
		Repo: r.name, Ref: rev, Commit: id.String(), When: h.When, Subject: subject, Message: h.Message,
	}}
	for path, e := range h.Tree.All() {
		f := sources.File{Path: path, Digest: e.ID.String()}
		switch e.Mode {
		case files.ModeSymlink:
			f.Kind = sources.Symlink
			if target, err := e.Blob.Bytes(); err == nil {
				f.Target = string(target)
			}
		case files.ModeSubmodule:
			f.Kind = sources.Submodule
		default:
			data, err := e.Blob.Bytes()
			if err != nil {
				return nil, fmt.Errorf("listing %s: %w", path, err)
			}
			f.Size = int64(len(data))
		}
		s.files = append(s.files, f)
	}
	if r.Order != nil {
		r.Order(s.files)
	}
	return s, nil
}

// snapshot is a commit.
type snapshot struct {
	revision sources.Revision
	files    []sources.File
	root     *files.Folder
}

// Revision implements sources.Snapshot.
func (s *snapshot) Revision() sources.Revision { return s.revision }

// Files implements sources.Snapshot.
func (s *snapshot) Files() []sources.File { return s.files }

// ReadFile implements sources.Snapshot.
func (s *snapshot) ReadFile(path string) ([]byte, error) {
	e, ok := s.root.Lookup(path)
	if !ok || e.Blob == nil || e.Mode == files.ModeSymlink {
		return nil, fmt.Errorf("reading %s: %w", path, fs.ErrNotExist)
	}
	data, err := e.Blob.Bytes()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return data, nil
}
