// Package watching waits until a file of a directory changes.
package watching

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/waybill-dev/waybill/sources/pause"
)

// every is how often the directory is looked at. Asking for its files is cheap, and works on
// every file system.
const every = 300 * time.Millisecond

// Next waits until a directory is another than was seen.
func Next(ctx context.Context, dir string, seen [32]byte) ([32]byte, error) {
	for {
		if pause.For(ctx, every) != nil {
			return seen, nil // it is interrupted
		}
		now, err := Fingerprint(dir)
		if err != nil || now != seen {
			return now, err
		}
	}
}

// Fingerprint tells one state of a directory from another, by the names, sizes and times of its
// files. Of what Git keeps there, only what HEAD was counts.
func Fingerprint(dir string) (sum [32]byte, err error) {
	h := sha256.New()
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went meanwhile
		}
		if err != nil {
			return err
		}
		if e.Name() == ".git" && e.IsDir() {
			if info, err := os.Stat(filepath.Join(path, "logs", "HEAD")); err == nil {
				fmt.Fprintln(h, info.Size(), info.ModTime())
			}
			return fs.SkipDir
		}
		if info, err := e.Info(); err == nil {
			fmt.Fprintf(h, "%q %d %s %s\n", path, info.Size(), info.Mode(), info.ModTime())
		}
		return nil
	})
	if err != nil {
		return sum, fmt.Errorf("watching %s: %w", dir, err)
	}
	return [32]byte(h.Sum(nil)), nil
}
