package registry_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources/egress"
	"github.com/waybill-dev/waybill/sources/registry"
)

const (
	me    = "me"
	hush  = "hush-canary"
	basic = "Basic bWU6aHVzaC1jYW5hcnk=" // of both
)

// guarded is a registry that wants a token of the service at realm, and the service.
type guarded struct {
	realm  string
	ticket string   // that counts
	lasts  int      // seconds
	tokens []string // Authorization of requests to the service
	scopes []string
	strict bool // the service wants basic
}

func (g *guarded) service(w http.ResponseWriter, r *http.Request) {
	g.tokens = append(g.tokens, r.Header.Get("Authorization"))
	g.scopes = append(g.scopes, r.URL.Query()["scope"]...)
	if g.strict && r.Header.Get("Authorization") != basic {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"errors":[{"code":"UNAUTHORIZED","message":"`+hush+`"}]}`)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"token": g.ticket, "expires_in": g.lasts})
}

func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/token":
		g.service(w, r)
	case r.Header.Get("Authorization") != "Bearer "+g.ticket:
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=%q,service=x", g.realm))
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == "/v2/":
	default:
		list(w, []string{"1.0.0"})
	}
}

func TestTheTokenServiceOfARegistry(t *testing.T) {
	for _, tt := range []struct {
		name      string
		elsewhere bool
		listed    bool
		named     bool
		wantToken string
		wrong     registry.Class
	}{
		{name: "on the registry's host gets the credential", wantToken: basic},
		{name: "elsewhere and not listed is not asked", elsewhere: true, wrong: registry.Refused},
		{name: "elsewhere and listed does not get the credential", elsewhere: true, listed: true},
		{name: "elsewhere, listed and named gets it", elsewhere: true, listed: true, named: true, wantToken: basic},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &guarded{ticket: "ticket"}
			s, service := serve(t, g.ServeHTTP), serve(t, g.service)
			g.realm = s.URL + "/token"
			if tt.elsewhere { // go-containerregistry refuses the addresses of other services
				g.realm = strings.Replace(service.URL, "127.0.0.1", "localhost", 1) + "/token"
			}
			o := registry.Options{}
			credential := egress.Credential{URL: "oci://" + s.host + "/org", Username: me, Password: hush}
			if tt.listed {
				o.Allow = []string{strings.TrimSuffix(g.realm, "/token")}
			}
			if tt.named {
				credential.TokenService = strings.TrimSuffix(g.realm, "/token")
			}
			o.Credentials = []egress.Credential{credential}
			c, _ := trusting(t, o, []*server{s}, service)
			_, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{})
			if tt.wrong != "" {
				wantClass(t, err, tt.wrong)
			} else if err != nil {
				t.Fatal(err)
			}
			want := []string{tt.wantToken}
			if tt.wrong != "" {
				want = nil
			}
			if d := cmp.Diff(want, g.tokens); d != "" {
				t.Errorf("authorization at the service (-want +got):\n%s", d)
			}
		})
	}
}

func TestTokensAreKeptAndEnd(t *testing.T) {
	g := &guarded{ticket: "first", lasts: 300}
	s := serve(t, g.ServeHTTP)
	g.realm = s.URL + "/token"
	c, at := client(t, registry.Options{}, s)
	requests := func(want ...string) {
		t.Helper()
		if _, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{}); err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, r := range s.asked() {
			path, _, _ := strings.Cut(strings.TrimPrefix(r, "GET "), "?")
			paths = append(paths, path)
		}
		if d := cmp.Diff(want, paths); d != "" {
			t.Errorf("asked (-want +got):\n%s", d)
		}
	}
	const tags = "/v2/org/app/tags/list"
	requests(tags, "/v2/", "/token", tags)
	requests(tags)
	g.ticket = "second" // the first counts no longer
	requests(tags, "/token", tags)
	at.at = at.at.Add(10 * time.Minute) // it has ended
	requests("/token", tags)
	if d := cmp.Diff([]string{"repository:org/app:pull", "repository:org/app:pull", "repository:org/app:pull"}, g.scopes); d != "" {
		t.Errorf("scopes (-want +got):\n%s", d)
	}
}

func TestCredentials(t *testing.T) {
	for _, tt := range []struct {
		name       string
		wants      string // Authorization
		challenge  string
		credential egress.Credential
		class      registry.Class
	}{
		{"basic", basic, `Basic realm="x"`, egress.Credential{Username: me, Password: hush}, ""},
		{"a token", "Bearer " + hush, `Bearer realm="https://127.0.0.1/token"`, egress.Credential{Token: hush}, ""},
		{"a wrong password", "Basic x", `Basic realm="x"`, egress.Credential{Username: me, Password: hush}, registry.Denied},
		{"a wrong token", "Bearer x", `Bearer realm="https://127.0.0.1/token"`, egress.Credential{Token: hush}, registry.Denied},
		{"none", basic, `Basic realm="x"`, egress.Credential{URL: "oci://other.example", Username: me, Password: hush}, registry.Denied},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != tt.wants {
					w.Header().Set("WWW-Authenticate", tt.challenge)
					w.WriteHeader(http.StatusUnauthorized)
					fmt.Fprint(w, `{"errors":[{"code":"UNAUTHORIZED","message":"`+r.Header.Get("Authorization")+`"}]}`)
					return
				}
				list(w, []string{"1.0.0"})
			})
			if tt.credential.URL == "" {
				tt.credential.URL = "oci://" + s.host
			}
			c, _ := client(t, registry.Options{Credentials: []egress.Credential{tt.credential}}, s)
			for range 2 {
				_, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{})
				if tt.class == "" && err != nil {
					t.Fatal(err)
				} else if tt.class != "" {
					wantClass(t, err, tt.class, "401 Unauthorized")
					if strings.Contains(err.Error(), hush) {
						t.Errorf("the error shows a secret: %v", err)
					}
				}
			}
			if n := len(s.asked()); n > 4 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestATokenServiceThatRefuses(t *testing.T) {
	g := &guarded{ticket: "ticket", strict: true}
	s := serve(t, g.ServeHTTP)
	g.realm = s.URL + "/token?" + hush
	c, _ := client(t, registry.Options{}, s)
	_, err := c.Tags(t.Context(), s.host+"/org/app", registry.Known{})
	wantClass(t, err, registry.Denied, "401 Unauthorized")
	if strings.Contains(err.Error(), hush) {
		t.Errorf("the error shows a secret: %v", err)
	}
}
