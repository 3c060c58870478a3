package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// pipe runs git with an input.
func pipe(tb testing.TB, dir string, input []byte, args ...string) string {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(input)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commitTree puts a commit of a tree on main.
func commitTree(tb testing.TB, dir, tree string) string {
	tb.Helper()
	id := pipe(tb, dir, nil, "commit-tree", tree, "-m", "Subject\n\nBody\n")
	run(tb, dir, "update-ref", "refs/heads/main", id)
	return id
}

func blob(tb testing.TB, dir, content string) string {
	tb.Helper()
	return pipe(tb, dir, []byte(content), "hash-object", "-w", "--stdin")
}

func TestSnapshotListsEveryKindInByteOrder(t *testing.T) {
	dir := newBare(t)
	a, link := blob(t, dir, "aaa"), blob(t, dir, "../../etc/passwd")
	module := strings.Repeat("12", 20)
	sub := pipe(t, dir, fmt.Appendf(nil, "100644 blob %s\tx.yaml\n", a), "mktree")
	root := pipe(t, dir, fmt.Appendf(nil, "100644 blob %[1]s\ta.b\n040000 tree %[2]s\ta\n100755 blob %[1]s\ta-b\n120000 blob %[3]s\tlink.yaml\n160000 commit %[4]s\tmodule\n040000 tree %[2]s\tz\n", a, sub, link, module), "mktree", "--missing")
	commit := commitTree(t, dir, root)
	r := mustOpen(t, Options{Location: dir})
	s, err := r.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	want := []sources.File{
		{Path: "a-b", Size: 3, Digest: a},
		{Path: "a.b", Size: 3, Digest: a},
		{Path: "a/x.yaml", Size: 3, Digest: a},
		{Path: "link.yaml", Kind: sources.Symlink, Digest: link, Target: "../../etc/passwd"},
		{Path: "module", Kind: sources.Submodule, Digest: module},
		{Path: "z/x.yaml", Size: 3, Digest: a},
	}
	if d := cmp.Diff(want, s.Files()); d != "" {
		t.Error(d)
	}
	rev := s.Revision()
	if rev.Repo != dir || rev.Ref != "main" || rev.Commit != commit || rev.Subject != "Subject" || rev.Message != "Subject\n\nBody\n" || rev.When.IsZero() {
		t.Errorf("revision = %+v", rev)
	}
	if data, err := s.ReadFile("a/x.yaml"); string(data) != "aaa" || err != nil {
		t.Errorf("ReadFile = %q, %v", data, err)
	}
	for _, path := range []string{"link.yaml", "module", "a", "none", "../main", "/a/x.yaml", ""} {
		if data, err := s.ReadFile(path); err == nil {
			t.Errorf("ReadFile(%q) = %q", path, data)
		}
	}
	if _, err := s.ReadFile("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path that is not there: %v", err)
	}
	below, err := r.Snapshot(t.Context(), commit, "a/")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]sources.File{{Path: "x.yaml", Size: 3, Digest: a}}, below.Files()); d != "" {
		t.Error(d)
	}
	for _, sub := range []string{"none", "a.b", "../a", "link.yaml"} {
		if _, err := r.Snapshot(t.Context(), "main", sub); err == nil || !strings.Contains(err.Error(), "folder") {
			t.Errorf("subdir %q: %v", sub, err)
		}
	}
}

func TestSnapshotIsSafeForManyReaders(t *testing.T) {
	dir := newBare(t)
	contents := map[string]string{}
	for i := range 200 {
		contents[fmt.Sprintf("d%d/f%d.yaml", i%7, i)] = strings.Repeat(strconv.Itoa(i), 100)
	}
	mustPublish(t, mustOpen(t, Options{Location: dir}), update("main", noID, contents))
	run(t, dir, "repack", "-adfq") // with deltas
	r := mustOpen(t, Options{Location: dir})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := r.Snapshot(t.Context(), "main", "")
			if err != nil {
				t.Error(err)
				return
			}
			for _, f := range s.Files() {
				if data, err := s.ReadFile(f.Path); string(data) != contents[f.Path] || err != nil || int64(len(data)) != f.Size {
					t.Errorf("%s = %d bytes, %v", f.Path, len(data), err)
				}
			}
		})
	}
	wg.Wait()
	run(t, dir, "repack", "-adfq", "--depth=1") // other packs under an open Repo
	run(t, dir, "prune-packed")
	if got, err := text(t.Context(), r, "main", "d1/f1.yaml"); got != contents["d1/f1.yaml"] || err != nil {
		t.Errorf("after a repack: %d bytes, %v", len(got), err)
	}
}

func TestLargeFilesAreListedAndNotRead(t *testing.T) {
	dir := newBare(t)
	id := blob(t, dir, strings.Repeat("\x00", maxFile+1))
	fits := blob(t, dir, strings.Repeat("\x00", maxFile))
	commitTree(t, dir, pipe(t, dir, fmt.Appendf(nil, "100644 blob %s\tbig.yaml\n100644 blob %s\tfits.yaml\n", id, fits), "mktree"))
	for _, packed := range []string{"loose", "packed"} {
		t.Run(packed, func(t *testing.T) {
			if packed == "packed" {
				run(t, dir, "repack", "-adq")
			}
			s, err := mustOpen(t, Options{Location: dir}).Snapshot(t.Context(), "main", "")
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Files()[0].Size; got != maxFile+1 {
				t.Errorf("size %d", got)
			}
			_, err = s.ReadFile("big.yaml")
			var limit *LimitError
			if !errors.As(err, &limit) || limit.Limit != maxFile || limit.Got != maxFile+1 {
				t.Errorf("error %v", err)
			}
			if data, err := s.ReadFile("fits.yaml"); len(data) != maxFile || err != nil {
				t.Errorf("%d bytes, %v", len(data), err)
			}
		})
	}
}

// object writes an object that Git itself would refuse.
func badObject(tb testing.TB, dir, kind string, data []byte) string {
	tb.Helper()
	return pipe(tb, dir, data, "hash-object", "-w", "--literally", "-t", kind, "--stdin")
}

func entryOf(tb testing.TB, mode, name, id string) []byte {
	tb.Helper()
	b := []byte(mode + " " + name + "\x00")
	for i := 0; i < len(id); i += 2 {
		var c byte
		if _, err := fmt.Sscanf(id[i:i+2], "%02x", &c); err != nil {
			tb.Fatal(err)
		}
		b = append(b, c)
	}
	return b
}

func TestHostileTrees(t *testing.T) {
	dir := newBare(t)
	a := blob(t, dir, "a")
	file := func(name string) []byte { return entryOf(t, "100644", name, a) }
	empty := badObject(t, dir, "tree", nil)
	for _, test := range []struct {
		name string
		tree []byte
		want string
	}{
		{"a file named .git", file(".git"), "Git's own folder"},
		{"a file named .GiT", file(".GiT"), "Git's own folder"},
		{"a file named git~1", file("git~1"), "Git's own folder"},
		{"a file named .git with a dot and a space", file(".git. "), "Git's own folder"},
		{"a folder named ..", entryOf(t, "40000", "..", empty), "cannot be a file's"},
		{"a name with a slash", file("a/b"), "cannot be a file's"},
		{"an empty name", file(""), "cannot be a file's"},
		{"a name twice", append(file("a"), file("a")...), "twice"},
		{"a file and a folder of one name", append(append(file("a"), file("a.b")...), entryOf(t, "40000", "a", empty)...), "twice"},
		{"names in another order", append(file("b"), file("a")...), "not written as Git"},
		{"a mode with a zero in front", entryOf(t, "0100644", "a", a), "not written as Git"},
		{"a mode that is none", entryOf(t, "100600", "a", a), "mode"},
		{"a mode that is no number", entryOf(t, "1x", "a", a), "mode"},
		{"the end in the middle", file("a")[:20], "middle"},
		{"a folder that is a file", entryOf(t, "40000", "a", a), "not in the repository"},
		{"a folder that is missing", entryOf(t, "40000", "a", strings.Repeat("12", 20)), "not in the repository"},
	} {
		t.Run(test.name, func(t *testing.T) {
			commit := badObject(t, dir, "commit", fmt.Appendf(nil, "tree %s\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nm\n", badObject(t, dir, "tree", test.tree)))
			s, err := mustOpen(t, Options{Location: dir}).Snapshot(t.Context(), commit, "")
			said := fmt.Sprint(err)
			if err == nil {
				said = s.Files()[0].Why
			}
			if !strings.Contains(said, test.want) {
				t.Errorf("it says %q, want %q", said, test.want)
			}
		})
	}
}

func TestTreesThatExplode(t *testing.T) {
	dir := newBare(t)
	wide := blob(t, dir, "a")
	mode := "100644"
	var third string
	for n := range 6 { // 64 to the sixth files in seven objects
		var b []byte
		for i := range 64 {
			b = append(b, entryOf(t, mode, fmt.Sprintf("n%02d", i), wide)...)
		}
		wide, mode = badObject(t, dir, "tree", b), "40000"
		if n == 2 {
			third = wide // 262,144 files, and 4,096 in each folder
		}
	}
	deep := badObject(t, dir, "tree", entryOf(t, "100644", "f", blob(t, dir, "a")))
	for range maxDepth + 1 {
		deep = badObject(t, dir, "tree", entryOf(t, "40000", "d", deep))
	}
	for name, tree := range map[string]string{"wide": wide, "too wide at the root only": third, "deep": deep} {
		t.Run(name, func(t *testing.T) {
			unreadable, others := parts(t, dir, commitTree(t, dir, tree))
			if len(unreadable) == 0 || others+len(unreadable) > maxPaths {
				t.Errorf("%d paths, %d unreadable", others, len(unreadable))
			}
		})
	}
}

func TestResolve(t *testing.T) {
	s := newServer(t)
	dir := s.repo(t, "repo.git")
	first := commitTree(t, dir, badObject(t, dir, "tree", nil))
	side := pipe(t, dir, nil, "commit-tree", "-p", first, "-m", "side", first+"^{tree}")
	merge := pipe(t, dir, nil, "commit-tree", "-p", first, "-p", side, "-m", "merge", first+"^{tree}")
	run(t, dir, "update-ref", "refs/heads/main", merge)
	run(t, dir, "tag", "light", first)
	run(t, dir, "tag", "-m", "m", "v1.0", side)
	run(t, dir, "tag", "-m", "m", "both", side)
	run(t, dir, "update-ref", "refs/heads/both", first)
	run(t, dir, "update-ref", "refs/heads/release/1.0", first)
	run(t, dir, "pack-refs", "--all")
	run(t, dir, "update-ref", "refs/heads/deadbeef", side)
	for name, open := range map[string]func() *Repo{
		"on disk":      func() *Repo { return mustOpen(t, Options{Location: dir}) },
		"behind a URL": func() *Repo { return s.open(t, "repo.git", t.TempDir()) },
	} {
		t.Run(name, func(t *testing.T) {
			for rev, want := range map[string]string{
				"HEAD": merge, "@": merge, "main": merge, "refs/heads/main": merge, "light": first, "v1.0": side, "refs/tags/v1.0": side,
				"both": side, "release/1.0": first, "deadbeef": side,
				merge: merge, strings.ToUpper(side): side, first[:12]: first, side[:7]: side,
				"HEAD~1": first, "HEAD~": first, "main^": first, "main^2": side, "main^2~1": first, "main^^2^0": "", "v1.0^{commit}": side, "v1.0^{}~1": first, "main~0": merge, "~1": first,
				"main~5": "", "main^3": "", "main@{1}": "", "main^{tree}": "", "main^x": "", "": merge,
			} {
				got, err := open().Resolve(t.Context(), rev)
				if want == "" && err == nil || want != "" && got.String() != want {
					t.Errorf("Resolve(%q) = %s, %v; want %s", rev, got, err, want)
				}
			}
			for rev, want := range map[string]string{
				"mian": "did you mean main?", "relase/1.0": "did you mean release/1.0?", "v1": "there are", "1.0": "release/1.0, v1.0", strings.Repeat("9", 40): strings.Repeat("9", 40),
			} {
				if _, err := open().Resolve(t.Context(), rev); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Resolve(%q): %v, want %q", rev, err, want)
				}
			}
		})
	}
}

func TestOpen(t *testing.T) {
	work := t.TempDir()
	run(t, work, "init", "-q", "-b", "main")
	if err := os.MkdirAll(filepath.Join(work, "apps", "shop"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "apps", "shop", "web.yaml"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, work, "add", ".")
	run(t, work, "commit", "-q", "-m", "one")
	linked := filepath.Join(t.TempDir(), "linked")
	run(t, work, "worktree", "add", "-q", "-b", "other", linked)
	run(t, linked, "commit", "-q", "--allow-empty", "-m", "two")
	shared := filepath.Join(t.TempDir(), "shared")
	run(t, ".", "clone", "-q", "--shared", work, shared)
	bare := filepath.Join(t.TempDir(), "bare.git")
	run(t, ".", "clone", "-q", "--bare", work, bare)
	for _, test := range []struct{ name, location, root, subdir, subject string }{
		{"a work tree", work, work, "", "one"},
		{"a folder of a work tree", filepath.Join(work, "apps", "shop"), work, "apps/shop", "one"},
		{"its .git", filepath.Join(work, ".git"), filepath.Join(work, ".git"), "", "one"},
		{"a linked work tree", filepath.Join(linked, "apps"), linked, "apps", "two"},
		{"a clone that borrows objects", shared, shared, "", "one"},
		{"a bare repository", bare, bare, "", "one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := mustOpen(t, Options{Location: test.location})
			if r.Name() != test.root || r.Subdir() != test.subdir {
				t.Errorf("root %q, subdir %q", r.Name(), r.Subdir())
			}
			s, err := r.Snapshot(t.Context(), "HEAD", r.Subdir())
			if err != nil {
				t.Fatal(err)
			}
			if s.Revision().Subject != test.subject || len(s.Files()) != 1 || !strings.HasSuffix(s.Files()[0].Path, "web.yaml") {
				t.Errorf("%+v %v", s.Revision(), s.Files())
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	plain := t.TempDir()
	file := filepath.Join(plain, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	sha256 := filepath.Join(t.TempDir(), "sha256")
	run(t, ".", "init", "-q", "--object-format=sha256", sha256)
	reftable := newBare(t)
	run(t, reftable, "config", "core.repositoryformatversion", "1")
	run(t, reftable, "config", "extensions.refStorage", "reftable")
	for _, test := range []struct{ name, location, want string }{
		{"a folder that is no repository", plain, "git init"},
		{"a file", file, "not a directory"},
		{"nothing", filepath.Join(plain, "none"), "no such file"},
		{"SHA-256", sha256, "sha256"},
		{"reftable", reftable, "reftable"},
		{"file:// of another host", "file://example.com/x", "names the host example.com"},
		{"git://", "git://example.com/x", "not supported"},
		{"a URL with a query", "https://example.com/x?token=s3cret/with:odd@chars", "password"},
		{"a URL that does not parse", "https://u:" + secret + "%zz@example.com:x/y", "not a URL"},
		{"a URL without a host", "https:///x", "no host"},
		{"an option for ssh", "-oProxyCommand=x:y", "neither"},
		{"a URL without a cache", "https://example.com/x", "cache"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Open(t.Context(), Options{Location: test.location})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			noSecret(t, err, t.TempDir())
		})
	}
}

func TestIsURL(t *testing.T) {
	for location, want := range map[string]bool{
		"https://example.com/x": true, "ssh://git@h/x": true, "git@example.com:x/y.git": true, "host:x": true, "file:///x": true,
		".": false, "/x": false, "./a:b": false, "a/b:c": false, "": false, ":x": false,
	} {
		if got := IsURL(location); got != want {
			t.Errorf("IsURL(%q) = %t", location, got)
		}
	}
}

func TestParseURL(t *testing.T) {
	for location, want := range map[string][4]string{
		"https://u:p@Example.com:8443/a/b.git/": {"https://Example.com:8443/a/b.git", "Example.com", "u", "p"},
		"ssh://git@[::1]:2222/x":                {"ssh://[::1]:2222/x", "[::1]", "git", ""},
		"git@example.com:a/b.git":               {"example.com:a/b.git", "example.com", "git", ""},
	} {
		a, err := parseURL(location)
		if err != nil {
			t.Fatal(err)
		}
		if got := [4]string{a.shown, a.endpoint.Host, a.user, a.password}; got != want {
			t.Errorf("parseURL(%q) = %q", location, got)
		}
		if a.endpoint.User != "" || a.endpoint.Password != "" {
			t.Errorf("parseURL(%q) leaves credentials in the endpoint", location)
		}
	}
}

// FuzzParseTree checks that what is taken makes a folder, and that its bytes are taken
// for the same entries.
func FuzzParseTree(f *testing.F) {
	id := strings.Repeat("\x12", 20)
	f.Add([]byte("100644 a\x00" + id + "40000 b\x00" + id))
	f.Add([]byte("100644 a\x00" + id[:3]))
	f.Add([]byte("40000 a\x00" + id + "100644 a.b\x00" + id))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTree(data)
		if err != nil {
			return
		}
		for _, e := range entries {
			if strings.Contains(e.Name, "/") || strings.EqualFold(e.Name, ".git") {
				t.Errorf("name %q was taken", e.Name)
			}
		}
		again, err := parseTree(files.NewFolder(entries).Encode())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(entries, again, cmpopts.IgnoreUnexported(files.Folder{}, files.Blob{})); d != "" {
			t.Error(d)
		}
	})
}

// Git renames a pack before its index; it may be killed in between.
func TestPackWithoutIndexIsPassedOver(t *testing.T) {
	dir := newBare(t)
	mustPublish(t, mustOpen(t, Options{Location: dir}), update("main", noID, map[string]string{"f": "1"}))
	if err := os.WriteFile(filepath.Join(dir, "objects", "pack", "pack-"+strings.Repeat("ab", 20)+".pack"), []byte("PACK"), 0o400); err != nil {
		t.Fatal(err)
	}
	if got, err := text(t.Context(), mustOpen(t, Options{Location: dir}), "main", "f"); got != "1" || err != nil {
		t.Errorf("file = %q, %v", got, err)
	}
}
