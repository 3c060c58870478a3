package chart

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/sources/egress"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/pause"
)

func TestResolveAndFetchFromAHelmRepository(t *testing.T) {
	srv := repo(t, "1.0.0", "1.4.2", "2.0.0-rc.1", "1.10.0", "0.9.0")
	s := store(t, Options{Allow: []string{srv.URL}})
	for _, tt := range []struct{ name, constraint, want string }{
		{"no constraint is the latest release", "", "1.10.0"},
		{"a range is its highest version", "~1.4", "1.4.2"},
		{"a version is itself", "0.9.0", "0.9.0"},
		{"a range that names a pre-release takes one", ">=1.0.0-0", "2.0.0-rc.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := s.Resolve(t.Context(), helmRef(srv, tt.constraint))
			if err != nil {
				t.Fatal(err)
			}
			want := lock.Entry{
				Ref: helmRef(srv, tt.constraint), Version: tt.want,
				URL: srv.URL + "/files/app-" + tt.want + ".tgz", Digest: digest(packed(t, "app", tt.want)),
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("entry (-want +got):\n%s", d)
			}
			files, err := s.Fetch(t.Context(), got)
			if err != nil {
				t.Fatal(err)
			}
			wantChart(t, files)
		})
	}
}

func TestResolveSaysWhyItCannot(t *testing.T) {
	srv := repo(t, "1.0.0", "1.1.0")
	s := store(t, Options{Allow: []string{srv.URL}})
	_, err := s.Resolve(t.Context(), helmRef(srv, "^2"))
	wantError(t, err, `none of the versions (1.1.0, 1.0.0) is in the range "^2"`)
	ref := helmRef(srv, "")
	ref.Name = "missing"
	_, err = s.Resolve(t.Context(), ref)
	wantError(t, err, srv.URL+"/index.yaml", `it has no chart "missing"`)
	ref.Repository += "/nowhere"
	_, err = s.Resolve(t.Context(), ref)
	wantError(t, err, "404 Not Found")
}

func TestAnIndexIsReadAsHelmReadsIt(t *testing.T) {
	archive := packed(t, "app", "1.0.0")
	for _, tt := range []struct{ name, index, wrong string }{
		{"JSON", `{"apiVersion":"v1","entries":{"app":[{"version":"1.0.0","urls":["app.tgz"]}]}}`, ""},
		{"a version that looks like a number", "entries:\n  app:\n  - {version: 1.0, urls: [app.tgz]}\n", ""},
		{"entries that cannot be read are passed over", "entries:\n  app: [null, 7, {version: [], urls: {}}, {version: 1.0.0, urls: [app.tgz]}]\n", ""},
		{"fields of no interest may be anything", "generated: []\nentries:\n  app:\n  - {version: 1.0.0, created: {}, maintainers: 7, urls: [app.tgz]}\n", ""},
		{"JSON of which something cannot be read", `{"entries":{"app":[null,7,{"version":[]},{"version":"1.0.0","urls":["app.tgz"]}]}}`, ""},
		{"JSON without entries", `{"apiVersion":"v1"}`, "it has no entries"},
		{"JSON that is no index", `{"entries":[]}`, "it is no index"},
		{"nothing that can be read", "entries:\n  app: [{version: 1.0.0, urls: {}}]\n", `it has no chart "app"`},
		{"a fragment", "entries:\n  app:\n  - {version: 1.0.0, urls: ['app.tgz#hush']}\n", ""},
		{"a digest with its algorithm", "entries:\n  app:\n  - {version: 1.0.0, urls: [app.tgz], digest: '" + digest(archive) + "'}\n", ""},
		{"an absolute path", "entries:\n  app:\n  - {version: 1.0.0, urls: [/app.tgz]}\n", ""},
		{"another digest", "entries:\n  app:\n  - {version: 1.0.0, urls: [app.tgz], digest: " + strings.Repeat("0", 64) + "}\n", "has the digest " + digest(archive)},
		{"its digest in capitals", "entries:\n  app:\n  - {version: 1.0.0, urls: [app.tgz], digest: " + strings.ToUpper(strings.TrimPrefix(digest(archive), "sha256:")) + "}\n", ""},
		{"another digest in capitals", "entries:\n  app:\n  - {version: 1.0.0, urls: [app.tgz], digest: " + strings.Repeat("A", 64) + "}\n", "has the digest " + digest(archive)},
		{"another version", "entries:\n  app:\n  - {version: 1.0.1, urls: [app.tgz]}\n", `calls it version "1.0.1" and its Chart.yaml "1.0.0"`},
		{"no URL", "entries:\n  app:\n  - {version: 1.0.0}\n", "it has no URL"},
		{"a URL with a query", "entries:\n  app:\n  - {version: 1.0.0, urls: ['app.tgz?sig=hush']}\n", "has a query or a user name"},
		{"a URL with a password", "entries:\n  app:\n  - {version: 1.0.0, urls: ['https://me:hush@h/app.tgz']}\n", "has a query or a user name"},
		{"a URL of another kind", "entries:\n  app:\n  - {version: 1.0.0, urls: ['file:///etc/passwd']}\n", "only https and http"},
		{"no list", "entries: 7\n", "it is no index"},
		{"nothing", "", "it has no entries"},
		{"a page", "<html><body>Sign in: <a href='/x?token=hush'></body></html>", "it is no index"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/index.yaml" {
					fmt.Fprint(w, tt.index)
				} else {
					_, _ = w.Write(archive)
				}
			})
			_, err := store(t, Options{Allow: []string{srv.URL}}).Resolve(t.Context(), helmRef(srv, ""))
			if tt.wrong == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantError(t, err, tt.wrong)
			if strings.Contains(err.Error(), "hush") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

// TestARepositoryBelowAPath: what is relative in its index is below that path, too, however the reference is written.
func TestARepositoryBelowAPath(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/charts/index.yaml":
			fmt.Fprint(w, "entries: {app: [{version: 1.0.0, urls: [app.tgz]}]}")
		case "/charts/app.tgz":
			_, _ = w.Write(packed(t, "app", "1.0.0"))
		default:
			http.NotFound(w, r)
		}
	})
	s, err := New(Options{Allow: []string{srv.URL}, Private: loopback}) // as a command has it, without a bound on time of its own
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"/charts", "/charts/"} {
		ref := helmRef(srv, "")
		ref.Repository += at
		if e, err := s.Resolve(t.Context(), ref); err != nil || e.URL != srv.URL+"/charts/app.tgz" {
			t.Errorf("%s: %q, %v", at, e.URL, err)
		}
	}
}

func TestRedirects(t *testing.T) {
	archive := packed(t, "app", "1.0.0")
	other := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive) })
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/here":
			http.Redirect(w, r, "/files/app.tgz", http.StatusFound)
		case "/there":
			http.Redirect(w, r, other.URL+"/app.tgz?signature=hush", http.StatusFound)
		case "/5", "/4", "/3", "/2", "/1":
			http.Redirect(w, r, string([]byte{'/', r.URL.Path[1] - 1}), http.StatusFound)
		case "/6":
			http.Redirect(w, r, "/5", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round?again=hush", http.StatusFound)
		default:
			_, _ = w.Write(archive)
		}
	})
	t.Run("on the same host are followed", func(t *testing.T) {
		files, err := store(t, Options{Allow: []string{srv.URL}}).Fetch(t.Context(), entryAt(srv.URL+"/here", archive))
		if err != nil {
			t.Fatal(err)
		}
		wantChart(t, files)
	})
	t.Run("to a host that is not listed are refused and name it", func(t *testing.T) {
		_, err := store(t, Options{Allow: []string{srv.URL}}).Fetch(t.Context(), entryAt(srv.URL+"/there", archive))
		host, ok := errors.AsType[*egress.HostError](err)
		if !ok || host.Host != other.URL || other.hits.Load() != 0 {
			t.Errorf("the error is %v after %d requests, want a HostError of %s after none", err, other.hits.Load(), other.URL)
		}
		if strings.Contains(err.Error(), "hush") {
			t.Errorf("the error shows a secret: %v", err)
		}
	})
	t.Run("to a host that is listed are followed", func(t *testing.T) {
		s := store(t, Options{Allow: []string{srv.URL, other.URL}})
		if _, err := s.Fetch(t.Context(), entryAt(srv.URL+"/there", archive)); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("are followed five times", func(t *testing.T) {
		s := store(t, Options{Allow: []string{srv.URL}})
		if _, err := s.Fetch(t.Context(), entryAt(srv.URL+"/5", archive)); err != nil {
			t.Error(err)
		}
		_, err := s.Fetch(t.Context(), entryAt(srv.URL+"/6", archive))
		wantError(t, err, "more than 5 redirects")
	})
	t.Run("without end are cut", func(t *testing.T) {
		_, err := store(t, Options{Allow: []string{srv.URL}}).Fetch(t.Context(), entryAt(srv.URL+"/round", archive))
		wantError(t, err, "more than 5 redirects")
		if strings.Contains(err.Error(), "hush") {
			t.Errorf("the error shows a secret: %v", err)
		}
	})
}

func TestARedirectFromHTTPSToHTTPIsRefused(t *testing.T) {
	archive := packed(t, "app", "1.0.0")
	plain := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive) })
	secure, roots := serveTLS(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL, http.StatusFound)
	})
	s := store(t, Options{Allow: []string{secure.URL, plain.URL}, RootCAs: roots})
	_, err := s.Fetch(t.Context(), entryAt(secure.URL+"/x", archive))
	wantError(t, err, "a redirect leads there from https")
	if plain.hits.Load() != 0 {
		t.Error("the plain server was asked")
	}
}

func TestACertificateOfNobodyIsRefused(t *testing.T) {
	secure, _ := serveTLS(t, func(http.ResponseWriter, *http.Request) {})
	_, err := store(t, Options{Allow: []string{secure.URL}}).Fetch(t.Context(), entryAt(secure.URL+"/x", nil))
	wantError(t, err, "certificate")
}

func TestCredentialsGoToTheirHostAndPathOnly(t *testing.T) {
	archive := packed(t, "app", "1.0.0")
	var other *server
	seen := map[string]string{}
	note := func(w http.ResponseWriter, r *http.Request) {
		seen[r.Host+r.URL.Path] = r.Header.Get("Authorization")
		switch r.URL.Path {
		case "/private/away":
			http.Redirect(w, r, other.URL+"/private/app.tgz", http.StatusFound)
		case "/private/up":
			http.Redirect(w, r, "/public/app.tgz", http.StatusFound)
		default:
			_, _ = w.Write(archive)
		}
	}
	other = serve(t, note)
	srv := serve(t, note)
	s := store(t, Options{
		Allow: []string{srv.URL, other.URL},
		Credentials: []egress.Credential{
			{URL: srv.URL + "/private", Username: "me", Password: "hush"},
			{URL: srv.URL + "/private/deep/", Token: "deep"},
		},
	})
	for _, path := range []string{
		"/private/away", "/private/up", "/private/app.tgz", "/private/deep/app.tgz",
		"/privateer/app.tgz", "/private/../public2/app.tgz", "/private/%2e%2e/public3/app.tgz",
	} {
		if _, err := s.Fetch(t.Context(), entryAt(srv.URL+path, archive)); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	host := strings.TrimPrefix(srv.URL, "http://")
	basic := "Basic bWU6aHVzaA=="
	want := map[string]string{
		host + "/private/away": basic, strings.TrimPrefix(other.URL, "http://") + "/private/app.tgz": "",
		host + "/private/up": basic, host + "/public/app.tgz": "",
		host + "/private/app.tgz": basic, host + "/private/deep/app.tgz": "Bearer deep",
		host + "/privateer/app.tgz": "", host + "/private/../public2/app.tgz": "", host + "/private/../public3/app.tgz": "",
	}
	if d := cmp.Diff(want, seen); d != "" {
		t.Errorf("authorization by URL (-want +got):\n%s", d)
	}
}

func TestServersThatAreBusyAreAskedAgain(t *testing.T) {
	archive := packed(t, "app", "1.0.0")
	for _, tt := range []struct {
		name       string
		statuses   []int
		retryAfter string
		wantHits   int64
		wantPauses []time.Duration
		wrong      string
	}{
		{"twice, with longer pauses", []int{503, 500}, "", 3, []time.Duration{time.Second, 2 * time.Second}, ""},
		{"not three times", []int{503, 429, 502, 504}, "", 3, []time.Duration{time.Second, 2 * time.Second}, "502 Bad Gateway"},
		{"after the time that they ask for", []int{429}, "7", 2, []time.Duration{7 * time.Second}, ""},
		{"not if they ask for too long a time", []int{429, 429}, "3600", 1, nil, "429 Too Many Requests"},
		{"not if they say no", []int{403, 403}, "", 1, nil, "403 Forbidden"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var srv *server
			srv = serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if n := int(srv.hits.Load()); n <= len(tt.statuses) {
					w.Header().Set("Retry-After", tt.retryAfter)
					w.WriteHeader(tt.statuses[n-1])
					return
				}
				_, _ = w.Write(archive)
			})
			var pauses []time.Duration
			count := func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }
			s := store(t, Options{Allow: []string{srv.URL}, pause: count})
			_, err := s.Fetch(t.Context(), entryAt(srv.URL+"/x", archive))
			if tt.wrong == "" && err != nil {
				t.Fatal(err)
			} else if tt.wrong != "" {
				wantError(t, err, tt.wrong)
			}
			if srv.hits.Load() != tt.wantHits {
				t.Errorf("%d requests, want %d", srv.hits.Load(), tt.wantHits)
			}
			if d := cmp.Diff(tt.wantPauses, pauses); d != "" {
				t.Errorf("pauses (-want +got):\n%s", d)
			}
		})
	}
}

func TestASlowServerIsCutByTheDeadline(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte("x")); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			_ = pause.For(r.Context(), 10*time.Millisecond)
		}
	})
	s := store(t, Options{Allow: []string{srv.URL}, Timeout: 200 * time.Millisecond})
	_, err := s.Fetch(t.Context(), entryAt(srv.URL+"/x", nil))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v, want a deadline", err)
	}
}

func TestMoreThanIsReadIsRefused(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 3000)) })
	s := store(t, Options{Allow: []string{srv.URL}, MaxArchive: 2000})
	_, err := s.Fetch(t.Context(), entryAt(srv.URL+"/x", make([]byte, 3000)))
	wantError(t, err, "more than the 2000 bytes")
}

func TestAnotherDigestIsRefused(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(packed(t, "app", "6.6.6")) })
	s := store(t, Options{Allow: []string{srv.URL}, Dir: t.TempDir()})
	_, err := s.Fetch(t.Context(), entryAt(srv.URL+"/x", packed(t, "app", "1.0.0")))
	if !errors.Is(err, ErrDigest) {
		t.Errorf("the error is %v, want ErrDigest", err)
	}
	if len(s.cache.files()) != 0 {
		t.Error("what was refused was kept")
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		want string
	}{
		{"a host without scheme", Options{Allow: []string{"charts.example"}}, "not of the form"},
		{"a host with a path", Options{Allow: []string{"https://charts.example/x"}}, "not of the form"},
		{"a host of another kind", Options{Allow: []string{"ftp://charts.example"}}, "only https and http"},
		{"an archive of a gigabyte", Options{MaxArchive: 1 << 30}, "MaxArchive"},
		{"a credential for nothing", Options{Credentials: []egress.Credential{{URL: "charts.example"}}}, "only https and http"},
		{"a credential within a URL", Options{Credentials: []egress.Credential{{URL: "https://me:hush@charts.example"}}}, "not of the form"},
		{"a token service without a registry", Options{Credentials: []egress.Credential{{URL: "https://c.example", TokenService: "https://t.example"}}}, "TokenService"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(tt.o)
			wantError(t, err, tt.want)
			if strings.Contains(err.Error(), "hush") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}
