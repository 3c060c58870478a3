package git

import (
	"errors"
	"fmt"
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
