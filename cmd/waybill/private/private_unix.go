//go:build unix

package private

import (
	"io/fs"
	"os"
	"syscall"
)

// isOpenToOthers reports a file that others can read or write, as ssh judges its keys: of
// a file that is somebody else's, that one decides.
func isOpenToOthers(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o077 != 0
}
