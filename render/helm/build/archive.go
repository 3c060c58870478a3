package build

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A package may expand to maxRatio times its size, once it is over freeExpansion
// bytes: short texts compress better than that.
const (
	maxRatio      = 100
	freeExpansion = 1 << 20
)

// checkPackage reads a packaged chart to its end, and refuses it for what Helm would
// read differently, follow, or choke on. Helm unpacks it afterwards. The name is the
// package's own, for messages; those of the files in it are counted to the same
// budget.
func checkPackage(name string, data []byte, left *budget) error {
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	limit := max(freeExpansion, maxRatio*int64(len(data)))
	expanded := &io.LimitedReader{R: zipped, N: limit}
	archive := tar.NewReader(expanded)
	seen := map[string]string{}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) && expanded.N > 0 {
			return nil
		}
		if expanded.N <= 0 {
			return fmt.Errorf("%s expands to more than %d times its size", name, maxRatio)
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		if err := checkMember(name, header, archive, left, seen); err != nil && expanded.N > 0 {
			return err
		}
	}
}

// checkMember checks one entry of a package. Helm drops the first folder of each
// name, which is that of the chart.
func checkMember(pack string, header *tar.Header, content io.Reader, left *budget, seen map[string]string) error {
	switch header.Typeflag {
	case tar.TypeXGlobalHeader:
		return nil
	case tar.TypeReg, tar.TypeDir:
	default:
		return fmt.Errorf("%s: %q is no regular file (type %q); a chart may not have links", pack, header.Name, header.Typeflag)
	}
	full := strings.TrimSuffix(header.Name, "/")
	if err := checkName(full); err != nil {
		return fmt.Errorf("%s: %w", pack, err)
	}
	_, name, ok := strings.Cut(full, "/")
	if header.Typeflag == tar.TypeDir {
		return nil
	}
	if !ok {
		return fmt.Errorf("%s: %q is not in the folder of the chart", pack, header.Name)
	}
	folded := strings.ToLower(full)
	if first, ok := seen[folded]; ok {
		return fmt.Errorf("%s: %q and %q are one file to some file systems", pack, first, full)
	}
	seen[folded] = full
	if header.Size > maxFile {
		return fmt.Errorf("%s: %s has %d bytes; a file of a chart may have %d", pack, full, header.Size, maxFile)
	}
	data, err := io.ReadAll(content)
	if err != nil {
		return fmt.Errorf("reading %s of %s: %w", full, pack, err)
	}
	return checkFile(pack+"/"+name, data, left)
}
