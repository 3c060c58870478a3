package bench

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/ui"
	"github.com/waybill-dev/waybill/reconciler/ui/login"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/shown"
	"github.com/waybill-dev/waybill/test/twin"
)

// pagesOf returns what serves the web UI of a repository.
func pagesOf(b *testing.B, dir string) http.Handler {
	b.Helper()
	repo := opened(b, dir)
	u := &ui.UI{
		Reader: &facts.Reader{Reconciler: &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Now: time.Now}, Rev: "main"},
		Guard:  login.Open{}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
	return u.Handler()
}

// page asks for one, which holds a text, and returns how long it is.
func page(b *testing.B, h http.Handler, path, want string) int {
	b.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), http.MethodGet, "http://localhost"+path, http.NoBody))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
		b.Fatalf("%s: %d %.1000s", path, w.Code, shown.Words(w.Body.String()))
	}
	return w.Body.Len()
}

// BenchmarkUI asks for the page of 1,000 clusters of 1,000 objects each: first when nothing is known
// yet, then again while nothing moves.
func BenchmarkUI(b *testing.B) {
	const clusters, objects = 1000, 1000
	dir := told(b, clusters, objects)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			page(b, pagesOf(b, dir), "/fleet", "<strong>1000</strong>")
		}
	})
	h := pagesOf(b, dir)
	page(b, h, "/fleet", "</html>")
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			page(b, h, "/fleet", "</html>")
		}
	})
}

// BenchmarkUIOfMany asks for the pages of 1,000 clusters with 1,000 templates, all of which are told of, and one of which is healthy
// nowhere. The aim for the matrix and the problems is less than 300 ms and 300 KB when something was looked at before.
func BenchmarkUIOfMany(b *testing.B) {
	const clusters, templates = 1000, 1000
	dir := toldOfMany(b, clusters, templates)
	h := pagesOf(b, dir)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	page(b, h, "/", "1000 of 1000 clusters")
	first := time.Since(start)
	paths := map[string]string{
		"problems": "/", "fleet": "/fleet", "matrix": "/matrix", "matrix-each": "/matrix?group=-", "unwell": "/matrix?unwell=1", "search": "/matrix?q=app-00777", "template": "/templates/Deployment.apps/team-00/app-00000", "cluster": "/clusters/c0500",
		"why": "/templates/Deployment.apps/team-00/app-00000/why", "changes": "/changes",
	}
	for name, path := range paths {
		b.Run(name+"/first", func(b *testing.B) {
			for b.Loop() {
				page(b, pagesOf(b, dir), path, "</html>")
			}
		})
		page(b, h, path, "</html>")
		b.Run(name+"/again", func(b *testing.B) {
			size := 0
			for b.Loop() {
				size = page(b, h, path, "</html>")
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.Logf("the first page takes %s; after all of them %d MiB are kept", first, (after.HeapAlloc-before.HeapAlloc)>>20)
	runtime.KeepAlive(h)
}

// toldOfMany publishes a source, and has each cluster say that all of it is applied and healthy but for the first template.
func toldOfMany(b *testing.B, clusters, templates int) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "repo.git")
	if out, err := exec.CommandContext(b.Context(), "git", "init", "-q", "--bare", "-b", "main", dir).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	repo := opened(b, dir)
	source := twin.Tree{}
	for path, text := range New(Shape{Clusters: clusters, Templates: templates, Regions: 10, Overridden: 10}).Texts {
		source[path] = twin.File([]byte(text))
	}
	write(b, repo, git.Update{Branch: "main", Tree: source.Folder(), Message: "first\n", When: time.Now(), Author: git.Author{Name: "a", Email: "a@example.com"}})
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: repo, Target: repo, Now: time.Now}
	if _, err := r.Publish(b.Context(), "main"); err != nil {
		b.Fatal(err)
	}
	heads, err := repo.Heads(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	all := status.Cluster{Objects: map[object.Ref]*status.Object{}}
	for i := range templates {
		ref := object.Ref{Group: "apps", Kind: "Deployment", Namespace: fmt.Sprintf("team-%02d", i%20), Name: fmt.Sprintf("app-%05d", i)}
		if i%2 == 1 {
			ref.Group, ref.Kind = "", "ConfigMap"
		}
		all.Objects[ref] = &status.Object{Applied: status.Application{Phase: status.PhaseApplied}, Health: status.Health{State: karmada.ResourceHealthy}}
		if i == 0 {
			all.Objects[ref].Health = status.Health{State: karmada.ResourceUnhealthy, Reason: "InProgress", Message: "1 of 3 replicas are available"}
		}
	}
	var updates []git.Update
	for i := range clusters {
		name := fmt.Sprintf("c%04d", i)
		c := all
		c.Summary = status.Summary{Name: name, Commit: heads["waybill/cluster/"+name], Verdict: status.Verdict{Reason: status.Applied}}
		updates = append(updates, status.Past{}.Next(name, status.Summarize(c), time.Now()))
	}
	write(b, repo, updates...)
	return dir
}
