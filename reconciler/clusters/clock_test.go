package clusters

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
)

// TestAnObjectIsAsOldAsTheServerSays: whoever watches may have another clock than the API server, by
// which objects are made.
func TestAnObjectIsAsOldAsTheServerSays(t *testing.T) {
	t.Parallel()
	created := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	dates := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Date"] = nil // none of its own
		if date := <-dates; date != "" {
			w.Header().Set("Date", date)
		}
	}))
	defer server.Close()
	c, err := Open("eu", "", "", &rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	thing := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing",
		"metadata": map[string]any{"name": "a", "creationTimestamp": created.Format(time.RFC3339)},
	}
	judge := &health.Judge{Kinds: interpret.New()}
	for _, tt := range []struct {
		name, date string
		want       karmada.ResourceHealth
	}{
		{"a server that says no time", "", karmada.ResourceHealthy},
		{"five seconds after", created.Add(5 * time.Second).Format(http.TimeFormat), karmada.ResourceUnhealthy},
		{"a time that cannot be read, after five seconds", "soon", karmada.ResourceUnhealthy},
		{"ten seconds after", created.Add(10 * time.Second).Format(http.TimeFormat), karmada.ResourceHealthy},
	} {
		dates <- tt.date
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/readyz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.clock.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if h := judge.Of(thing, health.Moment{Now: c.clock.last()}); h.State != tt.want {
			t.Errorf("%s: it is %s (%s), want %s", tt.name, h.State, h.Message, tt.want)
		}
	}
}
