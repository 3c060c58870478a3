package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Caps on what an archive may be and become. Helm's are the same for expanded bytes
// and one file (CVE-2025-32386); it has none for entries and ratio.
const (
	maxArchive  = 100 << 20 // compressed bytes
	maxExpanded = 100 << 20 // bytes
	maxFile     = 5 << 20   // bytes
	maxEntries  = 10_000
	maxRatio    = 100     // expanded to compressed bytes
	ratioFrom   = 1 << 20 // expanded bytes up to which any ratio is fine: tar pads
)

// Unpack returns the files of a packaged chart, a gzipped tar, by their paths within
// the chart's folder. It is pure.
//
// An archive is refused whole if it holds anything but regular files and folders, more
// than one top-level folder, no Chart.yaml, a name that is no clean relative path or
// has a backslash, two names that are equal or differ in case only, or more than the
// caps: 100 MiB packed, 100 MiB unpacked, 5 MiB a file, 10,000 entries, 100 times its
// packed size. Archives within the archive are left as they are.
func Unpack(archive []byte) (map[string][]byte, error) {
	if len(archive) > maxArchive {
		return nil, fmt.Errorf("the archive has %d bytes; %d are read", len(archive), maxArchive)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("reading the archive as gzip: %w", err)
	}
	budget := min(maxExpanded, max(ratioFrom, maxRatio*len(archive)))
	u := unpacking{files: map[string][]byte{}, folded: map[string]string{}, left: budget}
	// Headers count too: each entry has one of a kilobyte or so.
	entries := tar.NewReader(&capped{r: unzipped, left: budget + 2*maxEntries*1024})
	for count := 0; ; count++ {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading the archive as tar: %w", err)
		}
		if count == maxEntries {
			return nil, fmt.Errorf("the archive has more than %d entries", maxEntries)
		}
		if err := u.entry(h, entries); err != nil {
			return nil, err
		}
	}
	if _, ok := u.files["Chart.yaml"]; !ok {
		return nil, errors.New("the archive is no chart: it has no Chart.yaml in its folder")
	}
	return u.files, nil
}

// unpacking is an archive read so far.
type unpacking struct {
	top    string // the one folder
	files  map[string][]byte
	folded map[string]string // names of files and their folders, lower-case -> path
	left   int               // bytes that may still be unpacked
}

func (u *unpacking) entry(h *tar.Header, r io.Reader) error {
	switch h.Typeflag {
	case tar.TypeXGlobalHeader: // a comment, as git archive writes it
		return nil
	case tar.TypeReg, tar.TypeDir:
	default:
		return fmt.Errorf("the archive has %q, which is neither a regular file nor a folder (type %q)", h.Name, h.Typeflag)
	}
	name, err := u.name(h)
	if err != nil || name == "" || h.Typeflag == tar.TypeDir {
		return err
	}
	if err := u.claim(name); err != nil {
		return err
	}
	switch {
	case h.Size > maxFile:
		return fmt.Errorf("the archive has %q with %d bytes; %d are read", h.Name, h.Size, maxFile)
	case int(h.Size) > u.left:
		return fmt.Errorf("the archive unpacks to more than %d bytes or %d times its size", maxExpanded, maxRatio)
	}
	u.left -= int(h.Size)
	data, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("reading %q of the archive: %w", h.Name, err)
	}
	u.files[name] = data
	return nil
}

// name returns the path of an entry within the chart's folder; empty for the folder.
func (u *unpacking) name(h *tar.Header) (string, error) {
	name := h.Name
	if h.Typeflag == tar.TypeDir {
		name = strings.TrimSuffix(name, "/")
	}
	top, rest, _ := strings.Cut(name, "/")
	switch {
	case !fs.ValidPath(name) || name == "." || strings.ContainsFunc(name, forbidden) || strings.Contains(top, ":"):
		return "", fmt.Errorf("the archive has an entry with the name %q, which is no clean relative path", h.Name)
	case rest == "" && h.Typeflag != tar.TypeDir:
		return "", fmt.Errorf("the archive has the file %q beside the chart's folder", h.Name)
	case u.top != "" && top != u.top:
		return "", fmt.Errorf("the archive has two folders at its top: %q and %q", u.top, top)
	}
	u.top = top
	return rest, nil
}

func forbidden(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }

// claim takes a name for a file and refuses one that another file has, whatever the
// case of its letters, or that is another's folder.
func (u *unpacking) claim(name string) error {
	if other, ok := u.folded[strings.ToLower(name)]; ok {
		return fmt.Errorf("the archive has both %q and %q", other, name)
	}
	u.folded[strings.ToLower(name)] = name
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		other, ok := u.folded[strings.ToLower(dir)]
		if _, file := u.files[other]; ok && file {
			return fmt.Errorf("the archive has %q as a file and as a folder", other)
		}
		u.folded[strings.ToLower(dir)] = dir
	}
	return nil
}

// capped ends with an error after so many bytes.
type capped struct {
	r    io.Reader
	left int
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("it unpacks to more than %d bytes or %d times its size", maxExpanded, maxRatio)
	}
	n, err := c.r.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}
