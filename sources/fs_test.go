package sources_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/waybill-dev/waybill/sources"
)

func TestTreeIsAFileSystem(t *testing.T) {
	fsys := sources.Tree(map[string][]byte{"a.yaml": []byte("a"), "dir/b.yaml": []byte("bb"), "dir/sub/c": nil, "../out": nil, "/abs": nil})
	if err := fstest.TestFS(fsys, "a.yaml", "dir/b.yaml", "dir/sub/c"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../out", "/abs", "abs", "out", "dir/", "dir//b.yaml"} {
		if _, err := fs.ReadFile(fsys, name); err == nil {
			t.Errorf("%q can be read", name)
		}
	}
}

type snapshot struct{ sources.Snapshot }

func (snapshot) Files() []sources.File {
	return []sources.File{{Path: "dir/link", Kind: sources.Symlink}, {Path: "mod", Kind: sources.Submodule}, {Path: "z", Size: 1}}
}

func (snapshot) ReadFile(string) ([]byte, error) { return []byte("z"), nil }

func TestFSListsLinksAndDoesNotFollowThem(t *testing.T) {
	fsys := sources.FS(snapshot{})
	if data, err := fs.ReadFile(fsys, "z"); err != nil || string(data) != "z" {
		t.Fatalf("reading z: %q, %v", data, err)
	}
	for _, name := range []string{"dir/link", "mod"} {
		if _, err := fsys.Open(name); !errors.Is(err, sources.ErrSpecial) {
			t.Errorf("opening %s: %v", name, err)
		}
		if i, err := fs.Stat(fsys, name); err != nil || i.Mode().IsRegular() || i.IsDir() {
			t.Errorf("%s: %v, %v", name, i, err)
		}
	}
}

func TestMountedFileSystemsAreOne(t *testing.T) {
	own, other := sources.Tree(map[string][]byte{"a": []byte("own"), "m/b": []byte("hidden")}), sources.Tree(map[string][]byte{"b": []byte("other")})
	away := errors.New("it is away")
	m := sources.Mounted(func(name string) (fs.FS, string, error) {
		if name == "away" {
			return nil, "", away
		}
		if rest, below := strings.CutPrefix(name, "m/"); below {
			return other, rest, nil
		}
		return own, name, nil
	})
	for name, want := range map[string]string{"a": "own", "m/b": "other"} {
		data, err := fs.ReadFile(m, name)
		info, statErr := fs.Stat(m, name)
		if err != nil || statErr != nil || string(data) != want || info.Size() != int64(len(want)) {
			t.Errorf("%s is %q, %v, %v", name, data, err, statErr)
		}
	}
	_, read := fs.ReadFile(m, "away")
	_, listed := fs.ReadDir(m, "away")
	_, described := fs.Stat(m, "away")
	for _, err := range []error{read, listed, described} {
		if !errors.Is(err, away) {
			t.Errorf("what is away gives %v", err)
		}
	}
	if list, err := fs.ReadDir(m, "m"); err != nil || len(list) != 1 {
		t.Errorf("the folder has %v, %v", list, err)
	}
}
