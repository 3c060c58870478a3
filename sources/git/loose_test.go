package git

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/signing"
)

const looseRef = "refs/waybill/endpoints/eu-1"

var roomy = Bounds{Pack: 1 << 20, Objects: 100, Object: 1 << 20, All: 4 << 20, Paths: 20}

// folder is a folder with files, by their paths of two parts.
func folderWith(contents map[string]string) *files.Folder {
	below := map[string][]files.Entry{}
	for path, text := range contents {
		dir, name := filepath.Split(path)
		below[strings.TrimSuffix(dir, "/")] = append(below[strings.TrimSuffix(dir, "/")], files.FileEntry(name, files.NewBlob([]byte(text))))
	}
	root := below[""]
	for dir, entries := range below {
		if dir != "" {
			root = append(root, files.DirEntry(dir, files.NewFolder(entries)))
		}
	}
	return files.NewFolder(root)
}

// TestReplace has a ref lead to one tree after the other, each by a commit without a parent.
func TestReplace(t *testing.T) {
	key, _, err := signing.NewKey(rand.Reader, "")
	if err != nil {
		t.Fatal(err)
	}
	s, cache := newServer(t), t.TempDir()
	dir := s.repo(t, "repo.git")
	run(t, dir, "config", "receive.denyNonFastForwards", "true")
	writer := s.open(t, "repo.git", t.TempDir())
	writer.sign = key.SignCommit
	var at files.ID
	var was *files.Folder
	for _, contents := range []map[string]string{
		{"shop/api.json": "1", "shop/db.json": "1", "_meta": "1"}, {"shop/api.json": "2", "shop/db.json": "1", "_meta": "2"}, {"_meta": "3"},
	} {
		u := Update{Branch: looseRef, Old: at, Tree: folderWith(contents), Message: "endpoints\n", Author: who, When: when}
		if at, err = LooseOf(writer).Replace(t.Context(), u, was); err != nil {
			t.Fatal(err)
		}
		was = u.Tree
		if got := run(t, dir, "rev-parse", looseRef+"^{tree}"); got != was.ID().String() {
			t.Errorf("its tree is %s, want %s", got, was.ID())
		}
		sound(t, dir)
		all, err := LooseOf(s.open(t, "repo.git", cache)).Refs(t.Context(), func(ref string, _ files.ID) bool { return ref == looseRef }, roomy)
		if err != nil {
			t.Fatal(err)
		}
		got := all.Read[all.Refs[looseRef]]
		if got.Commit != at || got.Message != "endpoints\n" || got.Tree.ID() != was.ID() || key.Public().Verify(signing.Git, got.Signed, got.Signature) != nil {
			t.Errorf("it says %+v", got)
		}
		for path, e := range got.Tree.All() {
			if data, err := e.Blob.Bytes(); err != nil || string(data) != contents[path] {
				t.Errorf("%s is %q, %v", path, data, err)
			}
		}
	}
	if n := run(t, dir, "rev-list", "--count", looseRef); n != "1" {
		t.Errorf("it has a history of %s commits", n)
	}
	if heads := run(t, dir, "for-each-ref", "refs/heads"); heads != "" {
		t.Errorf("there are branches: %s", heads)
	}

	// who has not seen what is there does not replace it
	_, err = LooseOf(writer).Replace(t.Context(), Update{Branch: looseRef, Tree: was, Message: "x", Author: who, When: when}, nil)
	if race, ok := errors.AsType[*RaceError](err); !ok || race.Got != at {
		t.Errorf("the error is %v", err)
	}
	if _, err := LooseOf(mustOpen(t, Options{Location: dir})).Replace(t.Context(), Update{Branch: looseRef, Tree: was, Message: "x", Author: who, When: when}, nil); !errors.Is(err, ErrNoURL) {
		t.Errorf("on disk: %v", err)
	}
	hook := "#!/bin/sh\nwhile read old new ref; do case $ref in refs/heads/*) ;; *) echo only branches; exit 1;; esac; done\n"
	if err := os.WriteFile(filepath.Join(dir, "hooks", "pre-receive"), []byte(hook), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = LooseOf(writer).Replace(t.Context(), Update{Branch: "refs/waybill/endpoints/us-1", Tree: was, Message: "x", Author: who, When: when}, nil)
	if refused, ok := errors.AsType[*RefusedError](err); !ok || !strings.Contains(refused.Why, "only branches") {
		t.Errorf("the error is %v", err)
	}
}

// TestWhatMovesWhileItIsRead has a ref lead elsewhere after the server said where it is: what is there then is read, with all others.
func TestWhatMovesWhileItIsRead(t *testing.T) {
	s := newServer(t)
	dir := s.repo(t, "repo.git")
	r := s.open(t, "repo.git", t.TempDir())
	at := map[string]files.ID{}
	puts := func(ref, text string) {
		t.Helper()
		u := Update{Branch: ref, Old: at[ref], Tree: folderWith(map[string]string{"_meta": text}), Message: text, Author: who, When: when}
		id, err := LooseOf(r).Replace(t.Context(), u, nil)
		if err != nil {
			t.Fatal(err)
		}
		at[ref] = id
	}
	puts("refs/waybill/endpoints/eu-1", "one")
	puts("refs/waybill/endpoints/us-1", "another")
	later := run(t, dir, "commit-tree", "-m", "two", run(t, dir, "rev-parse", "refs/waybill/endpoints/us-1^{tree}"))
	moves := 0
	s.wrap = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if strings.HasSuffix(req.URL.Path, "/git-upload-pack") {
				if moves++; moves == 1 {
					if err := os.WriteFile(filepath.Join(dir, "refs", "waybill", "endpoints", "us-1"), []byte(later+"\n"), 0o600); err != nil {
						t.Error(err)
					}
				}
			}
			next.ServeHTTP(w, req)
		})
	}
	isBook := func(ref string, _ files.ID) bool { return strings.HasPrefix(ref, "refs/waybill/endpoints/") }
	all, err := LooseOf(r).Refs(t.Context(), isBook, roomy)
	if err != nil {
		t.Fatal(err)
	}
	eu, us := all.Read[all.Refs["refs/waybill/endpoints/eu-1"]], all.Read[all.Refs["refs/waybill/endpoints/us-1"]]
	if eu.Message != "one" || us.Message != "two\n" || us.Commit.String() != later {
		t.Errorf("they say %q and %q", eu.Message, us.Message)
	}

	// one that is not to be had is no ref that moved
	s.wrap = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if strings.HasSuffix(req.URL.Path, "/git-upload-pack") {
				http.Error(w, "no", http.StatusInternalServerError)
				return
			}
			next.ServeHTTP(w, req)
		})
	}
	before := s.requests.Load()
	if _, err := LooseOf(r).Refs(t.Context(), isBook, roomy); err == nil || s.requests.Load() > before+6 {
		t.Errorf("after %d requests the error is %v", s.requests.Load()-before, err)
	}
}

// TestWhatIsReadAtOnceIsBounded however many refs there are, and each may be read by itself.
func TestWhatIsReadAtOnceIsBounded(t *testing.T) {
	for _, each := range []Bounds{roomy, message, {Pack: 128 << 20, Objects: 200_000, Object: 1 << 20, All: 256 << 20, Paths: 20}} {
		r := &reading{most: each}
		for _, n := range []int{1, 2, 1000, 1 << 20} {
			b := r.bounds(n)
			if b.Pack < each.Pack || b.All < each.All || b.Objects < each.Objects || b.Object != each.Object || b.Paths != each.Paths {
				t.Errorf("%d of %+v: not each may be read: %+v", n, each, b)
			}
			if b.Pack > max(each.Pack, 64<<20) || b.All > max(each.All, 64<<20) || b.Objects > max(each.Objects, 100_000) {
				t.Errorf("%d of %+v are read at once by %+v", n, each, b)
			}
		}
	}
	if b := (&reading{most: message}).bounds(1000); b.Pack != 1000*message.Pack || b.Objects != 2000 {
		t.Errorf("a thousand commits without files are read by %+v", b)
	}
}

// TestDelete deletes a ref, by who has seen where it is.
func TestDelete(t *testing.T) {
	s := newServer(t)
	dir := s.repo(t, "repo.git")
	l := LooseOf(s.open(t, "repo.git", t.TempDir()))
	at, err := l.Replace(t.Context(), Update{Branch: looseRef, Tree: folderWith(map[string]string{"_meta": "1"}), Message: "x", Author: who, When: when}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if race, ok := errors.AsType[*RaceError](l.Delete(t.Context(), looseRef, files.Sum("blob", nil))); !ok || race.Got != at {
		t.Errorf("where it is not: %v", race)
	}
	hook := filepath.Join(dir, "hooks", "pre-receive")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho it stays\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if refused, ok := errors.AsType[*RefusedError](l.Delete(t.Context(), looseRef, at)); !ok || !strings.Contains(refused.Why, "it stays") {
		t.Errorf("where nothing is deleted: %v", refused)
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	if err := l.Delete(t.Context(), looseRef, at); err != nil {
		t.Error(err)
	}
	if refs := run(t, dir, "for-each-ref"); refs != "" {
		t.Errorf("there is left: %s", refs)
	}
	sound(t, dir)
}

// Whoever may write a ref may put anything there. That keeps nobody from reading the others.
func TestWhatIsUnfitIsNamed(t *testing.T) {
	s := newServer(t)
	dir := s.repo(t, "repo.git")
	r := s.open(t, "repo.git", t.TempDir())
	tree := folderWith(map[string]string{"shop/api.json": "1"})
	for _, ref := range []string{"refs/waybill/endpoints/good", "refs/heads/waybill/endpoints/good"} {
		if _, err := LooseOf(r).Replace(t.Context(), Update{Branch: ref, Tree: tree, Message: "good", Author: who, When: when}, nil); err != nil {
			t.Fatal(err)
		}
	}
	work := filepath.Join(t.TempDir(), "work")
	run(t, ".", "init", "-q", "-b", "main", work)
	puts := func(name string, contents map[string][]byte) {
		run(t, work, "checkout", "-q", "--orphan", name)
		run(t, work, "rm", "-rfq", "--ignore-unmatch", ".")
		write(t, work, contents)
		run(t, work, "push", "-q", dir, "HEAD:refs/waybill/endpoints/"+name)
	}
	noise := make([]byte, 2<<20)
	_, _ = rand.Read(noise) // it never fails
	puts("noise", map[string][]byte{"a": noise})
	puts("bomb", map[string][]byte{"a": make([]byte, 8<<20)})
	puts("later", map[string][]byte{"a": []byte("1")})
	write(t, work, map[string][]byte{"a": []byte("2")})
	run(t, work, "push", "-q", dir, "HEAD:refs/waybill/endpoints/later", "HEAD^{tree}:refs/waybill/endpoints/tree")
	if err := os.Symlink("a", filepath.Join(work, "link")); err != nil {
		t.Fatal(err)
	}
	puts("link", map[string][]byte{"b": []byte("1")})
	// a folder in which a name stands twice, and one that names another a thousand times, eight deep
	trees := func(name, tree string) {
		run(t, work, "push", "-q", dir, run(t, work, "commit-tree", "-m", name, tree)+":refs/waybill/endpoints/"+name)
	}
	blob := run(t, work, "hash-object", "-w", "b")
	trees("twice", written(t, work, strings.Repeat("100644 a\x00"+raw(t, blob), 2)))
	deep := written(t, work, "100644 a\x00"+raw(t, blob))
	for range 7 {
		var wide strings.Builder
		for n := range 1000 {
			wide.WriteString(fmt.Sprintf("40000 d%03d\x00", n) + raw(t, deep))
		}
		deep = written(t, work, wide.String())
	}
	trees("wide", deep)

	all, err := LooseOf(r).Refs(t.Context(), func(ref string, _ files.ID) bool { return strings.Contains(ref, "waybill/endpoints/") }, roomy)
	if err != nil {
		t.Fatal(err)
	}
	// neither of them is read where commits without files are
	light, err := r.RemoteRefs(t.Context(), func(ref string, _ files.ID) bool { return strings.Contains(ref, "waybill/endpoints/") })
	if err != nil {
		t.Fatal(err)
	}
	for id, is := range light.Read {
		if is.Tree != nil {
			t.Errorf("%s has files, and is read: %+v", id, is)
		}
	}
	for ref, want := range map[string]string{
		"refs/waybill/endpoints/good": "", "refs/heads/waybill/endpoints/good": "", "refs/waybill/endpoints/noise": "bytes of a pack", "refs/waybill/endpoints/bomb": "bytes of an object",
		"refs/waybill/endpoints/later": "has a parent", "refs/waybill/endpoints/tree": "is no commit", "refs/waybill/endpoints/link": "something else than plain files",
		"refs/waybill/endpoints/twice": "stands twice", "refs/waybill/endpoints/wide": "more files than it may have",
	} {
		id := all.Refs[ref]
		is, why := all.Read[id], all.Unfit[id]
		if id.IsZero() || want == "" && is.Tree == nil || want != "" && (why == nil || !strings.Contains(why.Error(), want) || is.Tree != nil) {
			t.Errorf("%s at %s is %+v, unfit: %v; want %q", ref, id, is, why, want)
		}
	}
}

// written writes a folder as it is given, whatever Git would say of it, and returns its id.
func written(t *testing.T, dir, data string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tree")
	if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return run(t, dir, "hash-object", "-w", "-t", "tree", "--literally", file)
}

// raw is an id in bytes.
func raw(t *testing.T, id string) string {
	t.Helper()
	data, err := hex.DecodeString(id)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
