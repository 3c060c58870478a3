package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Options say which repository of which forge, and who asks.
type Options struct {
	Kind       Kind
	URL        string // of the forge, as https://github.com or https://git.example.com/gitlab
	Repository string // as owner/name; with GitLab, group/subgroup/name
	Token      string
	App        *App // of GitHub, in place of a token
	// PlainHTTP lets a credential be sent over http to a host other than this one.
	PlainHTTP bool
	Now       func() time.Time
	// Patience is how long a forge that limits requests is waited for at most, over all tries of
	// one call; zero is DefaultPatience.
	Patience time.Duration
	// Pause waits; nil waits for as long as it is told. Tests have no time.
	Pause func(context.Context, time.Duration) error
}

// DefaultPatience is how long a forge is waited for.
const DefaultPatience = 90 * time.Second

// repositoryName is what all three call a repository: words with slashes between them.
var repositoryName = regexp.MustCompile(`^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+$`)

// Open returns a repository of a forge. It asks nothing yet.
func Open(o Options) (Proposer, error) {
	base, err := o.base()
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(strings.Trim(o.Repository, "/"), ".git")
	slashes := strings.Count(name, "/")
	dots := strings.Contains("/"+name+"/", "/../") || strings.Contains("/"+name+"/", "/./")
	if !repositoryName.MatchString(name) || dots || o.Kind != GitLab && slashes != 1 {
		return nil, fmt.Errorf("%q is no repository of a forge; want it as owner/name", o.Repository)
	}
	c := newClient(o, base)
	switch o.Kind {
	case GitHub:
		c.root, c.at, c.scheme = apiOfGitHub(base), "/repos/"+name, "Bearer"
		c.headers = map[string]string{"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
		if o.App == nil {
			return &github{client: c}, nil
		}
		app, err := o.App.installed(c)
		if err != nil {
			return nil, err
		}
		c.credential = app.credential
		return &github{client: c, app: app}, nil
	case GitLab:
		c.root, c.at, c.scheme = base.String()+"/api/v4", "/projects/"+url.PathEscape(name), "Bearer"
		return &gitlab{client: c}, nil
	case Gitea:
		c.root, c.at, c.scheme = base.String()+"/api/v1", "/repos/"+name, "token"
		return &gitea{client: c}, nil
	}
	return nil, fmt.Errorf("%q is no kind of forge", o.Kind)
}

// base checks what is common to all forges, and reads the URL.
func (o *Options) base() (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(o.URL, "/"))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("the URL of the forge is none; want it as https://git.example.com")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("the URL of the forge at %s has more than a host and a path; the token has a place of its own", u.Host)
	case (o.Token == "") == (o.App == nil):
		return nil, errors.New("a forge is asked with a token, or as a GitHub App, and with one of both")
	case o.App != nil && o.Kind != GitHub:
		return nil, fmt.Errorf("only GitHub has apps, and this is %s; give a token", o.Kind)
	case strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("the token has a space, a line break or another letter that no token has; is its file the right one?")
	case u.Scheme == "http" && !o.PlainHTTP && !isLoopback(u.Hostname()):
		return nil, fmt.Errorf("the token would be sent to %s over http, where others can read it; use https, or say with --plain-http that this is meant", u.Host)
	}
	return u, nil
}

// apiOfGitHub is where GitHub's API is: for github.com and ghe.com at a host of its own, and
// below the host of an Enterprise Server.
func apiOfGitHub(base *url.URL) string {
	host := strings.ToLower(base.Host)
	if host == "github.com" || host == "www.github.com" {
		return base.Scheme + "://api.github.com"
	}
	if strings.HasSuffix(host, ".ghe.com") {
		return base.Scheme + "://api." + host
	}
	return base.String() + "/api/v3"
}

// newHTTP is a client of HTTP that goes nowhere by itself.
func newHTTP() *http.Client {
	return &http.Client{
		Timeout:       callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
