package registry

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	usualRest   = time.Minute    // of a host that is busy and does not say until when
	longestRest = 24 * time.Hour // that a host may ask for
)

// limiter is the way to the network, at which each host is asked one request after another.
type limiter struct {
	inner   http.RoundTripper
	every   time.Duration // between two requests to a host
	timeout time.Duration // of one
	now     func() time.Time
	pause   func(context.Context, time.Duration) error

	mu   sync.Mutex
	next map[string]time.Time // by host: when the next request may be made
	busy map[string]time.Time // by host: until when it wants none
}

// busyError says that a host is to be left alone.
type busyError struct {
	host  string
	until time.Time
}

func (e *busyError) Error() string {
	return fmt.Sprintf("%s is busy, and is asked again after %s", e.host, e.until.UTC().Format(time.RFC3339))
}

// RoundTrip waits for the turn of a request and makes it. The answer that a host is busy is a *busyError, for a minute also where it
// gave none in time.
func (p *limiter) RoundTrip(req *http.Request) (*http.Response, error) {
	host := req.URL.Host
	if err := p.wait(req.Context(), host); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(req.Context(), p.timeout)
	resp, err := p.inner.RoundTrip(req.WithContext(ctx))
	if err != nil {
		if ctx.Err() != nil && req.Context().Err() == nil { // others of the host would be waited for as long
			_ = p.rest(host, nil)
		}
		cancel()
		return nil, err
	}
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable {
		cancel()
		resp.Body.Close()
		return nil, p.rest(host, resp.Header)
	}
	resp.Body = &timed{resp.Body, cancel}
	return resp, nil
}

// timed is a body that has to be read within the time of its request.
type timed struct {
	io.ReadCloser

	cancel func()
}

func (t *timed) Close() error {
	defer t.cancel()
	return t.ReadCloser.Close()
}

// wait returns when it is the turn of a request. That a host became busy meanwhile counts.
func (p *limiter) wait(ctx context.Context, host string) error {
	if err := p.rested(host); err != nil {
		return err
	}
	if d := p.reserve(host); d > 0 {
		if err := p.pause(ctx, d); err != nil {
			return err
		}
	}
	return p.rested(host)
}

// reserve takes the next turn at a host and says how far it is.
func (p *limiter) reserve(host string) time.Duration {
	if p.every <= 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	at := p.next[host]
	if at.Before(now) {
		at = now
	}
	p.next[host] = at.Add(p.every)
	return at.Sub(now)
}

// rested is nil where a host may be asked.
func (p *limiter) rested(host string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := p.busy[host]; p.now().Before(until) {
		return &busyError{host, until}
	}
	return nil
}

// rest remembers how long a host is to be left alone.
func (p *limiter) rest(host string, header http.Header) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	until := p.now().Add(restOf(header))
	if until.After(p.busy[host]) {
		p.busy[host] = until
	}
	return &busyError{host, p.busy[host]}
}

// restOf reads Retry-After (RFC 9110, 10.2.3). A date in it is measured by the server's own clock, the header Date.
func restOf(header http.Header) time.Duration {
	said := header.Get("Retry-After")
	d := usualRest
	if seconds, err := strconv.ParseUint(said, 10, 32); err == nil {
		d = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(said); err == nil {
		if there, err := http.ParseTime(header.Get("Date")); err == nil {
			d = at.Sub(there)
		}
	}
	return min(max(d, time.Second), longestRest)
}
