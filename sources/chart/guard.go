package chart

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
)

const (
	retries      = 2                // after the first try
	firstPause   = time.Second      // before the first retry; the double before the next
	longestPause = 30 * time.Second // that a server may ask for
)

// guard is the one way to the network. It refuses what may not be asked, and asks again
// what a server could not answer for the moment. It adds nothing to a request.
type guard struct {
	inner  http.RoundTripper
	hosts  hosts
	dialer *dialer
	pause  func(context.Context, time.Duration) error
}

// RoundTrip asks once, or a few times.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.permit(req); err != nil {
		return nil, err
	}
	wait := firstPause
	for range retries {
		resp, err := g.inner.RoundTrip(req)
		if err != nil || !passing(req, resp) {
			return resp, err
		}
		if asked, ok := retryAfter(resp); ok {
			wait = asked
		}
		if wait > longestPause {
			return resp, nil
		}
		resp.Body.Close()
		if err := g.pause(req.Context(), wait); err != nil {
			return nil, err
		}
		wait *= 2
	}
	return g.inner.RoundTrip(req)
}

// permit says whether a request may be made.
func (g *guard) permit(req *http.Request) error {
	if err := g.hosts.permit(req.URL); err != nil {
		return err
	}
	if before := req.Response; before != nil && before.Request != nil &&
		before.Request.URL.Scheme == "https" && req.URL.Scheme != "https" {
		return &HostError{Host: req.URL.Scheme + "://" + req.URL.Host, Reason: "a redirect leads there from https"}
	}
	// The dialer judges every address, but with a proxy it only sees the proxy's.
	if a, ok, err := address(req.URL.Hostname()); err != nil || ok {
		return errors.Join(err, g.dialer.judge(req.URL.Hostname(), portOf(req.URL), a))
	}
	return nil
}

// passing reports an answer that may be another one soon.
func passing(req *http.Request, resp *http.Response) bool {
	if req.Body != nil && req.Body != http.NoBody {
		return false // it is used up
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// retryAfter reads how long a server asks to be left alone, if it says so in seconds
// (RFC 9110, 10.2.3; a date is not read, because servers' clocks differ).
func retryAfter(resp *http.Response) (time.Duration, bool) {
	seconds, err := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0, false
	}
	return time.Duration(seconds) * time.Second, true
}
