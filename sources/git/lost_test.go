package git

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources/files"
)

// backup copies a repository, and returns what puts the copy in its place.
func backup(tb testing.TB, dir string) (restore func()) {
	tb.Helper()
	at := filepath.Join(tb.TempDir(), "backup.git")
	if err := os.CopyFS(at, os.DirFS(dir)); err != nil {
		tb.Fatal(err)
	}
	return func() {
		tb.Helper()
		if err := os.RemoveAll(dir); err != nil {
			tb.Fatal(err)
		}
		if err := os.CopyFS(dir, os.DirFS(at)); err != nil {
			tb.Fatal(err)
		}
	}
}

// TestARestoredRepositoryGetsEveryObject restores a repository from a backup under a publisher, which reads where its
// branch is now and publishes what it had published after the backup.
func TestARestoredRepositoryGetsEveryObject(t *testing.T) {
	twins(t, func(t *testing.T, dir string, open func() *Repo) {
		t.Helper()
		const branch = "waybill/cluster/eu"
		r := open()
		first := mustPublish(t, r, update(branch, noID, map[string]string{"manifests/a.yaml": "1"}))
		restore := backup(t, dir)
		second := mustPublish(t, r, update(branch, first[0], map[string]string{"manifests/a.yaml": "2"}))
		restore()
		if _, err := r.Heads(t.Context()); err != nil {
			t.Fatal(err)
		}
		if h, _, err := r.Branch(t.Context(), branch); err != nil || h.Commit != first[0] {
			t.Fatalf("the branch is at %s, %v", h.Commit, err)
		}
		if again := mustPublish(t, r, update(branch, first[0], map[string]string{"manifests/a.yaml": "2"})); again[0] != second[0] {
			t.Errorf("the same update is %s and %s", second[0], again[0])
		}
		if got, err := text(t.Context(), open(), branch, "manifests/a.yaml"); got != "2" || err != nil {
			t.Errorf("the file is %q, %v", got, err)
		}
	})
}

// TestWhatWasLostIsSentAlong publishes on top of commits that were lost: those of a branch that was set back, and those
// of one that was deleted. Whoever had come to one of them can go on.
func TestWhatWasLostIsSentAlong(t *testing.T) {
	twins(t, func(t *testing.T, dir string, open func() *Repo) {
		t.Helper()
		const eu, us = "waybill/cluster/eu", "waybill/cluster/us"
		r, onDisk := open(), strings.HasSuffix(t.Name(), "on_disk")
		content := func(n string) map[string]string { return map[string]string{"manifests/a.yaml": n, "b": n + n} }
		if _, err := r.Heads(t.Context()); err != nil {
			t.Fatal(err)
		}
		first := mustPublish(t, r, update(eu, noID, content("1")))
		restore := backup(t, dir)
		second := mustPublish(t, r, update(eu, first[0], content("2")), update(us, noID, content("us")))
		third := mustPublish(t, r, update(eu, second[0], content("3")))
		cache, err := r.Last()
		if want := map[string]files.ID{eu: third[0], us: second[1]}; err != nil || !onDisk && cmp.Diff(want, cache) != "" || onDisk && cache != nil {
			t.Errorf("the branches were last at %v, %v", cache, err)
		}
		restore()
		back, gone := update(eu, first[0], content("4")), update(us, noID, content("us4"))
		back.After, gone.After = []files.ID{third[0]}, []files.ID{second[1]}
		none := files.Sum("commit", nil)
		if d := cmp.Diff(map[files.ID]bool{first[0]: true, third[0]: !onDisk, none: false}, r.Has(first[0], third[0], none)); d != "" {
			t.Errorf("what is at hand: %s", d)
		}
		if onDisk {
			if _, err := r.Publish(t.Context(), []Update{back}); !errors.Is(err, ErrMissing) {
				t.Errorf("a commit that is nowhere is the parent of another one: %v", err)
			}
			return
		}
		now := mustPublish(t, r, back, gone)
		if got, want := strings.Fields(run(t, dir, "log", "--format=%H", "--first-parent", eu)), []string{now[0].String(), third[0].String(), second[0].String(), first[0].String()}; !slices.Equal(got, want) {
			t.Errorf("the branch is %v, want %v", got, want)
		}
		if got := run(t, dir, "log", "-1", "--format=%P", eu); got != third[0].String()+" "+first[0].String() {
			t.Errorf("the parents are %s", got)
		}
		fresh := openAnew(t, r)
		for _, came := range []files.ID{first[0], second[0], third[0]} {
			if after, err := fresh.IsAncestor(t.Context(), came, now[0]); err != nil || !after {
				t.Errorf("it does not come after %s: %v", came, err)
			}
		}
		if got, err := text(t.Context(), fresh, us, "b"); got != "us4us4" || err != nil {
			t.Errorf("the file is %q, %v", got, err)
		}
	})
}

// openAnew opens the same repository on another machine.
func openAnew(tb testing.TB, r *Repo) *Repo {
	tb.Helper()
	return mustOpen(tb, Options{Location: r.shown, CacheDir: tb.TempDir(), Auth: Auth{Username: user, Password: secret, PlainHTTP: true}})
}
