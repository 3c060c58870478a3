//go:build unix

package refs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// hold locks a file that no other process holds, and says whether it did.
func hold(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}

// linked says whether a file has more names than one.
func linked(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Nlink != 1
}
