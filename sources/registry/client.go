package registry

import (
	"context"
	"crypto/x509"
	"net/netip"
	"net/url"
	"time"

	"github.com/waybill-dev/waybill/sources/chart"
)

// Options says what a client may ask, and how often.
type Options struct {
	// Allow lists the hosts that may be asked, as ghcr.io, https://host[:port] or, for a
	// loopback host, http://host[:port]: charts.hosts and updates.hosts of waybill.yaml. A
	// token service on another host has to be in it. Empty: nothing is asked.
	Allow []string
	// Private are ranges of addresses that are not public and may be asked if the host is in
	// Allow.
	Private []netip.Prefix
	// Credentials are for registries that ask for them: those of --registry-credentials whose
	// URL begins with oci://.
	Credentials []chart.Credential
	// RootCAs are who may certify a server. nil: whom the system trusts.
	RootCAs *x509.CertPool
	// Proxy is asked in place of every host. nil: none; the environment is not read.
	Proxy *url.URL
	// PerHost is the least time between two requests to a host. 0: one second; negative: none.
	PerHost time.Duration
	// Now tells the time, which Known.At, Error.Until and PerHost count by.
	Now func() time.Time
	// Pause waits. nil: as pause.For does.
	Pause func(context.Context, time.Duration) error
}

// Client asks registries. It keeps tokens and remembers when each host was asked, and may be
// asked by several at once: make one, and keep it.
type Client struct{}

// New returns a client. Nothing is asked yet. An error says which option is wrong.
func New(o Options) (*Client, error) { return &Client{}, nil }
