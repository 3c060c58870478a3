package registry

import (
	"cmp"
	"context"
	"encoding/base64"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// shortestToken is how long a token of a token service counts that does not say for how long: what the
// protocol of such services says.
const shortestToken = time.Minute

// access is what a client knows of how registries want to be asked.
type access struct {
	now func() time.Time

	mu         sync.Mutex
	challenges map[string]*transport.Challenge // by origin of the registry
	tokens     map[string]token                // by origin and path of the repository
}

// token is what a token service gave.
type token struct {
	value string
	until time.Time
}

func newAccess(now func() time.Time) *access {
	return &access{now: now, challenges: map[string]*transport.Challenge{}, tokens: map[string]token{}}
}

// challenge is how a registry wants to be asked; nil if it was never asked.
func (a *access) challenge(origin string) *transport.Challenge {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.challenges[origin]
}

// token is the one for a repository; empty if there is none, or it has ended.
func (a *access) token(repository string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.tokens[repository]; a.now().Before(t.until) {
		return t.value
	}
	return ""
}

func (a *access) learn(origin string, c *transport.Challenge) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.challenges[origin] = c
}

func (a *access) keep(repository string, t token) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tokens[repository] = t
}

// authorization is what a request to a repository has in its header; empty where the registry is not known to want it.
func (s *session) authorization(ctx context.Context) (string, error) {
	c := s.client.access.challenge(s.origin)
	switch {
	case c == nil:
		return "", nil
	case s.way.Token != "":
		return "Bearer " + s.way.Token, nil
	case strings.EqualFold(c.Scheme, "basic") && s.way.Username != "":
		pair := s.way.Username + ":" + s.way.Password
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)), nil
	case strings.EqualFold(c.Scheme, "bearer"):
		value, err := s.bearer(ctx, c)
		return "Bearer " + value, err
	}
	return "", nil
}

// bearer returns a token for the repository, a new one if the last has ended.
func (s *session) bearer(ctx context.Context, c *transport.Challenge) (string, error) {
	if value := s.client.access.token(s.key()); value != "" {
		return value, nil
	}
	auth := authn.Anonymous
	if s.way.Username != "" {
		auth = authn.FromConfig(authn.AuthConfig{Username: s.way.Username, Password: s.way.Password})
	}
	began := s.client.now()
	got, err := transport.Exchange(ctx, s.repository.Registry, auth, s.steady, []string{s.repository.Scope(transport.PullScope)}, c)
	if err != nil {
		return "", err
	}
	lasts := max(time.Duration(got.ExpiresIn)*time.Second, shortestToken)
	t := token{cmp.Or(got.Token, got.AccessToken), began.Add(lasts * 9 / 10)}
	s.client.access.keep(s.key(), t)
	return t.value, nil
}

// refused learns from a request that was not authorized: how the registry wants to be asked, or that the token
// does not count any longer. It reports whether to ask again.
func (s *session) refused(ctx context.Context, used string) (again bool, err error) {
	if s.client.access.challenge(s.origin) != nil {
		s.client.access.keep(s.key(), token{})
		return used != "" && s.way.Token == "" && !strings.HasPrefix(used, "Basic "), nil
	}
	c, err := transport.Ping(ctx, s.repository.Registry, s.steady)
	if err != nil {
		return false, err
	}
	s.client.access.learn(s.origin, c)
	return c.Scheme != "", nil
}

// key names the repository among tokens.
func (s *session) key() string { return s.origin + "/" + s.repository.RepositoryStr() }

// ask makes a request of the repository, again if it has to be authorized. The answer has the status OK, or NotModified.
func (s *session) ask(ctx context.Context, by *http.Client, method, from string, header http.Header) (*http.Response, error) {
	for again := true; ; again = false {
		auth, err := s.authorization(ctx)
		if err != nil {
			return nil, err
		}
		resp, err := send(ctx, by, method, from, authorized(header, auth))
		if err != nil || resp.StatusCode != http.StatusUnauthorized || !again {
			return checked(resp, err)
		}
		more, err := s.refused(ctx, auth)
		if err != nil || !more {
			defer resp.Body.Close()
			return checked(resp, err)
		}
		resp.Body.Close()
	}
}

// checked makes an error of an answer that is none.
func checked(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	if err := transport.CheckError(resp, http.StatusOK, http.StatusNotModified); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// authorized returns a copy of a header with what a request is authorized by.
func authorized(header http.Header, auth string) http.Header {
	all := http.Header{"User-Agent": {"waybill"}}
	maps.Copy(all, header)
	if auth != "" {
		all.Set("Authorization", auth)
	}
	return all
}

func send(ctx context.Context, by *http.Client, method, from string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, from, nil)
	if err != nil {
		return nil, err
	}
	req.Header = header
	return by.Do(req)
}
