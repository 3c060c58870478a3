//go:build !unix

package refs

import (
	"errors"
	"io/fs"
	"os"
)

// hold locks nothing here: what moves refs leans on locks and links as Unix has them.
func hold(*os.File) (bool, error) {
	return false, errors.New("repositories on this system's disk are read only; publish from Linux or macOS, or let CI do it")
}

// linked says that no file has more names than one, for nobody makes links.
func linked(fs.FileInfo) bool { return false }
