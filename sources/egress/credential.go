package egress

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/waybill-dev/waybill/sources/lock"
)

// Credential is what a repository of charts or images asks for. It is sent to one scheme,
// host and path, and what is below the path.
type Credential struct {
	// URL is what it is for: https://host[:port]/path or oci://host[:port]/path. Of
	// several that fit the one with the longest path counts.
	URL string
	// Username and Password are for basic authentication, and for a registry's token
	// service.
	Username, Password string
	// Token is sent as a bearer token instead.
	Token string
	// TokenService is the host of the registry's token service if that is another than
	// the registry's: https://auth.docker.io for index.docker.io.
	TokenService string
}

// credential is a Credential that has been read.
type credential struct {
	Credential

	origin  string // of the host; with the scheme oci for a registry
	path    string // clean; "/" for all of the host
	service string // origin of the token service; empty: the registry's
}

func readCredential(c Credential) (credential, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return credential{}, fmt.Errorf("reading a credential: %s is not of the form https://host/path or oci://host/path", lock.Shown(c.URL))
	}
	registry := u.Scheme == "oci"
	if registry {
		u.Scheme = "https"
	}
	o, err := Origin(u)
	if err != nil {
		return credential{}, fmt.Errorf("reading a credential: %w", err)
	}
	if registry {
		o = registryOrigin(o)
	}
	read := credential{Credential: c, origin: o, path: path.Clean("/" + u.Path)}
	if c.TokenService == "" {
		return read, nil
	}
	service, err := url.Parse(c.TokenService)
	if err != nil || !registry {
		return credential{}, errors.New("reading a credential: TokenService is not of the form https://host, or is not for a registry")
	}
	if read.service, err = Origin(service); err != nil {
		return credential{}, fmt.Errorf("reading a credential: %w", err)
	}
	return read, nil
}

// registryOrigin is what credentials of a registry have for an origin: they are for no
// Helm repository on the same host.
func registryOrigin(https string) string { return "oci" + strings.TrimPrefix(https, "https") }

// covers reports what the credential is for: a host, as Origin writes it, and a path.
func (c credential) covers(origin, p string) bool {
	p = path.Clean("/" + p)
	return c.origin == origin && (c.path == "/" || p == c.path || strings.HasPrefix(p, c.path+"/"))
}

// credentials are those of Options.
type credentials []credential

func readCredentials(all []Credential) (credentials, error) {
	read := make(credentials, 0, len(all))
	for _, c := range all {
		one, err := readCredential(c)
		if err != nil {
			return nil, err
		}
		read = append(read, one)
	}
	return read, nil
}

// of returns the credential for a place; ok is false if there is none.
func (cs credentials) of(origin, p string) (best credential, ok bool) {
	for _, c := range cs {
		if c.covers(origin, p) && (!ok || len(c.path) > len(best.path)) {
			best, ok = c, true
		}
	}
	return best, ok
}

// Authorized is the guard, and adds to each request the credential of its own URL, so that
// none follows a redirect: for Helm repositories.
func (g *Guard) Authorized() http.RoundTripper { return &authorized{g, g.credentials} }

type authorized struct {
	inner       http.RoundTripper
	credentials credentials
}

func (a *authorized) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Del("Authorization")
	o, err := Origin(req.URL)
	if err != nil {
		return nil, err
	}
	if c, ok := a.credentials.of(o, req.URL.Path); ok {
		if c.Token != "" {
			req.Header.Set("Authorization", "Bearer "+c.Token)
		} else {
			req.SetBasicAuth(c.Username, c.Password)
		}
	}
	return a.inner.RoundTrip(req)
}
