package refs

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
	}{
		{"a packed branch would be a folder", "refs/heads/a", "refs/heads/a/b", true},
		{"a loose branch would be a folder", "refs/heads/a", "refs/heads/a/b", false},
		{"a folder of packed branches would be a branch", "refs/heads/a/b/c", "refs/heads/a", true},
		{"a folder of loose branches would be a branch", "refs/heads/a/b/c", "refs/heads/a", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, ids := repository(t)
			git(t, dir, "update-ref", test.there, ids[0].String())
			if test.pack {
				git(t, dir, "pack-refs", "--all")
			}
			if err := update(t, dir, Change{test.add, files.ID{}, ids[1]}); err == nil {
				t.Error("it was taken")
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
		lock := filepath.Join(dir, "refs", "heads", "x.lock")
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(100*time.Millisecond, func() { os.Remove(lock) })
		if err := update(t, dir, Change{"refs/heads/x", files.ID{}, ids[0]}); err != nil {
			t.Error(err)
		}
	})
	t.Run("one that stays is named and not removed", func(t *testing.T) {
		dir, ids := repository(t)
		lock := filepath.Join(dir, "refs", "heads", "x.lock")
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		err := update(t, dir, Change{"refs/heads/w", files.ID{}, ids[0]}, Change{"refs/heads/x", files.ID{}, ids[0]})
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), lock) {
			t.Errorf("error %v", err)
		}
		if d := cmp.Diff([]string{"refs/heads/x.lock"}, locks(t, dir)); d != "" {
			t.Error(d)
		}
	})
	t.Run("another writer is waited for until the caller gives up", func(t *testing.T) {
		dir, _ := repository(t)
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

// The rules are Git's, so Git is asked.
func TestCheckBranch(t *testing.T) {
	for _, name := range []string{
		"main", "waybill/cluster/eu-1", "a.b", "a@b", "v1.0-rc.1", "ünïcode", "a/b/c", "@foo", "a.lock.b",
		"", "/a", "a/", "a//b", ".a", "a/.b", "a.", "a..b", "a.lock", "a.lock/b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[b", `a\b`, "a@{b", "a\x7fb", "a\nb", "-a",
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
