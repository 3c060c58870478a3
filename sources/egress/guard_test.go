package egress

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// busy answers that it is busy, and counts the answers that nobody closed.
type busy struct{ asked, open int }

func (b *busy) RoundTrip(*http.Request) (*http.Response, error) {
	b.asked++
	b.open++
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: &body{b}}, nil
}

type body struct{ of *busy }

func (*body) Read([]byte) (int, error) { return 0, io.EOF }

func (b *body) Close() error {
	b.of.open--
	return nil
}

// TestAnswersThatAreNotUsedAreClosed: of several answers only the last one, which is returned, is for the caller to close.
func TestAnswersThatAreNotUsedAreClosed(t *testing.T) {
	g, err := New(Options{Retries: 2, Pause: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	server := &busy{}
	g.inner = server
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/x", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := g.RoundTrip(req)
	if err != nil || server.asked != 3 || server.open != 1 {
		t.Fatalf("of %d answers %d are open, want 1 of 3: %v", server.asked, server.open, err)
	}
	if err := resp.Body.Close(); err != nil || server.open != 0 {
		t.Errorf("%d are open, want none: %v", server.open, err)
	}
}

// TestBehindAProxyAnAddressIsJudged: the proxy would ask whatever it is told, so what is no public address is not told it.
func TestBehindAProxyAnAddressIsJudged(t *testing.T) {
	for _, proxy := range []*url.URL{nil, {Scheme: "http", Host: "proxy.example:3128"}} {
		g, err := New(Options{Proxy: proxy, Pause: func(context.Context, time.Duration) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		g.inner = &busy{}
		for _, host := range []string{"127.0.0.1", "169.254.169.254", "[::1]", "2130706433", "0x7f.1"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+host+"/x", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if resp, err := g.RoundTrip(req); err == nil {
				t.Errorf("with the proxy %v %s is asked: %v", proxy, host, resp.Body.Close())
			}
		}
	}
}
