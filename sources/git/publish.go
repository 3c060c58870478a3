package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-dev/waybill/sources/files"
)

// How long to wait for locks that others hold, and how often to look.
const (
	lockWait = 20 * time.Second
	lockLook = 20 * time.Millisecond
)

// Publish writes the trees of all updates and moves their branches. On this
// machine, and on a server that can, all move or none; else they move in the order
// given. A *RaceError says that a branch was not where its update expected it.
func (r *Repo) Publish(ctx context.Context, updates []Update) ([]files.ID, error) {
	if err := checkNames(updates); err != nil {
		return nil, err
	}
	unlock, err := r.exclusive(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	c := collector{known: r.isKnown(), seen: map[files.ID]bool{}}
	heads := make([]files.ID, len(updates))
	for i, u := range updates {
		heads[i] = c.commit(u)
	}
	pack, err := r.writePack(ctx, c.objects)
	if err != nil {
		return nil, diskError(r.name, err)
	}
	if r.remote != nil {
		err = r.push(ctx, updates, heads, pack)
	} else {
		err = r.moveAll(ctx, updates, heads)
	}
	if err != nil {
		return nil, err
	}
	r.learn(updates)
	return heads, nil
}

// isKnown reports the folders and files that the heads that were read hold, and so
// the repository has.
func (r *Repo) isKnown() func(files.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	blobs := map[files.ID]bool{}
	for _, f := range r.folders {
		for _, e := range f.Entries() {
			blobs[e.ID] = true
		}
	}
	folders := maps.Clone(r.folders)
	return func(id files.ID) bool { return blobs[id] || folders[id] != nil }
}

// learn remembers the folders of published updates.
func (r *Repo) learn(updates []Update) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var add func(f *files.Folder)
	add = func(f *files.Folder) {
		if r.folders[f.ID()] != nil {
			return
		}
		r.folders[f.ID()] = r.stored(f)
		for _, e := range f.Entries() {
			if e.Dir != nil {
				add(e.Dir)
			}
		}
	}
	for _, u := range updates {
		add(u.Tree)
	}
}

// stored returns f with its files read from the repository instead of memory.
func (r *Repo) stored(f *files.Folder) *files.Folder {
	entries := slices.Clone(f.Entries())
	for i, e := range entries {
		switch {
		case e.Dir != nil:
			entries[i].Dir = r.stored(e.Dir)
		case e.Blob != nil && !e.Blob.Stored():
			entries[i].Blob = files.StoredBlob(e.ID, func() ([]byte, error) { return r.blob(hashOf(e.ID), maxBlob) })
		}
	}
	return files.NewFolder(entries)
}

// diskError says what to do about a disk that takes nothing.
func diskError(name string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("publishing to %s: %w; nothing was published: make room and run again", name, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, os.ErrPermission):
		return fmt.Errorf("publishing to %s: %w; nothing was published: make the repository writable and run again", name, err)
	}
	return fmt.Errorf("publishing to %s: %w", name, err)
}

// exclusive makes this the only Waybill that writes the repository, and clears
// what one that was killed left behind.
func (r *Repo) exclusive(ctx context.Context) (unlock func(), err error) {
	path := filepath.Join(r.gitDir, "waybill.lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, diskError(r.name, err)
	}
	err = retry(ctx, func() (bool, error) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) //nolint:gosec // a descriptor
		return !errors.Is(err, unix.EWOULDBLOCK), err
	})
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("publishing to %s: waiting for another Waybill that writes it: %w", r.name, err)
	}
	if err := errors.Join(r.recover(path), r.sweepPacks()); err != nil {
		f.Close()
		return nil, diskError(r.name, err)
	}
	return func() { f.Close() }, nil
}

// retry calls try until it is done, time is up, or ctx ends.
func retry(ctx context.Context, try func() (done bool, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		done, err := try()
		if done {
			return err
		}
		timer := time.NewTimer(lockLook)
		select {
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(err, ctx.Err())
		case <-timer.C:
		}
	}
}

// recover removes the locks of branches that a killed process recorded.
func (r *Repo) recover(record string) error {
	data, err := os.ReadFile(record)
	if err != nil || len(data) == 0 {
		return err //nolint:wrapcheck // the caller says of what
	}
	for line := range strings.Lines(string(data)) {
		branch, commit, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		lock := r.refPath(branch) + ".lock"
		held, err := os.ReadFile(lock)
		if err == nil && (len(held) == 0 || string(held) == commit+"\n") {
			err = os.Remove(lock)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err //nolint:wrapcheck // the caller says of what
		}
	}
	return os.Truncate(record, 0) //nolint:wrapcheck // the caller says of what
}

// sweep clears what a killed process left in a cache.
func (r *Repo) sweep() error {
	unlock, err := r.exclusive(context.Background()) //nolint:forbidigo,contextcheck // bounded by lockWait
	if err != nil {
		return err
	}
	unlock()
	return nil
}

// sweepPacks removes half-written packs: ours, and in a cache, which nobody else
// writes, go-git's.
func (r *Repo) sweepPacks() error {
	patterns := []string{tempPrefix + "*"}
	if r.remote != nil {
		patterns = append(patterns, "tmp_pack_*", "tmp_idx_*", "tmp_obj_*")
	}
	for _, p := range patterns {
		names, err := filepath.Glob(filepath.Join(r.gitDir, "objects", "pack", p))
		if err != nil {
			return err //nolint:wrapcheck // the caller says of what
		}
		for _, n := range names {
			if err := os.Remove(n); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err //nolint:wrapcheck // the caller says of what
			}
		}
	}
	return nil
}
