package git

import (
	"bytes"
	"crypto/rand"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/pack"
)

// What somebody pushed who is not trusted is fetched within bounds: of the bytes that a server sends, and of
// what they stand for. Of a pack that is too large nothing is kept.
func TestFetchWithin(t *testing.T) {
	noise := make([]byte, 300<<10)
	_, _ = rand.Read(noise) // it never fails
	line := []byte("a line of a manifest, which is alike in each of its files\n")
	fit := Bounds{Pack: 200 << 10, Objects: 20, Object: 1 << 20, All: 3 << 20}
	for _, tt := range []struct {
		name  string
		adds  map[string][]byte // to what the branch has
		want  string            // part of why it is not taken; empty: it is
		names []string          // of many small files
	}{
		{name: "a small change", adds: map[string][]byte{"a": []byte("1")}},
		{name: "many bytes", adds: map[string][]byte{"a": noise}, want: "bytes of a pack: "},
		{name: "one object that unpacks to much", adds: map[string][]byte{"a": make([]byte, 8<<20)}, want: "bytes of an object in a pack: 8388608"},
		{name: "objects that unpack to much", adds: map[string][]byte{"a": append(make([]byte, 1<<20-9), 1), "b": append(make([]byte, 1<<20-9), 2), "c": append(make([]byte, 1<<20-9), 3), "d": append(make([]byte, 1<<20-9), 4)}, want: "bytes of the objects in a pack: "},
		{name: "a small difference to what is too large", adds: map[string][]byte{"large": append(bytes.Repeat(line, 40<<10), '!')}, want: "bytes of an object in a pack: "},
		{name: "many objects", names: strings.Split("a b c d e f g h i j k l m n o p q r s t u", " "), want: "objects of a pack: 23"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, cache := newServer(t), t.TempDir()
			at := s.repo(t, "repo.git")
			work := filepath.Join(t.TempDir(), "work")
			run(t, ".", "init", "-q", "-b", "main", work)
			write(t, work, map[string][]byte{"large": bytes.Repeat(line, 40<<10)})
			run(t, work, "push", "-q", at, "HEAD:refs/heads/main")
			r := s.open(t, "repo.git", cache)
			if _, err := r.Snapshot(t.Context(), "main", ""); err != nil {
				t.Fatal(err)
			}
			adds := map[string][]byte{}
			for _, name := range tt.names {
				adds[name] = []byte(name)
			}
			maps.Copy(adds, tt.adds)
			write(t, work, adds)
			run(t, work, "push", "-q", at, "HEAD:refs/pull/7/head")
			head, err := files.ParseID(run(t, work, "rev-parse", "HEAD"))
			if err != nil {
				t.Fatal(err)
			}
			packs := packsOf(t, cache)
			err = r.FetchWithin(t.Context(), head, fit)
			var limit *LimitError
			switch {
			case tt.want == "" && err != nil:
				t.Fatal(err)
			case tt.want != "" && (!errors.As(err, &limit) || !strings.Contains(err.Error(), tt.want) || r.store.has(head)):
				t.Errorf("%v, and it is kept: %v; want %q", err, r.store.has(head), tt.want)
			}
			if now := packsOf(t, cache); tt.want != "" && now != packs {
				t.Errorf("it left %s", now)
			}
			if tt.want == "" {
				if _, err := r.Snapshot(t.Context(), head.String(), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A delta counts with what it makes, also where it names what it is made of by its id, as one does of what a stranger pushed.
func TestADeltaCountsWithWhatItMakes(t *testing.T) {
	base := files.NewBlob(bytes.Repeat([]byte("a line\n"), 1000))
	for _, tt := range []struct {
		name   string
		copies int
		want   string
	}{
		{"little", 2, ""},
		{"more than an object may be", 200, "bytes of an object in a pack: 1400001, "},
		{"more than all may be", 100, "bytes of the objects in a pack: 1407002, "},
	} {
		pieces := slices.Repeat([]files.Piece{{Len: 7000}}, tt.copies)
		objects := []pack.Object{{Kind: pack.Blob, ID: base.ID(), Data: base.Bytes}}
		for n := range 2 {
			made := files.Patched(base, append(pieces, files.Piece{Text: []byte{byte(n)}})...)
			data := pack.Delta(made.Patch())
			objects = append(objects, pack.Object{Kind: pack.Blob, ID: made.ID(), From: base.ID(), Data: func() ([]byte, error) { return data, nil }})
		}
		path, err := pack.Write(t.Context(), t.TempDir(), objects)
		if err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		most := Bounds{Objects: 3, Object: 1 << 20, All: 1_300_000}
		if err = most.hold(in); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A commit that no ref of the server is at is not looked for in all of its branches.
func TestFetchWithinOfWhatIsNowhere(t *testing.T) {
	s := newServer(t)
	s.repo(t, "repo.git")
	r := s.open(t, "repo.git", t.TempDir())
	mustPublish(t, r, update("main", noID, map[string]string{"f": "1"}))
	err := r.FetchWithin(t.Context(), files.ID{1}, Bounds{Pack: 1 << 20, Objects: 10, Object: 1 << 20, All: 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "no ref of the server is at it") {
		t.Error(err)
	}
}

// write commits files.
func write(tb testing.TB, work string, contents map[string][]byte) {
	tb.Helper()
	for name, data := range contents {
		if err := os.WriteFile(filepath.Join(work, name), data, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	run(tb, work, "add", ".")
	run(tb, work, "commit", "-qm", "m")
}

// packsOf names the packs of a cache.
func packsOf(tb testing.TB, cache string) string {
	tb.Helper()
	all, err := filepath.Glob(filepath.Join(cache, "*", "objects", "pack", "*"))
	if err != nil {
		tb.Fatal(err)
	}
	return strings.Join(all, " ")
}
