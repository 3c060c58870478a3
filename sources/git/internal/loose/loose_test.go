package loose_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/loose"
)

// store is what came: objects as somebody else wrote them.
type store struct {
	*memory.Storage

	t *testing.T
}

func (s store) put(kind plumbing.ObjectType, data string) files.ID {
	s.t.Helper()
	o := s.NewEncodedObject()
	o.SetType(kind)
	w, err := o.Writer()
	if err == nil {
		_, err = w.Write([]byte(data))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	id, err := s.SetEncodedObject(o)
	if err != nil {
		s.t.Fatal(err)
	}
	return files.ID(id)
}

func (s store) blob(text string) files.ID { return s.put(plumbing.BlobObject, text) }

// folder is one with entries, each its mode, its name and its id.
func (s store) folder(entries ...string) files.ID {
	return s.put(plumbing.TreeObject, strings.Join(entries, ""))
}

func entry(mode, name string, id files.ID) string { return mode + " " + name + "\x00" + string(id[:]) }

const who = "Ann <ann@example.com> 1700000000 +0000"

func (s store) commit(tree files.ID, more string) files.ID {
	return s.put(plumbing.CommitObject, "tree "+tree.String()+"\n"+more+"author "+who+"\ncommitter "+who+"\n\nsaid\n")
}

// TestRead reads a commit with its folders, and each path counts, however often one folder is named.
func TestRead(t *testing.T) {
	s := store{memory.NewStorage(), t}
	a, b := s.blob("a"), s.blob("b")
	sub := s.folder(entry("100644", "a", a), entry("100644", "b", b))
	root := s.folder(entry("100644", "a", a), entry("40000", "x", sub), entry("40000", "y", sub))
	id := s.commit(root, "")
	const paths = 7 // a, x, x/a, x/b, y, y/a and y/b
	c, err := loose.Read(s.Storage, id, paths)
	if err != nil || c.Tree.ID() != root || c.Message != "said\n" || !strings.HasPrefix(string(c.Data), "tree "+root.String()) {
		t.Fatalf("%v, %+v", err, c)
	}
	_, err = loose.Read(s.Storage, id, paths-1)
	unfit(t, "more paths than it may have", err, "it has more files than it may have")
	flat := s.commit(sub, "")
	if _, err := loose.Read(s.Storage, flat, 2); err != nil {
		t.Errorf("as many files in one folder as it may have: %v", err)
	}
	_, err = loose.Read(s.Storage, flat, 1)
	unfit(t, "more files in one folder than it may have", err, "it has more files than it may have")
}

// unfit holds that an error says why what came is none.
func unfit(t *testing.T, name string, err error, want string) {
	t.Helper()
	if e, is := errors.AsType[*loose.UnfitError](err); !is || !strings.Contains(e.Why, want) || e.Error() != e.Why {
		t.Errorf("%s: %v, want %q", name, err, want)
	}
}

func TestWhatIsUnfit(t *testing.T) {
	s := store{memory.NewStorage(), t}
	a := s.blob("a")
	sound := s.folder(entry("100644", "a", a))
	deep := func(folders int) files.ID {
		id := sound
		for range folders - 1 {
			id = s.folder(entry("40000", "d", id))
		}
		return id
	}
	absent := files.NewBlob([]byte("absent")).ID()
	for _, tt := range []struct {
		name string
		id   files.ID
		want string // empty: it is fit
	}{
		{"a commit", s.commit(sound, ""), ""},
		{"one without files, whose folder did not come", s.commit(files.NewFolder(nil).ID(), ""), ""},
		{"folders in each other", s.commit(deep(8), ""), ""},
		{"too many", s.commit(deep(9), ""), "a folder of it is missing, or too deep"},
		{"no commit", sound, "it is no commit"},
		{"nothing", absent, "it is no commit"},
		{"one that names no folder", s.put(plumbing.CommitObject, "author "+who+"\ncommitter "+who+"\n\nsaid\n"), "its commit cannot be read"},
		{"one with a parent", s.commit(sound, "parent "+absent.String()+"\n"), "its commit has a parent"},
		{"one whose folder did not come", s.commit(absent, ""), "a folder of it is missing"},
		{"one whose file did not come", s.commit(s.folder(entry("100644", "a", absent)), ""), "a file of it is missing"},
		{"one with a program", s.commit(s.folder(entry("100755", "a", a)), ""), "something else than plain files"},
		{"one with a link", s.commit(s.folder(entry("120000", "a", a)), ""), "something else than plain files"},
		{"one with a submodule", s.commit(s.folder(entry("160000", "a", a)), ""), "something else than plain files"},
		{"one with a name twice", s.commit(s.folder(entry("100644", "a", a), entry("100644", "a", a)), ""), "stands twice"},
		{"one without a name", s.commit(s.folder(entry("100644", "", a)), ""), "a folder of it cannot be read"},
		{"one in another order", s.commit(s.folder(entry("100644", "b", a), entry("100644", "a", a)), ""), "not as Git writes one"},
		{"one with a mode as Git does not write it", s.commit(s.folder(entry("0100644", "a", a)), ""), "not as Git writes one"},
	} {
		_, err := loose.Read(s.Storage, tt.id, 100)
		if tt.want != "" {
			unfit(t, tt.name, err, tt.want)
		} else if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestABombOfFoldersCountsPaths: each folder names the one below it ten times.
func TestABombOfFoldersCountsPaths(t *testing.T) {
	s := store{memory.NewStorage(), t}
	id := s.folder(entry("100644", "a", s.blob("a")))
	for range 7 {
		var entries []string
		for i := range 10 {
			entries = append(entries, entry("40000", fmt.Sprintf("d%d", i), id))
		}
		id = s.folder(entries...)
	}
	_, err := loose.Read(s.Storage, s.commit(id, ""), 1_000_000)
	unfit(t, "ten million paths", err, "it has more files than it may have")
}
