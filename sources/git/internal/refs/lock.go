package refs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	ownLock    = "waybill.lock"
	lockSuffix = ".lock"
	newPacked  = "waybill.packed-refs" // packed-refs before it is renamed

	// patience is how long somebody else's lock of a ref is waited for. Git holds one
	// for milliseconds, and gives up on ours after a tenth of a second.
	patience = 2 * time.Second
	// pause is the time between two looks at a lock.
	pause = 10 * time.Millisecond
)

// Writer moves refs. There is one at a time for each repository, in all processes.
type Writer struct {
	store Store
	own   *os.File // waybill.lock, flocked
}

// Acquire waits until no other Writer is at work in the repository, and cleans up
// what one left behind that was killed. The Writer must be released.
func (s Store) Acquire(ctx context.Context) (*Writer, error) {
	f, err := os.OpenFile(s.path(ownLock), os.O_RDWR|os.O_CREATE, 0o666) //nolint:gosec // the umask decides, as for Git
	if err != nil {
		return nil, fmt.Errorf("locking the repository: %w", err)
	}
	w := &Writer{store: s, own: f}
	for {
		held, err := hold(f)
		if held {
			break
		}
		if err == nil {
			err = wait(ctx)
		}
		if err != nil {
			w.Release()
			return nil, fmt.Errorf("waiting for %s, which another waybill holds: %w", f.Name(), err)
		}
	}
	if err := w.sweep(); err != nil {
		w.Release()
		return nil, fmt.Errorf("removing what a killed waybill left behind: %w", err)
	}
	return w, nil
}

// Left reports that a Writer is at work, or was killed and left something behind.
func (s Store) Left() bool {
	if _, err := os.Lstat(s.path(newPacked)); err == nil {
		return true
	}
	own, err := os.Lstat(s.path(ownLock))
	if err != nil {
		return false
	}
	return linked(own)
}

// Release lets the next Writer in.
func (w *Writer) Release() { w.own.Close() }

func wait(ctx context.Context) error {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// sweep removes locks and files of a Writer that was killed: the links to our own
// lock file, of which nobody else can have made one.
func (w *Writer) sweep() error {
	if err := os.Remove(w.store.path(newPacked)); err != nil && !missing(err) {
		return err
	}
	own, err := w.own.Stat()
	if err != nil {
		return err
	}
	if !linked(own) {
		return nil
	}
	if err := unlink(w.store.path(packedName+lockSuffix), own); err != nil {
		return err
	}
	err = filepath.WalkDir(w.store.path("refs"), func(path string, e fs.DirEntry, err error) error {
		if missing(err) {
			return nil
		}
		if err != nil || e.IsDir() || !strings.HasSuffix(path, lockSuffix) {
			return err
		}
		return unlink(path, own)
	})
	return err
}

// unlink removes a lock if it is ours.
func unlink(path string, own fs.FileInfo) error {
	info, err := os.Lstat(path)
	if missing(err) || err == nil && !os.SameFile(own, info) {
		return nil
	}
	if err == nil {
		err = os.Remove(path)
	}
	return err
}

// lock takes Git's lock of a ref, or of packed-refs, and returns its path.
func (w *Writer) lock(ctx context.Context, name string) (string, error) {
	path := w.store.path(name) + lockSuffix
	for {
		err := os.Link(w.own.Name(), path)
		switch {
		case err == nil:
			return path, nil
		case errors.Is(err, fs.ErrNotExist):
			// Git removes empty folders whenever it likes, so one made here may be gone.
			err = os.MkdirAll(filepath.Dir(path), 0o777) //nolint:gosec // the umask decides, as for Git
		case errors.Is(err, fs.ErrExist):
			err = nil
		}
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) {
			return "", fmt.Errorf("locking %s: %w; a repository must be on a file system with hard links", name, err)
		}
		if errors.Is(err, syscall.ENOTDIR) {
			return "", fmt.Errorf("locking %s: %w; a part of its name is a branch already", name, err)
		}
		if err != nil {
			return "", fmt.Errorf("locking %s: %w", name, err)
		}
		if err := wait(ctx); err != nil {
			return "", fmt.Errorf("locking %s: %w; another process holds %s: if none is running, delete that file", name, err, path)
		}
	}
}
