package egress

import (
	"context"
	"io"
	"net/http"
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
