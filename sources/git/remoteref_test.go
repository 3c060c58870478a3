package git

import (
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/signing"
)

const beaconRef = "refs/waybill/heartbeat/eu-1"

func TestBeacons(t *testing.T) {
	key, _, err := signing.NewKey(rand.Reader, "")
	if err != nil {
		t.Fatal(err)
	}
	s, cache := newServer(t), t.TempDir()
	dir := s.repo(t, "repo.git")
	writer := s.open(t, "repo.git", t.TempDir())
	writer.sign = key.SignCommit
	for n := range 3 {
		if err := writer.Light(t.Context(), map[string]string{beaconRef: fmt.Sprintf("beat %d\n", n)}, who, when); err != nil {
			t.Fatal(err)
		}
		run(t, dir, "cat-file", "-p", beaconRef)
	}
	if n := run(t, dir, "rev-list", "--count", beaconRef); n != "1" {
		t.Errorf("it has a history of %s commits", n)
	}
	sound(t, dir)

	reader := s.open(t, "repo.git", cache)
	b, err := reader.RemoteRefs(t.Context(), func(ref string, _ files.ID) bool { return ref == beaconRef })
	if err != nil {
		t.Fatal(err)
	}
	got := b.Read[b.Refs[beaconRef]]
	if got.Message != "beat 2\n" || key.Public().Verify(signing.Git, got.Signed, got.Signature) != nil {
		t.Errorf("it says %+v", got)
	}
	if b, err = reader.RemoteRefs(t.Context(), func(string, files.ID) bool { return false }); err != nil || len(b.Read) != 0 || len(b.Refs) != 1 {
		t.Errorf("asked for nothing: %v, %v", b, err)
	}
	if err := filepath.WalkDir(cache, func(path string, e os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".pack") {
			t.Errorf("%s was stored", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// Whoever may write a ref may put anything there. That keeps nobody from reading the others.
func TestWhatIsNoBeaconSaysNothing(t *testing.T) {
	s := newServer(t)
	dir := s.repo(t, "repo.git")
	r := s.open(t, "repo.git", t.TempDir())
	for n := range 5 {
		if err := r.Light(t.Context(), map[string]string{fmt.Sprintf("refs/waybill/heartbeat/good-%d", n): fmt.Sprintf("beat %d", n)}, who, when); err != nil {
			t.Fatal(err)
		}
	}
	work := filepath.Join(t.TempDir(), "work")
	run(t, ".", "init", "-q", "-b", "main", work)
	noise := make([]byte, 1<<20)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "large"), noise, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, work, "add", "-A")
	run(t, work, "commit", "-q", "-m", "large")
	run(t, work, "push", "-q", dir, "HEAD:refs/waybill/heartbeat/large", "HEAD^{tree}:refs/waybill/heartbeat/tree")
	run(t, work, "rm", "-q", "--cached", "large")
	run(t, work, "commit", "-q", "--allow-empty", "-m", "older\n")
	run(t, work, "push", "-q", dir, "HEAD:refs/waybill/heartbeat/older")
	first := run(t, work, "commit-tree", files.NewFolder(nil).ID().String(), "-m", "first")
	run(t, work, "push", "-q", dir, run(t, work, "commit-tree", files.NewFolder(nil).ID().String(), "-p", first, "-m", "second")+":refs/waybill/heartbeat/second")
	b, err := r.RemoteRefs(t.Context(), func(string, files.ID) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for ref, id := range b.Refs {
		if good := strings.Contains(ref, "good-"); good != (b.Read[id].Message != "") {
			t.Errorf("%s says %q", ref, b.Read[id].Message)
		}
	}
}

func TestAServerThatRefusesARefSaysSo(t *testing.T) {
	s := newServer(t)
	dir := s.repo(t, "repo.git")
	hook := "#!/bin/sh\nwhile read old new ref; do case $ref in refs/heads/*) ;; *) echo only branches; exit 1;; esac; done\n"
	if err := os.WriteFile(filepath.Join(dir, "hooks", "pre-receive"), []byte(hook), 0o700); err != nil {
		t.Fatal(err)
	}
	r := s.open(t, "repo.git", t.TempDir())
	err := r.Light(t.Context(), map[string]string{beaconRef: "beat"}, who, when)
	if refused, ok := errors.AsType[*RefusedError](err); !ok || !strings.Contains(refused.Why, "only branches") {
		t.Errorf("the error is %v", err)
	}
	if err := r.Light(t.Context(), map[string]string{"refs/heads/waybill/heartbeat/eu-1": "beat"}, who, when); err != nil {
		t.Error(err)
	}
	if err := mustOpen(t, Options{Location: dir}).Light(t.Context(), map[string]string{beaconRef: "beat"}, who, when); !errors.Is(err, ErrNoURL) {
		t.Errorf("on disk: %v", err)
	}
}

// BenchmarkBeacons looks at a server with 3,000 refs, of which 1,000 are heartbeats: while none is
// new, and when all are.
func BenchmarkBeacons(b *testing.B) {
	key, _, err := signing.NewKey(rand.Reader, "")
	if err != nil {
		b.Fatal(err)
	}
	s := newServer(b)
	dir := s.repo(b, "repo.git")
	r := s.open(b, "repo.git", b.TempDir())
	beats := fill(b, dir, key, 1000)
	for _, c := range []struct {
		name string
		new  int
	}{{"quiet", 0}, {"all new", beats}} {
		b.Run(c.name, func(b *testing.B) {
			before := cpu(b)
			for b.Loop() {
				got, err := r.RemoteRefs(b.Context(), func(ref string, _ files.ID) bool {
					return c.new > 0 && strings.HasPrefix(ref, "refs/waybill/heartbeat/")
				})
				if err != nil || len(got.Refs) < 3*beats || len(got.Read) != c.new {
					b.Fatalf("%d refs, %d read: %v", len(got.Refs), len(got.Read), err)
				}
				for _, beacon := range got.Read {
					if err := key.Public().Verify(signing.Git, beacon.Signed, beacon.Signature); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64((cpu(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// fill gives a repository heartbeats, and a status and an observation for each.
func fill(b *testing.B, dir string, key signing.Key, n int) int {
	b.Helper()
	for c := range n {
		name := fmt.Sprintf("cluster-%04d", c)
		u := Update{Branch: "b", Tree: files.NewFolder(nil), Author: who, When: when, Message: name + ": heartbeat\n\nHeartbeat-Cluster: " + name + "\n"}
		data, err := u.commit(key.SignCommit)
		if err != nil {
			b.Fatal(err)
		}
		id := files.Sum("commit", data)
		looseObjects(b, dir, "commit", id, data)
		for _, ref := range []string{"refs/waybill/heartbeat/", "refs/heads/waybill/status/", "refs/heads/waybill/observed/"} {
			at := filepath.Join(dir, filepath.FromSlash(ref+name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(id.String()+"\n"), 0o600)); err != nil {
				b.Fatal(err)
			}
		}
	}
	looseObjects(b, dir, "tree", files.NewFolder(nil).ID(), nil)
	run(b, dir, "pack-refs", "--all")
	return n
}

// loose writes an object as Git does.
func looseObjects(b *testing.B, dir, kind string, id files.ID, data []byte) {
	b.Helper()
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	fmt.Fprintf(w, "%s %d\x00", kind, len(data))
	if _, err := w.Write(data); err != nil {
		b.Fatal(err)
	}
	at := filepath.Join(dir, "objects", id.String()[:2], id.String()[2:])
	if err := errors.Join(w.Close(), os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, z.Bytes(), 0o600)); err != nil {
		b.Fatal(err)
	}
}

// cpu is the processor time of this process, the server's Git not included.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
