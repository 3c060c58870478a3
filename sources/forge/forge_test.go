package forge_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/forge/forgetest"
)

// clock is a clock that goes on when somebody waits.
type clock struct {
	now    time.Time
	waited []time.Duration
}

func (c *clock) Now() time.Time { return c.now }

func (c *clock) Pause(ctx context.Context, d time.Duration) error {
	c.now, c.waited = c.now.Add(d), append(c.waited, d)
	return ctx.Err()
}

// noon is when the tests begin.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// open opens the repository of a server.
func open(t *testing.T, kind forge.Kind, url string) forge.Forge {
	t.Helper()
	return openAt(t, forge.Options{Kind: kind, URL: url, Repository: forgetest.Name, Token: forgetest.Token}, &clock{now: noon})
}

func openAt(t *testing.T, o forge.Options, c *clock) forge.Forge {
	t.Helper()
	o.Now, o.Pause = c.Now, c.Pause
	f, err := forge.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFake(t *testing.T) {
	forgetest.Run(t, func(*testing.T) forgetest.World { return forgetest.NewFake().World() })
}

func TestGitHub(t *testing.T) {
	forgetest.Run(t, func(t *testing.T) forgetest.World {
		t.Helper()
		w := forgetest.NewFake()
		world := w.World()
		world.Forge = open(t, forge.GitHub, forgetest.GitHub(t, w, &forgetest.Waybill, forgetest.Bearer(forgetest.Token)))
		return world
	})
}

// A token of GitHub Actions may not ask whose it is.
func TestGitHubActions(t *testing.T) {
	forgetest.Run(t, func(t *testing.T) forgetest.World {
		t.Helper()
		w := forgetest.NewFake()
		world := w.World()
		world.Forge = open(t, forge.GitHub, forgetest.GitHub(t, w, nil, forgetest.Bearer(forgetest.Token)))
		return world
	})
}

func TestGitLab(t *testing.T) {
	forgetest.Run(t, func(t *testing.T) forgetest.World {
		t.Helper()
		w := forgetest.NewFake()
		world := w.World()
		world.Forge = open(t, forge.GitLab, forgetest.GitLab(t, w))
		return world
	})
}

func TestGitea(t *testing.T) {
	forgetest.Run(t, func(t *testing.T) forgetest.World {
		t.Helper()
		w := forgetest.NewFake()
		world := w.World()
		world.Forge = open(t, forge.Gitea, forgetest.Gitea(t, w))
		return world
	})
}

func TestOpen(t *testing.T) {
	app := &forge.App{ID: "1", Key: []byte("no key")}
	for _, tt := range []struct {
		name string
		o    forge.Options
		want string // of the error; empty: none
	}{
		{"github.com", forge.Options{Kind: forge.GitHub, URL: "https://github.com/", Repository: "acme/fleet", Token: "t"}, ""},
		{"with .git", forge.Options{Kind: forge.Gitea, URL: "https://git.example.com", Repository: "acme/fleet.git", Token: "t"}, ""},
		{"a group of a group", forge.Options{Kind: forge.GitLab, URL: "https://git.example.com/gitlab", Repository: "acme/prod/fleet", Token: "t"}, ""},
		{"http to this machine", forge.Options{Kind: forge.Gitea, URL: "http://127.0.0.1:3000", Repository: "acme/fleet", Token: "t"}, ""},
		{"http", forge.Options{Kind: forge.Gitea, URL: "http://git.example.com", Repository: "acme/fleet", Token: "t"}, "over http"},
		{"http to this machine by name", forge.Options{Kind: forge.Gitea, URL: "http://localhost:3000", Repository: "acme/fleet", Token: "t"}, ""},
		{"http to a name that begins so", forge.Options{Kind: forge.Gitea, URL: "http://localhost.example.com", Repository: "acme/fleet", Token: "t"}, "over http"},
		{"http to an address", forge.Options{Kind: forge.Gitea, URL: "http://192.0.2.1", Repository: "acme/fleet", Token: "t"}, "over http"},
		{"a group of a group of Gitea", forge.Options{Kind: forge.Gitea, URL: "https://git.example.com", Repository: "acme/prod/fleet", Token: "t"}, "owner/name"},
		{"this folder", forge.Options{Kind: forge.GitLab, URL: "https://gitlab.com", Repository: "acme/./fleet", Token: "t"}, "owner/name"},
		{"another scheme", forge.Options{Kind: forge.GitHub, URL: "ftp://github.com", Repository: "acme/fleet", Token: "t"}, "want it as https"},
		{"a query in the URL", forge.Options{Kind: forge.GitHub, URL: "https://github.com?token=x", Repository: "acme/fleet", Token: "t"}, "more than a host"},
		{"no URL at all", forge.Options{Kind: forge.GitHub, URL: "https://a b", Repository: "acme/fleet", Token: "t"}, "want it as https"},
		{"no kind", forge.Options{Kind: "svn", URL: "https://github.com", Repository: "acme/fleet", Token: "t"}, "no kind of forge"},
		{"http that is meant", forge.Options{Kind: forge.Gitea, URL: "http://git.example.com", Repository: "acme/fleet", Token: "t", PlainHTTP: true}, ""},
		{"no repository", forge.Options{Kind: forge.GitHub, URL: "https://github.com", Repository: "fleet", Token: "t"}, "owner/name"},
		{"a way out", forge.Options{Kind: forge.GitLab, URL: "https://gitlab.com", Repository: "acme/../../user", Token: "t"}, "owner/name"},
		{"a query", forge.Options{Kind: forge.GitHub, URL: "https://github.com", Repository: "acme/fleet?x", Token: "t"}, "owner/name"},
		{"a password", forge.Options{Kind: forge.GitHub, URL: "https://a:hunter2@github.com", Repository: "acme/fleet", Token: "t"}, "more than a host"},
		{"no URL", forge.Options{Kind: forge.GitHub, URL: "github.com", Repository: "acme/fleet", Token: "t"}, "want it as https"},
		{"no token", forge.Options{Kind: forge.GitHub, URL: "https://github.com", Repository: "acme/fleet"}, "with a token, or as a GitHub App"},
		{"both", forge.Options{Kind: forge.GitHub, URL: "https://github.com", Repository: "acme/fleet", Token: "t", App: app}, "one of both"},
		{"an app of GitLab", forge.Options{Kind: forge.GitLab, URL: "https://gitlab.com", Repository: "acme/fleet", App: app}, "only GitHub has apps"},
		{"no key", forge.Options{Kind: forge.GitHub, URL: "https://github.com", Repository: "acme/fleet", App: app}, "private key"},
		{"a file of two lines", forge.Options{Kind: forge.GitHub, URL: "https://github.com", Repository: "acme/fleet", Token: "t\nx"}, "line break"},
	} {
		_, err := forge.Open(tt.o)
		if !says(err, tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	for name, want := range map[string]forge.Kind{"github": forge.GitHub, "forgejo": forge.Gitea, "gitea": forge.Gitea, "gitlab": forge.GitLab, "bitbucket": ""} {
		if k, err := forge.ParseKind(name); k != want || (err == nil) != (want != "") {
			t.Errorf("%s is %s, %v", name, k, err)
		}
	}
}

// asked is where requests go, of which none leaves this machine.
type asked []string

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	*a = append(*a, r.URL.String())
	return nil, errors.New("nobody is asked")
}

// TestWhereForgesAreAsked: GitHub's API has a host of its own, but for an Enterprise Server, and a forge may be below a path.
func TestWhereForgesAreAsked(t *testing.T) {
	var to asked
	was := http.DefaultTransport
	http.DefaultTransport = &to
	t.Cleanup(func() { http.DefaultTransport = was })
	for _, tt := range []struct {
		kind      forge.Kind
		url, want string
	}{
		{forge.GitHub, "https://github.com/", "https://api.github.com/repos/acme/fleet/pulls/7"},
		{forge.GitHub, "https://www.GitHub.com", "https://api.github.com/repos/acme/fleet/pulls/7"},
		{forge.GitHub, "https://acme.ghe.com", "https://api.acme.ghe.com/repos/acme/fleet/pulls/7"},
		{forge.GitHub, "https://git.example.com/", "https://git.example.com/api/v3/repos/acme/fleet/pulls/7"},
		{forge.GitHub, "https://github.com.example.com", "https://github.com.example.com/api/v3/repos/acme/fleet/pulls/7"},
		{forge.GitLab, "https://git.example.com/gitlab/", "https://git.example.com/gitlab/api/v4/projects/acme%2Ffleet/merge_requests/7"},
		{forge.Gitea, "https://git.example.com/gitea", "https://git.example.com/gitea/api/v1/repos/acme/fleet/pulls/7"},
	} {
		to = nil
		f := openAt(t, forge.Options{Kind: tt.kind, URL: tt.url, Repository: "acme/fleet.git", Token: "t"}, &clock{now: noon})
		if _, err := f.PullRequest(t.Context(), 7); err == nil || len(to) == 0 || !strings.HasPrefix(to[0], tt.want) {
			t.Errorf("%s at %s is asked at %v: %v", tt.kind, tt.url, to, err)
		}
	}
}
