package login_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/ui/login"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
)

// Whoever may not look is told why, or led to where one logs in; what scripts ask for is refused without a page.
func TestWhatIsSaidToWhoMayNotLook(t *testing.T) {
	why := errors.New("nobody knows you")
	for _, tt := range []struct {
		name, at, header string
		guard            login.Guard
		status           int
		says, to         string
	}{
		{name: "this machine alone", guard: login.Open{}, at: "/", status: http.StatusForbidden, says: "Not for this name: nobody knows you"},
		{name: "behind a proxy", guard: &login.Proxy{}, at: "/", status: http.StatusForbidden, says: "Who are you?: nobody knows you"},
		{name: "a page", guard: &login.OIDC{}, at: "/matrix?q=a%20b", status: http.StatusSeeOther, to: "/login?next=%2Fmatrix%3Fq%3Da%2520b"},
		{name: "events", guard: &login.OIDC{}, at: "/events", status: http.StatusUnauthorized, says: "nobody knows you"},
		{name: "a part", guard: &login.OIDC{}, at: "/fleet", header: "X-Fragment", status: http.StatusUnauthorized, says: "nobody knows you"},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, tt.at, http.NoBody)
		if tt.header != "" {
			r.Header.Set(tt.header, "1")
		}
		told := ""
		tt.guard.Refuse(w, r, why, func(w http.ResponseWriter, _ *http.Request, status int, p pages.Failure) {
			w.WriteHeader(status)
			told = p.Title + ": " + p.Message
		})
		if told == "" && tt.to == "" {
			told = strings.TrimSpace(w.Body.String())
		}
		if w.Code != tt.status || told != tt.says || w.Header().Get("Location") != tt.to {
			t.Errorf("%s: %d %q to %q", tt.name, w.Code, told, w.Header().Get("Location"))
		}
	}
}

// The page to log in at leads to the provider, by its name, and from there to the page that was asked for.
func TestThePageToLogInAt(t *testing.T) {
	for issuer, want := range map[string]string{
		"https://id.example.com/realm": "Log in at id.example.com", "nobody": "Log in at nobody", "https://%zz": "Log in at https://%zz",
	} {
		mux := http.NewServeMux()
		var got pages.Failure
		tell := func(_ http.ResponseWriter, _ *http.Request, _ int, p pages.Failure) { got = p }
		(&login.OIDC{Issuer: issuer}).Handle(mux, tell)
		mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/login?next=%2Ffleet%3Fq%3Da", http.NoBody))
		if len(got.Links) != 1 || got.Links[0] != (pages.Link{Text: want, URL: "/login/start?next=%2Ffleet%3Fq%3Da"}) {
			t.Errorf("of %s it is %+v", issuer, got)
		}
	}
}

// Somebody is called by the name that people know, or else by what the provider has; a long one is cut between letters.
func TestWhatSomebodyIsCalled(t *testing.T) {
	for want, claims := range map[string]map[string]any{
		"ann":                         {"preferred_username": "ann", "email": "ann@example.com", "name": "Ann"},
		"a@example.com":               {"preferred_username": "", "email": "a@example.com", "name": "Ann"},
		"Ann B.":                      {"preferred_username": "", "name": "Ann B."},
		"1234":                        {"preferred_username": ""},
		"everybody's 77":              {"preferred_username": "everybody's 77", "groups": []any{7, "", "admins"}},
		"x" + strings.Repeat("ä", 49): {"preferred_username": "x" + strings.Repeat("ä", 50)},
		strings.Repeat("y", 100):      {"preferred_username": strings.Repeat("y", 100)},
	} {
		s, c := newSite(t), browser(t)
		s.provider.without = true
		s.provider.edit = func(all map[string]any) {
			maps.Copy(all, claims)
		}
		if _, text := visit(t, c, s.server.URL+"/login/start"); text != want+" at / until 8h0m0s" {
			t.Errorf("%v: %s", claims, text)
		}
	}
}

// A star for a group lets in whom the provider knows, whatever their groups; a name that is empty is no group.
func TestWhichGroupsAreLetIn(t *testing.T) {
	for _, tt := range []struct {
		allowed []string
		has     any
		in      bool
	}{
		{[]string{"admins", "*"}, nil, true},
		{[]string{""}, "", false},
		{[]string{""}, []string{""}, false},
		{nil, []string{"ops"}, false},
	} {
		s, c := newSite(t), browser(t)
		s.guard.Groups = tt.allowed
		s.provider.edit = func(all map[string]any) { all["groups"] = tt.has }
		if status, text := visit(t, c, s.server.URL+"/login/start"); (status == http.StatusOK) != tt.in {
			t.Errorf("of %q, %v is answered %d %s", tt.allowed, tt.has, status, text)
		}
	}
}

// Who begins to log in at a time that no cookie can hold is told so, and gets none.
func TestACookieThatCannotBeMade(t *testing.T) {
	s := newSite(t)
	s.now = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	status, text := visit(t, browser(t), s.server.URL+"/login/start")
	if status != http.StatusInternalServerError || strings.TrimSpace(text) != "nobody can log in now" {
		t.Errorf("it is answered %d %s", status, text)
	}
}

// A key that is drawn opens what it sealed itself, and nothing of another one.
func TestKeysThatAreDrawn(t *testing.T) {
	s, c := newSite(t), browser(t)
	own, err := login.RandomKey()
	if err != nil {
		t.Fatal(err)
	}
	other, err := login.RandomKey()
	if err != nil {
		t.Fatal(err)
	}
	s.guard.Key = own
	if _, text := visit(t, c, s.server.URL+"/login/start"); !strings.HasPrefix(text, "ann at /") {
		t.Errorf("by its own key: %s", text)
	}
	s.guard.Key = other
	if status, _ := visit(t, c, s.server.URL+"/"); status != http.StatusUnauthorized {
		t.Errorf("by another key: %d", status)
	}
}

// sealed seals a text as NewKey says of some bytes: a replica of another version may seal what this one cannot read.
func sealed(t *testing.T, from, purpose, text string) string {
	t.Helper()
	key, err := hkdf.Key(sha256.New, []byte(strings.Repeat(from, 32)), nil, "waybill web UI cookies", 32)
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nil, nil, []byte(text), []byte(purpose)))
}

// A session that is sealed by the right key, and of which a part cannot be read, is none.
func TestASessionThatCannotBeReadIsNone(t *testing.T) {
	s := newSite(t)
	for user, in := range map[string]bool{`"ann"`: true, "7": false, `["ann"]`: false} {
		until := s.now.Add(time.Hour).Format(time.RFC3339)
		text := fmt.Sprintf(`{"iss": %q, "aud": "waybill", "until": %q, "user": %s}`, s.guard.Issuer, until, user)
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.AddCookie(&http.Cookie{Name: "waybill-session", Value: sealed(t, "a", "session", text)})
		if who, err := s.guard.Who(r); (err == nil) != in || in && who.User != "ann" {
			t.Errorf("of a user %s: %+v, %v", user, who, err)
		}
	}
}

// What is wrong with a callback is in the log, in words that tell one mistake from another.
func TestWhyACallbackIsRefused(t *testing.T) {
	for why, query := range map[string]url.Values{
		"nobody here began to log in": nil, "the state is not the one": {"state": {"x"}},
		`the provider refused: \"denied\" \"by me\"`: {"error": {"denied"}, "error_description": {"by me"}},
		"the provider answered 400 Bad Request":      {"code": {"x"}},
	} {
		s, c := newSite(t), browser(t)
		at := begun(t, s, c)
		q := at.Query()
		maps.Copy(q, query)
		at.RawQuery = q.Encode()
		if query == nil {
			c = browser(t)
		}
		s.log.Reset()
		s.refuses(t, c, at, why)
	}
	s, c := newSite(t), browser(t)
	at := begun(t, s, c)
	s.guard.Client = &http.Client{Transport: &counted{fails: "/token"}}
	s.refuses(t, c, at, "the line is cut")
	other := newSite(t) // a replica that never asked the provider, which is away now
	other.guard.Key, other.guard.Issuer = s.guard.Key, "http://127.0.0.1:1"
	at = begun(t, s, c)
	at.Host = strings.TrimPrefix(other.server.URL, "http://")
	other.refuses(t, c, at, "looking up the provider")
}

// refuses holds that a callback is refused, and that the log says why.
func (s *site) refuses(t *testing.T, c *http.Client, at *url.URL, why string) {
	t.Helper()
	status, text := visit(t, c, at.String())
	if status != http.StatusForbidden || !strings.Contains(text, "That did not work") || !strings.Contains(s.log.String(), why) {
		t.Errorf("%s: %d %s\n%s", why, status, text, s.log.String())
	}
}
