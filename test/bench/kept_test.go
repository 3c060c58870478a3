package bench

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/sources/git"
)

// BenchmarkKept publishes 1,000 templates to 1,000 clusters, of which a fifth is different
// in every one, and reports what a controller keeps in memory afterwards. What it published
// is 200,000 files of 1.1 kB.
func BenchmarkKept(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		src, bare := filepath.Join(dir, "src"), filepath.Join(dir, "bare.git")
		if err := New(Shape{Clusters: 1000, Templates: 1000, Regions: 10, Overridden: 20, Unique: true}).WriteTo(src); err != nil {
			b.Fatal(err)
		}
		for _, args := range [][]string{
			{"init", "-q", "-b", "main", src},
			{"-C", src, "add", "-A"},
			{"init", "-q", "--bare", bare},
			{"-C", src, "-c", "user.name=b", "-c", "user.email=b@example.com", "commit", "-qm", "first"},
		} {
			if out, err := exec.CommandContext(b.Context(), "git", args...).CombinedOutput(); err != nil {
				b.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		r := &reconciler.Reconciler{Cache: cache.Memory(), Now: time.Now}
		var err error
		if r.Source, err = git.Open(b.Context(), git.Options{Location: src}); err != nil {
			b.Fatal(err)
		}
		if r.Target, err = git.Open(b.Context(), git.Options{Location: bare}); err != nil {
			b.Fatal(err)
		}
		if _, err := r.Publish(b.Context(), "main"); err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/1e6, "MB-kept")
		runtime.KeepAlive(r)
	}
}
