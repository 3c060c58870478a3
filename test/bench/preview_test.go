package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/versions"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/sources/git"
)

// repositories makes a repository of a source, with one commit on main, and a bare one to publish to.
func repositories(b *testing.B, s *Source) (src, bare string) {
	b.Helper()
	dir := b.TempDir()
	src, bare = filepath.Join(dir, "src"), filepath.Join(dir, "bare.git")
	if err := s.WriteTo(src); err != nil {
		b.Fatal(err)
	}
	gitIn(b, dir, "init", "-q", "-b", "main", src)
	gitIn(b, dir, "init", "-q", "--bare", bare)
	gitIn(b, src, "add", "-A")
	gitIn(b, src, "commit", "-qm", "first")
	return src, bare
}

func gitIn(b *testing.B, dir string, args ...string) {
	b.Helper()
	all := append([]string{"-C", dir, "-c", "user.name=b", "-c", "user.email=b@example.com"}, args...)
	if out, err := exec.CommandContext(b.Context(), "git", all...).CombinedOutput(); err != nil {
		b.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// reconciling is a reconciler that remembers nothing yet.
func reconciling(b *testing.B, src, bare string) *reconciler.Reconciler {
	b.Helper()
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Cache: cache.Memory(), Now: time.Now}
	var err error
	if r.Source, err = git.Open(b.Context(), git.Options{Location: src}); err != nil {
		b.Fatal(err)
	}
	if r.Target, err = git.Open(b.Context(), git.Options{Location: bare}); err != nil {
		b.Fatal(err)
	}
	return r
}

// processor is how much of the processors the tests have taken so far, which says more than a clock
// on a machine that does other things, too.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPreview says what a commit does to 1,000 clusters and 1,000 templates: one that changes a
// line of a template, and one that changes a policy, so that 100 templates move. A server that
// has published is warm; a job of CI is cold.
func BenchmarkPreview(b *testing.B) {
	base := New(Shape{Clusters: 1000, Templates: 1000, Regions: 10, Overridden: 10}).With("policies/moving.yaml", "", Moving)
	src, bare := repositories(b, base)
	if _, err := reconciling(b, src, bare).Publish(b.Context(), "main"); err != nil {
		b.Fatal(err)
	}
	for _, change := range []struct {
		name, file, old, now, want string
	}{
		{"line", "apps/team-19/app-00999.yaml", "option = value\n", "option = other\n", "1 object in 1000 of 1000 clusters: 1 changes"},
		{"policy", "policies/moving.yaml", "[r0, r1, r2, r3, r4]", "[r3, r4, r5, r6, r7]", "100 objects in 600 of 1000 clusters: 100 move"},
	} {
		gitIn(b, src, "checkout", "-q", "-B", change.name, "main")
		name := filepath.Join(src, change.file)
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Replace(string(text), change.old, change.now, 1)), 0o600); err != nil {
			b.Fatal(err)
		}
		gitIn(b, src, "commit", "-qam", change.name)
		preview := func(b *testing.B, r *reconciler.Reconciler) {
			b.Helper()
			head, err := r.Source.Snapshot(b.Context(), change.name, "")
			if err != nil {
				b.Fatal(err)
			}
			c, err := versions.Compare(b.Context(), r, "main", head)
			if err != nil {
				b.Fatal(err)
			}
			if got := c.Totals.String(); got != change.want {
				b.Fatalf("the preview says %q, want %q", got, change.want)
			}
		}
		b.Run(change.name+"/warm", func(b *testing.B) {
			r := reconciling(b, src, bare)
			preview(b, r)
			used := processor(b)
			for b.Loop() {
				preview(b, r)
			}
			b.ReportMetric(float64((processor(b)-used).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
		b.Run(change.name+"/cold", func(b *testing.B) {
			used := processor(b)
			for b.Loop() {
				preview(b, reconciling(b, src, bare))
			}
			b.ReportMetric(float64((processor(b)-used).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}
