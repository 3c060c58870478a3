//go:build unix

package peers

import (
	"os"
	"path/filepath"
	"syscall"
)

// Lock waits until no other process has the lock of a name in the user's cache, and takes it. The
// lock is given back by unlock, or when the process ends.
func Lock(name string) (unlock func(), err error) {
	dir, err := Cache()
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, name+".lock"), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the caller says what
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}
