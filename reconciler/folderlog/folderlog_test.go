package folderlog_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/folderlog"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// counted counts the commits that are read.
type counted struct {
	*twin.Repo

	reads int
}

func (c *counted) Root(ctx context.Context, id files.ID) (git.Head, []files.Entry, error) {
	c.reads++
	return c.Repo.Root(ctx, id)
}

// TestTheTrailOfAFolderIsTheCommitsThatChangedIt makes histories by chance and compares what a trail
// says, asked at some of the heads and in any order, with what looking at each commit gives.
func TestTheTrailOfAFolderIsTheCommitsThatChangedIt(t *testing.T) {
	folders := []string{"a", "b", "c"}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		repo := twin.New("trail")
		content := map[string]int{}
		past := map[string][]files.ID{} // the newest last; zero: it went
		var known folderlog.Log
		for range 1 + r.IntN(30) {
			name := folders[r.IntN(len(folders))]
			was := content[name]
			content[name] = r.IntN(3) // 0: it is not there
			root := twin.Tree{"README": twin.File(fmt.Append(nil, r.IntN(2)))}
			for f, n := range content {
				if n > 0 {
					root[f+"/x"] = twin.File(fmt.Append(nil, n))
				}
			}
			head := repo.Write("shared", "a change", root.Folder())
			if is := content[name]; is == 0 && was != 0 {
				past[name] = append(past[name], files.ID{})
			} else if is != was {
				past[name] = append(past[name], head)
			}
			if r.IntN(3) > 0 {
				continue
			}
			asked := folders[r.IntN(len(folders))]
			all := past[asked]
			at, err := known.Last(t.Context(), repo, head, asked)
			for i := len(all) - 1; err == nil; i-- {
				want := files.ID{}
				if i >= 0 {
					want = all[i]
				}
				if at != want {
					t.Fatalf("seed %d: %s is at %s, want %s", seed, asked, at, want)
				}
				if at.IsZero() {
					break
				}
				at, err = known.Before(t.Context(), repo, at, asked)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestATrailReadsEachCommitOnce follows a branch: only what is new is read, however far back a folder
// changed last.
func TestATrailReadsEachCommitOnce(t *testing.T) {
	repo := &counted{Repo: twin.New("trail")}
	root := twin.Tree{"old/x": twin.File([]byte("1")), "new/x": twin.File([]byte("0"))}
	first := repo.Write("shared", "a change", root.Folder())
	var known folderlog.Log
	last := func() {
		root["new/x"] = twin.File(fmt.Append(nil, repo.reads))
		head := repo.Write("shared", "a change", root.Folder())
		at, err := known.Last(t.Context(), repo, head, "old")
		if err != nil || at != first {
			t.Fatalf("it is at %s, %v; want %s", at, err, first)
		}
	}
	for range 50 {
		root["new/x"] = twin.File(fmt.Append(nil, "first ", repo.Now))
		repo.Write("shared", "a change", root.Folder())
	}
	last()
	if repo.reads < 50 {
		t.Errorf("%d commits are read", repo.reads)
	}
	repo.reads = 0
	last()
	last()
	if repo.reads > 4 {
		t.Errorf("for two commits more, %d are read", repo.reads)
	}
}
