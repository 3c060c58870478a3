package git

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/files"
)

// TestAFolderOfACommitIsReadAlone has a commit of which one folder cannot be read: others can.
func TestAFolderOfACommitIsReadAlone(t *testing.T) {
	dir := newBare(t)
	r, err := Open(t.Context(), Options{Location: dir})
	if err != nil {
		t.Fatal(err)
	}
	folder := func(text string) *files.Folder {
		return files.NewFolder([]files.Entry{files.FileEntry("x", files.NewBlob([]byte(text)))})
	}
	root := files.NewFolder([]files.Entry{
		files.DirEntry("eu", folder("eu")), files.DirEntry("us", folder("us")), files.FileEntry("README", files.NewBlob([]byte("of a person"))),
	})
	ids, err := r.Publish(t.Context(), []Update{{Branch: "shared", Tree: root, Message: "a change", Author: who, When: when}})
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := Open(t.Context(), Options{Location: dir})
	if err != nil {
		t.Fatal(err)
	}
	h, entries, err := fresh.Root(t.Context(), ids[0])
	if err != nil || h.Commit != ids[0] || h.Message != "a change" || h.Tree != nil {
		t.Errorf("the commit is %+v, %v", h, err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
		if e.Dir != nil || e.Blob != nil {
			t.Errorf("%s was read", e.Name)
		}
	}
	if got := strings.Join(names, " "); got != "README eu us" {
		t.Errorf("at the root is %s", got)
	}
	h, ok, err := fresh.Within(t.Context(), ids[0], "eu")
	if err != nil || !ok || h.Tree.ID() != folder("eu").ID() || h.Commit != ids[0] {
		t.Errorf("within eu is %+v, %v", h, err)
	}
	for _, name := range []string{"README", "ap", "eu/x", ""} {
		if _, ok, err := fresh.Within(t.Context(), ids[0], name); ok || err != nil {
			t.Errorf("there is a folder %q: %v", name, err)
		}
	}
}

// TestFoldersOfACommitMayHaveMorePathsTogether has a commit with more paths than a source may have:
// each of its folders is within the limit.
func TestFoldersOfACommitMayHaveMorePathsTogether(t *testing.T) {
	r, err := Open(t.Context(), Options{Location: newBare(t)})
	if err != nil {
		t.Fatal(err)
	}
	many := func(n int) *files.Folder {
		b := files.NewBlob(nil)
		entries := make([]files.Entry, n)
		for i := range entries {
			entries[i] = files.FileEntry(fmt.Sprintf("f%06d", i), b)
		}
		return files.NewFolder(entries)
	}
	publish := func(branch string, root *files.Folder) files.ID {
		ids, err := r.Publish(t.Context(), []Update{{Branch: branch, Tree: root, Message: "x", Author: who, When: when}})
		if err != nil {
			t.Fatal(err)
		}
		return ids[0]
	}
	half := many(maxPaths/2 + 1)
	id := publish("shared", files.NewFolder([]files.Entry{files.DirEntry("a", half), files.DirEntry("b", half)}))
	fresh, err := Open(t.Context(), Options{Location: r.Name()})
	if err != nil {
		t.Fatal(err)
	}
	if h, err := fresh.Commit(t.Context(), id); err != nil || len(h.Tree.Entries()) != 2 {
		t.Errorf("the commit is %v, %v", h.Tree, err)
	}
	id = publish("large", files.NewFolder([]files.Entry{files.DirEntry("a", many(maxPaths+1))}))
	_, err = fresh.Commit(t.Context(), id)
	if _, ok := errors.AsType[*LimitError](err); !ok {
		t.Errorf("a folder with more paths than it may have: %v", err)
	}
}

// A commit has its parents in their order, however many there are.
func TestACommitHasAllOfItsParents(t *testing.T) {
	dir := newBare(t)
	first := commitTree(t, dir, badObject(t, dir, "tree", nil))
	ids := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		ids[name] = pipe(t, dir, nil, "commit-tree", "-p", first, "-m", name, first+"^{tree}")
	}
	merge := pipe(t, dir, nil, "commit-tree", "-p", ids["c"], "-p", ids["a"], "-p", ids["b"], "-m", "merge", first+"^{tree}")
	run(t, dir, "update-ref", "refs/heads/main", merge)
	r := mustOpen(t, Options{Location: dir})
	for id, want := range map[string][]string{first: nil, ids["a"]: {first}, merge: {ids["c"], ids["a"], ids["b"]}} {
		of, err := files.ParseID(id)
		if err != nil {
			t.Fatal(err)
		}
		root, _, err := r.Root(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		commit, err := r.Commit(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []Head{root, commit} {
			var is []string
			if !h.Parent.IsZero() {
				is = append(is, h.Parent.String())
			}
			for _, p := range h.Others {
				is = append(is, p.String())
			}
			if !slices.Equal(is, want) || h.Commit != of {
				t.Errorf("the parents of %s are %q, want %q", h.Commit, is, want)
			}
		}
	}
}

// Where several commits begin with the same digits they are named, in their order, and more digits tell which.
func TestABeginningOfSeveralCommits(t *testing.T) {
	dir := newBare(t)
	var stream strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter a <a@b> %d +0000\ndata 0\n\n", 1_700_000_000+i)
	}
	pipe(t, dir, []byte(stream.String()), "fast-import", "--quiet")
	all := strings.Fields(run(t, dir, "rev-list", "main"))
	slices.Sort(all)
	i := slices.IndexFunc(all[1:], func(id string) bool {
		return slices.ContainsFunc(all, func(o string) bool { return o < id && o[:4] == id[:4] })
	})
	if i < 0 {
		t.Fatal("no two of them begin alike")
	}
	r := mustOpen(t, Options{Location: dir})
	want := fmt.Sprintf("2 commits begin with it (%s, %s); give more digits", all[i], all[i+1])
	if _, err := r.Resolve(t.Context(), all[i][:4]); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s is %v, want %s", all[i][:4], err, want)
	}
	for _, id := range all[i : i+2] {
		if is, err := r.Resolve(t.Context(), id[:12]); err != nil || is.String() != id {
			t.Errorf("%s is %s: %v", id[:12], is, err)
		}
	}
}
