package bench

import (
	"runtime"
	"testing"
)

// BenchmarkKept publishes 1,000 templates to 1,000 clusters, of which a fifth is different
// in every one, and reports what a controller keeps in memory afterwards. What it published
// is 200,000 files of 1.1 kB.
func BenchmarkKept(b *testing.B) {
	for b.Loop() {
		src, bare := repositories(b, New(Shape{Clusters: 1000, Templates: 1000, Regions: 10, Overridden: 20, Unique: true}))
		r := reconciling(b, src, bare)
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
