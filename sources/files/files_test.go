package files

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIDsAreGits(t *testing.T) {
	if got := NewBlob([]byte("hello\n")).ID().String(); got != "ce013625030ba8dba906f756967f9e9ca394464a" {
		t.Errorf("the blob's id is %s", got)
	}
	f := NewFolder([]Entry{
		DirEntry("a", NewFolder([]Entry{FileEntry("x", NewBlob([]byte("x")))})),
		FileEntry("a.b", NewBlob([]byte("b"))), FileEntry("a-b", NewBlob([]byte("c"))), FileEntry("ab", NewBlob([]byte("d"))),
	})
	dir := t.TempDir()
	script := "git init -q . && mkdir a && printf x >a/x && printf b >a.b && printf c >a-b && printf d >ab && git add -A && git write-tree"
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	cmd.Dir = filepath.Clean(dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.ID().String(), strings.TrimSpace(string(out)); got != want {
		t.Errorf("the folder's id is %s, git's %s", got, want)
	}
}

func TestStoredBlobsAreFetched(t *testing.T) {
	fetched := 0
	fetch := func(ID) ([]byte, error) { fetched++; return []byte("hello\n"), nil }
	b := NewBlob([]byte("hello\n"))
	for n, want := range []int{0, 1, 2} {
		if data, err := b.Bytes(); string(data) != "hello\n" || err != nil || fetched != want {
			t.Errorf("after %d times: %q, %v, fetched %d times", n, data, err, fetched)
		}
		b.Stored(fetch)
		b.Stored(func(ID) ([]byte, error) { return nil, errors.New("elsewhere") })
	}
	if b.ID().String() != "ce013625030ba8dba906f756967f9e9ca394464a" {
		t.Errorf("the id became %s", b.ID())
	}
}

func TestPatchedBlobsAreWhatTheySay(t *testing.T) {
	base := NewBlob([]byte(strings.Repeat("the quick brown fox ", 20)))
	text, _ := base.Bytes()
	for _, data := range []string{
		"", "another", string(text), string(text[:300]), string(text[100:]), string(text[:200]) + "jumps" + string(text[200:]),
		string(text[:200]) + string(text[220:]), string(text) + string(text[:300]), "jumps" + string(text), string(text) + "jumps",
	} {
		b := Like(base, []byte(data))
		got, err := b.Bytes()
		if string(got) != data || err != nil || b.ID() != Sum("blob", []byte(data)) {
			t.Errorf("like %q: %q with the id %s, %v", data, got, b.ID(), err)
		}
		if isPatch := b.Patch() != nil; isPatch != (len(data) > 100) {
			t.Errorf("%q is a patch: %t", data, isPatch)
		}
		again := Like(b, []byte(data))
		if got, _ := again.Bytes(); string(got) != data {
			t.Errorf("like a patch: %q; want %q", got, data)
		}
		b.Stored(func(ID) ([]byte, error) { return []byte("fetched"), nil })
		if got, _ := b.Bytes(); string(got) != "fetched" || b.Patch() != nil {
			t.Errorf("stored, it is %q", got)
		}
	}
	if b := Like(nil, []byte("x")); b.ID() != NewBlob([]byte("x")).ID() {
		t.Errorf("like nothing, its id is %s", b.ID())
	}
}

// TestPatchedBlobsKeepNothingOfTheirs: whoever gave the bytes may write to them.
func TestPatchedBlobsKeepNothingOfTheirs(t *testing.T) {
	base := NewBlob([]byte(strings.Repeat("the quick brown fox ", 20)))
	text, _ := base.Bytes()
	for _, want := range []string{"another", string(text[:200]) + "jumps" + string(text[200:])} {
		data := []byte(want)
		b := Like(base, data)
		for i := range data {
			data[i] = '!'
		}
		if got, err := b.Bytes(); string(got) != want || err != nil {
			t.Errorf("it became %q, %v; want %q", got, err, want)
		}
	}
}

// TestBetweenIsAsMuchAsIsAlike, to the byte, at both ends and around what is compared at a time.
func TestBetweenIsAsMuchAsIsAlike(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 127, 128, 129} {
		same := strings.Repeat("s", n)
		p := Between(ID{}, []byte(same+"a"+same), []byte(same+"bc"+same))
		if first, own, last := p.Pieces[0].Len, string(p.Pieces[1].Text), p.Pieces[2].Len; first != n || own != "bc" || last != n {
			t.Errorf("of %d bytes %d and %d are alike, and %q is not", n, first, last, own)
		}
	}
}

func FuzzLike(f *testing.F) {
	f.Add(strings.Repeat("a", 200), strings.Repeat("a", 300))
	f.Add("ab", "ab")
	f.Fuzz(func(t *testing.T, base, data string) {
		b := Like(NewBlob([]byte(base)), []byte(data))
		if got, err := b.Bytes(); string(got) != data || err != nil || b.ID() != Sum("blob", []byte(data)) {
			t.Errorf("%q, %v; want %q", got, err, data)
		}
	})
}

// of makes a folder of paths and contents.
func of(m map[string]string) *Folder {
	below := map[string]map[string]string{}
	var entries []Entry
	for p, c := range m {
		if dir, rest, ok := strings.Cut(p, "/"); ok {
			if below[dir] == nil {
				below[dir] = map[string]string{}
			}
			below[dir][rest] = c
		} else {
			entries = append(entries, FileEntry(p, NewBlob([]byte(c))))
		}
	}
	for dir, sub := range below {
		entries = append(entries, DirEntry(dir, of(sub)))
	}
	return NewFolder(entries)
}

func diffs(old, now *Folder) []string {
	var out []string
	for c := range Diff(old, now) {
		out = append(out, "-"[:b2i(c.Old.Blob != nil)]+"+"[:b2i(c.New.Blob != nil)]+" "+c.Path)
	}
	slices.Sort(out)
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestDiff(t *testing.T) {
	old := of(map[string]string{"a/x": "1", "a/y": "1", "b": "1", "c/d/e": "1", "f": "1", "same/z": "1"})
	now := of(map[string]string{"a/x": "2", "a/w": "1", "b/c": "1", "c/d/e": "1", "f": "1", "same/z": "1"})
	want := []string{"+ a/w", "+ b/c", "- a/y", "- b", "-+ a/x"}
	if d := cmp.Diff(want, diffs(old, now)); d != "" {
		t.Error(d)
	}
	if got := diffs(nil, old); len(got) != 6 {
		t.Errorf("from nothing: %v", got)
	}
}

// TestDiffOfModes: what became executable differs, as does a link in the place of a file with its content.
func TestDiffOfModes(t *testing.T) {
	b := NewBlob([]byte("1"))
	folder := func(mode Mode) *Folder {
		e := FileEntry("b", b)
		e.Mode = mode
		return NewFolder([]Entry{DirEntry("a", NewFolder([]Entry{e})), FileEntry("c", NewBlob([]byte{byte(mode >> 6)}))})
	}
	for _, mode := range []Mode{ModeExecutable, ModeSymlink} {
		var paths []string
		for c := range Diff(folder(ModeRegular), folder(mode)) {
			paths = append(paths, c.Path)
		}
		if !slices.Equal(paths, []string{"a/b", "c"}) {
			t.Errorf("with the mode %o differ %v", mode, paths)
		}
		for c := range Diff(folder(ModeRegular), folder(mode)) { // whoever has seen enough gets no more
			if c.Path != "a/b" {
				t.Errorf("first differs %s", c.Path)
			}
			break
		}
	}
}

func TestAll(t *testing.T) {
	paths := func(most int) (out []string) {
		for path, e := range of(map[string]string{"a/x": "1", "a/b/y": "1", "a.": "1", "a0": "1"}).All() {
			if out = append(out, path); e.Blob == nil {
				t.Errorf("%s has no content", path)
			}
			if len(out) == most {
				break
			}
		}
		return out
	}
	all := []string{"a.", "a/b/y", "a/x", "a0"}
	for most := 1; most <= len(all); most++ {
		if got := paths(most); !slices.Equal(got, all[:most]) {
			t.Errorf("the first %d are %v", most, got)
		}
	}
}

func TestANameStandsOnceInAFolder(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a name stands twice")
		}
	}()
	NewFolder([]Entry{FileEntry("b", NewBlob(nil)), FileEntry("a", NewBlob(nil)), FileEntry("b", NewBlob([]byte("1")))})
}

func TestParseID(t *testing.T) {
	const id = "ce013625030ba8dba906f756967f9e9ca394464a"
	if got, err := ParseID(id); err != nil || got.String() != id || got.IsZero() {
		t.Errorf("%s, %v", got, err)
	}
	for _, s := range []string{"", id[1:], id + "00", id[:39] + "g", strings.Repeat(" ", 40)} {
		if got, err := ParseID(s); err == nil || !got.IsZero() {
			t.Errorf("%q is the id %s, %v", s, got, err)
		}
	}
	stored := StoredBlob(Sum("blob", []byte("x")), func(of ID) ([]byte, error) { return []byte(of.String()), nil })
	if data, err := stored.Bytes(); err != nil || string(data) != stored.ID().String() || stored.Patch() != nil {
		t.Errorf("what is stored is asked for as %s, %v", data, err)
	}
}

// TestDiffThenApplyIsEquality checks the law on random folders: what Diff yields
// from one to another turns the one into the other.
func TestDiffThenApplyIsEquality(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() map[string]string {
		m := map[string]string{}
		for range r.IntN(12) {
			m[strings.Join([]string{"a", "b", "c.d", "c"}[r.IntN(4):][:1], "")+"/"+[]string{"x", "y/z", "w"}[r.IntN(3)]] = []string{"1", "2"}[r.IntN(2)]
		}
		return m
	}
	for range 500 {
		from, to := random(), random()
		got := map[string]string{}
		maps.Copy(got, from)
		for c := range Diff(of(from), of(to)) {
			if c.New.Blob == nil {
				delete(got, c.Path)
				continue
			}
			data, _ := c.New.Blob.Bytes()
			got[c.Path] = string(data)
		}
		if d := cmp.Diff(to, got); d != "" {
			t.Fatalf("from %v to %v: %s", from, to, d)
		}
	}
}

// TestLookupFindsEveryEntry has names among which Git's order of files and of folders
// differs.
func TestLookupFindsEveryEntry(t *testing.T) {
	contents := map[string]string{}
	for _, name := range []string{"a", "a-b", "a.b", "a0", "ab", "b", "b-", "b.", "c d"} {
		contents[name] = name
		contents["dir-"+name+"/x"] = name
		contents[name+"+/y"] = name
	}
	f := of(contents)
	for path, want := range contents {
		e, ok := f.Lookup(path)
		if !ok || e.Blob == nil {
			t.Errorf("%s is not found", path)
			continue
		}
		if data, _ := e.Blob.Bytes(); string(data) != want {
			t.Errorf("%s is %q", path, data)
		}
		if dir, _, deeper := strings.Cut(path, "/"); deeper {
			if d, ok := f.Lookup(dir); !ok || d.Dir == nil {
				t.Errorf("the folder %s is not found", dir)
			}
		}
	}
	for _, path := range []string{"", "none", "a/x", "dir-a", "a+", "dir-a/", "dir-a/z", "a-", "zz"} {
		if e, ok := f.Lookup(path); ok && e.Dir == nil {
			t.Errorf("%q is found: %v", path, e)
		}
	}
}
