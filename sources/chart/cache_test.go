package chart

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/lock"
)

// resolved returns a store with a folder and an entry that it has resolved.
func resolved(t *testing.T) (*Store, *server, lock.Entry) {
	t.Helper()
	srv := repo(t, "1.0.0")
	s := store(t, Options{Allow: []string{srv.URL}, Dir: filepath.Join(t.TempDir(), "charts")})
	e, err := s.Resolve(t.Context(), helmRef(srv, ""))
	if err != nil {
		t.Fatal(err)
	}
	return s, srv, e
}

func onlyFile(t *testing.T, s *Store) string {
	t.Helper()
	files := s.cache.files()
	if len(files) != 1 {
		t.Fatalf("the cache has %d files, want one", len(files))
	}
	return filepath.Join(s.cache.root.Name(), files[0].Name())
}

func TestWhatIsKeptNeedsNoNetwork(t *testing.T) {
	s, srv, e := resolved(t)
	srv.Close()
	files, err := s.Fetch(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	wantChart(t, files)
	t.Run("nor permission for the host", func(t *testing.T) {
		again := store(t, Options{Dir: s.cache.root.Name()})
		if _, err := again.Fetch(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAPoisonedFileIsFetchedAgain(t *testing.T) {
	for _, tt := range []struct {
		name   string
		poison func(path string) error
	}{
		{"other bytes", func(p string) error { return os.WriteFile(p, packed(t, "app", "6.6.6"), 0o600) }},
		{"no bytes", func(p string) error { return os.Truncate(p, 0) }},
		{"fewer bytes", func(p string) error { return os.Truncate(p, 10) }},
		{"no file", os.Remove},
		{"a link out of the folder", func(p string) error {
			other := filepath.Join(t.TempDir(), "x")
			if err := os.WriteFile(other, packed(t, "app", "6.6.6"), 0o600); err != nil {
				return err
			}
			_ = os.Remove(p)
			return os.Symlink(other, p)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, srv, e := resolved(t)
			before := srv.hits.Load()
			path := onlyFile(t, s)
			if err := tt.poison(path); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				files, err := s.Fetch(t.Context(), e)
				if err != nil {
					t.Fatal(err)
				}
				wantChart(t, files)
			}
			if n := srv.hits.Load() - before; n != 1 {
				t.Errorf("%d requests, want one, and the file mended", n)
			}
			if data, err := os.ReadFile(path); err != nil || digest(data) != e.Digest {
				t.Errorf("the file is not mended: %v", err)
			}
		})
	}
}

func TestALostFolderCostsTimeOnly(t *testing.T) {
	s, _, e := resolved(t)
	if err := os.RemoveAll(s.cache.root.Name()); err != nil {
		t.Fatal(err)
	}
	files, err := s.Fetch(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	wantChart(t, files)
}

func TestAFolderThatCannotBeMadeCostsTimeOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	srv := repo(t, "1.0.0")
	s := store(t, Options{Allow: []string{srv.URL}, Dir: filepath.Join(file, "charts")})
	e, err := s.Resolve(t.Context(), helmRef(srv, ""))
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.Fetch(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	wantChart(t, files)
}

func TestTheFolderStaysWithinItsBound(t *testing.T) {
	clock := time.Now()
	now := func() time.Time { clock = clock.Add(time.Second); return clock }
	c, err := openCache(t.TempDir(), 3000, now)
	if err != nil {
		t.Fatal(err)
	}
	archives := make([][]byte, 5)
	for i := range archives {
		archives[i] = bytes.Repeat([]byte{byte(i)}, 1000)
	}
	kept := func() (list []int) {
		for i, a := range archives {
			if slices.ContainsFunc(c.files(), func(f os.FileInfo) bool { return f.Name() == fileOf(digest(a)) }) {
				list = append(list, i)
			}
		}
		return list
	}
	for _, a := range archives[:3] {
		c.keep(digest(a), a)
		old := clock.Add(-time.Hour)
		clock = clock.Add(time.Second)
		if err := c.root.Chtimes(fileOf(digest(a)), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := c.archive(digest(archives[0])); !ok {
		t.Fatal("the first is not there")
	}
	c.keep(digest(archives[3]), archives[3])
	if got, want := kept(), []int{0, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("%v are kept, want %v: the one that was not used for the longest time goes", got, want)
	}
	if err := os.WriteFile(filepath.Join(c.root.Name(), "README"), make([]byte, 9000), 0o600); err != nil {
		t.Fatal(err)
	}
	if c.keep(digest([]byte("x")), []byte("x")); !slices.Equal(kept(), []int{0, 3}) { // what is somebody's does not count
		t.Errorf("beside a file of somebody's %v are kept, want all but the oldest", kept())
	}
	huge := make([]byte, 4000)
	c.keep(digest(huge), huge)
	if _, ok := c.archive(digest(huge)); !ok || len(kept()) != 0 {
		t.Errorf("one above the bound is there: %v, beside %v; want it alone", ok, kept())
	}
}

func TestAFolderWithoutABoundOfItsOwnKeepsSeveral(t *testing.T) {
	c, err := openCache(t.TempDir(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, archive := range []string{"a", "b", "c"} {
		c.keep(digest([]byte(archive)), []byte(archive))
	}
	if n := len(c.files()); n != 3 {
		t.Errorf("it keeps %d", n)
	}
}

func TestPartsThatWereLeftBehindGo(t *testing.T) {
	s, _, _ := resolved(t)
	dir := s.cache.root.Name()
	for name, age := range map[string]time.Duration{"old.part": 2 * time.Hour, "new.part": time.Minute, "README": 3 * time.Hour} {
		path, at := filepath.Join(dir, name), time.Now().Add(-age)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	s.keep(digest([]byte("x")), []byte("x"))
	var left []string
	for _, f := range s.cache.files() {
		left = append(left, f.Name())
	}
	if !slices.Contains(left, "new.part") || !slices.Contains(left, "README") || slices.Contains(left, "old.part") {
		t.Errorf("what is left is %v", left)
	}
}

// What is in the way of an archive stays, and leaves no part behind.
func TestAFolderInThePlaceOfAnArchive(t *testing.T) {
	s, srv, e := resolved(t)
	path := onlyFile(t, s)
	if err := errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	before := srv.hits.Load()
	for range 2 {
		files, err := s.Fetch(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		wantChart(t, files)
	}
	if n, left := srv.hits.Load()-before, s.cache.files(); n != 2 || len(left) != 0 {
		t.Errorf("after %d requests there are %v", n, left)
	}
}

func TestManyMayFetchAtOnce(t *testing.T) {
	archive := packed(t, "app", "1.0.0")
	gate := make(chan struct{})
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		<-gate
		_, _ = w.Write(archive)
	})
	dir := t.TempDir()
	// Two stores on one folder, as two processes have.
	stores := []*Store{
		store(t, Options{Allow: []string{srv.URL}, Dir: dir}), store(t, Options{Allow: []string{srv.URL}, Dir: dir}),
	}
	e := entryAt(srv.URL+"/x", archive)
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		wg.Go(func() { _, errs[i] = stores[i%2].Fetch(t.Context(), e) })
	}
	close(gate)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if n := srv.hits.Load(); n > 2 {
		t.Errorf("%d requests, want one a store at most", n)
	}
	if files := stores[0].cache.files(); len(files) != 1 {
		t.Errorf("%d files are left", len(files))
	}
}

func TestAFetchThatFailsLeavesTheTurnToTheNext(t *testing.T) {
	archive := packed(t, "app", "1.0.0")
	var srv *server
	srv = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if srv.hits.Load() == 1 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = w.Write(archive)
	})
	s := store(t, Options{Allow: []string{srv.URL}, Dir: t.TempDir()})
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() { _, errs[i] = s.Fetch(t.Context(), entryAt(srv.URL+"/x", archive)) })
	}
	wg.Wait()
	failed := 0
	for _, err := range errs {
		if err != nil {
			failed++
		}
	}
	if failed != 1 || srv.hits.Load() != 2 {
		t.Errorf("%d failed after %d requests, want 1 after 2: %v", failed, srv.hits.Load(), fmt.Sprint(errs))
	}
}
