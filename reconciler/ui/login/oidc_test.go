package login_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/ui/login"
	"github.com/waybill-dev/waybill/reconciler/ui/pages"
)

const clientSecret = "the-secret-of-the-client"

// provider is one of OpenID Connect.
type provider struct {
	t      *testing.T
	server *httptest.Server
	key    *rsa.PrivateKey
	now    func() time.Time
	// edit changes what the next tokens say; sign is their key, if it is not the provider's.
	edit  func(claims map[string]any)
	sign  *rsa.PrivateKey
	codes map[string]url.Values // the requests that codes were given for
	used  int
	// without says that it knows nothing of groups; looked counts who looked up what it knows.
	without bool
	looked  int
}

func newProvider(t *testing.T, now func() time.Time) *provider {
	t.Helper()
	key, err := usual()
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{t: t, key: key, now: now, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.looked++
		known := []string{"openid", "groups"}
		if p.without {
			known = known[:1]
		}
		p.answer(w, map[string]any{
			"issuer": p.server.URL, "authorization_endpoint": p.server.URL + "/authorize", "token_endpoint": p.server.URL + "/token", "jwks_uri": p.server.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}, "scopes_supported": known,
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.answer(w, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one", "n": base64.RawURLEncoding.EncodeToString(p.key.N.Bytes()), "e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(p.key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	return p
}

// usual is the key of all providers.
var usual = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func rsaKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (p *provider) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.t.Error(err)
	}
}

// authorize gives a code at once: whoever asks is ann.
func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	q, scope := r.URL.Query(), "openid profile email groups"
	if p.without {
		scope = "openid profile email"
	}
	for name, want := range map[string]string{"response_type": "code", "client_id": "waybill", "code_challenge_method": "S256", "scope": scope} {
		if got := q.Get(name); got != want {
			p.t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	code := rand.Text()
	p.codes[code] = q
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

// token changes a code for a token, once, and for whoever has the verifier.
func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	q, ok := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	_, secret, _ := r.BasicAuth()
	if !ok || q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || secret != clientSecret {
		w.WriteHeader(http.StatusBadRequest)
		p.answer(w, map[string]any{"error": "invalid_grant", "error_description": "what-nobody-should-see"})
		return
	}
	p.used++
	claims := map[string]any{
		"iss": p.server.URL, "aud": "waybill", "sub": "1234", "nonce": q.Get("nonce"), "iat": p.now().Unix(), "exp": p.now().Add(time.Hour).Unix(),
		"preferred_username": "ann", "groups": []string{"people", "ops"},
	}
	if p.edit != nil {
		p.edit(claims)
	}
	p.answer(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": p.jwt(claims)})
}

func (p *provider) jwt(claims map[string]any) string {
	part := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			p.t.Error(err)
		}
		return base64.RawURLEncoding.EncodeToString(data)
	}
	text := part(map[string]any{"alg": "RS256", "kid": "one", "typ": "JWT"}) + "." + part(claims)
	key := p.key
	if p.sign != nil {
		key = p.sign
	}
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		p.t.Error(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// site is a web UI behind a provider.
type site struct {
	provider *provider
	guard    *login.OIDC
	server   *httptest.Server
	now      time.Time
	log      strings.Builder
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{now: time.Now()}
	now := func() time.Time { return s.now }
	s.provider = newProvider(t, now)
	mux := http.NewServeMux()
	s.server = httptest.NewServer(mux)
	t.Cleanup(s.server.Close)
	s.guard = &login.OIDC{
		Issuer: s.provider.server.URL, ClientID: "waybill", ClientSecret: clientSecret, Groups: []string{"ops", "admins"}, URL: s.server.URL, Key: newKey(t, "a"),
		Random: rand.Text, Now: now, Log: slog.New(slog.NewTextHandler(&s.log, nil)),
	}
	tell := func(w http.ResponseWriter, _ *http.Request, status int, p pages.Failure) {
		w.WriteHeader(status)
		fmt.Fprintln(w, p.Title, p.Message, p.Links)
	}
	s.guard.Handle(mux, tell)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		who, err := s.guard.Who(r)
		if err != nil {
			s.guard.Refuse(w, r, err, tell)
			return
		}
		fmt.Fprintf(w, "%s at %s until %s", who.User, r.URL, who.Until.Sub(s.now))
	})
	return s
}

func newKey(t *testing.T, from string) login.Key {
	t.Helper()
	key, err := login.NewKey([]byte(strings.Repeat(from, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// browser keeps cookies, and follows redirects.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

// visit returns what is at an address.
func visit(t *testing.T, c *http.Client, at string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b strings.Builder
	if _, err := fmt.Fprint(&b, body(t, resp)); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, b.String()
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	var b strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := resp.Body.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return b.String()
		}
	}
}

// cookies are those that a browser sends to the site, by name.
func (s *site) cookies(c *http.Client) map[string]string {
	at, _ := url.Parse(s.server.URL)
	all := map[string]string{}
	for _, k := range c.Jar.Cookies(at) {
		all[k.Name] = k.Value
	}
	return all
}

// counted counts what is asked by a client, and answers nothing at a path.
type counted struct {
	asked int
	fails string
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.asked++
	if r.URL.Path == c.fails {
		return nil, errors.New("the line is cut")
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestLoggingIn(t *testing.T) {
	s, c := newSite(t), browser(t)
	asked := &counted{}
	s.guard.Client = &http.Client{Transport: asked}
	if status, text := visit(t, c, s.server.URL+"/matrix?q=web"); status != http.StatusUnauthorized || !strings.Contains(text, "Log in") {
		t.Fatalf("without a session: %d %s", status, text)
	}
	if status, text := visit(t, c, s.server.URL+"/login/start?next=%2Fmatrix%3Fq%3Dweb"); status != http.StatusOK || text != "ann at /matrix?q=web until 8h0m0s" {
		t.Fatalf("logging in: %d %s\n%s", status, text, s.log.String())
	}
	s.now = s.now.Add(8*time.Hour - time.Second)
	if _, text := visit(t, c, s.server.URL+"/"); text != "ann at / until 1s" {
		t.Errorf("at the end: %s", text)
	}
	s.now = s.now.Add(time.Second)
	if status, _ := visit(t, c, s.server.URL+"/"); status != http.StatusUnauthorized {
		t.Errorf("after eight hours: %d", status)
	}
	visit(t, c, s.server.URL+"/login/start")
	if s.provider.looked != 1 || asked.asked < 4 { // the provider once, its keys, and a code for each
		t.Errorf("the provider is looked up %d times, and asked %d times by the client", s.provider.looked, asked.asked)
	}
	if status, text := visit(t, c, s.server.URL+"/logout"); status != http.StatusOK || !strings.HasPrefix(text, "Logged out You are logged out here") {
		t.Errorf("logging out: %d %s", status, text)
	}
	if status, _ := visit(t, c, s.server.URL+"/"); status != http.StatusUnauthorized {
		t.Errorf("after logging out: %d", status)
	}
	if said := s.log.String(); strings.Contains(said, clientSecret) || strings.Contains(said, "eyJ") {
		t.Error("the log has a secret")
	}
}

func TestWhoIsNotLetIn(t *testing.T) {
	other := rsaKey(t)
	for name, tt := range map[string]struct {
		edit func(s *site, claims map[string]any)
		key  *rsa.PrivateKey
		why  string
	}{
		"no group":               {edit: func(_ *site, c map[string]any) { delete(c, "groups") }, why: "none of the groups"},
		"other groups":           {edit: func(_ *site, c map[string]any) { c["groups"] = []string{"people"} }, why: "none of the groups"},
		"a group in other words": {edit: func(_ *site, c map[string]any) { c["groups"] = "opsadmins" }, why: "none of the groups"},
		"everybody, it says":     {edit: func(_ *site, c map[string]any) { c["groups"] = []string{"*"} }, why: "none of the groups"},
		"another nonce":          {edit: func(_ *site, c map[string]any) { c["nonce"] = "another" }, why: "nonce"},
		"no nonce":               {edit: func(_ *site, c map[string]any) { delete(c, "nonce") }, why: "nonce"},
		"for another client":     {edit: func(_ *site, c map[string]any) { c["aud"] = "grafana" }, why: "audience"},
		"by another issuer":      {edit: func(_ *site, c map[string]any) { c["iss"] = "https://evil.example.com" }, why: "issued by"},
		"expired":                {edit: func(s *site, c map[string]any) { c["exp"] = s.now.Add(-time.Hour).Unix() }, why: "expired"},
		"by another key":         {key: other, why: "signature"},
		"a name that is none":    {edit: func(_ *site, c map[string]any) { c["email"] = 7 }, why: "reading what the provider says"},
	} {
		s, c := newSite(t), browser(t)
		s.provider.sign = tt.key
		if tt.edit != nil {
			s.provider.edit = func(claims map[string]any) { tt.edit(s, claims) }
		}
		status, text := visit(t, c, s.server.URL+"/login/start")
		isTold := strings.Contains(text, "you are in no group") == (tt.why == "none of the groups")
		if status != http.StatusForbidden || len(s.cookies(c)) != 0 || !strings.Contains(s.log.String(), tt.why) || !isTold {
			t.Errorf("%s: %d %s\n%s", name, status, text, s.log.String())
		}
	}
	s, c := newSite(t), browser(t)
	s.provider.edit = func(claims map[string]any) { claims["groups"] = "ops" }
	if status, text := visit(t, c, s.server.URL+"/login/start"); status != http.StatusOK {
		t.Errorf("one group, which is no list: %d %s", status, text)
	}
}

// begun begins to log in, and stops before the callback: it returns where that is.
func begun(t *testing.T, s *site, c *http.Client) *url.URL {
	t.Helper()
	var callback *url.URL
	c.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Path == "/login/callback" {
			callback = r.URL
			return http.ErrUseLastResponse
		}
		return nil
	}
	visit(t, c, s.server.URL+"/login/start")
	c.CheckRedirect = nil
	if callback == nil {
		t.Fatal("the provider sends nobody back")
	}
	return callback
}

func TestForgedCallbacks(t *testing.T) {
	for name, forge := range map[string]func(s *site, c *http.Client, at *url.URL) *http.Client{
		"another state": func(_ *site, c *http.Client, at *url.URL) *http.Client {
			q := at.Query()
			q.Set("state", "another")
			at.RawQuery = q.Encode()
			return c
		},
		"no state": func(_ *site, c *http.Client, at *url.URL) *http.Client {
			at.RawQuery = url.Values{"code": {at.Query().Get("code")}}.Encode()
			return c
		},
		"another code": func(_ *site, c *http.Client, at *url.URL) *http.Client {
			q := at.Query()
			q.Set("code", "another")
			at.RawQuery = q.Encode()
			return c
		},
		"another browser": func(*site, *http.Client, *url.URL) *http.Client { return browser(t) },
		"a browser that logs in, too": func(s *site, _ *http.Client, _ *url.URL) *http.Client {
			c := browser(t)
			begun(t, s, c)
			return c
		},
		"too late": func(s *site, c *http.Client, _ *url.URL) *http.Client {
			s.now = s.now.Add(10 * time.Minute)
			return c
		},
		"an error of the provider": func(_ *site, c *http.Client, at *url.URL) *http.Client {
			q := at.Query()
			q.Set("error", "access_denied")
			at.RawQuery = q.Encode()
			return c
		},
	} {
		s, c := newSite(t), browser(t)
		at := begun(t, s, c)
		c = forge(s, c, at)
		status, text := visit(t, c, at.String())
		if status != http.StatusForbidden || s.cookies(c)["waybill-session"] != "" || strings.Contains(text+s.log.String(), "what-nobody-should-see") {
			t.Errorf("%s: %d %s\n%s", name, status, text, s.log.String())
		}
	}
	s, c := newSite(t), browser(t)
	at := begun(t, s, c)
	s.now = s.now.Add(10*time.Minute - time.Second)
	if status, text := visit(t, c, at.String()); status != http.StatusOK {
		t.Fatalf("the right one: %d %s", status, text)
	}
	if status, _ := visit(t, c, at.String()); status != http.StatusForbidden {
		t.Errorf("the right one, again: %d", status)
	}
	if s.provider.used != 1 {
		t.Errorf("%d tokens were given", s.provider.used)
	}
}

func TestForgedSessions(t *testing.T) {
	s, c := newSite(t), browser(t)
	visit(t, c, s.server.URL+"/login/start")
	good := s.cookies(c)["waybill-session"]
	half := browser(t)
	begun(t, s, half)
	other, o := newSite(t), browser(t)
	other.guard.Key = newKey(t, "b")
	visit(t, o, other.server.URL+"/login/start")
	elsewhere, e := newSite(t), browser(t) // one key, another provider
	visit(t, e, elsewhere.server.URL+"/login/start")
	flipped := []byte(good)
	flipped[len(flipped)/2] ^= 1
	for name, value := range map[string]string{
		"none": "", "a word": "ann", "JSON": `{"user":"ann"}`, "cut off": good[:len(good)-4], "with one bit flipped": string(flipped),
		"that of somebody who only begins to log in": s.cookies(half)["waybill-login"], "sealed by another key": other.cookies(o)["waybill-session"],
		"of another provider": elsewhere.cookies(e)["waybill-session"], "long": strings.Repeat("A", 4000),
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.AddCookie(&http.Cookie{Name: "waybill-session", Value: value})
		if who, err := s.guard.Who(r); err == nil {
			t.Errorf("%s: it is taken for that of %s", name, who.User)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	if _, err := s.guard.Who(r); err == nil || err.Error() != "nobody is logged in" {
		t.Errorf("without a cookie: %v", err)
	}
	r.AddCookie(&http.Cookie{Name: "waybill-session", Value: good})
	if who, err := s.guard.Who(r); err != nil || who.User != "ann" || !who.LogsOut {
		t.Errorf("the right one: %v, %v", who, err)
	}
	for name, guard := range map[string]*login.OIDC{
		"another client": {Issuer: s.guard.Issuer, ClientID: "another", Key: s.guard.Key, Now: s.guard.Now},
		"another issuer": {Issuer: s.guard.Issuer + "/", ClientID: s.guard.ClientID, Key: s.guard.Key, Now: s.guard.Now},
	} {
		if who, err := guard.Who(r); err == nil {
			t.Errorf("it is taken for that of %s by %s", who.User, name)
		}
	}
}

func TestCookiesAreKeptFromScripts(t *testing.T) {
	s := newSite(t)
	for _, secure := range []bool{false, true} {
		if secure {
			s.guard.URL = "https://waybill.example.com"
		}
		mux := http.NewServeMux()
		s.guard.Handle(mux, func(http.ResponseWriter, *http.Request, int, pages.Failure) {})
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/login/start", http.NoBody))
		set := w.Header().Get("Set-Cookie")
		if !strings.Contains(set, "; HttpOnly") || !strings.Contains(set, "; SameSite=Lax") || strings.Contains(set, "; Secure") != secure || strings.HasPrefix(set, "__Host-") != secure || !strings.Contains(set, "; Path=/; Max-Age=600") {
			t.Error(set)
		}
	}
}

func TestOneReturnsToThisSiteOnly(t *testing.T) {
	for next, want := range map[string]string{
		"/clusters/eu?x=y": "/clusters/eu?x=y", "": "/", "https://evil.example.com": "/", "//evil.example.com": "/", `/\evil.example.com`: "/", "/\t/evil.example.com": "/",
		"/" + strings.Repeat("y", 999): "/" + strings.Repeat("y", 999), "/" + strings.Repeat("y", 1000): "/", "/%zz": "/", "/a\nb": "/", "/%6Cogin": "/",
		"javascript:alert(1)": "/", "/login": "/", "/logout": "/", "/" + strings.Repeat("x", 5000): "/", "evil": "/", "/%2F/evil": "/",
	} {
		s, c := newSite(t), browser(t)
		_, text := visit(t, c, s.server.URL+"/login/start?"+url.Values{"next": {next}}.Encode())
		if !strings.HasPrefix(text, "ann at "+want+" until") {
			t.Errorf("%q leads to %s", next, text)
		}
	}
}

func TestAProviderThatIsAwayIsAskedAgain(t *testing.T) {
	s, c := newSite(t), browser(t)
	issuer := s.guard.Issuer
	s.guard.Issuer = "http://127.0.0.1:1"
	if status, text := visit(t, c, s.server.URL+"/login/start"); status != http.StatusBadGateway || !strings.Contains(s.log.String(), "looking up the provider") {
		t.Errorf("while it is away: %d %s", status, text)
	}
	s.guard.Issuer = issuer
	if status, text := visit(t, c, s.server.URL+"/login/start"); status != http.StatusOK {
		t.Errorf("when it is back: %d %s", status, text)
	}
}

func TestShortKeys(t *testing.T) {
	if _, err := login.NewKey(make([]byte, 31)); err == nil || !strings.Contains(err.Error(), "at least 32") {
		t.Error(err)
	}
}

// TestAProviderThatHangsIsWaitedForOnce has ten people log in while the provider does not answer: none waits
// for the others.
func TestAProviderThatHangsIsWaitedForOnce(t *testing.T) {
	s := newSite(t)
	const patience, people = 2 * time.Second, 10
	provider := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(provider.Close)
	s.guard.Issuer, s.guard.Client = provider.URL, &http.Client{Timeout: patience}
	begun, statuses := time.Now(), make(chan int)
	for range people {
		c := browser(t)
		go func() {
			status, _ := visit(t, c, s.server.URL+"/login/start")
			statuses <- status
		}()
	}
	for range people {
		if status := <-statuses; status != http.StatusBadGateway {
			t.Errorf("the status is %d", status)
		}
	}
	if took := time.Since(begun); took > people/2*patience {
		t.Errorf("it takes %s, though each waits for %s", took, patience)
	}
}
