package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// TestWhatIsSentWhere: each request has the credential of its own URL, and none that came with it.
func TestWhatIsSentWhere(t *testing.T) {
	g, err := New(Options{Credentials: []Credential{{URL: "https://a.example/team", Token: "team"}, {URL: "https://b.example", Username: "me", Password: "hush"}}})
	if err != nil {
		t.Fatal(err)
	}
	way := &answers{all: []http.Response{answer(200, "")}}
	by := &authorized{way, g.credentials}
	for from, want := range map[string]string{
		"https://a.example/team/x": "Bearer team", "https://b.example/x": "Basic bWU6aHVzaA==", "https://a.example/x": "", "http://a.example/team/x": "", "https://c.example/x": "",
	} {
		req := request(t, http.MethodGet, from, "")
		req.Header.Set("Authorization", "of another host")
		resp, err := by.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := way.asked[len(way.asked)-1].Header.Get("Authorization"); got != want {
			t.Errorf("%s gets %q, want %q", from, got, want)
		}
		if req.Header.Get("Authorization") != "of another host" {
			t.Errorf("%s: the request of the caller was changed", from)
		}
	}
	if err := refusal(by, request(t, http.MethodGet, "ftp://a.example/team/x", "")); err == nil {
		t.Error("another scheme is asked")
	}
}

// TestARegistryIsConfined: what its credential gave goes to it and to its token service, and to nobody else.
func TestARegistryIsConfined(t *testing.T) {
	g, err := New(Options{
		Allow: []string{"https://r.example", "http://plain.example:5000", "http://both.example", "https://both.example"},
		Credentials: []Credential{
			{URL: "oci://r.example/org", Username: "me", Password: "hush", TokenService: "https://auth.example"}, {URL: "https://r.example", Token: "of charts"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		host, path, user string
		plain            bool
		holds, others    []string
	}{
		{"r.example", "org/app", "me", false, []string{"https://r.example/v2/", "https://r.example:443/", "https://auth.example/token"}, []string{"http://r.example/v2/", "https://r.example:8443/", "https://other.example/token"}},
		{"r.example", "other/app", "", false, []string{"https://r.example/v2/"}, []string{"https://auth.example/token"}},
		{"plain.example:5000", "org/app", "", true, []string{"http://plain.example:5000/v2/"}, []string{"http://plain.example/v2/"}},
		{"unlisted.example", "org/app", "", false, []string{"https://unlisted.example/v2/"}, []string{"http://unlisted.example/v2/"}},
		{"both.example", "org/app", "", false, []string{"https://both.example/v2/"}, []string{"http://both.example/v2/"}},
	} {
		r, err := g.Registry(tt.host, tt.path)
		if err != nil || r.Username != tt.user || r.Token != "" || r.Plain != tt.plain {
			t.Fatalf("%s/%s: %+v, %v", tt.host, tt.path, r, err)
		}
		way := &answers{all: []http.Response{answer(200, "")}}
		confined := r.Confined(way, 100)
		for holds, urls := range map[bool][]string{true: tt.holds, false: tt.others} {
			for _, from := range urls {
				req := request(t, http.MethodGet, from, "")
				req.Header.Set("Authorization", "Bearer ticket")
				resp, err := confined.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				want := map[bool]string{true: "Bearer ticket"}[holds]
				if got := way.asked[len(way.asked)-1].Header.Get("Authorization"); got != want || r.Holds(req.URL) != holds {
					t.Errorf("%s/%s: %s gets %q, want %q", tt.host, tt.path, from, got, want)
				}
			}
		}
	}
	r, err := g.Registry("plain.example:5000", "org/app")
	if err != nil {
		t.Fatal(err)
	}
	if err := refusal(r.Confined(&answers{all: []http.Response{answer(200, "")}}, 100), request(t, http.MethodGet, "https://plain.example:5000/v2/", "")); !errors.Is(err, errPlain) {
		t.Errorf("a registry that is listed with http is asked over https: %v", err)
	}
	for _, host := range []string{"a b", "2130706433"} {
		if r, err := g.Registry(host, "org/app"); err == nil {
			t.Errorf("%s is %+v", host, r)
		}
	}
}

// TestARegistryThatSaysTooMuch: the bound is on all of its answers together.
func TestARegistryThatSaysTooMuch(t *testing.T) {
	g, err := New(Options{Allow: []string{"https://r.example"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Registry("r.example", "org/app")
	if err != nil {
		t.Fatal(err)
	}
	next := func() http.Response {
		a := answer(200, "")
		a.Body = io.NopCloser(strings.NewReader("12345"))
		return a
	}
	confined := r.Confined(&answers{all: []http.Response{next(), next(), next(), {}}}, 10)
	for i, want := range []bool{true, true, false} {
		resp, err := confined.RoundTrip(request(t, http.MethodGet, "https://r.example/v2/", ""))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
		if (err == nil) != want {
			t.Errorf("answer %d: %v", i, err)
		}
	}
	if err := refusal(confined, request(t, http.MethodGet, "https://r.example/v2/", "")); err == nil {
		t.Error("a connection that breaks gives an answer")
	}
}

// TestWhatIsShownOfAnError: no query, no name or password of a URL, one line, and not all of what a stranger writes.
func TestWhatIsShownOfAnError(t *testing.T) {
	answered := func(n int) error {
		e := &transport.Error{StatusCode: http.StatusUnauthorized}
		for i := range n {
			e.Errors = append(e.Errors, transport.Diagnostic{Code: transport.ErrorCode(fmt.Sprintf("CODE%d", i)), Message: "hush"})
		}
		return e
	}
	host := &HostError{Host: "https://a.example", Reason: "no"}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("asking: %w", host), "https://a.example may not be asked: no"},
		{answered(0), "the registry answers 401 Unauthorized"},
		{answered(1), `the registry answers 401 Unauthorized ("CODE0")`},
		{fmt.Errorf("asking: %w", answered(4)), `the registry answers 401 Unauthorized ("CODE0", "CODE1", "CODE2")`},
		{fmt.Errorf("asking: %w", context.DeadlineExceeded), "it took too long: context deadline exceeded"},
		{&url.Error{Op: "Get", URL: "https://a.example?hush", Err: errors.New("EOF")}, "EOF"},
		{&url.Error{Op: "Get", URL: "https://a.example/v2/", Err: errPlain}, `Get "https://a.example/v2/": ` + errPlain.Error()},
		{errors.New("asking https://me:hush@a.example/x?token=hush now\nhush"), "asking https://a.example/x now"},
		{errors.New(strings.Repeat("x", 301)), strings.Repeat("x", 300)},
	} {
		if got := Clean(tt.err); got.Error() != tt.want || !errors.Is(got, tt.err) && !errors.Is(tt.err, got) {
			t.Errorf("of %q is shown %q, want %q", tt.err, got, tt.want)
		}
	}
	if Clean(nil) != nil {
		t.Error("where there is no error there is one")
	}
}
