package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// options are those of these tests: small limits, this binary as a child.
func options(tb testing.TB) Options {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return Options{
		Command: []string{self, childArgument}, Trust: Trusted,
		Memory: 128 << 20, CPU: time.Second, Wall: 5 * time.Second, MaxInput: 1 << 20, MaxOutput: 1 << 20,
	}
}

// pool returns a pool that is closed at the end of the test.
func pool(tb testing.TB, change ...func(*Options)) *Pool {
	tb.Helper()
	o := options(tb)
	for _, c := range change {
		c(&o)
	}
	p := New(o)
	tb.Cleanup(p.Close)
	return p
}

func TestHonestJobs(t *testing.T) {
	t.Setenv("CANARY", "in the environment")
	files := fstest.MapFS{
		"a.yaml":       {Data: []byte("a: 1")},
		"dir/b.yaml":   {Data: []byte("b: 2")},
		"dir/sub/c":    {Data: []byte("c")},
		"link":         {Data: []byte("a.yaml"), Mode: fs.ModeDevice},
		"large":        {Data: make([]byte, 300<<10)},
		"empty/.keep":  {},
		"other/d.yaml": {Data: []byte("d")},
	}
	tests := []struct {
		name  string
		order order
		want  string
		err   string
		reads []Read
	}{
		{name: "the answer of the handler is the output", order: order{Do: "echo", Arg: "hello"}, want: "hello"},
		{name: "an empty answer is one", order: order{Do: "echo"}},
		{name: "the error of the handler keeps its text", order: order{Do: "fail", Arg: "line 3: no such key"}, err: "line 3: no such key"},
		{
			name: "but holds no orders for terminals", order: order{Do: "fail", Arg: "a\x1b[2Jb\n\tc\xffd\u009be"},
			err: "a\uFFFD[2Jb\n\tc\uFFFDd\uFFFDe",
		},
		{
			name: "a file is read", order: order{Do: "cat", Arg: "dir/b.yaml"}, want: "b: 2",
			reads: []Read{{"dir/b.yaml", File}},
		},
		{
			name: "a file that is not there is a read, too", order: order{Do: "cat", Arg: "no"},
			err: "read no: file does not exist", reads: []Read{{"no", Absent}},
		},
		{
			name: "a path out of the tree is not even asked for", order: order{Do: "cat", Arg: "../x"},
			err: "read ../x: invalid argument",
		},
		{name: "nor is an absolute one", order: order{Do: "cat", Arg: "/etc/passwd"}, err: "read /etc/passwd: invalid argument"},
		{
			name: "what is no file is refused", order: order{Do: "cat", Arg: "link"},
			err: "read link: invalid argument", reads: []Read{{"link", Refused}},
		},
		{
			name: "a folder is no file", order: order{Do: "cat", Arg: "dir"},
			err: "read dir: is a folder", reads: []Read{{"dir", Folder}},
		},
		{
			name: "permissions are the same for all", order: order{Do: "stat", Arg: "a.yaml"}, want: "-rw-r--r-- 4",
			reads: []Read{{"a.yaml", File}},
		},
		{
			name: "a folder is listed in order", order: order{Do: "sort"}, want: "a.yaml dir empty large link other",
			reads: []Read{{".", Folder}},
		},
		{name: "the environment is empty", order: order{Do: "getenv"}},
		{name: "the folder is the root", order: order{Do: "getwd"}, want: "/"},
	}
	p := pool(t)
	var jobs []Job
	for _, tt := range tests {
		jobs = append(jobs, tt.order.job(files))
	}
	results := p.Do(t.Context(), jobs)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := results[i]
			if string(got.Output) != tt.want || message(got.Err) != tt.err {
				t.Errorf("output %q, error %q; want %q, %q", got.Output, message(got.Err), tt.want, tt.err)
			}
			if d := cmp.Diff(tt.reads, got.Reads); d != "" {
				t.Errorf("reads (-want +got):\n%s", d)
			}
		})
	}
}

func TestFileSystem(t *testing.T) {
	p := pool(t, func(o *Options) { o.Jobs = 2 })
	files := fstest.MapFS{}
	var want strings.Builder
	for i := range 200 {
		name := fmt.Sprintf("d%d/f%03d", i%7, i)
		files[name] = &fstest.MapFile{Data: []byte(name)}
	}
	if err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			fmt.Fprintf(&want, "%s=%s\n", name, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, res := range p.Do(t.Context(), slices.Repeat([]Job{order{Do: "walk"}.job(files)}, 4)) {
		if d := cmp.Diff(want.String(), string(res.Output)); d != "" || res.Err != nil {
			t.Errorf("error %v, output (-want +got):\n%s", res.Err, d)
		}
		if len(res.Reads) != 208 {
			t.Errorf("%d reads, want 200 files and 8 folders", len(res.Reads))
		}
	}
}

// broken is a file system that fails at one path.
type broken struct {
	fs.FS

	path string
	err  error
}

func (b broken) Open(name string) (fs.File, error) {
	if name == b.path {
		return nil, b.err
	}
	return b.FS.Open(name)
}

func TestFilesThatCannotBeHad(t *testing.T) {
	gone := errors.New("the disk is gone")
	files := fstest.MapFS{"a": {Data: []byte("a")}, "b": {Data: []byte("b")}, "large": {Data: make([]byte, 2<<20)}}
	p := pool(t)
	results := p.Do(t.Context(), []Job{
		order{Do: "cat", Arg: "b"}.job(broken{files, "b", gone}),
		order{Do: "cat", Arg: "large"}.job(files),
		order{Do: "echo", Arg: strings.Repeat("x", 2<<20)}.job(files),
		order{Do: "cat", Arg: "a"}.job(nil),
		order{Do: "cat", Arg: "a"}.job(files),
	})
	if !errors.Is(results[0].Err, gone) || message(results[0].Err) != "rendering cat: reading b: the disk is gone" {
		t.Errorf("an unreadable file gives %v", results[0].Err)
	}
	if got := message(results[1].Err); got != "rendering cat: reading large: its 2097152 bytes are too many" {
		t.Errorf("a large file gives %q", got)
	}
	if got := message(results[2].Err); !strings.Contains(got, "at most 1048576 are allowed") {
		t.Errorf("a large input gives %q", got)
	}
	if got := message(results[3].Err); got != "read a: file does not exist" {
		t.Errorf("no files give %q", got)
	}
	if got := results[4]; got.Err != nil || string(got.Output) != "a" {
		t.Errorf("the job after them gives %q, %v", got.Output, got.Err)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// meeting is a file system whose files open when two ask for one at the same time.
type meeting struct {
	fs.FS

	here chan struct{}
}

func (m meeting) Open(name string) (fs.File, error) {
	select {
	case m.here <- struct{}{}:
	case <-m.here:
	case <-time.After(3 * time.Second):
		return nil, errors.New("nobody came")
	}
	return m.FS.Open(name)
}

// ReadFile waits for nobody.
func (m meeting) ReadFile(name string) ([]byte, error) { return fs.ReadFile(m.FS, name) }

func TestJobsRunSideBySide(t *testing.T) {
	p := pool(t, func(o *Options) { o.Jobs = 2 })
	j := order{Do: "cat", Arg: "a"}.job(meeting{fstest.MapFS{"a": {Data: []byte("a")}}, make(chan struct{})})
	for _, res := range p.Do(t.Context(), []Job{j, j}) {
		if res.Err != nil || string(res.Output) != "a" {
			t.Errorf("got %q, %v", res.Output, res.Err)
		}
	}
	if len(p.idle) != 2 {
		t.Errorf("%d children wait", len(p.idle))
	}
}

// closing is a file system that closes a pool when a file is asked for.
type closing struct {
	fs.FS

	pool *Pool
}

func (c closing) Open(name string) (fs.File, error) {
	c.pool.Close()
	return c.FS.Open(name)
}

// A child that is at work when its pool is closed ends with the call.
func TestACallThatOutlastsItsPoolLeavesNoChild(t *testing.T) {
	p := pool(t)
	res := p.Do(t.Context(), []Job{order{Do: "cat", Arg: "a"}.job(closing{fstest.MapFS{"a": {Data: []byte("a")}}, p})})[0]
	if res.Err != nil || string(res.Output) != "a" {
		t.Errorf("got %q, %v", res.Output, res.Err)
	}
	if len(p.idle) > 0 {
		t.Errorf("%d children wait", len(p.idle))
	}
}

func TestConcurrentCalls(t *testing.T) {
	p := pool(t, func(o *Options) { o.Jobs = 2 })
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			want := strconv.Itoa(i)
			for _, res := range p.Do(t.Context(), slices.Repeat([]Job{order{Do: "echo", Arg: want}.job(nil)}, 5)) {
				if res.Err != nil || string(res.Output) != want {
					t.Errorf("got %q, %v; want %s", res.Output, res.Err, want)
				}
			}
		})
	}
	all.Wait()
	if len(p.idle) > 2 {
		t.Errorf("%d children wait", len(p.idle))
	}
}

func TestOldChildrenAreReplaced(t *testing.T) {
	p := pool(t)
	j := order{Do: "echo"}.job(nil)
	p.Do(t.Context(), []Job{j})
	old := p.idle[0]
	old.jobs = maxJobs - 1
	for _, res := range p.Do(t.Context(), []Job{j, j}) {
		if res.Err != nil {
			t.Error(res.Err)
		}
	}
	if len(p.idle) != 1 || p.idle[0] == old {
		t.Error("the old child is there")
	}
}

// TestIdleDeathHurtsNobody kills a child that waits.
func TestIdleDeathHurtsNobody(t *testing.T) {
	p := pool(t)
	j := order{Do: "echo", Arg: "hello"}.job(nil)
	p.Do(t.Context(), []Job{j})
	p.idle[0].kill()
	if res := p.Do(t.Context(), []Job{j})[0]; res.Err != nil || string(res.Output) != "hello" {
		t.Errorf("got %q, %v", res.Output, res.Err)
	}
}
