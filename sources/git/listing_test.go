package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources"
)

// parts returns what of a snapshot is unreadable, by path, and how many other paths it has.
func parts(t *testing.T, dir, rev string) (unreadable map[string]string, others int) {
	t.Helper()
	s, err := mustOpen(t, Options{Location: dir}).Snapshot(t.Context(), rev, "")
	if err != nil {
		t.Fatal(err)
	}
	unreadable = map[string]string{}
	last := ""
	for _, f := range s.Files() {
		if f.Path <= last {
			t.Errorf("%q comes after %q", f.Path, last)
		}
		if last = f.Path; f.Kind != sources.Unreadable {
			others++
			continue
		}
		unreadable[f.Path] = f.Why
		if _, err := s.ReadFile(f.Path); err == nil || f.Digest == "" {
			t.Errorf("%s is read, or has no digest", f.Path)
		}
	}
	return unreadable, others
}

func TestWhatIsNotInTheRepositoryIsUnreadable(t *testing.T) {
	dir := oddity{lines: `
		write a.yaml "a"
		write lost.yaml "lost"
		write folder/b.yaml "b"
		write gone/c.yaml "c"
		commit`}.make(t)
	blob, tree := run(t, dir, "rev-parse", "HEAD:lost.yaml"), run(t, dir, "rev-parse", "HEAD:gone")
	for _, id := range []string{blob, tree} {
		if err := os.Remove(filepath.Join(dir, ".git/objects", id[:2], id[2:])); err != nil {
			t.Fatal(err)
		}
	}
	unreadable, others := parts(t, dir, "HEAD")
	want := map[string]string{"lost.yaml": "blob " + blob + ": it is not in the repository", "gone": "tree " + tree + ": it is not in the repository"}
	if d := cmp.Diff(want, unreadable); d != "" || others != 2 {
		t.Errorf("%d others, %s", others, d)
	}
}

func TestAFolderThatIsTooDeepIsUnreadable(t *testing.T) {
	deep := strings.Repeat("d/", maxDepth)
	dir := oddity{lines: "write a.yaml \"a\"\nwrite " + deep + "b.yaml \"b\"\nwrite " + deep + "d/c.yaml \"c\"\ncommit"}.make(t)
	unreadable, others := parts(t, dir, "HEAD")
	if d := cmp.Diff(map[string]string{deep + "d": "it is in more than 64 folders"}, unreadable); d != "" || others != 2 {
		t.Errorf("%d others, %s", others, d)
	}
}

// mktree makes a tree of entries and returns its id.
func mktree(t *testing.T, dir string, entries ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "entries")
	if err := os.WriteFile(file, []byte(strings.Join(entries, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return run(t, dir, "-c", "alias.mk=!git mktree --missing <"+file, "mk")
}

func TestFoldersForWhichThereIsNoRoomAreUnreadable(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing of it runs at once")
	}
	dir := oddity{lines: "write a \"a\"\ncommit"}.make(t)
	blob := run(t, dir, "rev-parse", "HEAD:a")
	folderOf := func(n int) string {
		entries := make([]string, n)
		for i := range entries {
			entries[i] = fmt.Sprintf("100644 blob %s\tf%06d", blob, i)
		}
		return mktree(t, dir, entries...)
	}
	in := func(name, tree string) string { return "040000 tree " + tree + "\t" + name }
	small, large := folderOf(10), folderOf(100_000)
	bomb := small
	for range 12 {
		var copies []string
		for i := range 10 {
			copies = append(copies, in(strconv.Itoa(i), bomb))
		}
		bomb = mktree(t, dir, copies...)
	}
	const noRoom = "there is no room for its %s paths; a source may have 200000"
	for _, tt := range []struct {
		name, tree string
		want       map[string]string
		others     int
	}{
		{"two fit", mktree(t, dir, in("a", large), in("b", large)), map[string]string{}, 200_000},
		{
			"the third does not, and small ones do wherever they are",
			mktree(t, dir, in("a", large), in("b", large), in("z", small)),
			map[string]string{"b": fmt.Sprintf(noRoom, "100000")},
			100_010,
		},
		{
			"the one that is too large is entered",
			mktree(t, dir, in("apps", small), in("vendor", mktree(t, dir, in("a", large), in("b", large), in("c", small)))),
			map[string]string{"vendor/b": fmt.Sprintf(noRoom, "100000")},
			100_020,
		},
		{
			"all the rest of many",
			mktree(t, dir, in("a", large), in("b", large), in("c", large), in("d", large)),
			map[string]string{"b": fmt.Sprintf(noRoom, "100000"), "c": fmt.Sprintf(noRoom, "100000"), "d": fmt.Sprintf(noRoom, "100000")},
			100_000,
		},
		{"a bomb", mktree(t, dir, in("apps", small), in("bomb", mktree(t, dir, in("a", bomb), in("b", bomb)))), map[string]string{
			"bomb/a": fmt.Sprintf(noRoom, "over 200000"), "bomb/b": fmt.Sprintf(noRoom, "over 200000"),
		}, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			unreadable, others := parts(t, dir, run(t, dir, "commit-tree", "-m", "m", tt.tree))
			if d := cmp.Diff(tt.want, unreadable); d != "" || others != tt.others {
				t.Errorf("%d others, want %d; %s", others, tt.others, d)
			}
		})
	}
}
