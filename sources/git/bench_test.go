package git

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/files"
)

const benchBranches, benchFiles = 200, 1000

// fleetTrees makes a tree of many files for each of many branches. All share their
// files but one.
func fleetTrees(salt string) []Update {
	var shared []files.Entry
	for ns := range benchFiles / 100 {
		var entries []files.Entry
		for i := range 100 {
			text := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c%d\n  namespace: n%d\ndata:\n%s%s", i, ns, strings.Repeat("  key: a value that a person wrote\n", 10), salt)
			entries = append(entries, files.FileEntry(fmt.Sprintf("c%03d.yaml", i), files.NewBlob([]byte(text))))
		}
		shared = append(shared, files.DirEntry(fmt.Sprintf("n%d", ns), files.NewFolder(entries)))
	}
	manifests := files.NewFolder(shared)
	updates := make([]Update, benchBranches)
	for i := range updates {
		meta := files.FileEntry("waybill.metadata", files.NewBlob(fmt.Appendf(nil, "{%d%s}", i, salt)))
		root := files.NewFolder([]files.Entry{files.DirEntry("manifests", manifests), meta})
		updates[i] = Update{Branch: fmt.Sprintf("waybill/cluster/c%03d", i), Tree: root, Message: "m\n", Author: who, When: when}
	}
	return updates
}

func BenchmarkPublish(b *testing.B) {
	b.Run("200 branches of 1000 files, cold", func(b *testing.B) {
		updates := fleetTrees("")
		for b.Loop() {
			b.StopTimer()
			r := mustOpen(b, Options{Location: newBare(b)})
			b.StartTimer()
			mustPublish(b, r, updates...)
		}
	})
	b.Run("200 branches of 1000 files, again", func(b *testing.B) {
		dir := newBare(b)
		updates := fleetTrees("")
		mustPublish(b, mustOpen(b, Options{Location: dir}), updates...)
		for b.Loop() {
			mustPublish(b, mustOpen(b, Options{Location: dir}), updates...)
		}
	})
	b.Run("one of 200 branches", func(b *testing.B) {
		r := mustOpen(b, Options{Location: newBare(b)})
		updates := fleetTrees("")
		head := mustPublish(b, r, updates...)[0]
		for n := 0; b.Loop(); n++ {
			u := updates[0]
			u.Old, u.Message = head, strconv.Itoa(n)
			head = mustPublish(b, r, u)[0]
		}
	})
}

func BenchmarkReadAllBranches(b *testing.B) {
	dir := newBare(b)
	updates := fleetTrees("")
	mustPublish(b, mustOpen(b, Options{Location: dir}), updates...)
	for b.Loop() {
		r := mustOpen(b, Options{Location: dir})
		for _, u := range updates {
			if _, ok, err := r.Branch(b.Context(), u.Branch); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	}
}

// BenchmarkReadOfManyPacks opens a repository with a pack for each of many publications, and reads a branch.
func BenchmarkReadOfManyPacks(b *testing.B) {
	const packs = 300
	dir := newBare(b)
	var head files.ID
	for n := range packs {
		tree := files.NewFolder([]files.Entry{files.FileEntry("a", files.NewBlob([]byte(strconv.Itoa(n))))})
		u := Update{Branch: "a", Old: head, Tree: tree, Message: "m\n", Author: who, When: when}
		head = mustPublish(b, mustOpen(b, Options{Location: dir}), u)[0]
	}
	for b.Loop() {
		if _, ok, err := mustOpen(b, Options{Location: dir}).Branch(b.Context(), "a"); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
