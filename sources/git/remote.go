package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/waybill-dev/waybill/sources/files"
)

const (
	// listTime is how long a server may take to list its refs.
	listTime = time.Minute
	// transferTime is how long a fetch or a push may take.
	transferTime = 15 * time.Minute
	// maxListing is the largest listing of refs that is read, in bytes: about a million.
	maxListing = 64 << 20
)

// remote talks to the server behind a URL.
type remote struct {
	address address
	auth    transport.AuthMethod
	client  transport.Transport
	secrets []string // never to be shown
	kept    string   // what credentials are for that were not for this address; empty: none

	mu     sync.Mutex
	latest *listing // what the server said last; nil if it was not asked yet
}

// listing is the refs of a server at one moment. It is not changed once made.
type listing struct {
	refs map[string]files.ID // by full name; an annotated tag has its own id
	head files.ID            // zero: none
}

// openRemote prepares credentials. Nothing is sent.
func openRemote(a address, auth Auth) (*remote, error) {
	here, err := auth.at(a)
	if err != nil {
		return nil, err
	}
	auth = here.Auth
	if auth.Username == "" && auth.Password == "" {
		auth.Username, auth.Password = a.user, a.password
	}
	m := &remote{address: a, kept: here.kept, secrets: []string{auth.Password, a.password, auth.Passphrase}}
	for _, s := range m.secrets {
		m.secrets = append(m.secrets, url.QueryEscape(s), url.PathEscape(s))
	}
	if a.endpoint.Protocol == "ssh" {
		m.client, m.auth, err = sshTransport(a, auth)
		return m, err
	}
	if auth.Password != "" || auth.Username != "" {
		if a.endpoint.Protocol == "http" && !auth.PlainHTTP {
			return nil, ErrPlain
		}
		user := auth.Username
		if user == "" {
			user = "git"
		}
		m.auth = &githttp.BasicAuth{Username: user, Password: auth.Password}
	}
	m.client = githttp.NewClient(httpClient(here.within))
	return m, nil
}

// redirectError says that a server pointed elsewhere.
type redirectError struct{ from, to string }

func (e *redirectError) Error() string {
	return fmt.Sprintf("%s redirects to %s, and credentials do not follow to another scheme, host, port or path than they are for; give the new URL as the location", e.from, e.to)
}

// httpClient returns a client that stays within a scope, on one origin, and does not read
// a listing without end. Deadlines come from contexts.
func httpClient(within scope) *http.Client {
	base := http.DefaultTransport
	if t, ok := base.(*http.Transport); ok {
		t = t.Clone()
		t.ResponseHeaderTimeout = 5 * time.Minute
		base = t
	}
	return &http.Client{
		Transport: bounded{base},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			from, to := scopeOf(via[0].URL), scopeOf(req.URL)
			if from.origin != to.origin {
				return &redirectError{from.origin, to.origin}
			}
			if !within.covers(to) {
				return &redirectError{from.String(), to.String()}
			}
			return nil
		},
	}
}

// bounded bounds the listing of refs, which go-git reads into memory.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(req)
	if err == nil && strings.HasSuffix(req.URL.Path, "/info/refs") {
		res.Body = &limited{ReadCloser: res.Body, what: "bytes of a listing of refs", limit: maxListing}
	}
	return res, err
}

// limited fails where a stream is longer than its limit.
type limited struct {
	io.ReadCloser
	what       string
	limit, got int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.got += int64(n); l.got > l.limit {
		return n, &LimitError{What: l.what, Limit: l.limit, Got: l.got}
	}
	return n, err
}

// open starts a session. SSH dials without a context, so that is done aside.
func open[S io.Closer](ctx context.Context, start func() (S, error)) (S, error) {
	type result struct {
		session S
		err     error
	}
	c := make(chan result, 1)
	go func() {
		s, err := start()
		c <- result{s, err}
	}()
	select {
	case r := <-c:
		return r.session, r.err
	case <-ctx.Done():
		go func() {
			if r := <-c; r.err == nil {
				r.session.Close()
			}
		}()
		var none S
		return none, context.Cause(ctx)
	}
}

// upload starts a session for reading. The listing is nil for an empty repository.
func (m *remote) upload(ctx context.Context) (transport.UploadPackSession, *packp.AdvRefs, error) {
	s, err := open(ctx, func() (transport.UploadPackSession, error) {
		return m.client.NewUploadPackSession(m.endpoint(), m.auth)
	})
	if err != nil {
		return nil, nil, m.explain(ctx, err)
	}
	adv, err := s.AdvertisedReferencesContext(ctx)
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return s, nil, nil
	}
	if err != nil {
		s.Close()
		return nil, nil, m.explain(ctx, err)
	}
	return s, adv, nil
}

// endpoint returns a copy: go-git changes it when it follows a redirect.
func (m *remote) endpoint() *transport.Endpoint {
	ep := *m.address.endpoint
	return &ep
}

// look asks the server for its refs.
func (m *remote) look(ctx context.Context) (listing, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	s, adv, err := m.upload(ctx)
	if err != nil {
		return listing{}, fmt.Errorf("listing refs: %w", err)
	}
	defer s.Close()
	return m.remember(adv), nil
}

func (m *remote) remember(adv *packp.AdvRefs) listing {
	l := listing{refs: map[string]files.ID{}}
	if adv != nil {
		for name, id := range adv.References {
			if strings.HasPrefix(name, "refs/") {
				l.refs[name] = files.ID(id)
			}
		}
		if adv.Head != nil {
			l.head = files.ID(*adv.Head)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.latest = &l
	return l
}

// last returns what the server said last, and asks it if it was not asked yet.
func (m *remote) last(ctx context.Context) (listing, error) {
	m.mu.Lock()
	l := m.latest
	m.mu.Unlock()
	if l != nil {
		return *l, nil
	}
	return m.look(ctx)
}

// exchange sends a request and stores the pack that comes in a folder.
func (m *remote) exchange(ctx context.Context, s transport.UploadPackSession, req *packp.UploadPackRequest, dir string) error {
	res, err := s.UploadPack(ctx, req)
	if err != nil {
		return m.explain(ctx, err)
	}
	defer func() { _ = res.Close() }() // the pack is checked by its checksum
	in := &limited{ReadCloser: res, what: "bytes of a pack", limit: maxPack}
	if err := storePack(dir, sideways(req, in)); err != nil {
		return advise(m.explain(ctx, err))
	}
	return nil
}

// remoteError is what a server or the way to it had to say, fit to be shown. What it
// was made from can be asked about and not be taken out, because it is not.
type remoteError struct {
	text string
	err  error
}

func (e *remoteError) Error() string        { return e.text }
func (e *remoteError) Is(target error) bool { return errors.Is(e.err, target) }

// explain turns an error of a session into one that says what to do and holds no
// credentials.
func (m *remote) explain(ctx context.Context, err error) error {
	err = unwrapped(err)
	if ctx.Err() != nil {
		return fmt.Errorf("talking to %s: %w", m.address.endpoint.Host, context.Cause(ctx))
	}
	var redirect *redirectError
	var limit *LimitError
	var odd *packp.ErrUnexpectedData
	var network *net.OpError
	var text string
	switch {
	case errors.As(err, &redirect):
		text = redirect.Error()
	case errors.As(err, &limit):
		return limit
	case errors.Is(err, transport.ErrAuthenticationRequired) && m.kept != "":
		text = "the server asks for credentials, and those that were given are for " + m.kept + " only"
	case errors.Is(err, transport.ErrAuthenticationRequired) && m.auth == nil:
		text = "the server asks for credentials and none were given; give a user name and a password or token"
	case errors.Is(err, transport.ErrAuthenticationRequired):
		text = "the server does not accept the credentials; check that the token is for " + m.address.endpoint.Host + " and has not expired"
	case errors.Is(err, transport.ErrAuthorizationFailed):
		text = "the credentials are valid and do not allow this; " + printable(err.Error(), m.secrets...)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		text = "there is no such repository, or the credentials may not see it"
	case errors.Is(err, pktline.ErrInvalidPktLen), errors.As(err, &odd):
		text = "the answer is not Git's; check that the URL is that of a repository"
	case errors.As(err, &network):
		text = printable(err.Error(), m.secrets...) + "; check the URL, the network and the proxy"
	default:
		text = printable(err.Error(), m.secrets...)
	}
	return &remoteError{text: text, err: err}
}

// unwrapped takes off the wrappers of go-git that hide what they wrap.
func unwrapped(err error) error {
	var unexpected *plumbing.UnexpectedError
	var permanent *plumbing.PermanentError
	for {
		switch {
		case errors.As(err, &unexpected):
			err = unexpected.Err
		case errors.As(err, &permanent):
			err = permanent.Err
		default:
			return err
		}
	}
}
