//go:build e2e && !race

package hostile

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/waybill-dev/waybill/render/engine"
)

// golden is the section that holds what a user is told.
const golden = "@diagnostics"

// fixture is a file of testdata.
type fixture struct {
	name, path string
	archive    *txtar.Archive
	bites      string // the kinds of hits without guards and walls, in order; "no"
	worker     bool   // the product needs a worker to survive it
}

func fixtures(t *testing.T) []fixture {
	t.Helper()
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	all := make([]fixture, 0, len(paths))
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := fixture{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), path: path, archive: archive}
		for line := range strings.Lines(string(archive.Comment)) {
			if says, ok := strings.CutPrefix(strings.TrimSpace(line), "bites: "); ok {
				f.bites = says
			}
			f.worker = f.worker || strings.TrimSpace(line) == "in: worker"
		}
		if f.bites == "" {
			t.Fatalf("%s does not say what it bites", path)
		}
		all = append(all, f)
	}
	return all
}

// deadly reports that the fixture would kill whoever renders it carelessly.
func (f fixture) deadly() bool { return strings.Contains(f.bites, "death") }

// section returns a section that is about the fixture, with placeholders filled in.
func (f fixture) section(name string, fill *strings.Replacer) string {
	for _, file := range f.archive.Files {
		if file.Name == name {
			return fill.Replace(string(file.Data))
		}
	}
	return ""
}

// job is the section @job, or a release of the folder chart if there is one, or a
// build of the root.
func (f fixture) job(t *testing.T, fill *strings.Replacer) engine.Job {
	t.Helper()
	text := f.section("@job", fill)
	if text == "" {
		text = `{"kustomize": {"dir": "."}}`
		for _, file := range f.archive.Files {
			if strings.HasSuffix(file.Name, "chart/Chart.yaml") {
				text = `{"helm": {"chart": {"path": "chart"}, "release": {"name": "canary"}}}`
			}
		}
	}
	var j engine.Job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		t.Fatalf("reading @job of %s: %v", f.path, err)
	}
	return j
}

// files makes what the sections say.
func (f fixture) files(t *testing.T, fill *strings.Replacer) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	for _, file := range f.archive.Files {
		text := fill.Replace(string(file.Data))
		section, path, _ := strings.Cut(file.Name, " ")
		var err error
		switch section {
		case "@job", golden:
		case "@links":
			for link, to := range pairs(text, " -> ") {
				files[link] = &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink | 0o777}
			}
		case "@repeat":
			files[path], err = repeat(text)
		case "@tgz":
			files[path], err = packed(text)
		default:
			files[file.Name] = &fstest.MapFile{Data: []byte(text), Mode: 0o755}
		}
		if err != nil {
			t.Fatalf("reading %s of %s: %v", file.Name, f.path, err)
		}
	}
	return files
}

// pairs yields the two sides of each line.
func pairs(text, separator string) func(yield func(left, right string) bool) {
	return func(yield func(left, right string) bool) {
		for line := range strings.Lines(text) {
			left, right, _ := strings.Cut(strings.TrimSuffix(line, "\n"), separator)
			if !yield(left, right) {
				return
			}
		}
	}
}

// repeat makes a file of lines that say how often which quoted string stands in it.
func repeat(text string) (*fstest.MapFile, error) {
	var data bytes.Buffer
	for times, quoted := range pairs(text, " ") {
		n, err := strconv.Atoi(times)
		if err != nil {
			return nil, err
		}
		s, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("unquoting %s: %w", quoted, err)
		}
		data.WriteString(strings.Repeat(s, n))
	}
	return &fstest.MapFile{Data: data.Bytes(), Mode: 0o644}, nil
}

// packed makes a package of lines: "file NAME QUOTED", "zeros NAME BYTES", "files
// NAME COUNT" for empty ones below a folder, "symlink NAME TARGET" and "link NAME
// TARGET".
func packed(text string) (*fstest.MapFile, error) {
	var data bytes.Buffer
	zipped := gzip.NewWriter(&data)
	archive := tar.NewWriter(zipped)
	for what, rest := range pairs(text, " ") {
		name, argument, _ := strings.Cut(rest, " ")
		if err := entry(archive, what, name, argument); err != nil {
			return nil, fmt.Errorf("packing %s: %w", name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := zipped.Close(); err != nil {
		return nil, err
	}
	return &fstest.MapFile{Data: data.Bytes(), Mode: 0o644}, nil
}

func entry(archive *tar.Writer, what, name, argument string) error {
	switch what {
	case "symlink":
		return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: argument})
	case "link":
		return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeLink, Name: name, Linkname: argument})
	case "file":
		data, err := strconv.Unquote(argument)
		if err != nil {
			return err
		}
		return regular(archive, name, int64(len(data)), strings.NewReader(data))
	case "zeros", "files":
		n, err := strconv.ParseInt(argument, 10, 64)
		if err != nil {
			return err
		}
		if what == "zeros" {
			return regular(archive, name, n, zeros{})
		}
		for i := range n {
			if err := regular(archive, fmt.Sprintf("%s/%d", name, i), 0, zeros{}); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%q is nothing to pack", what)
}

func regular(archive *tar.Writer, name string, size int64, data io.Reader) error {
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: size}); err != nil {
		return err
	}
	_, err := io.CopyN(archive, data, size)
	return err
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// unpack writes files to a folder.
func unpack(t *testing.T, files fstest.MapFS, dir string) {
	t.Helper()
	for name, file := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if file.Mode&fs.ModeSymlink != 0 {
			err = os.Symlink(string(file.Data), path)
		} else {
			err = os.WriteFile(path, file.Data, file.Mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
