package git

import (
	"fmt"
	"sync"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/pack"
)

// maxKnown bounds how many ids are remembered as stored; then remembering starts
// afresh, at the cost of writing some objects twice.
const maxKnown = 4 << 20

// known is which objects are stored for sure: those below branches that stand where
// they were read or written.
type known struct {
	mu    sync.Mutex
	heads map[string]files.ID // by branch
	ids   map[files.ID]bool
}

// add notes that a branch is at a commit with a tree, whose parent is known. Everything else is forgotten if the branch
// was elsewhere than at that parent: somebody may have set it back, and what it led to may be gone.
func (k *known) add(branch string, commit, parent files.ID, tree *files.Folder) {
	k.mu.Lock()
	defer k.mu.Unlock()
	was := k.heads[branch]
	if was == commit && !commit.IsZero() {
		return
	}
	if k.heads == nil || len(k.ids) > maxKnown || !was.IsZero() && was != parent {
		k.heads, k.ids = map[string]files.ID{}, map[files.ID]bool{}
	}
	k.heads[branch] = commit
	k.note(tree)
}

// at returns where a branch was when it was noted last; zero if it was not.
func (k *known) at(branch string) files.ID {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.heads[branch]
}

func (k *known) note(f *files.Folder) {
	if k.ids[f.ID()] {
		return
	}
	k.ids[f.ID()] = true
	for _, e := range f.Entries() {
		if e.Dir != nil {
			k.note(e.Dir)
		} else {
			k.ids[e.ID] = true
		}
	}
}

// check forgets everything if a branch is no longer where it was: what only that
// commit led to may be gone.
func (k *known) check(at map[string]files.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for branch, id := range k.heads {
		if at[branch] != id {
			k.heads, k.ids = nil, nil
			return
		}
	}
}

func (k *known) has(id files.ID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ids[id]
}

// collector gathers the objects that a pack must have.
type collector struct {
	known         *known
	seen          map[files.ID]bool
	commits       []pack.Object
	said          []byte // by the first commit
	folders, rest []pack.Object
	blobs         []*files.Blob            // in the folders
	bases         map[string]*files.Folder // the first folder of each path
	whole         map[files.ID]bool        // files that stand by themselves
	patches       map[int]*files.Patch     // of what is made of others, by the place in rest
}

// missing returns the objects of moves, and of commits that were lost, that are not known to be stored: commits, then
// folders, then files, each in the order of the moves. Once they are, so is every blob
// of blobs.
func missing(todo []move, lost []past, k *known) (objects []pack.Object, blobs []*files.Blob, err error) {
	c := collector{known: k, seen: map[files.ID]bool{}, bases: map[string]*files.Folder{}, whole: map[files.ID]bool{}, patches: map[int]*files.Patch{}}
	for _, m := range todo {
		if !c.first(m.id) {
			continue // equal trees on equal parents are one commit
		}
		c.commit(m.id, m.data)
		if err := c.folder("", m.Tree); err != nil {
			return nil, nil, fmt.Errorf("preparing branch %s: %w", m.Branch, err)
		}
	}
	for _, p := range lost {
		if !c.first(p.id) {
			continue
		}
		c.commit(p.id, p.data)
		if err := c.folder("", p.tree); err != nil {
			return nil, nil, fmt.Errorf("preparing commit %s, which was lost: %w", p.id, err)
		}
	}
	c.patch()
	return append(append(c.commits, c.folders...), c.rest...), c.blobs, nil
}

// patch has the files that are made of others, which come along whole, written so.
func (c *collector) patch() {
	for i, p := range c.patches {
		if c.whole[p.Base] {
			c.rest[i].From = p.Base
			c.rest[i].Data = func() ([]byte, error) { return pack.Delta(p), nil }
		}
	}
}

// commit adds a commit. One that comes after another says mostly the same, and is made of
// the first.
func (c *collector) commit(id files.ID, data []byte) {
	o := pack.Object{Kind: pack.Commit, ID: id, Data: func() ([]byte, error) { return data, nil }}
	if c.said == nil {
		c.said = data
	} else {
		base := c.said
		o.From = c.commits[0].ID
		o.Data = func() ([]byte, error) { return packfile.DiffDelta(base, data), nil }
	}
	c.commits = append(c.commits, o)
}

// first reports whether an id comes for the first time and is not known.
func (c *collector) first(id files.ID) bool {
	if c.seen[id] || c.known.has(id) {
		return false
	}
	c.seen[id] = true
	return true
}

func (c *collector) blob(b *files.Blob) {
	if p := b.Patch(); p != nil {
		c.patches[len(c.rest)] = p
	} else {
		c.whole[b.ID()] = true
	}
	c.rest = append(c.rest, pack.Object{Kind: pack.Blob, ID: b.ID(), Data: b.Bytes})
}

// tree adds a folder. One that comes after another of the same path mostly differs from it
// in a few names, and is then made of it.
func (c *collector) tree(path string, f *files.Folder) {
	o := pack.Object{Kind: pack.Tree, ID: f.ID(), Data: func() ([]byte, error) { return f.Encode(), nil }}
	if base := c.bases[path]; base == nil {
		c.bases[path] = f
	} else if resembles(f, base) {
		o.From = base.ID()
		o.Data = func() ([]byte, error) { return pack.Delta(files.Between(base.ID(), base.Encode(), f.Encode())), nil }
	}
	c.folders = append(c.folders, o)
}

// resembles reports whether most names of a folder are in another, too: those of one cluster mostly are in
// another, those of the state are not.
func resembles(f, other *files.Folder) bool {
	strange, most := 0, len(f.Entries())/2
	for _, e := range f.Entries() {
		if _, ok := other.Lookup(e.Name); !ok {
			if strange++; strange > most {
				return false
			}
		}
	}
	return true
}

func (c *collector) folder(path string, f *files.Folder) error {
	if !c.first(f.ID()) {
		return nil
	}
	for _, e := range f.Entries() {
		if err := checkEntry(e.Name, e.Mode); err != nil {
			return err
		}
		switch {
		case e.Dir != nil:
			if err := c.folder(path+"/"+e.Name, e.Dir); err != nil {
				return within(e.Name, err)
			}
		case e.Blob != nil:
			c.blobs = append(c.blobs, e.Blob)
			if c.first(e.ID) {
				c.blob(e.Blob)
			}
		}
	}
	c.tree(path, f)
	return nil
}
