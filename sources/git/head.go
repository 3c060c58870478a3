package git

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/waybill-dev/waybill/sources/files"
)

// Author is who wrote a commit.
type Author struct{ Name, Email string }

// Head is a commit with its files.
type Head struct {
	Commit  files.ID
	Parent  files.ID      // the first; zero for none
	Others  []files.ID    // the further parents, of a merge
	Tree    *files.Folder // equal folders of a Repo are the same pointer
	Message string
	Author  Author
	When    time.Time // committer date
	// Signature is that of Signed, the commit without it; both are nil where there is none.
	Signature, Signed []byte
}

// Heads returns where every branch is now. For a URL it asks the server once.
func (r *Repo) Heads(ctx context.Context) (map[string]files.ID, error) {
	heads, err := r.kind.heads(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading branches of %s: %w", r.shown, err)
	}
	return heads, nil
}

// branches picks the refs below a prefix and shortens their names.
func branches(all map[string]files.ID, prefix string) map[string]files.ID {
	short := make(map[string]files.ID, len(all))
	for name, id := range all {
		if b, ok := strings.CutPrefix(name, prefix); ok {
			short[b] = id
		}
	}
	return short
}

// Branch reads the head of a branch; false if there is no such branch. For a URL the
// branch is where the server said last that it is.
func (r *Repo) Branch(ctx context.Context, name string) (Head, bool, error) {
	id, err := r.kind.tip(ctx, name)
	if err == nil && id.IsZero() {
		return Head{}, false, nil
	}
	var h Head
	if err == nil {
		h, err = r.Commit(ctx, id)
	}
	if err != nil {
		return Head{}, false, fmt.Errorf("reading branch %s of %s: %w", name, r.shown, err)
	}
	r.known.add(name, id, h.Parent, h.Tree)
	return h, true, nil
}

// Commit reads any commit by its id. For a URL it must be below a branch or a tag.
func (r *Repo) Commit(ctx context.Context, id files.ID) (Head, error) {
	h, root, err := r.said(ctx, id)
	if err != nil {
		return Head{}, err
	}
	if h.Tree, err = r.wide(ctx, root); err != nil {
		return Head{}, fmt.Errorf("reading files of commit %s: %w", id, err)
	}
	return h, nil
}

// Root reads a commit, without its files, and what is at the root of them: names and ids, without
// what these stand for.
func (r *Repo) Root(ctx context.Context, id files.ID) (Head, []files.Entry, error) {
	h, root, err := r.said(ctx, id)
	if err != nil {
		return Head{}, nil, err
	}
	entries, err := r.entries(root)
	if err != nil {
		return Head{}, nil, fmt.Errorf("reading files of commit %s: %w", id, err)
	}
	return h, entries, nil
}

// Within reads a commit with the files of one folder at the root, as if there were no others;
// false if there is no such folder.
func (r *Repo) Within(ctx context.Context, id files.ID, folder string) (Head, bool, error) {
	h, entries, err := r.Root(ctx, id)
	if err != nil {
		return Head{}, false, err
	}
	for _, e := range entries {
		if e.Name != folder || e.Mode != files.ModeDir {
			continue
		}
		n, err := r.folder(ctx, e.ID, 1)
		if err != nil {
			return Head{}, false, fmt.Errorf("reading files of commit %s: %w", id, within(folder, err))
		}
		h.Tree = n.folder
		return h, true, nil
	}
	return Head{}, false, nil
}

// said reads a commit without its files, and says where these are.
func (r *Repo) said(ctx context.Context, id files.ID) (h Head, root files.ID, err error) {
	if err := r.kind.obtain(ctx, id); err != nil {
		return Head{}, root, err
	}
	c, err := r.store.commit(id)
	if err != nil {
		return Head{}, root, err
	}
	h = Head{
		Commit: files.ID(c.Hash), Message: c.Message,
		Author: Author{Name: c.Author.Name, Email: c.Author.Email}, When: c.Committer.When,
	}
	if len(c.ParentHashes) > 0 {
		h.Parent = files.ID(c.ParentHashes[0])
		for _, p := range c.ParentHashes[1:] {
			h.Others = append(h.Others, files.ID(p))
		}
	}
	if c.PGPSignature != "" {
		data, err := r.store.bytes(plumbing.CommitObject, h.Commit, maxMeta)
		if err != nil {
			return Head{}, root, err
		}
		h.Signed, h.Signature = parted(data)
	}
	return h, files.ID(c.TreeHash), nil
}
