package ui_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/reconciler/ui/login"
)

// ending is a guard whose sessions end.
type ending struct {
	login.Open

	until time.Time
}

func (e ending) Who(*http.Request) (login.Session, error) {
	return login.Session{User: "ann", Until: e.until}, nil
}

// listens serves the web UI on a port, and returns its address and what stops it.
func (f *fleet) listens(t *testing.T) (url string, stop func()) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.ui.Now = time.Now // for deadlines of connections
	f.ui.Stop = ctx.Done()
	done := make(chan error, 1)
	go func() { done <- serve.Serve(ctx, l, f.ui.Handler()) }()
	var stopped atomic.Bool
	stop = func() {
		if stopped.Swap(true) {
			return
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return "http://" + l.Addr().String(), stop
}

// stream follows the events of a fleet, if there is room for it.
func stream(t *testing.T, url string) (status int, events *bufio.Reader) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode == http.StatusOK && kind != "text/event-stream" {
		t.Errorf("it is %s", kind)
	}
	return resp.StatusCode, bufio.NewReader(resp.Body)
}

// event reads the next event, without comments.
func event(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	said := ""
	for {
		line, err := r.ReadString('\n')
		switch {
		case err != nil:
			return "end: " + err.Error()
		case line == "\n" && said != "":
			return said
		case !strings.HasPrefix(line, ":"):
			said += line
		}
	}
}

// read is a connection that notes until when it may be read.
type read struct {
	*httptest.ResponseRecorder

	until []time.Time
}

func (r *read) SetReadDeadline(until time.Time) error {
	r.until = append(r.until, until)
	return nil
}

// A stream lasts longer than a request may take to be read.
func TestAStreamOutlastsItsRequest(t *testing.T) {
	f := published(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // after what there is
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/events", http.NoBody)
	r.Host = "localhost:8090"
	w := &read{ResponseRecorder: httptest.NewRecorder()}
	f.handler.ServeHTTP(w, r)
	if len(w.until) != 1 || !w.until[0].IsZero() {
		t.Errorf("it may be read until %v, want no end", w.until)
	}
}

func TestEventsTellWhatMoves(t *testing.T) {
	f := published(t)
	url, stop := f.listens(t)
	_, r := stream(t, url)
	first := event(t, r)
	page := f.get(http.MethodGet, "/").Body.String()
	key := strings.TrimPrefix(strings.TrimSpace(first), "event: facts\ndata: ")
	if !strings.Contains(page, `data-key="`+key+`"`) {
		t.Errorf("the first event %q is not of what the page shows", first)
	}
	f.publish("third")
	if next := event(t, r); next == first || !strings.HasPrefix(next, "event: facts\n") {
		t.Errorf("after a publication it says %q", next)
	}
	stop()
	if last := event(t, r); !strings.HasPrefix(last, "end: ") {
		t.Errorf("when the server stops it says %q", last)
	}
}

func TestEventsEndWithTheSession(t *testing.T) {
	f := published(t)
	f.ui.Guard = ending{until: time.Now().Add(300 * time.Millisecond)}
	url, _ := f.listens(t)
	_, r := stream(t, url)
	event(t, r)
	if said := event(t, r); !strings.HasPrefix(said, "event: end\n") {
		t.Errorf("it says %q", said)
	}
	if said := event(t, r); said != "end: "+io.EOF.Error() {
		t.Errorf("then it says %q", said)
	}
}

func TestStreamsAreBounded(t *testing.T) {
	const more, places = 300, 256
	f := published(t)
	url, _ := f.listens(t)
	open, refused := 0, 0
	for range more {
		switch status, _ := stream(t, url); status {
		case http.StatusOK:
			open++
		case http.StatusServiceUnavailable:
			refused++
		}
	}
	if open != places || refused != more-places {
		t.Errorf("of %d streams %d are open and %d are refused", more, open, refused)
	}
	if w := f.get(http.MethodGet, "/"); w.Code != http.StatusOK {
		t.Errorf("pages are refused with them: %d", w.Code)
	}
}

// TestAStreamThatEndsMakesRoom: whoever closes one makes a place for another.
func TestAStreamThatEndsMakesRoom(t *testing.T) {
	const places = 256
	f := published(t)
	url, _ := f.listens(t)
	opens := func(ctx context.Context) int {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/events", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp.StatusCode
	}
	ctx, closeAll := context.WithCancel(t.Context())
	for range places {
		opens(ctx)
	}
	if status := opens(t.Context()); status != http.StatusServiceUnavailable {
		t.Fatalf("one more is answered %d", status)
	}
	closeAll()
	for end := time.Now().Add(time.Minute); opens(t.Context()) != http.StatusOK; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no stream makes room for another")
		}
	}
}
