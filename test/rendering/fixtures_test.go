package rendering

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// packed is what the name of a folder ends with that becomes a package of a chart.
const packed = ".tgz/"

// unpack writes the files of an archive into a folder. What is below sub-1.0.0.tgz/
// becomes a package of that name.
func unpack(t *testing.T, a *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	packages := map[string][]txtar.File{}
	for _, f := range a.Files {
		if before, after, ok := strings.Cut(f.Name, packed); ok {
			name := before + strings.TrimSuffix(packed, "/")
			packages[name] = append(packages[name], txtar.File{Name: after, Data: f.Data})
			continue
		}
		write(t, filepath.Join(dir, f.Name), f.Data)
	}
	for name, files := range packages {
		write(t, filepath.Join(dir, name), tgz(t, files))
	}
	return dir
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func tgz(t *testing.T, files []txtar.File) []byte {
	t.Helper()
	var all bytes.Buffer
	zipped := gzip.NewWriter(&all)
	w := tar.NewWriter(zipped)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.Name, Mode: 0o644, Size: int64(len(f.Data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}

// fixture is an archive of testdata.
type fixture struct {
	name    string
	archive *txtar.Archive
}

func fixtures(t *testing.T, folder string) []fixture {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatal("there are no fixtures", err)
	}
	var all []fixture
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fixture{strings.TrimSuffix(filepath.Base(name), ".txtar"), a})
	}
	return all
}

// sound reports that the fixture has to render, rather than to be refused by both, ours
// and the program.
func (f fixture) sound() bool { return !strings.HasPrefix(f.name, "refused-") }
