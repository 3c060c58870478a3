package registry_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/registry"
)

func TestAHostThatIsBusyIsLeftAlone(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		after  string
		date   string
		want   time.Duration
	}{
		{"seconds", 429, "120", "", 2 * time.Minute},
		{"a server that is away", 503, "30", "", 30 * time.Second},
		{"not a word of when", 429, "", "", time.Minute},
		{"at once", 429, "0", "", time.Second},
		{"a date, by the server's own clock", 503, "Mon, 01 Jan 2001 00:05:00 GMT", "Mon, 01 Jan 2001 00:00:00 GMT", 5 * time.Minute},
		{"a date of long ago", 503, "Mon, 01 Jan 2001 00:00:00 GMT", "Tue, 24 Nov 2026 12:00:00 GMT", time.Second},
		{"a forged date", 503, "Fri, 31 Dec 9999 23:59:59 GMT", "Tue, 24 Nov 2026 12:00:00 GMT", 24 * time.Hour},
		{"for ever", 429, "4000000000", "", 24 * time.Hour},
		{"nonsense", 429, "soon", "", time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			busy := true
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if !busy {
					list(w, []string{"1.0.0"})
					return
				}
				if tt.date != "" {
					w.Header().Set("Date", tt.date)
				}
				w.Header().Set("Retry-After", tt.after)
				w.WriteHeader(tt.status)
			})
			c, at := client(t, registry.Options{}, s)
			_, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{})
			until := wantClass(t, err, registry.Busy, "busy", stamp(noon.Add(tt.want)))
			if !until.Equal(noon.Add(tt.want)) {
				t.Errorf("until %v, want %v", until, noon.Add(tt.want))
			}
			busy = false
			at.at = until.Add(-time.Nanosecond)
			_, err = c.Tags(t.Context(), s.host+"/org/other", registry.Known{})
			wantClass(t, err, registry.Busy)
			if n := len(s.asked()); n != 1 {
				t.Errorf("it was asked %d times", n)
			}
			at.at = until
			if _, err = c.Tags(t.Context(), s.host+"/org/app", registry.Known{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// Of two answers that say for how long a host is to be left alone the longer counts, whichever comes last.
func TestTheLongerRestCounts(t *testing.T) {
	for _, first := range []string{"600", "60"} {
		both := make(chan struct{}, 3)
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			both <- struct{}{}
			for len(both) < 2 {
				time.Sleep(time.Millisecond) // both are asked before one is answered
			}
			after := first
			if r.URL.Path == "/v2/org/other/tags/list" { // is answered last
				time.Sleep(50 * time.Millisecond)
				after = map[string]string{"600": "60", "60": "600"}[first]
			}
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		c, _ := client(t, registry.Options{PerHost: -1}, s)
		var asking sync.WaitGroup
		for _, name := range []string{"app", "other"} {
			asking.Go(func() { _, _ = c.Tags(t.Context(), s.host+"/org/"+name, registry.Known{}) })
		}
		asking.Wait()
		_, err := c.Tags(t.Context(), s.host+"/org/third", registry.Known{})
		if until := wantClass(t, err, registry.Busy); !until.Equal(noon.Add(10 * time.Minute)) {
			t.Errorf("where the first says %s it is left alone until %v", first, until)
		}
	}
}

// A host that gives no answer in time is waited for once, and not for each of its repositories.
func TestAHostThatDoesNotAnswerIsLeftAlone(t *testing.T) {
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c, at := client(t, registry.Options{Timeout: time.Second}, s)
	_, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{})
	wantClass(t, err, registry.Unavailable)
	_, err = c.Tags(t.Context(), s.host+"/org/other", registry.Known{})
	wantClass(t, err, registry.Busy, stamp(at.at.Add(time.Minute)))
	if n := len(s.asked()); n > 1 {
		t.Errorf("it was asked %d times", n)
	}
}

// A request that its caller gives up says nothing of the host.
func TestAHostThatNobodyWaitsForIsNotBusy(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	c, _ := client(t, registry.Options{}, s)
	if _, err := c.Tags(ctx, s.host+"/org/app", registry.Known{}); err == nil {
		t.Error("it answers")
	}
	s.answer(tagsHandler("1.0.0"))
	if _, err := c.Tags(t.Context(), s.host+"/org/other", registry.Known{}); err != nil {
		t.Error(err)
	}
}

// Of two that wait for their turns the first is told that the host is busy; the second does not ask it.
func TestAHostThatBecomesBusyMeanwhile(t *testing.T) {
	s := serve(t, tagsHandler("1.0.0"))
	var c *registry.Client
	depth := 0
	c, _ = client(t, registry.Options{Pause: func(ctx context.Context, _ time.Duration) error {
		if depth++; depth == 1 {
			s.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
			_, err := c.Tags(ctx, s.host+"/org/other", registry.Known{})
			wantClass(t, err, registry.Busy)
		}
		return nil
	}}, s)
	if _, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{})
	wantClass(t, err, registry.Busy)
	if n := len(s.asked()); n != 2 {
		t.Errorf("it was asked %d times", n)
	}
}

func stamp(at time.Time) string { return at.Format(time.RFC3339) }

func TestEachHostIsAskedOnceInItsTime(t *testing.T) {
	one, two := serve(t, tagsHandler("1.0.0")), serve(t, tagsHandler("1.0.0"))
	c, at := client(t, registry.Options{PerHost: 10 * time.Second}, one, two)
	for range 3 {
		for _, s := range []*server{one, two} {
			if _, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if at.sum != 20*time.Second {
		t.Errorf("waited for %v, want 20s", at.sum)
	}
}
