package pack

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources/files"
)

// blobs returns n different blobs of sizes around the points where headers grow.
func blobs(n int) []Object {
	r := rand.New(rand.NewPCG(1, 2))
	objects := make([]Object, n)
	for i := range objects {
		data := bytes.Repeat([]byte("kind: ConfigMap\n"), []int{0, 1, 16, 127, 128, 1500}[r.IntN(6)])
		data = fmt.Appendf(data, "%d", i)
		objects[i] = Object{Kind: Blob, ID: files.Sum("blob", data), Data: func() ([]byte, error) { return data, nil }}
	}
	return objects
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestGitReadsWhatWasWritten(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q", "--bare")
	objects := blobs(1000)
	path, err := Write(t.Context(), filepath.Join(dir, "objects"), objects)
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, "verify-pack", path)
	git(t, dir, "fsck", "--strict", "--full")
	for _, o := range []Object{objects[0], objects[63], objects[64], objects[999]} {
		want, _ := o.Data()
		if got := git(t, dir, "cat-file", "blob", o.ID.String()); got != string(want) {
			t.Errorf("blob %s = %d bytes, want %d", o.ID, len(got), len(want))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "objects", "tmp_*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestGitReadsWhatIsMadeOfOthers(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q", "--bare")
	text := strings.Repeat("a line that many files have\n", 20_000) // more than an instruction copies
	base := files.NewBlob([]byte(text))
	objects := []Object{{Kind: Blob, ID: base.ID(), Data: base.Bytes}}
	for i, data := range []string{
		text[:300_000] + "a line of its own\n" + text[300_000:],
		text[:65_536] + text[65_537:],
		strings.Repeat("a long head\n", 1000) + text,
		text + "a tail",
	} {
		b := files.Like(base, []byte(data))
		o := Object{Kind: Blob, ID: b.ID(), From: base.ID(), Data: func() ([]byte, error) { return Delta(b.Patch()), nil }}
		if i%2 == 0 {
			objects = append(objects, o)
		} else {
			objects = append([]Object{o}, objects...) // what it is made of comes later
		}
	}
	path, err := Write(t.Context(), filepath.Join(dir, "objects"), objects)
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, "verify-pack", path)
	git(t, dir, "fsck", "--strict", "--full")
	for _, o := range objects {
		if got := files.Sum("blob", []byte(git(t, dir, "cat-file", "blob", o.ID.String()))); got != o.ID {
			t.Errorf("blob %s reads as %s", o.ID, got)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 10_000 {
		t.Errorf("the pack has %d bytes, %v: it repeats what its files share", info.Size(), err)
	}
}

func TestBytesDoNotDependOnProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first []string
	for _, n := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(n)
		dir := t.TempDir()
		if _, err := Write(t.Context(), dir, blobs(1000)); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, path := range []string{"pack/*.pack", "pack/*.idx"} {
			names, _ := filepath.Glob(filepath.Join(dir, path))
			data, err := os.ReadFile(names[0])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, filepath.Base(names[0])+fmt.Sprintf(" %x", sha1.Sum(data)))
		}
		if first == nil {
			first = all
		}
		if d := cmp.Diff(first, all); d != "" {
			t.Errorf("GOMAXPROCS=%d: %s", n, d)
		}
	}
}

func TestNothingStaysAfterAnError(t *testing.T) {
	broken := errors.New("broken disk")
	objects := blobs(200)
	objects[150].Data = func() ([]byte, error) { return nil, broken }
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name string
		ctx  context.Context //nolint:containedctx // a row of a table
		objs []Object
		want error
	}{
		{"an object cannot be read", t.Context(), objects, broken},
		{"the caller gives up", cancelled, blobs(5000), context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := Write(test.ctx, dir, test.objs); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*[._]*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestSomethingElseIsInTheWay of the folder, or of one of the two names: the error says it, and no unfinished file stays.
func TestSomethingElseIsInTheWay(t *testing.T) {
	objects := blobs(3)
	path, err := Write(t.Context(), t.TempDir(), objects)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("pack", strings.TrimSuffix(filepath.Base(path), ".pack"))
	for _, test := range []struct{ name, folder string }{
		{"a folder has the name of the index", name + ".idx"},
		{"a folder has the name of the pack", name + ".pack"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, test.folder), 0o700); err != nil {
				t.Fatal(err)
			}
			if path, err := Write(t.Context(), dir, objects); err == nil || path != "" {
				t.Errorf("Write = %q, %v", path, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "tmp_*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	t.Run("a file has the name of the folder", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "pack"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if path, err := Write(t.Context(), dir, objects); err == nil || path != "" {
			t.Errorf("Write = %q, %v", path, err)
		}
	})
}

func TestNoObjectsMakeNoPack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pack")
	if path, err := Write(t.Context(), dir, nil); path != "" || err != nil {
		t.Errorf("Write(nothing) = %q, %v", path, err)
	}
}

func TestSweepRemovesOnlyUnfinishedFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "pack"), 0o700); err != nil {
		t.Fatal(err)
	}
	keep := []string{"pack/pack-4.pack", "pack/tmp_other", "tmp_obj_git"}
	for _, name := range append([]string{"tmp_waybill_1.pack", "tmp_waybill_2.idx", "pack/tmp_pack_3"}, keep...) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	if err := Sweep(dir, "tmp_pack_"); err != nil {
		t.Fatal(err)
	}
	var left []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); !e.IsDir() {
			left = append(left, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(keep, left); d != "" {
		t.Error(d)
	}
	if err := Sweep(filepath.Join(dir, "none"), "tmp_pack_"); err != nil {
		t.Errorf("sweeping a folder that does not exist: %v", err)
	}
	if err := Sweep(filepath.Join(dir, "tmp_obj_git")); err == nil {
		t.Error("a file is swept")
	}
	if err := os.MkdirAll(filepath.Join(dir, "tmp_waybill_4", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(dir, "tmp_pack_"); err == nil {
		t.Error("nobody says that something stays")
	}
}

// A pack over 2 GiB needs 64-bit offsets; Git's own reader says whether they are right.
func TestIndexHoldsLargeOffsets(t *testing.T) {
	entries := []entry{
		{id: files.ID{0x20}, offset: 12},
		{id: files.ID{0x10}, offset: large - 1},
		{id: files.ID{0x30}, offset: large},
		{id: files.ID{0x10, 1}, offset: 5 << 32},
	}
	var buf bytes.Buffer
	if err := encodeIndex(&buf, entries, [sha1.Size]byte{}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "git", "show-index", "--object-format=sha1")
	cmd.Stdin = &buf
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		got = append(got, f[0]+" "+f[1][:4])
	}
	want := []string{"2147483647 1000", "21474836480 1001", "12 2000", "2147483648 3000"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestBeginning reads from the beginning of a delta how large that is which it makes.
func TestBeginning(t *testing.T) {
	base := files.NewBlob(bytes.Repeat([]byte("a line\n"), 100_000))
	longer := files.Like(base, append(bytes.Repeat([]byte("a line\n"), 100_000), "the end\n"...))
	sizes := func(from, to uint64) []byte { return binary.AppendUvarint(binary.AppendUvarint(nil, from), to) }
	for _, test := range []struct {
		name  string
		delta []byte
		want  int64
	}{
		{"a delta of a long file", Delta(longer.Patch()), 700_008},
		{"sizes of one byte each", []byte{5, 7, 0x80}, 7},
		{"a file that becomes empty", sizes(7, 0), 0},
		{"the largest sizes that there are", sizes(math.MaxUint64, math.MaxInt64), math.MaxInt64},
		{"one byte more than can be counted", sizes(7, 1<<63), math.MaxInt64},
		{"nothing", nil, math.MaxInt64},
		{"the size of the first file alone", []byte{5}, math.MaxInt64},
		{"the half of a size", []byte{5, 0x80}, math.MaxInt64},
		{"a first size that does not end", bytes.Repeat([]byte{0x80}, 30), math.MaxInt64},
		{"a second size that does not end", append([]byte{5}, bytes.Repeat([]byte{0xff}, 30)...), math.MaxInt64},
	} {
		for _, n := range []int{1, 3, len(test.delta) + 1} {
			var b Beginning
			for piece := range slices.Chunk(test.delta, n) {
				if got, err := b.Write(piece); got != len(piece) || err != nil {
					t.Fatalf("%s: Write = %d, %v", test.name, got, err)
				}
			}
			if got := b.Makes(); got != test.want {
				t.Errorf("%s, by %d bytes: it makes %d, want %d", test.name, n, got, test.want)
			}
		}
	}
}

// FuzzHeader checks that the size of an object can be read back from its header.
func FuzzHeader(f *testing.F) {
	for _, n := range []int{0, 15, 16, 2047, 2048, 1 << 30} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, size int) {
		size &= 1<<40 - 1
		h := header(Tree, size)
		if kind := h[0] >> 4 & 7; kind != byte(Tree) {
			t.Fatalf("kind %d", kind)
		}
		got, shift := int(h[0]&15), 4
		for _, b := range h[1:] {
			got |= int(b&0x7f) << shift
			shift += 7
		}
		if got != size || h[len(h)-1]&0x80 != 0 {
			t.Errorf("header of %d reads as %d", size, got)
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	objects := make([]Object, 20_000)
	var total int64
	for i := range objects {
		data := fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c%d\n  namespace: shop\ndata:\n%s", i, strings.Repeat("  key: some value that a person wrote\n", 12))
		total += int64(len(data))
		objects[i] = Object{Kind: Blob, ID: files.Sum("blob", binary.AppendVarint(nil, int64(i))), Data: func() ([]byte, error) { return data, nil }}
	}
	b.SetBytes(total)
	dir := b.TempDir()
	for b.Loop() {
		if _, err := Write(b.Context(), dir, objects); err != nil {
			b.Fatal(err)
		}
	}
}
