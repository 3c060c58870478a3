package egress

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
)

// Registry is how one repository of an OCI registry is asked.
type Registry struct {
	// Plain is set where the host is listed with http:// only.
	Plain bool
	// Username, Password and Token are those of the credential for the repository.
	Username, Password, Token string

	server  string // origin of the registry
	service string // origin of its token service, if that has its own
}

// Registry returns how a repository is asked, by its host, with a port where it has one, and its path.
func (g *Guard) Registry(host, path string) (Registry, error) {
	server, err := Origin(&url.URL{Scheme: "https", Host: host})
	if err != nil {
		return Registry{}, err
	}
	plain, err := Origin(&url.URL{Scheme: "http", Host: host})
	if err != nil {
		return Registry{}, err
	}
	r := Registry{server: server}
	if c, ok := g.credentials.of(registryOrigin(server), path); ok {
		r.Username, r.Password, r.Token, r.service = c.Username, c.Password, c.Token, c.service
	}
	if g.hosts.listed[plain] && !g.hosts.listed[server] {
		r.Plain, r.server = true, plain
	}
	return r, nil
}

// Holds reports whether a request goes to the registry itself, or to the token service that its
// credential names.
func (r Registry) Holds(u *url.URL) bool {
	o, err := Origin(u)
	return err == nil && (o == r.server || o == r.service)
}

// Confined returns a way, by inner, on which what a registry's credential gave stays with the registry and its
// token service, and which reads at most limit bytes of all answers together. What
// go-containerregistry does with redirects and challenges passes here.
func (r Registry) Confined(inner http.RoundTripper, limit int64) http.RoundTripper {
	c := &confined{inner: inner, registry: r}
	c.left.Store(limit)
	return c
}

type confined struct {
	inner    http.RoundTripper
	registry Registry
	left     atomic.Int64
}

// errPlain is what becomes of the request over https with which go-containerregistry
// greets a registry that is listed with http:// only.
var errPlain = errors.New("the registry is in the list of allowed hosts with http:// only")

// RoundTrip takes authorization off a request to another host.
func (c *confined) RoundTrip(req *http.Request) (*http.Response, error) {
	o, err := Origin(req.URL)
	if err != nil {
		return nil, err
	}
	if plain, ok := strings.CutPrefix(c.registry.server, "http://"); ok && o == "https://"+plain {
		return nil, errPlain
	}
	if !c.registry.Holds(req.URL) {
		req = req.Clone(req.Context())
		req.Header.Del("Authorization")
	}
	resp, err := c.inner.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &measured{ReadCloser: resp.Body, left: &c.left}
	return resp, nil
}

// measured is a body that takes part in a bound on many.
type measured struct {
	io.ReadCloser

	left *atomic.Int64
}

func (m *measured) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	if m.left.Add(int64(-n)) < 0 {
		return n, errors.New("the registry says more than is read")
	}
	return n, err
}
