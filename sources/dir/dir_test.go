package dir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources"
)

// lay makes a directory with files; a content that begins with "->" makes a link.
func lay(t *testing.T, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, text := range contents {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		target, link := strings.CutPrefix(text, "->")
		var err error
		if link {
			err = os.Symlink(target, full)
		} else {
			err = os.WriteFile(full, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSnapshot(t *testing.T) {
	dir := lay(t, map[string]string{
		"a/x.yaml": "x", "a.b": "ab", "a-b": "", ".git/config": "secret", "sub/.git": "gitdir: elsewhere", "sub/.github/w.yaml": "w",
		"link": "->/etc/passwd", "loop": "->.",
	})
	s, err := Snapshot(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []sources.File{
		{Path: "a-b"},
		{Path: "a.b", Size: 2},
		{Path: "a/x.yaml", Size: 1},
		{Path: "link", Kind: sources.Symlink, Target: "/etc/passwd"},
		{Path: "loop", Kind: sources.Symlink, Target: "."},
		{Path: "sub/.github/w.yaml", Size: 1},
	}
	if d := cmp.Diff(want, s.Files()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(sources.Revision{Repo: dir}, s.Revision()); d != "" {
		t.Error(d)
	}
	if data, err := s.ReadFile("a/x.yaml"); string(data) != "x" || err != nil {
		t.Errorf("ReadFile = %q, %v", data, err)
	}
	for _, path := range []string{"link", "loop/a.b", ".git/config", "../x", "/etc/passwd", "none"} {
		if data, err := s.ReadFile(path); err == nil {
			t.Errorf("ReadFile(%q) = %q", path, data)
		}
	}
	if _, err := s.ReadFile("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path that is not there: %v", err)
	}
}

// Between listing and reading, a folder becomes a link that leads out.
func TestReadFileStaysInside(t *testing.T) {
	outside := lay(t, map[string]string{"x.yaml": "outside"})
	dir := lay(t, map[string]string{"a/x.yaml": "x"})
	s, err := Snapshot(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if data, err := s.ReadFile("a/x.yaml"); err == nil {
		t.Errorf("it read %q", data)
	}
}

func TestLimits(t *testing.T) {
	t.Run("a file that is too large is listed and not read", func(t *testing.T) {
		dir := lay(t, map[string]string{"big.yaml": ""})
		if err := os.Truncate(filepath.Join(dir, "big.yaml"), maxFile+1); err != nil {
			t.Fatal(err)
		}
		s, err := Snapshot(dir)
		if err != nil || s.Files()[0].Size != maxFile+1 {
			t.Fatalf("%v, %v", s, err)
		}
		if _, err := s.ReadFile("big.yaml"); err == nil || !strings.Contains(err.Error(), "limit") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a folder that is too deep is unreadable", func(t *testing.T) {
		deep := strings.Repeat("d/", maxDepth) + "d"
		s, err := Snapshot(lay(t, map[string]string{deep + "/f": "x", "a": "x"}))
		if err != nil {
			t.Fatal(err)
		}
		want := []sources.File{{Path: "a", Size: 1}, {Path: deep, Kind: sources.Unreadable, Folder: true, Why: "it is in more than 64 folders"}}
		if d := cmp.Diff(want, s.Files()); d != "" {
			t.Error(d)
		}
	})
	t.Run("folders that are just not too deep are taken", func(t *testing.T) {
		if _, err := Snapshot(lay(t, map[string]string{strings.Repeat("d/", maxDepth) + "f": "x"})); err != nil {
			t.Error(err)
		}
	})
	t.Run("a directory that is not there is said", func(t *testing.T) {
		if _, err := Snapshot(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v", err)
		}
	})
}
