package registry_test

import (
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/registry"
)

// BenchmarkRound is one round in which nothing is new: 300 repositories of 500 tags each. Processor time is that of the
// registry, too, which is in this process.
func BenchmarkRound(b *testing.B) {
	const repositories = 300
	tags := numbered(500)
	for _, withETag := range []bool{true, false} {
		b.Run(fmt.Sprintf("etag=%t", withETag), func(b *testing.B) {
			s := serve(b, func(w http.ResponseWriter, r *http.Request) {
				if withETag {
					w.Header().Set("ETag", `"1"`)
					if r.Header.Get("If-None-Match") != "" {
						w.WriteHeader(http.StatusNotModified)
						return
					}
				}
				list(w, tags)
			})
			c, _ := client(b, registry.Options{PerHost: -1}, s)
			known := make([]registry.Known, repositories)
			round := func() {
				for i, k := range known {
					var err error
					if known[i], err = c.Tags(b.Context(), fmt.Sprintf("%s/org/app-%d", s.host, i), k); err != nil {
						b.Fatal(err)
					}
				}
			}
			round()
			s.asked()
			before := processor(b)
			for b.Loop() {
				round()
			}
			b.ReportMetric(float64(len(s.asked()))/float64(b.N), "requests/round")
			b.ReportMetric((processor(b)-before).Seconds()/float64(b.N), "cpu-s/round")
		})
	}
}

// processor is the processor time of this process.
func processor(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
