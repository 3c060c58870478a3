package git

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// ErrPlain says that credentials were to be sent over http, where whoever is on the
// way can read them.
var ErrPlain = errors.New("credentials are not sent over http, where others can read them")

// scope is what credentials are for: a scheme, a host with its port, and what is below
// a path.
type scope struct{ origin, path string }

// parseScope reads Auth.For. Its errors do not repeat what could be a credential.
func parseScope(text string) (scope, error) {
	if !strings.Contains(text, "://") {
		return scope{}, errors.New("what the credentials are for is not of the form https://host or https://host/path")
	}
	a, err := parseURL(text)
	if err != nil || a.user != "" || a.password != "" {
		return scope{}, fmt.Errorf("credentials are for %q, which is not of the form https://host or https://host/path", withoutUser(text))
	}
	return a.scope(), nil
}

// scope is the place of an address.
func (a address) scope() scope {
	e := a.endpoint
	return scope{origin: originAt(e.Protocol, e.Host, e.Port), path: path.Clean("/" + e.Path)}
}

// covers reports whether a place is within the scope.
func (s scope) covers(at scope) bool {
	return s.origin == at.origin && (s.path == "/" || s.path == at.path || strings.HasPrefix(at.path, s.path+"/"))
}

func (s scope) String() string { return strings.TrimSuffix(s.origin+s.path, "/") }

// credentialsAt are credentials at one address.
type credentialsAt struct {
	Auth

	within scope  // where they may be sent
	kept   string // what those are for that were left out; empty: none were
}

// at leaves out what is not for an address.
func (a Auth) at(at address) (credentialsAt, error) {
	here := credentialsAt{Auth: a, within: scope{origin: at.scope().origin, path: "/"}}
	if a.For == "" {
		return here, nil
	}
	is, err := parseScope(a.For)
	switch {
	case err != nil:
		return credentialsAt{}, err
	case is.covers(at.scope()):
		here.within = is
		return here, nil
	case a.SSHKey != "" && at.endpoint.Protocol == "ssh":
		return credentialsAt{}, fmt.Errorf("the SSH key is for %s only", is)
	case a.Username != "" || a.Password != "":
		here.kept = is.String()
	}
	here.Auth = Auth{KnownHosts: a.KnownHosts, PlainHTTP: a.PlainHTTP}
	return here, nil
}

// Origin returns the scheme, the host and the port of a URL, as https://host or
// ssh://host:2222: what credentials are for that go with it. It is empty for a path, and
// for what is no URL.
func Origin(location string) string {
	if !IsURL(location) {
		return ""
	}
	a, err := parseURL(location)
	if err != nil {
		return ""
	}
	return a.scope().origin
}

// originAt writes an origin in one way, without the port that the scheme implies.
func originAt(scheme, host string, port int) string {
	at := scheme + "://" + strings.ToLower(host)
	if port == 0 || port == map[string]int{"https": 443, "http": 80, "ssh": 22}[scheme] {
		return at
	}
	return fmt.Sprintf("%s:%d", at, port)
}

// scopeOf is the place that a request goes to.
func scopeOf(u *url.URL) scope {
	port, _ := strconv.Atoi(u.Port()) // 0 where there is none
	return scope{origin: originAt(u.Scheme, u.Hostname(), port), path: path.Clean("/" + u.Path)}
}
