package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources/files"
)

// TestHowMuchAFolderMayHold: of folders inside each other, and of paths, counted as often as they are reached, also where a part of it was
// read before. All folders of a commit may hold more together, each within its own limit.
func TestHowMuchAFolderMayHold(t *testing.T) {
	dir := newBare(t)
	leaf := blob(t, dir, "a")
	tree := func(entries ...string) string { // each MODE NAME ID
		var data []byte
		for _, e := range entries {
			f := strings.Fields(e)
			data = append(data, entryOf(t, f[0], f[1], f[2])...)
		}
		return badObject(t, dir, "tree", data)
	}
	many := func(n int, mode, id string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("%s n%03d %s", mode, i, id))
		}
		return tree(all...)
	}
	nested := func(in string, folders int) string {
		for range folders {
			in = tree("40000 d " + in)
		}
		return in
	}
	file := tree("100644 f " + leaf)
	few := many(400, "100644", leaf)
	full := many(500, "40000", few) // 200,000 paths
	modules := many(500, "40000", many(401, "160000", strings.Repeat("1", 40)))
	broken := tree("40000 a "+tree("40000 b "+badObject(t, dir, "tree", []byte("100644 f"))), "100644 f "+leaf)
	limit := func(what string, most, got int64) error { return &LimitError{What: what, Limit: most, Got: got} }
	const paths, inside, together = "paths in a tree", "folders inside each other", "paths in all folders of a tree"
	for _, tt := range []struct {
		name   string
		before string // is read before
		tree   string
		want   error // nil: it can be read
	}{
		{"folders as deep as they may be", "", nested(file, maxDepth-1), nil},
		{"one more", "", nested(file, maxDepth), limit(inside, maxDepth, maxDepth+1)},
		{"one more, below what was read before", nested(file, 40), nested(file, maxDepth), limit(inside, maxDepth, maxDepth+1)},
		{"paths as many as there may be", "", full, nil},
		{"one more", "", tree("40000 d "+full, "100644 f "+leaf), limit(paths, maxPaths, maxPaths+1)},
		{"one more, beside what was read before", full, tree("40000 d "+full, "100644 f "+leaf), limit(paths, maxPaths, maxPaths+1)},
		{"modules of others", "", modules, limit(paths, maxPaths, 499*401)},
		{"two that are full", "", many(2, "40000", full), limit(paths, maxPaths, 2*maxPaths)},
	} {
		r := mustOpen(t, Options{Location: dir})
		for _, id := range []string{tt.before, tt.tree} {
			if id == "" {
				continue
			}
			commit, err := files.ParseID(commitTree(t, dir, tree("40000 d "+id)))
			if err != nil {
				t.Fatal(err)
			}
			h, ok, err := r.Within(t.Context(), commit, "d")
			if id != tt.tree {
				continue
			}
			if diff := cmp.Diff(tt.want, limitOf(err)); diff != "" || ok != (err == nil) || ok && h.Tree.ID().String() != id {
				t.Errorf("%s: %v: %s", tt.name, err, diff)
			}
			if _, err = r.Commit(t.Context(), commit); cmp.Diff(tt.want, limitOf(err)) != "" {
				t.Errorf("%s: the commit: %v, want %v", tt.name, err, tt.want)
			}
		}
	}
	for folders, want := range map[int]error{20: nil, 21: limit(together, maxShared, 21*maxPaths)} {
		r, root := mustOpen(t, Options{Location: dir}), many(folders, "40000", full)
		whole, err := files.ParseID(commitTree(t, dir, root))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // what was read is bounded as well
			if _, err := r.Commit(t.Context(), whole); cmp.Diff(want, limitOf(err)) != "" {
				t.Errorf("%d folders at the root: %v, want %v", folders, err, want)
			}
		}
		below, err := files.ParseID(commitTree(t, dir, tree("40000 d "+root)))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.Within(t.Context(), below, "d"); limitOf(err) == nil || !strings.Contains(err.Error(), paths) {
			t.Errorf("%d folders, that were read at the root of another commit: %v", folders, err)
		}
	}
	r := mustOpen(t, Options{Location: dir})
	commit, err := files.ParseID(commitTree(t, dir, broken))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Commit(t.Context(), commit); err == nil || !strings.Contains(err.Error(), `in folder "a": in folder "b": reading tree`) {
		t.Errorf("of a folder that cannot be read it says %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Commit(ctx, commit); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever is gone is told %v", err)
	}
}

// limitOf is the error of a limit, alone; any other as it is.
func limitOf(err error) error {
	if limit, ok := errors.AsType[*LimitError](err); ok {
		return limit
	}
	return err
}
