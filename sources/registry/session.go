package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/waybill-dev/waybill/sources/egress"
)

const (
	maxPage = 4 << 20  // bytes of one answer
	maxTalk = 64 << 20 // bytes of all answers within one call
)

// session is one repository as one call asks it.
type session struct {
	client     *Client
	of         string // as it was asked for
	repository name.Repository
	origin     string // scheme, host and port of the registry
	way        egress.Registry
	steady     http.RoundTripper // follows no redirect to another host
	pages      *http.Client      // by steady
	blobs      *http.Client      // follows one to another host that may be asked
}

// open prepares to ask a repository. Nothing is asked.
func (c *Client) open(of, repository string) (*session, error) {
	repository = strings.TrimPrefix(repository, "oci://")
	repo, err := name.NewRepository(repository)
	if err != nil {
		return nil, &Error{Class: Malformed, Of: of, Err: errors.New("it is no repository of a registry, as ghcr.io/org/app")}
	}
	way, err := c.guard.Registry(repo.RegistryStr(), repo.RepositoryStr())
	if err != nil {
		return nil, &Error{Class: Refused, Of: of, Err: egress.Clean(err)}
	}
	scheme := "https"
	if way.Plain {
		scheme = "http"
		if repo, err = name.NewRepository(repository, name.Insecure); err != nil {
			return nil, &Error{Class: Malformed, Of: of, Err: egress.Clean(err)}
		}
	}
	s := &session{client: c, of: of, repository: repo, way: way, origin: scheme + "://" + repo.RegistryStr()}
	all := way.Confined(c.limiter, maxTalk)
	s.steady = &steady{all}
	s.pages, s.blobs = &http.Client{Transport: s.steady}, &http.Client{Transport: all}
	return s, nil
}

// url is where the registry has something of the repository.
func (s *session) url(parts ...string) string {
	return s.origin + "/v2/" + s.repository.RepositoryStr() + "/" + strings.Join(parts, "/")
}

// fail gives an error of a request its class.
func (s *session) fail(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e := &Error{Class: Unavailable, Of: s.of, Err: egress.Clean(err)}
	if busy, ok := errors.AsType[*busyError](err); ok {
		e.Class, e.Until, e.Err = Busy, busy.until, busy
		return e
	}
	if _, ok := errors.AsType[*egress.HostError](err); ok {
		e.Class = Refused
		return e
	}
	if answer, ok := errors.AsType[*transport.Error](err); ok {
		switch answer.StatusCode {
		case http.StatusNotFound, http.StatusGone:
			e.Class = Gone
		case http.StatusUnauthorized, http.StatusForbidden:
			e.Class = Denied
		}
	}
	return e
}

// isGone reports the answer that there is no such thing.
func isGone(err error) bool {
	answer, ok := errors.AsType[*transport.Error](err)
	return ok && answer.StatusCode == http.StatusNotFound
}

// failed is an error with a class that is found here.
func (s *session) failed(class Class, format string, args ...any) error {
	return &Error{Class: class, Of: s.of, Err: fmt.Errorf(format, args...)}
}

// steady refuses redirects to another host.
type steady struct{ inner http.RoundTripper }

func (t *steady) RoundTrip(req *http.Request) (*http.Response, error) {
	if before := req.Response; before != nil && before.Request != nil && !sameHost(before.Request.URL, req.URL) {
		return nil, &egress.HostError{Host: req.URL.Scheme + "://" + req.URL.Host, Reason: "a redirect of " + before.Request.URL.Host + " leads there"}
	}
	return t.inner.RoundTrip(req)
}

// sameHost reports two URLs of one scheme, host and port.
func sameHost(a, b *url.URL) bool {
	first, err := egress.Origin(a)
	if err != nil {
		return false
	}
	second, err := egress.Origin(b)
	return err == nil && first == second
}

// read returns the body of an answer, at most maxPage bytes; more are an error.
func read(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	if err == nil && len(data) > maxPage {
		err = fmt.Errorf("its answer has more than the %d bytes that are read", maxPage)
	}
	return data, err
}

// named brings what has a digest for a name: a manifest or a blob.
func (s *session) named(ctx context.Context, by *http.Client, kind, digest string, header http.Header) ([]byte, error) {
	resp, err := s.ask(ctx, by, http.MethodGet, s.url(kind, digest), header)
	if err != nil {
		return nil, err
	}
	data, err := read(resp)
	if err == nil && digestOf(data) != digest {
		err = fmt.Errorf("what it has as %s has the digest %s", digest, digestOf(data))
	}
	return data, err
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
