package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/waybill-dev/waybill/sources/pause"
)

const (
	firstPause   = time.Second      // before the first retry; the double before the next
	longestPause = 30 * time.Second // that a server may ask for
)

// Options says what may be asked. The zero value asks any public host over https, without
// credentials.
type Options struct {
	// Allow lists the hosts that may be asked, each as https://host[:port] or
	// http://host[:port]. It has to list those, too, that a repository's index, a
	// redirect or a registry's token service leads to. Empty: any public host over https.
	Allow []string
	// Listed asks no host where Allow is empty.
	Listed bool
	// Private are ranges of addresses that are not public and may be asked, if the host
	// is in Allow.
	Private []netip.Prefix
	// Credentials are for repositories that ask for them.
	Credentials []Credential
	// RootCAs are who may certify a server. nil: whom the system trusts.
	RootCAs *x509.CertPool
	// Proxy is asked in place of every host. nil: none; the environment is not read.
	Proxy *url.URL
	// Retries is how often a request is made again that the server could not answer for
	// the moment.
	Retries int
	// Pause waits before a retry. nil: as pause.For does.
	Pause func(context.Context, time.Duration) error
	// Resolver knows the addresses of names. nil: the system's.
	Resolver *net.Resolver
}

// Guard is the one way to the network. It refuses what may not be asked, and asks again
// what a server could not answer for the moment. It adds nothing to a request. It is safe
// for concurrent use.
type Guard struct {
	inner       http.RoundTripper
	hosts       hosts
	credentials credentials
	dialer      *dialer
	retries     int
	pause       func(context.Context, time.Duration) error
}

// New returns a guard. Nothing is asked yet.
func New(o Options) (*Guard, error) {
	list, err := newHosts(o.Allow, o.Listed)
	if err != nil {
		return nil, err
	}
	credentials, err := readCredentials(o.Credentials)
	if err != nil {
		return nil, err
	}
	g := &Guard{hosts: list, credentials: credentials, retries: o.Retries, pause: o.Pause}
	if g.pause == nil {
		g.pause = pause.For
	}
	g.dialer = &dialer{net: net.Dialer{Resolver: o.Resolver}, private: o.Private, listed: list.lists}
	return g, g.connect(o)
}

// connect prepares the connections.
func (g *Guard) connect(o Options) error {
	t := &http.Transport{
		DialContext:            g.dialer.dial,
		TLSClientConfig:        &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // bounds are on what was sent
		TLSHandshakeTimeout:    dialTime,
		ResponseHeaderTimeout:  30 * time.Second,
		IdleConnTimeout:        30 * time.Second,
		MaxConnsPerHost:        8,
		MaxResponseHeaderBytes: 1 << 20,
	}
	if o.Proxy != nil {
		port := portOf(o.Proxy)
		if port == "" || o.Proxy.Hostname() == "" {
			return errors.New("the proxy is not of the form http://host:port")
		}
		t.Proxy = http.ProxyURL(o.Proxy)
		g.dialer.proxy = net.JoinHostPort(o.Proxy.Hostname(), port)
	}
	g.inner = t
	return nil
}

// RoundTrip asks once, or a few times.
func (g *Guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.permit(req); err != nil {
		return nil, err
	}
	wait := firstPause
	for range g.retries {
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
func (g *Guard) permit(req *http.Request) error {
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
