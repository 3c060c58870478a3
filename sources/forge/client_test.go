package forge_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/forge/forgetest"
)

// says reports whether an error has a text; that there is none is "".
func says(err error, want string) bool {
	if want == "" || err == nil {
		return err == nil && want == ""
	}
	return strings.Contains(err.Error(), want)
}

// reply is an answer of a server.
type reply struct {
	status int
	header map[string]string
	body   string
}

// script is a server that answers one after the other; the last again and again.
type script struct {
	replies []reply

	mu    sync.Mutex // a client that was cut off does not wait until it is served
	asked int
	saw   http.Header
}

// count is how often it was asked.
func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	next := s.replies[min(s.asked, len(s.replies)-1)]
	s.asked, s.saw = s.asked+1, r.Header
	s.mu.Unlock()
	w.Header().Set("Date", noon.Format(http.TimeFormat))
	for k, v := range next.header {
		w.Header().Set(k, v)
	}
	if next.status == 0 {
		panic(http.ErrAbortHandler) // the connection breaks
	}
	w.WriteHeader(next.status)
	fmt.Fprint(w, next.body)
}

// scripted opens a repository of a server that answers so.
func scripted(t *testing.T, kind forge.Kind, replies ...reply) (forge.Forge, *script, *clock) {
	t.Helper()
	s, c := &script{replies: replies}, &clock{now: noon}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return openAt(t, forge.Options{Kind: kind, URL: server.URL, Repository: "acme/fleet", Token: forgetest.Token}, c), s, c
}

const pull = `{"number": 7, "iid": 7, "state": "open"}`

// What a forge cannot answer for the moment is asked again; what it refuses is not. An error says
// what to do, and has no token.
func TestAnswers(t *testing.T) {
	until := strconv.FormatInt(noon.Add(40*time.Second).Unix(), 10)
	for _, tt := range []struct {
		name    string
		replies []reply
		want    string // of the error; empty: none
		asked   int
		waited  []time.Duration
	}{
		{"it answers", []reply{{status: 200, body: pull}}, "", 1, nil},
		{"401", []reply{{status: 401, body: `{"message":"Bad credentials"}`}}, "401: Bad credentials; the token is not valid", 1, nil},
		{"403", []reply{{status: 403, body: `{"message":"Resource not accessible by integration"}`}}, "pull-requests: write", 1, nil},
		{"404", []reply{{status: 404, body: `{"message":"Not Found"}`}}, "may not see it", 1, nil},
		{"409", []reply{{status: 409}}, "409: conflict; somebody changed it", 1, nil},
		{"422", []reply{{status: 422, body: `{"message":"Validation Failed","errors":[{"field":"body"}]}`}}, `Validation Failed: [{"field":"body"}]`, 1, nil},
		{"what it says has the token", []reply{{status: 422, body: `{"message":"\u001b[31mno\u202e ` + forgetest.Token + `\nnow"}`}}, "422: [31mno *** now", 1, nil},
		{"it says as much as is shown", []reply{{status: 422, body: `{"message":"` + strings.Repeat("ü", 300) + `"}`}}, strings.Repeat("ü", 300) + "; the forge", 1, nil},
		{"it says more", []reply{{status: 422, body: `{"message":"` + strings.Repeat("ü", 301) + `"}`}}, strings.Repeat("ü", 300) + "…; the forge", 1, nil},
		{"moved", []reply{{status: 301, header: map[string]string{"Location": "https://evil.example/repositories/1?token=x"}}}, "it moved to evil.example/repositories/1;", 1, nil},
		{"a page", []reply{{status: 200, body: "<html>"}}, "is that the URL of the forge?", 1, nil},
		{"429", []reply{{status: 429, header: map[string]string{"Retry-After": "5"}}, {status: 200, body: pull}}, "", 2, []time.Duration{5 * time.Second}},
		{"429 with a date", []reply{{status: 429, header: map[string]string{"Retry-After": noon.Add(9 * time.Second).Format(http.TimeFormat)}}, {status: 200, body: pull}}, "", 2, []time.Duration{9 * time.Second}},
		{"429 without a time", []reply{{status: 429}, {status: 200, body: pull}}, "", 2, []time.Duration{time.Minute}},
		{"a limit of GitHub", []reply{{status: 403, header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": until}}, {status: 200, body: pull}}, "", 2, []time.Duration{40 * time.Second}},
		{"429 for ever", []reply{{status: 429, header: map[string]string{"Retry-After": "1"}}}, "429: too many requests", 4, []time.Duration{time.Second, time.Second, time.Second}},
		{"two limits that are too long together", []reply{{status: 429, header: map[string]string{"Retry-After": "60"}}}, "is asked again after 2026-05-01T12:02:00Z", 2, []time.Duration{time.Minute}},
		{"429 until a second of GitLab's", []reply{{status: 429, header: map[string]string{"RateLimit-Reset": until}}, {status: 200, body: pull}}, "", 2, []time.Duration{40 * time.Second}},
		{"429 until a time that is over", []reply{{status: 429, header: map[string]string{"X-RateLimit-Reset": "1"}}, {status: 200, body: pull}}, "", 2, []time.Duration{time.Second}},
		{"429 until a date that is over", []reply{{status: 429, header: map[string]string{"Retry-After": noon.Add(-time.Hour).Format(http.TimeFormat)}}, {status: 200, body: pull}}, "", 2, []time.Duration{time.Second}},
		{"429 of a forge whose clock is fast", []reply{{status: 429, header: map[string]string{"Date": noon.Add(time.Hour).Format(http.TimeFormat), "Retry-After": noon.Add(time.Hour + 9*time.Second).Format(http.TimeFormat)}}, {status: 200, body: pull}}, "", 2, []time.Duration{9 * time.Second}},
		{"503 that says when", []reply{{status: 503, header: map[string]string{"Retry-After": "7"}}, {status: 200, body: pull}}, "", 2, []time.Duration{7 * time.Second}},
		{"a refusal while requests are left", []reply{{status: 403, header: map[string]string{"X-RateLimit-Remaining": "12", "X-RateLimit-Reset": until}}}, "the token may not do that", 1, nil},
		{"501", []reply{{status: 501}}, "501: not implemented", 1, nil},
		{"a second limit of GitHub", []reply{{status: 403, header: map[string]string{"Retry-After": "30"}}, {status: 200, body: pull}}, "", 2, []time.Duration{30 * time.Second}},
		{"a limit for longer than anybody waits", []reply{{status: 429, header: map[string]string{"Retry-After": "3600"}}}, "is asked again after 2026-05-01T13:00:00Z", 1, nil},
		{"503", []reply{{status: 503}, {status: 502}, {status: 200, body: pull}}, "", 3, []time.Duration{time.Second, 2 * time.Second}},
		{"500 for ever", []reply{{status: 500}}, "500: internal server error; the forge has a failure of its own", 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
		{"the connection breaks", []reply{{}, {status: 200, body: pull}}, "", 2, []time.Duration{time.Second}},
		{"the connection breaks for ever", []reply{{}}, "reading pull request 7 at 127.0.0.1", 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, s, c := scripted(t, forge.GitHub, tt.replies...)
			_, err := f.PullRequest(t.Context(), 7)
			if !says(err, tt.want) || s.count() != tt.asked || !reflect.DeepEqual(c.waited, tt.waited) {
				t.Errorf("asked %d times, waited %v: %v; want %d, %v, %q", s.count(), c.waited, err, tt.asked, tt.waited, tt.want)
			}
			if err != nil && strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), forgetest.Token) {
				t.Errorf("the error has the token: %#v", err)
			}
			if err != nil && strings.Contains(err.Error(), "http://127") {
				t.Errorf("the error has the address twice: %v", err)
			}
		})
	}
}

// Every request says who asks, which GitHub demands, and in which form it takes an answer.
func TestWhoAsks(t *testing.T) {
	for _, kind := range kinds {
		var header http.Header
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			header = r.Header
			fmt.Fprint(w, pull)
		}))
		if _, err := open(t, kind, server.URL).PullRequest(t.Context(), 7); err != nil {
			t.Error(err)
		}
		accept := "application/json"
		if kind == forge.GitHub {
			accept = "application/vnd.github+json"
		}
		if header.Get("User-Agent") != "waybill" || header.Get("Accept") != accept {
			t.Errorf("%s is asked with %v", kind, header)
		}
		server.Close()
	}
}

// What would be there twice is not asked for again when nobody knows whether it was carried out; what was refused for a while is.
func TestWhatIsNotMadeTwice(t *testing.T) {
	made := map[string]func(context.Context, forge.Proposer) error{
		"a comment": func(ctx context.Context, f forge.Proposer) error {
			_, err := f.Comment(ctx, 7, "one")
			return err
		},
		"a pull request": func(ctx context.Context, f forge.Proposer) error {
			_, err := f.OpenPullRequest(ctx, "waybill/web", "main", forge.Draft{Title: "web"})
			return err
		},
	}
	for _, kind := range []forge.Kind{forge.GitHub, forge.GitLab, forge.Gitea} {
		for name, do := range made {
			for _, first := range []reply{{}, {status: 502}} {
				f, s, _ := scripted(t, kind, first, reply{status: 201, body: pull})
				if err := do(t.Context(), f.(forge.Proposer)); err == nil || s.count() != 1 {
					t.Errorf("%s, %s, after %d: asked %d times, %v", kind, name, first.status, s.count(), err)
				}
			}
			f, s, _ := scripted(t, kind, reply{status: 429, header: map[string]string{"Retry-After": "5"}}, reply{status: 201, body: pull})
			if err := do(t.Context(), f.(forge.Proposer)); err != nil || s.count() != 2 {
				t.Errorf("%s, %s, after a limit: asked %d times, %v", kind, name, s.count(), err)
			}
		}
	}
}

// A list that begins with what changed last is read as far as something changed.
func TestAListIsReadAsFarAsItChanged(t *testing.T) {
	for kind, size := range map[forge.Kind]int{forge.GitHub: 100, forge.Gitea: 50} {
		of := func(at time.Time) string {
			one := fmt.Sprintf(`{"number": 7, "state": "open", "updated_at": %q},`, at.Format(time.RFC3339))
			return "[" + strings.TrimSuffix(strings.Repeat(one, size), ",") + "]"
		}
		f, s, _ := scripted(t, kind, reply{status: 200, body: of(noon)}, reply{status: 200, body: of(noon.Add(-time.Hour))})
		all, err := f.OpenPullRequests(t.Context(), noon)
		if err != nil || len(all) != size || s.count() != 2 {
			t.Errorf("%s: %d in %d pages, %v", kind, len(all), s.count(), err)
		}
	}
}

// While a forge asks not to be asked, nobody asks.
func TestALimitHoldsForAllCalls(t *testing.T) {
	f, s, c := scripted(t, forge.GitLab, reply{status: 429, header: map[string]string{"Retry-After": "600"}}, reply{status: 200, body: pull})
	for range 2 {
		if _, err := f.PullRequest(t.Context(), 7); !says(err, "limits how often") {
			t.Error(err)
		}
	}
	if s.count() != 1 {
		t.Errorf("it was asked %d times", s.count())
	}
	c.now = c.now.Add(10 * time.Minute)
	if _, err := f.PullRequest(t.Context(), 7); err != nil || s.count() != 2 {
		t.Errorf("asked %d times: %v", s.count(), err)
	}
}

// Of two answers that say for how long a forge is not to be asked the longer counts, whichever comes last.
func TestTheLongerLimitHolds(t *testing.T) {
	for _, first := range []string{"6000", "3000"} {
		c, both := &clock{now: noon}, make(chan struct{}, 3)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			both <- struct{}{}
			for len(both) < 2 {
				time.Sleep(time.Millisecond) // both are asked before one is answered
			}
			after := first
			if strings.HasSuffix(r.URL.Path, "/8") { // is answered last
				time.Sleep(50 * time.Millisecond)
				after = map[string]string{"6000": "3000", "3000": "6000"}[first]
			}
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		t.Cleanup(server.Close)
		f := openAt(t, forge.Options{Kind: forge.GitLab, URL: server.URL, Repository: "acme/fleet", Token: forgetest.Token}, c)
		var asking sync.WaitGroup
		for _, number := range []int{7, 8} {
			asking.Go(func() { _, _ = f.PullRequest(t.Context(), number) })
		}
		asking.Wait()
		c.now = c.now.Add(90 * time.Minute)
		if _, err := f.PullRequest(t.Context(), 9); !says(err, "limits how often") || len(both) != 2 {
			t.Errorf("where the first says %s it is asked within the longer one: %v", first, err)
		}
	}
}

// A comment that may have been made is not made again, unless it is not there.
func TestACommentThatMayHaveBeenMade(t *testing.T) {
	for _, made := range []bool{false, true} {
		fake, failed := forgetest.NewFake(), false
		inner := forgetest.GitHub(t, fake, &forgetest.Waybill, forgetest.Bearer(forgetest.Token))
		front := httptest.NewServer(through(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost || failed {
				w.WriteHeader(http.StatusTemporaryRedirect)
				return
			}
			if failed = true; made {
				fake.SayAs(forgetest.Waybill, "<!-- waybill: fleet -->\none")
			}
			w.WriteHeader(http.StatusBadGateway)
		}), inner))
		_, err := forge.Say(t.Context(), open(t, forge.GitHub, front.URL), forgetest.Number, "fleet", "one")
		front.Close()
		all, _ := fake.Comments(t.Context(), forgetest.Number)
		if err != nil || len(all) != 1 {
			t.Errorf("made: %v; there are %+v, %v", made, all, err)
		}
	}
}

// through is a handler, behind which another server has what it redirects.
func through(t *testing.T, h http.Handler, inner string) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if rec.Code != http.StatusTemporaryRedirect {
			w.WriteHeader(rec.Code)
			if _, err := rec.Body.WriteTo(w); err != nil {
				t.Error(err)
			}
			return
		}
		req, err := http.NewRequestWithContext(r.Context(), r.Method, inner+r.URL.RequestURI(), r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header = r.Header
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
		if _, err := io.Copy(w, resp.Body); err != nil {
			t.Error(err)
		}
	})
}

// The token goes to its own host, and nowhere else.
func TestTheTokenStaysWithItsHost(t *testing.T) {
	other := &script{replies: []reply{{status: 200, body: pull}}}
	elsewhere := httptest.NewServer(other)
	defer elsewhere.Close()
	for _, kind := range []forge.Kind{forge.GitHub, forge.GitLab, forge.Gitea} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			f, _, _ := scripted(t, kind, reply{status: status, header: map[string]string{"Location": elsewhere.URL + "/x"}})
			if _, err := f.PullRequest(t.Context(), 7); !says(err, "it moved to") {
				t.Errorf("%s, %d: %v", kind, status, err)
			}
			if err := f.SetStatus(t.Context(), forge.Status{Commit: strings.Repeat("a", 40), State: forge.Success}); !says(err, "it moved to") {
				t.Errorf("%s, %d: %v", kind, status, err)
			}
		}
	}
	if other.count() > 0 {
		t.Errorf("another host was asked, with %v", other.saw)
	}
}

// A forge that sends without end is left.
func TestAnEndlessAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chunk := []byte(strings.Repeat(" ", 1<<20))
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	if _, err := open(t, forge.Gitea, server.URL).PullRequest(t.Context(), 7); !says(err, "longer than 32 MiB") {
		t.Error(err)
	}
}

// Who does not want to wait any longer does not.
func TestCancelled(t *testing.T) {
	f, s, _ := scripted(t, forge.GitHub, reply{status: 500})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.PullRequest(ctx, 7); !errors.Is(err, context.Canceled) || s.count() > 0 {
		t.Errorf("asked %d times: %v", s.count(), err)
	}
}

// appKey is the key of an app.
var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// pemOf is a text of PEM.
func pemOf(kind string, data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data})
}

// The key of an app is of RSA, in either of the forms that it is kept in.
func TestKeysOfApps(t *testing.T) {
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pkcs1 := pemOf("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(appKey()), nil)
	data, err := x509.MarshalPKCS8PrivateKey(appKey())
	pkcs8 := pemOf("PRIVATE KEY", data, err)
	data, err = x509.MarshalPKCS8PrivateKey(other)
	elliptic := pemOf("PRIVATE KEY", data, err)
	for name, tt := range map[string]struct {
		app  forge.App
		want string
	}{
		"as GitHub makes it":  {forge.App{ID: "1", Key: pkcs1}, ""},
		"as openssl keeps it": {forge.App{ID: "1", Key: pkcs8}, ""},
		"no number":           {forge.App{Key: pkcs1}, "the private key of the GitHub App is none"},
		"of another kind":     {forge.App{ID: "1", Key: elliptic}, "the private key of the GitHub App is none"},
		"no key":              {forge.App{ID: "1", Key: pemOf("PRIVATE KEY", []byte("x"), nil)}, "the private key of the GitHub App is none"},
	} {
		if _, err := forge.Open(forge.Options{Kind: forge.GitHub, URL: "https://github.com", Repository: "acme/fleet", App: &tt.app}); !says(err, tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// An app that gets no token asks nothing else, and says what was refused.
func TestAnAppWithoutAToken(t *testing.T) {
	for refused, want := range map[string]string{
		"/app":                                "asking which app this is",
		"/repos/acme/fleet/installation":      "asking where the app is installed",
		"/app/installations/77/access_tokens": "making a token of the app's installation",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			path := strings.TrimPrefix(r.URL.Path, "/api/v3")
			if path == refused {
				w.WriteHeader(http.StatusForbidden)
			} else if strings.HasPrefix(path, "/repos/acme/fleet/pulls") {
				t.Errorf("without a token it asks for %s", r.URL)
			}
			fmt.Fprint(w, `{"slug": "waybill-app", "id": 77, "token": "ghs", "expires_at": "2026-05-01T13:00:00Z"}`)
		}))
		t.Cleanup(server.Close)
		key := pemOf("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(appKey()), nil)
		f := openAt(t, forge.Options{Kind: forge.GitHub, URL: server.URL, Repository: "acme/fleet", App: &forge.App{ID: "1", Key: key}}, &clock{now: noon})
		if _, err := f.PullRequest(t.Context(), 7); !says(err, want) || !errors.Is(err, forge.ErrForbidden) {
			t.Errorf("where %s is refused: %v", refused, err)
		}
		if _, err := f.Comments(t.Context(), 7); !errors.Is(err, forge.ErrForbidden) {
			t.Errorf("where %s is refused, whose comments are whose: %v", refused, err)
		}
	}
}

// An app asks with tokens of its installation, and makes them anew before they end.
func TestGitHubApp(t *testing.T) {
	key := appKey()
	fake, c, made := forgetest.NewFake(), &clock{now: noon}, 0
	app := http.NewServeMux()
	asApp := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			checkJWT(t, &key.PublicKey, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), c.now)
			h(w, r)
		}
	}
	app.HandleFunc("GET /api/v3/app", asApp(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"slug":"waybill-app"}`) }))
	app.HandleFunc("GET /api/v3/repos/acme/fleet/installation", asApp(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"id":77}`) }))
	app.HandleFunc("POST /api/v3/app/installations/77/access_tokens", asApp(func(w http.ResponseWriter, r *http.Request) {
		var in map[string][]string
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || !reflect.DeepEqual(in, map[string][]string{"repositories": {"fleet"}}) {
			t.Errorf("the token is for %v, %v", in, err)
		}
		made++
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"token":"ghs_%d","expires_at":%q}`, made, c.now.Add(time.Hour).Format(time.RFC3339))
	}))
	app.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTemporaryRedirect) })
	inner := forgetest.GitHub(t, fake, nil, func(r *http.Request) bool {
		return r.Header.Get("Authorization") == fmt.Sprintf("Bearer ghs_%d", made)
	})
	server := httptest.NewServer(through(t, app, inner))
	defer server.Close()
	text := pemOf("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key), nil)
	f := openAt(t, forge.Options{Kind: forge.GitHub, URL: server.URL, Repository: forgetest.Name, App: &forge.App{ID: "Iv1.app", Key: text}}, c)
	for i, wait := range []time.Duration{0, time.Minute, 55 * time.Minute, time.Minute} {
		c.now = c.now.Add(wait)
		if _, err := f.PullRequest(t.Context(), forgetest.Number); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	if made != 2 {
		t.Errorf("%d tokens were made", made)
	}
	// What the app says is known by its name.
	fake.SayAs(forge.User{ID: 9, Login: "waybill-app[bot]", Bot: true}, "mine")
	fake.SayAs(forge.User{ID: 10, Login: "renovate[bot]", Bot: true}, "not mine")
	if all, err := f.Comments(t.Context(), forgetest.Number); err != nil || len(all) != 2 || !all[0].Mine || all[1].Mine {
		t.Errorf("the comments are %+v, %v", all, err)
	}
}

// checkJWT checks a JSON Web Token as GitHub does.
func checkJWT(t *testing.T, key *rsa.PublicKey, jwt string, now time.Time) {
	t.Helper()
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		t.Errorf("%q is no JSON Web Token", jwt)
		return
	}
	var header struct{ Alg, Typ string }
	var claims struct {
		IAT, EXP int64
		ISS      string
	}
	for i, v := range []any{&header, &claims} {
		data, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil || json.Unmarshal(data, v) != nil {
			t.Errorf("part %d is %q", i, data)
		}
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err != nil || rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], signature) != nil {
		t.Errorf("the signature is wrong")
	}
	if header.Alg != "RS256" || claims.ISS != "Iv1.app" || claims.IAT > now.Unix() || claims.EXP <= now.Unix() || claims.EXP-now.Unix() > 600 {
		t.Errorf("it claims %+v %+v", header, claims)
	}
}

// Of a token of GitHub Actions, which may not ask whose it is by REST, other bots that leave our line in a comment
// are others: what they said is neither edited nor deleted.
func TestAnotherBotIsNotTakenForUs(t *testing.T) {
	fake := forgetest.NewFake()
	line := "<!-- waybill: fleet -->"
	forged := fake.SayAs(forge.User{ID: 10, Login: "renovate[bot]", Bot: true}, line+"\nno cluster changes")
	for name, tt := range map[string]struct {
		status int // of what the GraphQL API answers
		body   string
		login  string // of who is us
	}{
		"the GraphQL API tells":      {http.StatusOK, `{"data": {"viewer": {"login": "deployer[bot]"}}}`, "deployer[bot]"},
		"it tells nothing":           {http.StatusOK, `{"errors": [{"message": "Resource not accessible by integration"}]}`, "github-actions[bot]"},
		"it refuses":                 {http.StatusForbidden, `{"message": "Resource not accessible by integration"}`, "github-actions[bot]"},
		"there is no such API there": {http.StatusNotFound, `{"message": "Not Found"}`, "github-actions[bot]"},
	} {
		api := http.NewServeMux()
		api.HandleFunc("POST /api/graphql", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			fmt.Fprint(w, tt.body)
		})
		api.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTemporaryRedirect) })
		server := httptest.NewServer(through(t, api, forgetest.GitHub(t, fake, nil, forgetest.Bearer(forgetest.Token))))
		f := open(t, forge.GitHub, server.URL)
		ours := fake.SayAs(forge.User{ID: 11, Login: tt.login, Bot: true}, line+"\none")
		persons := fake.SayAs(forge.User{ID: 12, Login: tt.login}, line+"\nby a person of that name")
		said, err := forge.Say(t.Context(), f, forgetest.Number, "fleet", name)
		if err != nil || said.ID != ours.ID {
			t.Errorf("%s: it says %+v, %v", name, said, err)
		}
		all, err := f.Comments(t.Context(), forgetest.Number)
		if err != nil || all[0].ID != forged.ID || all[0].Mine || all[0].Body != forged.Body {
			t.Errorf("%s: what another bot said is %+v, %v", name, all[0], err)
		}
		if !slices.ContainsFunc(all, func(c forge.Comment) bool { return c.ID == persons.ID && !c.Mine }) {
			t.Errorf("%s: what a person said is not there, or is ours: %+v", name, all)
		}
		if err := f.DeleteComment(t.Context(), forgetest.Number, ours.ID); err != nil {
			t.Fatal(err)
		}
		server.Close()
	}
}
