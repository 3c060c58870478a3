package registry

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/sources/egress"
	"github.com/waybill-dev/waybill/sources/pause"
)

// Options says what a client may ask, and how often.
type Options struct {
	// Allow lists the hosts that may be asked, as ghcr.io, https://host[:port] or, for a
	// loopback host, http://host[:port]: charts.hosts and updates.hosts of waybill.yaml. One
	// with http:// that is no loopback host is passed over. A token service on another host has
	// to be in it; docker.io stands for all hosts of Docker Hub. Empty: nothing is asked.
	Allow []string
	// Private are ranges of addresses that are not public and may be asked if the host is in
	// Allow.
	Private []netip.Prefix
	// Credentials are for registries that ask for them: those of --registry-credentials whose
	// URL begins with oci://.
	Credentials []egress.Credential
	// RootCAs are who may certify a server. nil: whom the system trusts.
	RootCAs *x509.CertPool
	// Proxy is asked in place of every host. nil: none; the environment is not read.
	Proxy *url.URL
	// PerHost is the least time between two requests to a host. 0: one second; negative: none.
	PerHost time.Duration
	// Now tells the time, which Known.At, Error.Until and PerHost count by. It has to be there.
	Now func() time.Time
	// Pause waits for the turn of a request. nil: as pause.For does.
	Pause func(context.Context, time.Duration) error
	// Timeout is how long one request may take, with its answer. 0: 30 seconds.
	Timeout time.Duration
}

const (
	defaultPerHost = time.Second
	defaultTimeout = 30 * time.Second
)

// Client asks registries. It keeps tokens and remembers when each host was asked, and may be
// asked by several at once: make one, and keep it.
type Client struct {
	guard   *egress.Guard
	limiter *limiter
	access  *access
	now     func() time.Time
}

// New returns a client. Nothing is asked yet. An error says which option is wrong.
func New(o Options) (*Client, error) {
	if o.Now == nil {
		return nil, errors.New("asking registries: nobody tells the time (Options.Now)")
	}
	var allow []string
	for _, entry := range o.Allow {
		hosts, err := hostsOf(entry)
		if err != nil {
			return nil, err
		}
		allow = append(allow, hosts...)
	}
	guard, err := egress.New(egress.Options{
		Allow: allow, Listed: true, Private: o.Private, Credentials: o.Credentials, RootCAs: o.RootCAs, Proxy: o.Proxy,
	})
	if err != nil {
		return nil, err
	}
	p := newLimiter(guard, o)
	return &Client{guard: guard, limiter: p, access: newAccess(o.Now), now: o.Now}, nil
}

// newLimiter fills in what options leave open.
func newLimiter(guard *egress.Guard, o Options) *limiter {
	p := &limiter{
		inner: guard, every: o.PerHost, timeout: o.Timeout, now: o.Now, pause: o.Pause,
		next: map[string]time.Time{}, busy: map[string]time.Time{},
	}
	if p.every == 0 {
		p.every = defaultPerHost
	}
	if p.timeout <= 0 {
		p.timeout = defaultTimeout
	}
	if p.pause == nil {
		p.pause = pause.For
	}
	return p
}

// dockerHub are the hosts that people mean by docker.io: the registry and its token service.
var dockerHub = []string{"https://index.docker.io", "https://auth.docker.io"}

// hostsOf returns what an entry of Options.Allow stands for, as package egress lists it.
func hostsOf(entry string) ([]string, error) {
	full := entry
	if !strings.Contains(entry, "://") {
		full = "https://" + entry
	}
	u, err := url.Parse(full)
	switch {
	case err != nil || u.Host == "":
		return nil, fmt.Errorf("reading the hosts of registries: %q is not of the form ghcr.io or https://host:port", entry)
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return nil, nil
	case slices.Contains([]string{"docker.io", "index.docker.io"}, u.Host):
		return dockerHub, nil
	}
	return []string{full}, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}
