package git

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/gitdir"
)

const (
	// maxFile is the largest file that is read into memory, in bytes: the largest
	// manifest that is ever accepted (16 MiB), and one byte to see that it is larger.
	maxFile = 16<<20 + 1
	// maxMeta is the largest folder or commit that is read, in bytes.
	maxMeta = 32 << 20
	// openPacks is how many packs are kept open; more are opened as they are needed.
	openPacks = 64
)

// ErrMissing says that a repository has no such object. It is files.ErrMissing.
var ErrMissing = files.ErrMissing

// store is the objects of a repository on disk. go-git's storage, which is not safe
// for concurrent use, is behind one lock.
type store struct {
	dir  string // common Git directory
	next *store // where objects are looked up that are not here; nil: nowhere

	mu    sync.Mutex
	s     *filesystem.Storage
	sizes generations[files.ID, int64]
}

func openStore(git, common string) *store {
	fs := gitdir.New(common)
	if git != common {
		fs = dotgit.NewRepositoryFilesystem(osfs.New(git), fs)
	}
	return &store{dir: common, s: filesystem.NewStorageWithOptions(fs, cache.NewObjectLRU(32<<20), filesystem.Options{
		MaxOpenDescriptors: openPacks, LargeObjectThreshold: maxFile, AlternatesFS: osfs.New("/"),
	})}
}

// objects is the folder of all objects.
func (s *store) objects() string { return filepath.Join(s.dir, "objects") }

// try looks something up. Where that fails it looks at which packs there are again:
// Git or we may have written one, or gc replaced them. Gc may be at it this moment, so
// the third time comes after a pause.
func (s *store) try(lookup func() error) error {
	const pause = 20 * time.Millisecond
	s.mu.Lock()
	defer s.mu.Unlock()
	err := lookup()
	for n := 0; err != nil && n < 3; n++ {
		if n > 0 {
			<-time.NewTimer(pause).C
		}
		s.s.Reindex()
		err = lookup()
	}
	return err
}

// object finds an object.
func (s *store) object(t plumbing.ObjectType, id files.ID) (plumbing.EncodedObject, error) {
	var o plumbing.EncodedObject
	err := s.try(func() (err error) {
		o, err = s.s.EncodedObject(t, plumbing.Hash(id))
		return err
	})
	if err == nil {
		return o, nil
	}
	if errors.Is(err, plumbing.ErrObjectNotFound) && s.next != nil {
		return s.next.object(t, id)
	}
	kind := "object"
	if t != plumbing.AnyObject {
		kind = t.String()
	}
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, fmt.Errorf("%s %s: %w", kind, id, ErrMissing)
	}
	return nil, fmt.Errorf("reading %s %s: %w; check the repository with git fsck", kind, id, err)
}

// bytes returns the content of an object of at most limit bytes.
func (s *store) bytes(t plumbing.ObjectType, id files.ID, limit int64) ([]byte, error) {
	o, err := s.object(t, id)
	if err != nil {
		return nil, err
	}
	if o.Size() > limit {
		return nil, &LimitError{What: fmt.Sprintf("bytes of %s %s", t, id), Limit: limit, Got: o.Size()}
	}
	r, err := o.Reader()
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", t, id, err)
	}
	defer r.Close()
	data := make([]byte, o.Size())
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", t, id, err)
	}
	return data, nil
}

// blob returns the content of a blob.
func (s *store) blob(id files.ID) ([]byte, error) { return s.bytes(plumbing.BlobObject, id, maxFile) }

// size returns the size of a blob.
func (s *store) size(id files.ID) (int64, error) {
	s.mu.Lock()
	n, ok := s.sizes.get(id)
	if !ok {
		var err error
		if n, err = s.s.EncodedObjectSize(plumbing.Hash(id)); err == nil {
			s.sizes.put(id, n)
			ok = true
		}
	}
	s.mu.Unlock()
	if ok {
		return n, nil
	}
	o, err := s.object(plumbing.BlobObject, id)
	if err != nil {
		return 0, err
	}
	return o.Size(), nil
}

// has reports whether an object is there, by what was known of the packs last.
func (s *store) has(id files.ID) bool {
	s.mu.Lock()
	has := s.s.HasEncodedObject(plumbing.Hash(id)) == nil
	s.mu.Unlock()
	return has || s.next != nil && s.next.has(id)
}

// lacking returns the ids of what is not there.
func (s *store) lacking(ids []files.ID) []files.ID {
	var lacking []files.ID
	for _, id := range ids {
		if !s.has(id) {
			lacking = append(lacking, id)
		}
	}
	return lacking
}

// refresh forgets which packs there are.
func (s *store) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.s.Reindex()
}

// commit reads a commit; a tag that leads to one counts for it.
func (s *store) commit(id files.ID) (*object.Commit, error) {
	const maxTags = 8 // tags of tags
	for range maxTags {
		o, err := s.object(plumbing.AnyObject, id)
		if err != nil {
			return nil, err
		}
		if o.Size() > maxMeta {
			return nil, &LimitError{What: fmt.Sprintf("bytes of %s %s", o.Type(), id), Limit: maxMeta, Got: o.Size()}
		}
		switch o.Type() {
		case plumbing.CommitObject:
			c, err := object.DecodeCommit(s.s, o)
			if err != nil {
				return nil, fmt.Errorf("reading commit %s: %w", id, err)
			}
			return c, nil
		case plumbing.TagObject:
			t, err := object.DecodeTag(s.s, o)
			if err != nil {
				return nil, fmt.Errorf("reading tag %s: %w", id, err)
			}
			id = files.ID(t.Target)
		default:
			return nil, fmt.Errorf("%s is a %s, not a commit", id, o.Type())
		}
	}
	return nil, fmt.Errorf("%s is a tag of a tag of a tag and so on", id)
}

// withPrefix returns the commits whose ids begin with these bytes and match.
func (s *store) withPrefix(prefix []byte, match func(files.ID) bool) ([]files.ID, error) {
	s.refresh()
	var hashes []plumbing.Hash
	err := s.try(func() (err error) {
		hashes, err = s.s.HashesWithPrefix(prefix)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking for object ids: %w", err)
	}
	var ids []files.ID
	for _, h := range hashes {
		if !match(files.ID(h)) {
			continue
		}
		if o, err := s.object(plumbing.AnyObject, files.ID(h)); err == nil && o.Type() == plumbing.CommitObject {
			ids = append(ids, files.ID(h))
		}
	}
	return ids, nil
}

// generations remembers what was used of late. When the young generation is full,
// the old one is forgotten.
type generations[K comparable, V any] struct{ young, old map[K]V }

// generationSize bounds what is remembered: two generations of this many.
const generationSize = 1 << 18

func (g *generations[K, V]) get(k K) (V, bool) {
	if v, ok := g.young[k]; ok {
		return v, true
	}
	v, ok := g.old[k]
	if ok {
		g.put(k, v)
	}
	return v, ok
}

func (g *generations[K, V]) put(k K, v V) {
	if g.young == nil || len(g.young) >= generationSize {
		g.young, g.old = map[K]V{}, g.young
	}
	g.young[k] = v
}
