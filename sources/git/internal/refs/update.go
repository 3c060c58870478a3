package refs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/sources/files"
)

// Change moves one ref. A zero Old means that the ref must not exist.
type Change struct {
	Name     string // in full: refs/heads/main
	Old, New files.ID
}

// MovedError says that a ref was not where a Change expected it.
type MovedError struct {
	Name      string
	Want, Got files.ID // zero: that it does not exist
}

func (e *MovedError) Error() string {
	return fmt.Sprintf("ref %s is at %s, not at %s", e.Name, e.Got, e.Want)
}

// Update moves refs from their old to their new values, as the package comment
// tells. On an error before the first rename, which is any MovedError, nothing has
// changed.
func (w *Writer) Update(ctx context.Context, changes []Change) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var held []string
	defer func() {
		for _, path := range slices.Backward(held) {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	for _, name := range append(names(changes), packedName) {
		path, err := w.lock(ctx, name)
		if err != nil {
			return err
		}
		held = append(held, path)
	}
	old, err := w.store.packed()
	if err != nil {
		return err
	}
	if err := w.verify(changes, old); err != nil {
		return err
	}
	next := old.with(changes)
	if err := w.fits(changes, next); err != nil {
		return err
	}
	if err := w.replace(next); err != nil {
		return err
	}
	return w.unloose(changes)
}

// names returns the names to lock in an order that is the same for everybody.
func names(changes []Change) []string {
	names := make([]string, 0, len(changes)+1)
	for _, c := range changes {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names
}

// verify compares each ref, now that it is locked, with what is expected.
func (w *Writer) verify(changes []Change, p packed) error {
	at := make(map[string]files.ID, len(p.lines))
	for _, l := range p.lines {
		at[l.name] = l.id
	}
	for _, c := range changes {
		v, err := w.store.loose(c.Name)
		if err != nil {
			return err
		}
		if v.symbolic != "" {
			return fmt.Errorf("ref %s stands for %s: publish to that", c.Name, v.symbolic)
		}
		if v.id.IsZero() {
			v.id = at[c.Name]
		}
		if v.id != c.Old {
			return &MovedError{Name: c.Name, Want: c.Old, Got: v.id}
		}
	}
	return nil
}

// fits reports a new ref whose name is a folder of another's, or the reverse: Git
// cannot hold both as files.
func (w *Writer) fits(changes []Change, p packed) error {
	exists := func(name string) bool {
		_, ok := slices.BinarySearchFunc(p.lines, name, func(l line, n string) int { return strings.Compare(l.name, n) })
		return ok
	}
	for _, c := range changes {
		if !c.Old.IsZero() {
			continue
		}
		for dir := parent(c.Name); dir != ""; dir = parent(dir) {
			if exists(dir) {
				return conflict(c.Name, dir)
			}
		}
		below := c.Name + "/"
		i, _ := slices.BinarySearchFunc(p.lines, below, func(l line, n string) int { return strings.Compare(l.name, n) })
		if i < len(p.lines) && strings.HasPrefix(p.lines[i].name, below) {
			return conflict(c.Name, p.lines[i].name)
		}
		loose := map[string]files.ID{}
		if err := w.store.walk(below, loose); err != nil {
			return err
		}
		for name := range loose {
			return conflict(c.Name, name)
		}
	}
	return nil
}

func parent(name string) string {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)]
}

func conflict(a, b string) error {
	return fmt.Errorf("refs %s and %s cannot both exist, because one is a folder of the other: rename a branch or change the branch prefix", a, b)
}

// Replace makes ids all that packed-refs holds, whatever was there. It is for a
// repository of our own that has no loose refs and no other writers.
func (w *Writer) Replace(ids map[string]files.ID) error {
	changes := make([]Change, 0, len(ids))
	for name, id := range ids {
		changes = append(changes, Change{Name: name, New: id})
	}
	return w.replace(packed{header: "# pack-refs with: sorted "}.with(changes))
}

// replace writes packed-refs.
func (w *Writer) replace(p packed) error {
	var before int64
	if info, err := os.Stat(w.store.path(packedName)); err == nil {
		before = info.Size()
	} else if !missing(err) {
		return err
	}
	path := w.store.path(newPacked)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666) //nolint:gosec // the umask decides, as for Git
	if err != nil {
		return err
	}
	_, err = f.Write(p.encode(before))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	if err := os.Rename(path, w.store.path(packedName)); err != nil {
		return err
	}
	return sync(w.store.dir)
}

// unloose removes the loose files of refs whose new values are packed.
func (w *Writer) unloose(changes []Change) error {
	folders := map[string]bool{}
	for _, c := range changes {
		path := w.store.path(c.Name)
		info, err := os.Lstat(path)
		if missing(err) || err == nil && info.IsDir() {
			continue
		}
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("moving %s: %w", c.Name, err)
		}
		folders[filepath.Dir(path)] = true
	}
	for dir := range folders {
		if err := sync(dir); err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// sync waits until a folder's entries are stored.
func sync(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // a path of the repository that was opened
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
