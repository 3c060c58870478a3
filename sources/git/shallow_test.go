package git

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/files"
)

// history writes commits to a branch, some time apart, and returns them.
func history(t *testing.T, dir, branch string, commits int, apart time.Duration) []files.ID {
	t.Helper()
	r := mustOpen(t, Options{Location: dir})
	var ids []files.ID
	old := noID
	for n := range commits {
		u := update(branch, old, map[string]string{"n": strconv.Itoa(n), "d/f": branch})
		u.When = when.Add(time.Duration(n) * apart)
		old = mustPublish(t, r, u)[0]
		ids = append(ids, old)
	}
	return ids
}

// shallow makes a clone as CI does: of one branch, with one commit.
func shallowClone(t *testing.T, dir string) string {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "clone")
	run(t, ".", "clone", "-q", "--depth", "1", "-b", "main", "file://"+dir, clone)
	run(t, clone, "checkout", "-q", "--detach")
	return clone
}

// completed opens a shallow clone with where it was made.
func completed(t *testing.T, clone string, from *Repo) *Repo {
	t.Helper()
	r := mustOpen(t, Options{Location: clone})
	if !r.IsShallow() {
		t.Fatal("the clone is not shallow")
	}
	if err := r.Complete("origin", from); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAShallowCloneGetsTheCommitsThatItLacks(t *testing.T) {
	s, cache := newServer(t), t.TempDir()
	dir := s.repo(t, "repo.git")
	ids := history(t, dir, "main", 30, 24*time.Hour)
	run(t, dir, "config", "uploadpack.allowReachableSHA1InWant", "true")
	r := completed(t, shallowClone(t, dir), s.open(t, "repo.git", cache))
	for rev, want := range map[string]int{ids[3].String(): 3, "HEAD": 29, "HEAD^": 28, "HEAD~2": 27} {
		snapshot, err := r.Snapshot(t.Context(), rev, "")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := snapshot.ReadFile("n"); string(n) != strconv.Itoa(want) || err != nil {
			t.Errorf("%s: file %q, %v", rev, n, err)
		}
		if d, err := snapshot.ReadFile("d/f"); string(d) != "main" || err != nil {
			t.Errorf("%s: file %q, %v", rev, d, err)
		}
	}
	single, err := filepath.Glob(filepath.Join(cache, "*.single.git"))
	if err != nil || len(single) != 1 {
		t.Fatalf("caches %v, %v", single, err)
	}
	if _, objects := packed(t, single[0]); objects > 3*5 {
		t.Errorf("%d objects for 3 commits: their history came along", objects)
	}
	asked := s.requests.Load()
	if _, err := r.Snapshot(t.Context(), ids[3].String(), ""); err != nil || s.requests.Load() != asked {
		t.Errorf("what is at hand was asked for again, %v", err)
	}
	if left := leftovers(t, single[0]); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAServerThatGivesNoCommitsByTheirIDs(t *testing.T) {
	s := newServer(t)
	dir := s.repo(t, "repo.git")
	ids := history(t, dir, "main", 5, 24*time.Hour)
	side := history(t, dir, "side", 2, time.Hour)
	r := completed(t, shallowClone(t, dir), s.open(t, "repo.git", t.TempDir()))
	_, err := r.Snapshot(t.Context(), ids[1].String(), "")
	if !errors.Is(err, ErrShallow) || !strings.Contains(err.Error(), "fetch-depth: 0") || !strings.Contains(err.Error(), "the server gives no commits by their ids") {
		t.Errorf("error %v", err)
	}
	noSecret(t, err, t.TempDir())
	// but what its branches are at
	for _, rev := range []string{"origin/side", side[1].String()} {
		snapshot, err := r.Snapshot(t.Context(), rev, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := snapshot.Revision().Commit; got != side[1].String() {
			t.Errorf("%s is %s", rev, got)
		}
	}
	if _, err := r.Snapshot(t.Context(), "origin/nosuch", ""); err == nil || errors.Is(err, ErrShallow) {
		t.Errorf("a branch that there is not: %v", err)
	}
}

func TestAShallowCloneOfAPath(t *testing.T) {
	dir := newBare(t)
	ids := history(t, dir, "main", 5, 24*time.Hour)
	r := completed(t, shallowClone(t, dir), mustOpen(t, Options{Location: "file://" + dir}))
	if h, err := r.Commit(t.Context(), ids[1]); err != nil || h.Commit != ids[1] {
		t.Errorf("commit %v, %v", h.Commit, err)
	}
	if _, err := r.Commit(t.Context(), files.ID{1}); err == nil {
		t.Error("it found what there is not")
	}
}

func TestAShallowCloneThatAsksNobody(t *testing.T) {
	dir := newBare(t)
	ids := history(t, dir, "main", 5, time.Hour)
	r := mustOpen(t, Options{Location: shallowClone(t, dir)})
	if _, err := r.Commit(t.Context(), ids[1]); !errors.Is(err, ErrShallow) {
		t.Errorf("error %v", err)
	}
	if _, err := r.IsAncestor(t.Context(), ids[4], ids[1]); !errors.Is(err, ErrShallow) {
		t.Errorf("error %v", err)
	}
	whole := mustOpen(t, Options{Location: dir})
	if whole.IsShallow() {
		t.Error("a whole repository is shallow")
	}
	if _, err := whole.Commit(t.Context(), files.ID{1}); !errors.Is(err, ErrMissing) || errors.Is(err, ErrShallow) {
		t.Errorf("error %v", err)
	}
}

// A slow job has an older commit than the one that was published last. It knows it, though
// neither history is at hand.
func TestWhichCommitCameFirstInAShallowClone(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing of it runs at once")
	}
	for _, byID := range []bool{true, false} {
		s := newServer(t)
		dir := s.repo(t, "repo.git")
		ids := history(t, dir, "main", 40, time.Hour)
		if byID {
			run(t, dir, "config", "uploadpack.allowReachableSHA1InWant", "true")
		}
		clone := shallowClone(t, dir) // of the last
		before := newBare(t)
		run(t, dir, "push", "-q", before, ids[30].String()+":refs/heads/main")
		slow := shallowClone(t, before)
		for _, test := range []struct {
			clone string
			a, b  int
			want  bool
		}{
			{slow, 30, 39, true},
			{slow, 30, 31, true},
			{clone, 39, 38, false},
			{clone, 39, 31, false},
			{clone, 39, 2, false}, // days older
		} {
			r := completed(t, test.clone, s.open(t, "repo.git", t.TempDir()))
			got, err := r.IsAncestor(t.Context(), ids[test.a], ids[test.b])
			if !byID && test.b == 2 {
				if !errors.Is(err, ErrShallow) {
					t.Errorf("%d before %d: error %v", test.a, test.b, err)
				}
				continue
			}
			if got != test.want || err != nil {
				t.Errorf("by ids %t: %d before %d: %t, %v", byID, test.a, test.b, got, err)
			}
		}
	}
}
