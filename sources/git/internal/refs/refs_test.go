package refs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources/files"
)

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository returns a bare repository with three commits, one after the other, that
// no ref leads to.
func repository(t *testing.T) (dir string, ids [3]files.ID) {
	t.Helper()
	dir = t.TempDir()
	git(t, dir, "init", "-q", "--bare")
	tree := git(t, dir, "mktree", "--missing", "--batch")
	if tree == "" {
		tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	}
	git(t, dir, "hash-object", "-w", "-t", "tree", "/dev/null")
	args := []string{"commit-tree", tree, "-m", "c"}
	for i := range ids {
		hex := git(t, dir, args...)
		id, err := files.ParseID(hex)
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = id
		args = []string{"commit-tree", tree, "-m", "c", "-p", hex}
	}
	return dir, ids
}

// write writes a file of a repository, and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func update(t *testing.T, dir string, changes ...Change) error {
	t.Helper()
	w, err := At(dir).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Release()
	return w.Update(t.Context(), changes)
}

// showRefs is what Git sees, and checks that the repository is sound.
func showRefs(t *testing.T, dir string) map[string]string {
	t.Helper()
	git(t, dir, "fsck", "--strict")
	refs := map[string]string{}
	for line := range strings.Lines(git(t, dir, "for-each-ref", "--format=%(refname) %(objectname)")) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		refs[name] = id
	}
	return refs
}

func locks(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); rel != ownLock && (strings.HasSuffix(rel, lockSuffix) || rel == newPacked) {
			found = append(found, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestUpdateMovesLoosePackedAndNewRefs(t *testing.T) {
	dir, ids := repository(t)
	git(t, dir, "update-ref", "refs/heads/packed", ids[0].String())
	git(t, dir, "tag", "-m", "annotated", "v1", ids[0].String())
	git(t, dir, "pack-refs", "--all")
	git(t, dir, "update-ref", "refs/heads/loose", ids[0].String())
	tag := git(t, dir, "rev-parse", "refs/tags/v1")
	err := update(t, dir,
		Change{"refs/heads/packed", ids[0], ids[1]}, Change{"refs/heads/loose", ids[0], ids[1]}, Change{"refs/heads/a/b/new", files.ID{}, ids[2]})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"refs/heads/packed": ids[1].String(), "refs/heads/loose": ids[1].String(), "refs/heads/a/b/new": ids[2].String(),
		"refs/tags/v1": tag,
	}
	if d := cmp.Diff(want, showRefs(t, dir)); d != "" {
		t.Error(d)
	}
	if got := git(t, dir, "rev-parse", "v1^{}"); got != ids[0].String() {
		t.Errorf("v1 peels to %s", got)
	}
	if left := locks(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	git(t, dir, "update-ref", "refs/heads/packed", ids[2].String(), ids[1].String())
	if got, err := At(dir).Read("refs/heads/packed"); got != ids[2] || err != nil {
		t.Errorf("Read after Git moved it = %s, %v", got, err)
	}
}

func TestUpdateMovesAllOrNothing(t *testing.T) {
	for _, test := range []struct {
		name  string
		moved Change
		got   func(ids [3]files.ID) files.ID
	}{
		{"a ref is elsewhere", Change{Name: "refs/heads/there", Old: files.ID{1}}, func(ids [3]files.ID) files.ID { return ids[0] }},
		{"a ref exists and should not", Change{Name: "refs/heads/there"}, func(ids [3]files.ID) files.ID { return ids[0] }},
		{"a ref does not exist and should", Change{Name: "refs/heads/none", Old: files.ID{1}}, func([3]files.ID) files.ID { return files.ID{} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, ids := repository(t)
			git(t, dir, "update-ref", "refs/heads/there", ids[0].String())
			before := showRefs(t, dir)
			test.moved.New = ids[1]
			err := update(t, dir, Change{"refs/heads/other", files.ID{}, ids[1]}, test.moved)
			var moved *MovedError
			if !errors.As(err, &moved) {
				t.Fatalf("error %v, want a MovedError", err)
			}
			if d := cmp.Diff(&MovedError{test.moved.Name, test.moved.Old, test.got(ids)}, moved); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(before, showRefs(t, dir)); d != "" {
				t.Error(d)
			}
			if left := locks(t, dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestNamesThatAreFoldersOfOthers(t *testing.T) {
	for _, test := range []struct {
		name, there, add string
		pack             bool
		want             string
	}{
		{"a packed branch would be a folder", "refs/heads/a", "refs/heads/a/b", true, "refs/heads/a/b and refs/heads/a cannot both exist"},
		{"a packed branch would be a folder of folders", "refs/heads/a", "refs/heads/a/b/c", true, "refs/heads/a/b/c and refs/heads/a cannot"},
		{"a loose branch would be a folder", "refs/heads/a", "refs/heads/a/b", false, "a part of its name is a branch already"},
		{"a folder of packed branches would be a branch", "refs/heads/a/b/c", "refs/heads/a", true, "refs/heads/a and refs/heads/a/b/c cannot"},
		{"a folder of loose branches would be a branch", "refs/heads/a/b/c", "refs/heads/a", false, "refs/heads/a and refs/heads/a/b/c cannot"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, ids := repository(t)
			git(t, dir, "update-ref", test.there, ids[0].String())
			if test.pack {
				git(t, dir, "pack-refs", "--all")
			}
			if err := update(t, dir, Change{test.add, files.ID{}, ids[1]}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if d := cmp.Diff(map[string]string{test.there: ids[0].String()}, showRefs(t, dir)); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("a name beside another is none", func(t *testing.T) {
		dir, ids := repository(t)
		git(t, dir, "update-ref", "refs/heads/a-b", ids[0].String())
		if err := update(t, dir, Change{"refs/heads/a", files.ID{}, ids[1]}, Change{"refs/heads/ab/c", files.ID{}, ids[1]}); err != nil {
			t.Error(err)
		}
	})
	t.Run("an empty folder of the name is none", func(t *testing.T) {
		dir, ids := repository(t)
		if err := os.MkdirAll(filepath.Join(dir, "refs", "heads", "a", "b"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := update(t, dir, Change{"refs/heads/a", files.ID{}, ids[1]}); err != nil {
			t.Error(err)
		}
		if got, err := At(dir).Read("refs/heads/a"); got != ids[1] || err != nil {
			t.Errorf("it is at %s, %v", got, err)
		}
	})
	t.Run("two new branches that exclude each other", func(t *testing.T) {
		dir, ids := repository(t)
		if err := update(t, dir, Change{"refs/heads/a", files.ID{}, ids[1]}, Change{"refs/heads/a/b", files.ID{}, ids[1]}); err == nil {
			t.Error("they were taken")
		}
		if left := locks(t, dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func TestLocksOfOthers(t *testing.T) {
	t.Run("one that goes away is waited for", func(t *testing.T) {
		dir, ids := repository(t)
		lock := write(t, dir, "refs/heads/x.lock", "")
		synctest.Test(t, func(t *testing.T) {
			time.AfterFunc(patience-2*pause, func() { os.Remove(lock) })
			if err := update(t, dir, Change{"refs/heads/x", files.ID{}, ids[0]}); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("one that stays is named and not removed", func(t *testing.T) {
		dir, ids := repository(t)
		lock := write(t, dir, "refs/heads/x.lock", "")
		synctest.Test(t, func(t *testing.T) {
			err := update(t, dir, Change{"refs/heads/w", files.ID{}, ids[0]}, Change{"refs/heads/x", files.ID{}, ids[0]})
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), lock) {
				t.Errorf("error %v", err)
			}
		})
		if d := cmp.Diff([]string{"refs/heads/x.lock"}, locks(t, dir)); d != "" {
			t.Error(d)
		}
	})
	t.Run("another writer is waited for until the caller gives up", func(t *testing.T) {
		dir, _ := repository(t)
		synctest.Test(t, func(t *testing.T) {
			w, err := At(dir).Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := At(dir).Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			w.Release()
			if w, err = At(dir).Acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.Release()
		})
	})
}

func TestAcquireRemovesLocksOfKilledWritersOnly(t *testing.T) {
	dir, ids := repository(t)
	w, err := At(dir).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"refs/heads/deep/mine", packedName} {
		if _, err := w.lock(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"refs/heads/gits.lock", newPacked} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.Release() // as a kill does
	if err := update(t, dir, Change{"refs/heads/deep/mine", files.ID{}, ids[0]}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"refs/heads/gits.lock"}, locks(t, dir)); d != "" {
		t.Error(d)
	}
}

func TestListAndRead(t *testing.T) {
	dir, ids := repository(t)
	git(t, dir, "update-ref", "refs/heads/both", ids[0].String())
	git(t, dir, "update-ref", "refs/heads/packed", ids[0].String())
	git(t, dir, "pack-refs", "--all")
	git(t, dir, "update-ref", "refs/heads/both", ids[1].String())
	git(t, dir, "update-ref", "refs/tags/t", ids[2].String())
	git(t, dir, "symbolic-ref", "refs/heads/alias", "refs/heads/both")
	git(t, dir, "symbolic-ref", "HEAD", "refs/heads/alias")
	got, err := At(dir).List(Heads)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]files.ID{"refs/heads/both": ids[1], "refs/heads/packed": ids[0]}, got); d != "" {
		t.Error(d)
	}
	for name, want := range map[string]files.ID{"HEAD": ids[1], "refs/heads/packed": ids[0], "refs/heads/none": {}, "refs/heads": {}, "refs/heads/both/below": {}} {
		if got, err := At(dir).Read(name); got != want || err != nil {
			t.Errorf("Read(%s) = %s, %v", name, got, err)
		}
	}
	if err := update(t, dir, Change{"refs/heads/alias", ids[1], ids[2]}); err == nil {
		t.Error("a symbolic ref was moved")
	}
	if err := os.WriteFile(filepath.Join(dir, "refs", "heads", "cut"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := At(dir).List(Heads); err == nil || !strings.Contains(err.Error(), "refs/heads/cut") {
		t.Errorf("a damaged ref gives %v", err)
	}
}

// TestWhatCannotBeRead is named by whoever reads it, and nothing is moved.
func TestWhatCannotBeRead(t *testing.T) {
	const id = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	for _, test := range []struct{ name, path, text, want string }{
		{"packed refs that are a folder", "packed-refs/file", "", "packed-refs"},
		{"a packed ref without a name", "packed-refs", id + "\n", "line 1"},
		{"a packed ref whose name is empty", "packed-refs", id + " \n", "line 1"},
		{"a packed ref without an id", "packed-refs", "# pack-refs with: sorted\n" + id[1:] + " refs/heads/a\n", "line 2"},
		{"the commit of a tag before any ref", "packed-refs", "^" + id + "\n", "line 1"},
		{"a packed ref of 100,000 letters", "packed-refs", id + " refs/heads/" + strings.Repeat("a", 100_000) + "\n", "packed-refs"},
		{"a ref whose file is empty", "refs/heads/main", "", "repair or delete"},
		{"a ref whose file is no id", "refs/heads/main", id + id + "\n", "refs/heads/main"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, ids := repository(t)
			git(t, dir, "update-ref", "refs/heads/other", ids[0].String())
			write(t, dir, test.path, test.text)
			_, list := At(dir).List(Heads)
			_, read := At(dir).Read("refs/heads/main")
			moved := update(t, dir, Change{"refs/heads/other", ids[0], ids[1]}, Change{"refs/heads/main", files.ID{}, ids[1]})
			for who, err := range map[string]error{"List": list, "Read": read, "Update": moved} {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: %v, want %q", who, err, test.want)
				}
			}
			if got, err := At(dir).Read("refs/heads/other"); got != ids[0] || err != nil {
				t.Errorf("the other ref is at %s, %v", got, err)
			}
			if left := locks(t, dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	t.Run("a name that is longer than the disk takes", func(t *testing.T) {
		dir, ids := repository(t)
		long := Heads + strings.Repeat("a", 300)
		_, list := At(dir).List(long + "/")
		_, read := At(dir).Read(long)
		_, target := At(dir).Target(long)
		for who, err := range map[string]error{"List": list, "Read": read, "Target": target, "Update": update(t, dir, Change{long, files.ID{}, ids[0]})} {
			if !errors.Is(err, syscall.ENAMETOOLONG) {
				t.Errorf("%s: %v", who, err)
			}
		}
	})
}

// TestSymbolicRefs are followed as far as Git does.
func TestSymbolicRefs(t *testing.T) {
	dir, ids := repository(t)
	git(t, dir, "update-ref", "refs/heads/s0", ids[0].String())
	for i := range 5 {
		write(t, dir, fmt.Sprintf("refs/heads/s%d", i+1), fmt.Sprintf("ref:  refs/heads/s%d \r\n", i))
	}
	for name, target := range map[string]string{"refs/heads/s0": "", "refs/heads/s1": "refs/heads/s0", "refs/heads/none": ""} {
		if got, err := At(dir).Target(name); got != target || err != nil {
			t.Errorf("%s names %q, %v", name, got, err)
		}
	}
	if got, err := At(dir).Read("refs/heads/s4"); got != ids[0] || err != nil {
		t.Errorf("through four it is %s, %v", got, err)
	}
	if got, err := At(dir).Read("refs/heads/s5"); !got.IsZero() || err == nil || !strings.Contains(err.Error(), "too many symbolic refs") {
		t.Errorf("through five it is %s, %v", got, err)
	}
}

// TestReplace makes ids all that is packed, whatever was there.
func TestReplace(t *testing.T) {
	dir, ids := repository(t)
	git(t, dir, "update-ref", "refs/heads/gone", ids[0].String())
	git(t, dir, "update-ref", "refs/heads/stays", ids[0].String())
	git(t, dir, "pack-refs", "--all")
	for _, want := range []map[string]files.ID{{"refs/heads/stays": ids[1], "refs/heads/new": ids[2]}, {}} {
		w, err := At(dir).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = w.Replace(want)
		w.Release()
		got, listed := At(dir).List(Heads)
		if d := cmp.Diff(want, got); d != "" || err != nil || listed != nil {
			t.Errorf("%v, %v, %s", err, listed, d)
		}
		showRefs(t, dir)
	}
}

// TestPackedRefs keep what their first line says, and no two files, one after the other, have one size.
func TestPackedRefs(t *testing.T) {
	dir, ids := repository(t)
	git(t, dir, "update-ref", "refs/heads/x", ids[0].String())
	git(t, dir, "tag", "-m", "annotated", "v1", ids[0].String())
	git(t, dir, "pack-refs", "--all")
	path := filepath.Join(dir, packedName)
	lines := func() (first string, rest, size int) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		first, text, _ := strings.Cut(string(data), "\n")
		return strings.TrimRight(first, " "), strings.Count(text, "\n"), len(data)
	}
	first, rest, before := lines()
	if !strings.HasPrefix(first, "# pack-refs with:") || rest != 3 {
		t.Fatalf("Git wrote %q and %d lines", first, rest)
	}
	for i := range 3 {
		if err := update(t, dir, Change{"refs/heads/x", ids[i%2], ids[(i+1)%2]}); err != nil {
			t.Fatal(err)
		}
		has, lines, size := lines()
		if has != first || lines != rest || (size-before-1)%256 != 0 {
			t.Fatalf("after %d moves: %q, %d lines, %d bytes after %d", i+1, has, lines, size, before)
		}
		before = size
	}
	sizes := map[int]bool{}
	for range 256 { // what 256 moves would write
		before = len(packed{header: first, lines: []line{{name: "refs/heads/x"}, {name: "refs/tags/v1", peel: "^" + ids[0].String()}}}.encode(int64(before)))
		sizes[before] = true
	}
	if len(sizes) != 256 || before > 1000 {
		t.Errorf("of 256 files %d have a size of their own, and the last has %d bytes", len(sizes), before)
	}
}

// TestLeft says of a repository that a Writer is at work there, or was killed.
func TestLeft(t *testing.T) {
	dir, ids := repository(t)
	is := func(when string, want bool) {
		t.Helper()
		if At(dir).Left() != want {
			t.Errorf("%s: want %t", when, want)
		}
	}
	is("before any writer", false)
	write(t, dir, newPacked, "half")
	is("half of a file that has no writer", true)
	if err := update(t, dir, Change{"refs/heads/x", files.ID{}, ids[0]}); err != nil {
		t.Fatal(err)
	}
	is("after a writer", false)
	w, err := At(dir).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	is("a writer that holds no ref", false)
	if _, err := w.lock(t.Context(), "refs/heads/x"); err != nil {
		t.Fatal(err)
	}
	is("a writer that holds a ref", true)
	w.Release()
	is("a writer that was killed", true)
}

// TestWhatCannotBeCleanedUp keeps a writer out, who is in when it is gone.
func TestWhatCannotBeCleanedUp(t *testing.T) {
	dir, ids := repository(t)
	path := write(t, dir, newPacked+"/file", "")
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if w, err := At(dir).Acquire(ctx); err == nil || !strings.Contains(err.Error(), "a killed waybill left behind") {
			t.Fatalf("Acquire = %v, %v", w, err)
		}
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := update(t, dir, Change{"refs/heads/x", files.ID{}, ids[0]}); err != nil {
		t.Error(err)
	}
	if _, err := At(filepath.Join(dir, "none")).Acquire(t.Context()); err == nil || !strings.Contains(err.Error(), "locking the repository") {
		t.Errorf("a repository that is none: %v", err)
	}
}

// The rules are Git's, so Git is asked.
func TestCheckBranch(t *testing.T) {
	for _, name := range []string{
		"main", "waybill/cluster/eu-1", "a.b", "a@b", "v1.0-rc.1", "ünïcode", "a/b/c", "@foo", "a.lock.b",
		"", "/a", "a/", "a//b", ".a", "a/.b", "a.", "a..b", "a.lock", "a.lock/b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[b", `a\b`, "a@{b", "a\x7fb", "a\nb", "a\x1fb", "-a",
	} {
		want := exec.CommandContext(t.Context(), "git", "check-ref-format", "--branch", name).Run() == nil
		if err := CheckBranch(name); (err == nil) != want {
			t.Errorf("CheckBranch(%q) = %v, and Git says %t", name, err, want)
		}
	}
	for _, name := range []string{"HEAD", "@"} {
		if CheckBranch(name) == nil {
			t.Errorf("%s is taken for a branch", name)
		}
	}
}
