//go:build !unix

package private

import "io/fs"

// isOpenToOthers reports false: there are no modes here that say it.
func isOpenToOthers(fs.FileInfo) bool { return false }
