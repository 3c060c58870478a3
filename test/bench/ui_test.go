package bench

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/ui"
	"github.com/waybill-dev/waybill/reconciler/ui/login"
)

// BenchmarkUI asks for pages about 1,000 clusters of 1,000 objects each: first when nothing is known
// yet, then again while nothing moves.
func BenchmarkUI(b *testing.B) {
	const clusters, objects = 1000, 1000
	dir := told(b, clusters, objects)
	open := func() http.Handler {
		repo := opened(b, dir)
		u := &ui.UI{
			Reader: &facts.Reader{Reconciler: &reconciler.Reconciler{Source: repo, Target: repo, Now: time.Now}, Rev: "main"},
			Guard:  login.Open{}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		}
		return u.Handler()
	}
	get := func(h http.Handler, path, want string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), http.MethodGet, "http://localhost"+path, http.NoBody))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			b.Fatalf("%s: %d %.500s", path, w.Code, w.Body)
		}
	}
	b.Run("fleet/first", func(b *testing.B) {
		for b.Loop() {
			get(open(), "/", "<strong>1000</strong>")
		}
	})
	h := open()
	for name, path := range map[string]string{"fleet": "/", "matrix": "/matrix", "template": "/templates/ConfigMap/shop/app", "cluster": "/clusters/c0500", "changes": "/changes"} {
		b.Run(name+"/again", func(b *testing.B) {
			for b.Loop() {
				get(h, path, "</html>")
			}
		})
	}
}
