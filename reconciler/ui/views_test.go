package ui_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestPagesNeedALogin: whoever may not look sees nothing of a fleet, whatever is asked for; files that all pages have are for everybody.
func TestPagesNeedALogin(t *testing.T) {
	f := published(t)
	f.ui.Guard = shut{}
	f.handler = f.ui.Handler()
	for _, path := range []string{
		"/", "/fleet", "/search?q=web", "/matrix", "/clusters/eu", "/templates/Deployment.apps/shop/web", "/templates/Deployment.apps/shop/web/why",
		"/templates/Deployment/shop/web", "/updates", "/rollouts", "/rollouts/shop/web", "/changes", "/changes/" + f.head("waybill/state").Commit.String(), "/nothing",
	} {
		if w := f.get(http.MethodGet, path); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "web:") {
			t.Errorf("%s: %d %.200s", path, w.Code, w.Body)
		}
	}
	if w := f.get(http.MethodHead, "/events"); w.Code != http.StatusUnauthorized {
		t.Errorf("events: %d", w.Code)
	}
}

// TestATemplateThatIsNamedInAnotherWay leads to how it is called; without a group it is shown, for which one that is may change.
func TestATemplateThatIsNamedInAnotherWay(t *testing.T) {
	f := published(t)
	const here = "/templates/Deployment.apps/shop/web"
	for path, want := range map[string]string{
		"/templates/deployment.apps/shop/web": here, "/templates/deployment/shop/web": here, "/templates/deployment.apps/shop/web?at=eu": "", "/templates/Deployment/shop/web": "", here: "",
	} {
		w := f.get(http.MethodGet, path)
		if to := w.Header().Get("Location"); to != want || (w.Code == http.StatusOK) != (want == "") {
			t.Errorf("%s is answered %d, and leads to %q; want %q", path, w.Code, to, want)
		}
	}
}

// TestAFragmentIsWrittenAlone where the script asks for it, of a page that has one; all else is whole.
func TestAFragmentIsWrittenAlone(t *testing.T) {
	f := published(t)
	const why = "/templates/Deployment.apps/shop/web/why"
	for _, tt := range []struct {
		path, asked string
		whole       bool
	}{{why, "1", false}, {why, "", true}, {"/fleet", "1", true}} {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, tt.path, http.NoBody)
		r.Host = "localhost:8090"
		r.Header.Set("X-Fragment", tt.asked)
		f.handler.ServeHTTP(w, r)
		text := w.Body.String()
		if whole := strings.Contains(text, "<html"); whole != tt.whole || !strings.Contains(text, "eu") || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s, asked for a fragment by %q: it is whole: %t, as %q", tt.path, tt.asked, whole, w.Header().Get("Content-Type"))
		}
	}
}

// TestAStreamOfNothingNew says once which facts there are, and later that it is there still, so that nobody in between ends it.
func TestAStreamOfNothingNew(t *testing.T) {
	f := published(t)
	url, _ := f.listens(t)
	began := time.Now()
	f.ui.Now = func() time.Time {
		return began.Add(30 * time.Since(began).Truncate(500*time.Millisecond))
	}
	_, r := stream(t, url)
	var lines []string
	for s := bufio.NewScanner(r); len(lines) < 4 && s.Scan(); {
		if line := s.Text(); line != "" {
			lines = append(lines, line)
		}
	}
	if all := strings.Join(lines, "\n"); strings.Count(all, "event: facts") != 1 || strings.Count(all, ": still here") != 2 {
		t.Errorf("it says %q", all)
	}
}
