package watching

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// put writes a file below a directory.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sum is the fingerprint of a directory.
func sum(t *testing.T, dir string) [32]byte {
	t.Helper()
	sum, err := Fingerprint(dir)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestWhatIsAnotherDirectory: a file that comes, goes, or has another content or mode; and of what Git keeps there, what HEAD was.
func TestWhatIsAnotherDirectory(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) { put(t, dir, name, text) }
	write("apps/a.yaml", "a: b\n")
	write(".git/index", "1")
	write(".git/logs/HEAD", "1\n")
	write("worktree/.git", "gitdir: elsewhere\n")
	for _, step := range []struct {
		name string
		do   func()
		want bool // it is another one
	}{
		{"nothing", func() {}, false},
		{"a file that is new", func() { write("apps/b.yaml", "a: b\n") }, true},
		{"a file that is longer", func() { write("apps/a.yaml", "a: bc\n") }, true},
		{"a file that is gone", func() { _ = os.Remove(filepath.Join(dir, "apps/b.yaml")) }, true},
		{"another mode", func() { _ = os.Chmod(filepath.Join(dir, "apps/a.yaml"), 0o700) }, true},
		{"another time", func() { _ = os.Chtimes(filepath.Join(dir, "apps/a.yaml"), time.Unix(1, 0), time.Unix(1, 0)) }, true},
		{"Git's index", func() { write(".git/index", "22") }, false},
		{"a commit", func() { write(".git/logs/HEAD", "1\n2\n") }, true},
		{"a file beside the link of a work tree", func() { write("worktree/a.yaml", "a: b\n") }, true},
		{"the link of a work tree", func() { write("worktree/.git", "gitdir: another\n") }, true},
		{"a repository without a commit", func() { _ = os.Remove(filepath.Join(dir, ".git/logs/HEAD")) }, true},
		{"the index of one without a commit", func() { write(".git/index", "333") }, false},
		{"all that there is goes", func() { _ = os.RemoveAll(dir) }, true},
		{"what is gone stays so", func() {}, false},
	} {
		before := sum(t, dir)
		step.do()
		if other := sum(t, dir) != before; other != step.want {
			t.Errorf("%s: it is another one: %t", step.name, other)
		}
	}
}

// TestNext: who waits is told of what changes, when it does, and of what cannot be watched.
func TestNext(t *testing.T) {
	for _, tt := range []struct {
		name    string
		below   string // of the directory, what is watched
		seen    bool   // what is there was seen
		changes time.Duration
		ends    time.Duration // when the wait is cut off
		want    time.Duration // when it is over
		wrong   bool
	}{
		{name: "what was not seen is told when it is looked at", ends: time.Minute, want: every},
		{name: "what was seen, and changes", seen: true, changes: 5*every + every/2, ends: time.Minute, want: 6 * every},
		{name: "what was seen, and does not change", seen: true, changes: time.Hour, ends: time.Minute, want: time.Minute},
		{name: "who is cut off at once", changes: time.Hour, want: 0},
		{name: "what is below a file", below: "a.yaml/x", ends: time.Minute, want: every, wrong: true},
	} {
		dir := t.TempDir()
		put(t, dir, "a.yaml", "a: b\n")
		first := sum(t, dir)
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), tt.ends)
			defer cancel()
			if tt.changes > 0 {
				change := time.AfterFunc(tt.changes, func() { put(t, dir, "b.yaml", "c: d\n") })
				defer change.Stop()
			}
			var seen [32]byte
			if tt.seen {
				seen = first
			}
			begun := time.Now()
			got, err := Next(ctx, filepath.Join(dir, tt.below), seen)
			if took := time.Since(begun); took != tt.want || (err != nil) != tt.wrong {
				t.Errorf("%s: it takes %s, want %s: %v", tt.name, took, tt.want, err)
			}
			if cut := tt.want == tt.ends; (got == seen) != (cut || tt.wrong) || !cut && !tt.wrong && got != sum(t, dir) {
				t.Errorf("%s: it sees %x", tt.name, got)
			}
		})
	}
}
