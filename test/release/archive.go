package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sums is the file of checksums.
const sums = "SHA256SUMS"

// member is a file of an archive, or, without data, a folder that anybody may write to.
type member struct {
	name string
	data []byte
	runs bool
}

// archive packs files: sorted, of one time, of nobody.
func archive(members []member, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	packed, err := pack(members, at)
	if err != nil {
		return nil, err
	}
	if _, err := zip.Write(packed); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return out.Bytes(), nil
}

// pack makes a tar.
func pack(members []member, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	members = slices.SortedFunc(slices.Values(members), func(a, b member) int { return cmp.Compare(a.name, b.name) })
	for _, m := range members {
		h := &tar.Header{Name: m.name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(m.data)), ModTime: at, Format: tar.FormatUSTAR}
		switch {
		case strings.HasSuffix(m.name, "/"):
			h.Typeflag, h.Mode = tar.TypeDir, 0o1777
		case m.runs:
			h.Mode = 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("packing %s: %w", m.name, err)
		}
		if _, err := w.Write(m.data); err != nil {
			return nil, fmt.Errorf("packing %s: %w", m.name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return out.Bytes(), nil
}

// tree reads a folder as members.
func tree(dir string) ([]member, error) {
	var found []member
	folder := os.DirFS(dir)
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(folder, name)
		found = append(found, member{name: name, data: data})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", dir, err)
	}
	return found, nil
}

// checksums writes the file by which sha256sum -c checks a folder.
func checksums(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil {
		return fmt.Errorf("reading %s: %w", out, err)
	}
	var b strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(out, e.Name()))
		if err != nil {
			return fmt.Errorf("reading %s: %w", out, err)
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	if err := os.WriteFile(filepath.Join(out, sums), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("writing checksums: %w", err)
	}
	return nil
}
