package apiserver

import (
	"context"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// InMemory returns a server that no network leads to: its clients call it. In a bubble of testing/synctest, time passes for whoever
// waits for it, or pauses before the next request.
func InMemory(namespaces ...string) *Server {
	return with(namespaces)
}

// Direct is how a client reaches a server without a network.
func (s *Server) Direct() *rest.Config {
	return &rest.Config{Host: "https://" + serverName, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}, Transport: direct{s}}
}

// direct carries requests to a server by calls.
type direct struct{ to *Server }

// RoundTrip implements http.RoundTripper.
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	r = r.Clone(ctx)
	if r.Body == nil {
		r.Body = http.NoBody
	}
	from, to := io.Pipe()
	w := &sending{header: http.Header{}, began: make(chan int, 1), Writer: to}
	lost := make(chan struct{})
	go func() {
		defer func() {
			switch said := recover(); said {
			case nil:
				_ = to.Close() // a pipe closes without an error
			case http.ErrAbortHandler:
				_ = to.CloseWithError(io.ErrUnexpectedEOF)
				close(lost)
			default:
				panic(said)
			}
		}()
		d.to.serve(w, r)
	}()
	select {
	case status := <-w.began:
		return &http.Response{
			Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: w.header.Clone(), Body: body{from, cancel}, ContentLength: -1, Request: r,
		}, nil
	case <-lost:
		cancel()
		return nil, io.ErrUnexpectedEOF
	case <-ctx.Done():
		cancel()
		_ = from.Close() // nobody reads what is still written
		return nil, ctx.Err()
	}
}

// sending is an answer that is read while it is written.
type sending struct {
	io.Writer

	header http.Header
	began  chan int
	isSent bool
}

// Header implements http.ResponseWriter.
func (w *sending) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *sending) WriteHeader(status int) {
	w.isSent = true
	w.header.Set("Date", time.Now().UTC().Format(http.TimeFormat)) //nolint:forbidigo // that of the bubble, as net/http would
	w.began <- status
}

// Write implements http.ResponseWriter.
func (w *sending) Write(p []byte) (int, error) {
	if !w.isSent {
		w.WriteHeader(http.StatusOK)
	}
	return w.Writer.Write(p)
}

// Flush implements http.Flusher.
func (*sending) Flush() {}

// body is that of an answer, which ends the request when it is closed.
type body struct {
	*io.PipeReader

	end context.CancelFunc
}

// Close implements io.Closer.
func (b body) Close() error {
	b.end()
	return b.PipeReader.Close()
}
