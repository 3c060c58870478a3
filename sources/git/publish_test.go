package git

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/pack"
)

// twins runs a test against a repository on disk and against one behind a URL: what
// Publish promises is the same for both.
func twins(t *testing.T, test func(t *testing.T, dir string, open func() *Repo)) {
	t.Helper()
	t.Run("on disk", func(t *testing.T) {
		dir := newBare(t)
		test(t, dir, func() *Repo { return mustOpen(t, Options{Location: dir}) })
		sound(t, dir)
	})
	t.Run("behind a URL", func(t *testing.T) {
		s, cache := newServer(t), t.TempDir()
		dir := s.repo(t, "repo.git")
		test(t, dir, func() *Repo { return s.open(t, "repo.git", cache) })
		sound(t, dir)
		caches, _ := filepath.Glob(filepath.Join(cache, "*.git"))
		for _, c := range caches {
			sound(t, c)
		}
	})
}

func TestPublishThenRead(t *testing.T) {
	twins(t, func(t *testing.T, dir string, open func() *Repo) {
		t.Helper()
		r := open()
		first := mustPublish(t, r,
			update("waybill/cluster/eu", noID, map[string]string{"manifests/shop/web.yaml": "a", "kustomization.yaml": "k"}),
			update("waybill/cluster/us", noID, map[string]string{"manifests/shop/web.yaml": "a", "kustomization.yaml": "k", "x": "us"}))
		second := mustPublish(t, r, update("waybill/cluster/eu", first[0], map[string]string{"manifests/shop/web.yaml": "b", "kustomization.yaml": "k"}))

		for _, reader := range []*Repo{r, open()} {
			heads, err := reader.Heads(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(map[string]files.ID{"waybill/cluster/eu": second[0], "waybill/cluster/us": first[1]}, heads); d != "" {
				t.Error(d)
			}
			if err := reader.Fetch(t.Context(), "waybill/cluster/eu", "waybill/cluster/us", "waybill/cluster/none"); err != nil {
				t.Fatal(err)
			}
			eu, ok, err := reader.Branch(t.Context(), "waybill/cluster/eu")
			if err != nil || !ok {
				t.Fatalf("Branch = %t, %v", ok, err)
			}
			if eu.Parent != first[0] || eu.Message != "m\n" || eu.Author != who || !eu.When.Equal(when) {
				t.Errorf("head = %+v", eu)
			}
			got, err := text(t.Context(), reader, "waybill/cluster/eu", "manifests/shop/web.yaml")
			if got != "b" || err != nil {
				t.Errorf("file = %q, %v", got, err)
			}
			if _, ok, err := reader.Branch(t.Context(), "waybill/cluster/none"); ok || err != nil {
				t.Errorf("a branch that does not exist = %t, %v", ok, err)
			}
			parent, err := reader.Commit(t.Context(), eu.Parent)
			us, _, _ := reader.Branch(t.Context(), "waybill/cluster/us")
			pe, _ := parent.Tree.Lookup("manifests")
			ue, _ := us.Tree.Lookup("manifests")
			if err != nil || pe.Dir == nil || pe.Dir != ue.Dir {
				t.Errorf("equal folders are %p and %p, %v", pe.Dir, ue.Dir, err)
			}
		}
		if got := run(t, dir, "log", "--format=%an <%ae> %aI %cI %s", "waybill/cluster/eu"); strings.Count(got, "Waybill <waybill@example.com> 2026-03-01T12:00:00") != 2 {
			t.Errorf("log: %s", got)
		}
	})
}

// The first publish stores the base of the others with them, the second does not.
func TestPublishWhatIsMadeOfOtherFiles(t *testing.T) {
	base := strings.Repeat("a line that all of them have\n", 40)
	twins(t, func(t *testing.T, _ string, open func() *Repo) {
		t.Helper()
		r, first := open(), files.NewBlob([]byte(base))
		like := func(i int) *files.Blob {
			return files.Like(first, fmt.Appendf(nil, "%sand one of %d\n%[1]s", base, i)[len(base)/2:])
		}
		publish := func(branch string, old files.ID, blobs ...*files.Blob) files.ID {
			var entries []files.Entry
			for i, b := range blobs {
				entries = append(entries, files.FileEntry(strconv.Itoa(i), b))
			}
			u := update(branch, old, nil)
			u.Tree = files.NewFolder(entries)
			objects, _, err := missing([]move{{Update: u}}, nil, &r.known)
			if err != nil {
				t.Fatal(err)
			}
			whole := slices.IndexFunc(objects, func(o pack.Object) bool { return o.ID == first.ID() })
			for _, o := range objects {
				if is := !o.From.IsZero(); is != (o.Kind == pack.Blob && whole >= 0 && o.ID != first.ID()) {
					t.Errorf("on branch %s, %s is written as a delta: %t", branch, o.ID, is)
				}
			}
			return mustPublish(t, r, u)[0]
		}
		wholly := open()
		head := publish("a", noID, like(0), first, like(1))
		publish("b", noID, like(2), like(3))
		publish("a", head, like(0), first, like(4))
		if err := wholly.Fetch(t.Context(), "a", "b"); err != nil {
			t.Fatal(err)
		}
		for _, reader := range []*Repo{r, wholly} {
			for branch, want := range map[string][]*files.Blob{"a": {like(0), first, like(4)}, "b": {like(2), like(3)}} {
				for i, b := range want {
					got, err := text(t.Context(), reader, branch, strconv.Itoa(i))
					if err != nil || files.Sum("blob", []byte(got)) != b.ID() {
						t.Errorf("%s of %s is %q, %v", strconv.Itoa(i), branch, got, err)
					}
				}
			}
		}
	})
}

// What a publication says of its clusters is mostly the same, and is stored once; what has
// little in common with what came before is whole, so that Git finds something better.
func TestPublishWhatIsAlike(t *testing.T) {
	says := func(name string) string { return strings.Repeat("Trailer: what all of them say\n", 10) + name }
	twins(t, func(t *testing.T, dir string, open func() *Repo) {
		t.Helper()
		r := open()
		cluster := func(name string) map[string]string {
			return map[string]string{"manifests/a": name, "kustomization.yaml": "k", "waybill.metadata": "m"}
		}
		updates := []Update{
			update("one", noID, cluster("one")), update("two", noID, cluster("two")),
			update("state", noID, map[string]string{"bindings/a": "b", "clusters/a": "c", "published.json": "p"}),
		}
		var moves []move
		for i := range updates {
			updates[i].Message = says(updates[i].Branch)
			data := []byte("tree " + updates[i].Tree.ID().String() + "\n\n" + updates[i].Message)
			moves = append(moves, move{Update: updates[i], id: files.Sum("commit", data), data: data})
		}
		objects, _, err := missing(moves, nil, &r.known)
		if err != nil {
			t.Fatal(err)
		}
		from := map[files.ID]files.ID{}
		for _, o := range objects {
			from[o.ID] = o.From
		}
		for i, want := range []struct{ commit, root files.ID }{
			{}, {moves[0].id, updates[0].Tree.ID()}, {moves[0].id, files.ID{}},
		} {
			if from[moves[i].id] != want.commit || from[updates[i].Tree.ID()] != want.root {
				t.Errorf("%s: its commit is made of %s, its root of %s", updates[i].Branch, from[moves[i].id], from[updates[i].Tree.ID()])
			}
		}
		mustPublish(t, r, updates...)
		run(t, dir, "fsck", "--strict")
		for _, u := range updates {
			if got := run(t, dir, "log", "-1", "--format=%B", u.Branch); strings.TrimSpace(got) != u.Message {
				t.Errorf("%s says %q", u.Branch, got)
			}
		}
	})
}

func TestPublishingTwiceDoesNothing(t *testing.T) {
	twins(t, func(t *testing.T, dir string, open func() *Repo) {
		t.Helper()
		u := []Update{update("a", noID, map[string]string{"f": "1"}), update("b", noID, map[string]string{"f": "1"})}
		first := mustPublish(t, open(), u...)
		before := run(t, dir, "for-each-ref")
		packs, objects := packed(t, dir)
		second := mustPublish(t, open(), u...)
		if d := cmp.Diff(first, second); d != "" {
			t.Error(d)
		}
		if after := run(t, dir, "for-each-ref"); after != before {
			t.Errorf("refs changed:\n%s\n%s", before, after)
		}
		if p, o := packed(t, dir); p != packs || o != objects {
			t.Errorf("%d packs with %d objects became %d with %d", packs, objects, p, o)
		}
	})
}

func TestPublishLetsGoOfWhatItStored(t *testing.T) {
	twins(t, func(t *testing.T, dir string, open func() *Repo) {
		t.Helper()
		r := open()
		first := mustPublish(t, r, update("a", noID, map[string]string{"f": "1"}))
		read := func(b *files.Blob) string {
			data, err := b.Bytes()
			if err != nil {
				return err.Error()
			}
			return string(data)
		}

		// Two blobs with one content, and one in a publication that fails.
		done := []Update{update("b", noID, map[string]string{"f": "new"}), update("c", noID, map[string]string{"x/f": "new", "x/g": "g"})}
		lost := update("a", done[0].Tree.ID(), map[string]string{"f": "lost"})
		mustPublish(t, r, done...)
		if _, err := r.Publish(t.Context(), []Update{lost}); err == nil {
			t.Error("a race that was lost is no error")
		}
		b, _ := done[0].Tree.Lookup("f")
		c, _ := done[1].Tree.Lookup("x/f")
		l, _ := lost.Tree.Lookup("f")
		if got := read(b.Blob) + read(c.Blob) + read(l.Blob); got != "newnewlost" {
			t.Errorf("the files are %q", got)
		}

		// Without the repository, only what it never had is left.
		removePacks(t, r)
		for _, e := range []files.Entry{b, c} {
			if _, err := e.Blob.Bytes(); !errors.Is(err, ErrMissing) {
				t.Errorf("without its repository a file is %v", err)
			}
		}
		if got := read(l.Blob); got != "lost" {
			t.Errorf("what was not published is %q", got)
		}
		if _, remote := r.server(); !remote { // make it sound again
			run(t, dir, "update-ref", "-d", "refs/heads/a", first[0].String())
			run(t, dir, "update-ref", "-d", "refs/heads/b")
			run(t, dir, "update-ref", "-d", "refs/heads/c")
		} else if err := os.RemoveAll(r.store.dir); err != nil {
			t.Fatal(err)
		}
	})
}

// removePacks loses the objects of a repository on disk.
func removePacks(t *testing.T, r *Repo) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(r.store.objects(), "pack")); err != nil {
		t.Fatal(err)
	}
	r.store.s = openStore(r.store.dir, r.store.dir).s // go-git's remembers objects
}

func TestPublishLosesRaces(t *testing.T) {
	twins(t, func(t *testing.T, dir string, open func() *Repo) {
		t.Helper()
		r := open()
		ids := mustPublish(t, r, update("a", noID, map[string]string{"f": "1"}), update("b", noID, map[string]string{"f": "1"}))
		theirs := mustPublish(t, open(), update("b", ids[1], map[string]string{"f": "theirs"}))
		before := run(t, dir, "for-each-ref")
		for _, test := range []struct {
			name string
			lost Update
			want RaceError
		}{
			{"the branch moved on", update("b", ids[1], map[string]string{"f": "ours"}), RaceError{"b", ids[1], theirs[0]}},
			{"the branch exists by now", update("b", noID, map[string]string{"f": "ours"}), RaceError{"b", noID, theirs[0]}},
			{"the branch is gone", update("c", ids[0], map[string]string{"f": "ours"}), RaceError{"c", ids[0], noID}},
		} {
			t.Run(test.name, func(t *testing.T) {
				_, err := r.Publish(t.Context(), []Update{update("a", ids[0], map[string]string{"f": "ours"}), test.lost})
				var race *RaceError
				if !errors.As(err, &race) {
					t.Fatalf("error %v, want a RaceError", err)
				}
				if d := cmp.Diff(test.want, *race); d != "" {
					t.Error(d)
				}
				if after := run(t, dir, "for-each-ref"); after != before {
					t.Errorf("refs changed:\n%s\n%s", before, after)
				}
			})
		}
	})
}

// What is on a branch already is not written again, nor is anything twice.
func TestPublishWritesOnlyWhatIsNew(t *testing.T) {
	dir := newBare(t)
	shared := map[string]string{}
	for i := range 50 {
		shared[fmt.Sprintf("manifests/f%d.yaml", i)] = strconv.Itoa(i)
	}
	mustPublish(t, mustOpen(t, Options{Location: dir}), update("a", noID, shared), update("b", noID, shared))
	if _, n := packed(t, dir); n != 50+2+1 { // one commit, because the branches differ by name only
		t.Errorf("first pack has %d objects", n)
	}
	r := mustOpen(t, Options{Location: dir})
	a, _, err := r.Branch(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	shared["manifests/f0.yaml"] = "changed"
	mustPublish(t, r, update("a", a.Commit, shared))
	if _, n := packed(t, dir); n != 53+1+1+2 {
		t.Errorf("both packs have %d objects", n)
	}
	sound(t, dir)
}

// A branch is deleted and its objects are collected while a Repo is open: it must not
// build on them.
func TestPublishDoesNotTrustObjectsThatCouldBeGone(t *testing.T) {
	twins(t, func(t *testing.T, dir string, open func() *Repo) {
		t.Helper()
		r := open()
		mustPublish(t, r, update("keep", noID, map[string]string{"f": "0"}), update("gone", noID, map[string]string{"sub/f": "1"}))
		run(t, dir, "update-ref", "-d", "refs/heads/gone")
		run(t, dir, "gc", "-q", "--prune=now")
		mustPublish(t, r, update("new", noID, map[string]string{"sub/f": "1"}))
		if got, err := text(t.Context(), open(), "new", "sub/f"); got != "1" || err != nil {
			t.Errorf("file = %q, %v", got, err)
		}
	})
}

func TestPublishRefuses(t *testing.T) {
	r := mustOpen(t, Options{Location: newBare(t)})
	good := update("a", noID, map[string]string{"f": "1"})
	for _, test := range []struct {
		name string
		with func(u *Update)
		want string
	}{
		{"a branch name that Git refuses", func(u *Update) { u.Branch = "a..b" }, "branch name"},
		{"a branch that begins with a dash", func(u *Update) { u.Branch = "--upload-pack=x" }, "dash"},
		{"no tree", func(u *Update) { u.Tree = nil }, "no tree"},
		{"no date", func(u *Update) { u.When = time.Time{} }, "1970"},
		{"an author with a line break", func(u *Update) { u.Author.Name = "a\nparent 1" }, "author"},
		{"a message with a zero byte", func(u *Update) { u.Message = "\x00" }, "zero byte"},
		{"a file named .git", func(u *Update) { u.Tree = tree(map[string]string{"sub/.GIT": "x"}) }, "Git's own folder"},
		{"a file whose name is a path", func(u *Update) {
			u.Tree = files.NewFolder([]files.Entry{files.FileEntry("../x", files.NewBlob(nil))})
		}, "cannot be a file's"},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := good
			test.with(&u)
			if _, err := r.Publish(t.Context(), []Update{u}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := r.Publish(t.Context(), []Update{good, good}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a branch that stands twice: %v", err)
	}
	if heads, _ := r.Heads(t.Context()); len(heads) > 0 {
		t.Errorf("heads = %v", heads)
	}
}

func TestPublishRefusesCheckedOutBranches(t *testing.T) {
	work := t.TempDir()
	run(t, work, "init", "-q", "-b", "main")
	run(t, work, "commit", "-q", "--allow-empty", "-m", "one")
	run(t, work, "worktree", "add", "-q", "-b", "other", filepath.Join(t.TempDir(), "linked"))
	r := mustOpen(t, Options{Location: work})
	heads, err := r.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, branch := range []string{"main", "other"} {
		_, err := r.Publish(t.Context(), []Update{update(branch, heads[branch], map[string]string{"f": "1"})})
		if err == nil || !strings.Contains(err.Error(), "checked out") {
			t.Errorf("%s: error %v", branch, err)
		}
	}
	mustPublish(t, r, update("waybill/state", noID, map[string]string{"f": "1"}))
	if out := run(t, work, "status", "--porcelain"); out != "" {
		t.Errorf("status: %s", out)
	}
	sound(t, filepath.Join(work, ".git"))
}

// increment adds one to the number on a branch, as often as it takes.
func increment(t *testing.T, r *Repo, writer, n int) error {
	t.Helper()
	for {
		if _, err := r.Heads(t.Context()); err != nil {
			return err
		}
		if err := r.Fetch(t.Context(), "counter"); err != nil {
			return err
		}
		h, _, err := r.Branch(t.Context(), "counter")
		if err != nil {
			return err
		}
		got, err := text(t.Context(), r, "counter", "n")
		if err != nil {
			return err
		}
		count, err := strconv.Atoi(got)
		if err != nil {
			return err
		}
		u := update("counter", h.Commit, map[string]string{"n": strconv.Itoa(count + 1)})
		u.Message = fmt.Sprintf("writer %d, number %d\n", writer, n)
		_, err = r.Publish(t.Context(), []Update{u})
		var race *RaceError
		var busy *refusal
		if !errors.As(err, &race) && !errors.As(err, &busy) {
			return err
		}
	}
}

func TestWritersAtOnceLoseNothing(t *testing.T) {
	const writers = 3
	test := func(t *testing.T, each int, dir string, open func(i int) *Repo) {
		t.Helper()
		mustPublish(t, open(0), update("counter", noID, map[string]string{"n": "0"}))
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				r := open(i)
				for n := range each {
					if err := increment(t, r, i, n); err != nil {
						t.Errorf("writer %d: %v", i, err)
						return
					}
				}
			})
		}
		wg.Wait()
		if got := run(t, dir, "show", "counter:n"); got != strconv.Itoa(writers*each) {
			t.Errorf("counter is %s", got)
		}
		if got := run(t, dir, "rev-list", "--count", "--no-merges", "counter"); got != strconv.Itoa(writers*each+1) {
			t.Errorf("%s commits", got)
		}
		sound(t, dir)
	}
	t.Run("on disk", func(t *testing.T) {
		dir := newBare(t)
		test(t, 60, dir, func(int) *Repo { return mustOpen(t, Options{Location: dir}) })
	})
	t.Run("behind a URL with a cache each", func(t *testing.T) {
		s := newServer(t)
		dir := s.repo(t, "repo.git")
		caches := [writers]string{t.TempDir(), t.TempDir(), t.TempDir()}
		test(t, 20, dir, func(i int) *Repo { return s.open(t, "repo.git", caches[i]) })
	})
}

// Git pushes to the branch that Waybill publishes to.
func TestPublishBesideGitPush(t *testing.T) {
	const each = 25
	dir := newBare(t)
	r := mustOpen(t, Options{Location: dir})
	mustPublish(t, r, update("counter", noID, map[string]string{"n": "0"}))
	clone := filepath.Join(t.TempDir(), "clone")
	run(t, ".", "clone", "-q", "-b", "counter", dir, clone)
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := range each {
			if err := increment(t, r, 0, n); err != nil {
				t.Error(err)
				return
			}
		}
	})
	wg.Go(func() {
		for n := 0; n < each; {
			run(t, clone, "fetch", "-q")
			run(t, clone, "reset", "-q", "--hard", "origin/counter")
			run(t, clone, "commit", "-q", "--allow-empty", "-m", "by git")
			if _, err := attempt(t, clone, "push", "-q"); err == nil {
				n++
			}
			if n%10 == 0 {
				run(t, dir, "pack-refs", "--all")
			}
		}
	})
	wg.Wait()
	if got := run(t, dir, "rev-list", "--count", "--no-merges", "counter"); got != strconv.Itoa(2*each+1) {
		t.Errorf("%s commits", got)
	}
	if got := run(t, dir, "show", "counter:n"); got != strconv.Itoa(each) {
		t.Errorf("counter is %s", got)
	}
	sound(t, dir)
}

// Git takes packed-refs for what it has read of it already if the file has the inode, the size
// and the second of that time. A push that begins before two publications and ends behind them
// is a race all the same.
func TestPublishTwiceDuringAGitPush(t *testing.T) {
	for range 3 { // all of one has to happen within a second
		dir := newBare(t)
		r := mustOpen(t, Options{Location: dir})
		head := mustPublish(t, r, update("counter", noID, map[string]string{"n": "0"}))[0]
		clone := filepath.Join(t.TempDir(), "clone")
		run(t, ".", "clone", "-q", "-b", "counter", dir, clone)
		run(t, clone, "commit", "-q", "--allow-empty", "-m", "by git")
		at, proceed := filepath.Join(t.TempDir(), "at"), filepath.Join(t.TempDir(), "proceed")
		hook(t, dir, "pre-receive", "touch "+at+"; while [ ! -e "+proceed+" ]; do sleep 0.01; done\n")
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		head = mustPublish(t, r, update("counter", head, map[string]string{"n": "1"}))[0]
		run(t, clone, "pull", "-q", "--rebase")
		pushed := make(chan error, 1)
		go func() {
			_, err := attempt(t, clone, "push", "-q")
			pushed <- err
		}()
		for _, err := os.Stat(at); err != nil; _, err = os.Stat(at) {
			time.Sleep(time.Millisecond)
		}
		for n := range 2 {
			head = mustPublish(t, r, update("counter", head, map[string]string{"n": strconv.Itoa(2 + n)}))[0]
		}
		if err := os.WriteFile(proceed, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := <-pushed; err == nil {
			t.Fatal("git pushed over two publications")
		}
		if got := run(t, dir, "rev-parse", "counter"); got != head.String() {
			t.Fatalf("the branch is at %s, want %s", got, head)
		}
	}
}

// limitVar has the test binary publish with a limit on the size of files, which is a
// disk that fills up.
const limitVar = "WAYBILL_TEST_FILE_LIMIT"

func TestPublishToAFullDisk(t *testing.T) {
	if dir := os.Getenv(limitVar); dir != "" {
		publishLimited(t, dir)
		return
	}
	dir := newBare(t)
	mustPublish(t, mustOpen(t, Options{Location: dir}), update("a", noID, map[string]string{"f": "0"}))
	before := run(t, dir, "for-each-ref")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPublishToAFullDisk$")
	cmd.Env = append(os.Environ(), limitVar+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if after := run(t, dir, "for-each-ref"); after != before {
		t.Errorf("refs changed:\n%s\n%s", before, after)
	}
	sound(t, dir)
	mustPublish(t, mustOpen(t, Options{Location: dir}), large(noID))
	sound(t, dir)
}

// large is an update with a file that does not compress.
func large(old files.ID) Update {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "%x\n", files.Sum("blob", []byte{byte(i), byte(i >> 8)}))
	}
	return update("b", old, map[string]string{"f": b.String()})
}

func publishLimited(t *testing.T, dir string) {
	t.Helper()
	r := mustOpen(t, Options{Location: dir})
	limit := syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip("the system has no such limit:", err)
	}
	_, err := r.Publish(t.Context(), []Update{large(noID)})
	if !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), "make room") {
		t.Fatalf("error %v, want that there is no room", err)
	}
}

// Where one branch is elsewhere from the start, nothing is written for the others, and none
// of them moves, even on a server that moves them one by one.
func TestALostRaceWritesNothing(t *testing.T) {
	lose := func(t *testing.T, dir string, open func() *Repo) {
		t.Helper()
		r := open()
		ids := mustPublish(t, r, update("a", noID, map[string]string{"f": "1"}), update("b", noID, map[string]string{"f": "1"}))
		mustPublish(t, open(), update("b", ids[1], map[string]string{"f": "theirs"}))
		packs := func() []string {
			names, err := filepath.Glob(filepath.Join(r.store.objects(), "pack", "*"))
			if err != nil || len(names) == 0 {
				t.Fatalf("packs %v: %v", names, err)
			}
			return names
		}
		before, refs := packs(), run(t, dir, "for-each-ref")
		ours := map[string]string{"f": "ours"}
		_, err := r.Publish(t.Context(), []Update{update("a", ids[0], ours), update("b", ids[1], ours)})
		if _, ok := errors.AsType[*RaceError](err); !ok {
			t.Errorf("error %v, want a RaceError", err)
		}
		if _, ok := errors.AsType[*PartialError](err); ok {
			t.Errorf("some branches moved: %v", err)
		}
		if d := cmp.Diff(refs, run(t, dir, "for-each-ref")); d != "" {
			t.Errorf("branches moved: %s", d)
		}
		if d := cmp.Diff(before, packs()); d != "" {
			t.Errorf("packs were written: %s", d)
		}
	}
	twins(t, lose)
	t.Run("a server that is not atomic", func(t *testing.T) {
		s, cache := newServer(t), t.TempDir()
		dir := s.repo(t, "repo.git")
		run(t, dir, "config", "receive.advertiseAtomic", "false")
		lose(t, dir, func() *Repo { return s.open(t, "repo.git", cache) })
	})
}
