package chart

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/waybill-dev/waybill/sources/egress"
	"github.com/waybill-dev/waybill/sources/lock"
)

// registryWith is a registry in this process that has the chart app at charts/app with
// these tags; a tag's underscore is a plus sign in the version.
func registryWith(tb testing.TB, tags ...string) http.Handler {
	tb.Helper()
	h := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	srv := httptest.NewServer(h)
	defer srv.Close()
	for _, tag := range tags {
		version := strings.ReplaceAll(tag, "_", "+")
		if !lock.IsVersion(version) {
			version = "9.9.9"
		}
		push(tb, srv.URL, tag, configType, static.NewLayer(packed(tb, "app", version), contentType))
	}
	return h
}

// push puts a manifest into a registry.
func push(tb testing.TB, registryURL, tag string, config types.MediaType, layers ...v1.Layer) {
	tb.Helper()
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), config)
	image, err := mutate.AppendLayers(image, layers...)
	if err != nil {
		tb.Fatal(err)
	}
	at, err := name.ParseReference(strings.TrimPrefix(registryURL, "http://") + "/charts/app:" + tag)
	if err != nil {
		tb.Fatal(err)
	}
	if err := remote.Write(at, image, remote.WithContext(tb.Context())); err != nil {
		tb.Fatal(err)
	}
}

func ociRef(serverURL, constraint string) lock.Ref {
	_, host, _ := strings.Cut(serverURL, "://")
	return lock.Ref{Kind: lock.OCI, Repository: "oci://" + host + "/charts", Name: "app", Constraint: constraint}
}

func TestResolveAndFetchFromARegistry(t *testing.T) {
	h := registryWith(t, "1.0.0", "1.4.2", "v1.5.0", "2.0.0-rc.1", "1.4.0_build.7", "latest", "1.4", "nonsense")
	srv := serve(t, h.ServeHTTP)
	s := store(t, Options{Allow: []string{srv.URL}})
	for _, tt := range []struct{ name, constraint, version, tag string }{
		{"no constraint is the latest release", "", "v1.5.0", "v1.5.0"},
		{"a range is its highest version", "<1.4.2", "1.4.0+build.7", "1.4.0_build.7"},
		{"a version is itself", "1.4.2", "1.4.2", "1.4.2"},
		{"a version with a plus sign has a tag with an underscore", "1.4.0+build.7", "1.4.0+build.7", "1.4.0_build.7"},
		{"a tag is itself, and the version is the chart's", "latest", "9.9.9", "latest"},
		{"a tag counts before the range that it could be", "1.4", "9.9.9", "1.4"},
		{"a range that names a pre-release takes one", ">=2-0", "2.0.0-rc.1", "2.0.0-rc.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := s.Resolve(t.Context(), ociRef(srv.URL, tt.constraint))
			if err != nil {
				t.Fatal(err)
			}
			at := ociRef(srv.URL, "").Repository + "/app:" + tt.tag + "@sha256:"
			if got.Version != tt.version || !strings.HasPrefix(got.URL, at) || got.Digest != digest(packed(t, "app", tt.version)) {
				t.Errorf("resolved to %+v, want version %s and tag %s", got, tt.version, tt.tag)
			}
			files, err := s.Fetch(t.Context(), got)
			if err != nil {
				t.Fatal(err)
			}
			wantChart(t, files)
		})
	}
	t.Run("the digest of a manifest is that manifest", func(t *testing.T) {
		first, err := s.Resolve(t.Context(), ociRef(srv.URL, "1.0.0"))
		if err != nil {
			t.Fatal(err)
		}
		_, manifest, _ := strings.Cut(first.URL, "@")
		got, err := s.Resolve(t.Context(), ociRef(srv.URL, manifest))
		if err != nil {
			t.Fatal(err)
		}
		if got.Version != "1.0.0" || got.Digest != first.Digest || !strings.HasSuffix(got.URL, "/app@"+manifest) {
			t.Errorf("resolved to %+v, want what 1.0.0 is", got)
		}
	})
	t.Run("what is not there is an error", func(t *testing.T) {
		_, err := s.Resolve(t.Context(), ociRef(srv.URL, "^7"))
		wantError(t, err, `is in the range "^7"`)
		_, err = s.Resolve(t.Context(), ociRef(srv.URL, "7.0.0"))
		wantError(t, err, "/app:7.0.0", "404 Not Found", "MANIFEST_UNKNOWN")
	})
}

func TestWhatIsNoChartInARegistryIsRefused(t *testing.T) {
	srv := serve(t, registryWith(t).ServeHTTP)
	layer := static.NewLayer(packed(t, "app", "1.0.0"), contentType)
	push(t, srv.URL, "image", types.OCIConfigJSON, layer)
	push(t, srv.URL, "empty", configType)
	push(t, srv.URL, "two", configType, layer, static.NewLayer(packed(t, "app", "1.0.1"), contentType))
	push(t, srv.URL, "bomb", configType, static.NewLayer([]byte("no archive"), contentType))
	s := store(t, Options{Allow: []string{srv.URL}})
	for tag, want := range map[string]string{
		"image": "its config is", "empty": "0 of its layers", "two": "2 of its layers", "bomb": "as gzip", "no/tag": "is no tag",
	} {
		_, err := s.Resolve(t.Context(), ociRef(srv.URL, tag))
		wantError(t, err, want)
	}
}

func TestAnotherBlobThanTheLockedIsRefused(t *testing.T) {
	archive := packed(t, "app", "1.0.0")
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/blobs/") {
			_, _ = w.Write(packed(t, "app", "6.6.6"))
		}
	})
	e := lock.Entry{Ref: ociRef(srv.URL, "1.0.0"), Version: "1.0.0", Digest: digest(archive)}
	e.URL = e.Repository + "/app:1.0.0"
	_, err := store(t, Options{Allow: []string{srv.URL}}).Fetch(t.Context(), e)
	if !errors.Is(err, ErrDigest) {
		t.Errorf("the error is %v, want ErrDigest", err)
	}
}

// TestARegistryOverHTTPS gives an archive once, and no more of one than may be read.
func TestARegistryOverHTTPS(t *testing.T) {
	h, blobs := registryWith(t, "1.0.0"), 0
	srv, roots := serveTLS(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/blobs/") {
			blobs++
		}
		h.ServeHTTP(w, r)
	})
	o := Options{Allow: []string{srv.URL}, RootCAs: roots, Dir: t.TempDir()}
	s := store(t, o)
	for range 2 {
		if e, err := s.Resolve(t.Context(), ociRef(srv.URL, "1.0.0")); err != nil || e.Digest != digest(packed(t, "app", "1.0.0")) {
			t.Errorf("it is %+v: %v", e, err)
		}
	}
	if blobs != 1 {
		t.Errorf("the archive was brought %d times", blobs)
	}
	o.Dir, o.MaxArchive = "", 10
	if _, err := store(t, o).Resolve(t.Context(), ociRef(srv.URL, "1.0.0")); err == nil || errors.Is(err, ErrDigest) || !strings.Contains(err.Error(), "more than the 10 bytes") {
		t.Errorf("of one that is too large: %v", err)
	}
}

// guarded is a registry that wants a token of the service at realm, and the service.
type guarded struct {
	registry http.Handler
	realm    string
	tokens   []string // Authorization of requests to the service
}

func (g *guarded) service(w http.ResponseWriter, r *http.Request) {
	g.tokens = append(g.tokens, r.Header.Get("Authorization"))
	_ = json.NewEncoder(w).Encode(map[string]string{"token": "ticket"})
}

func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/token":
		g.service(w, r)
	case r.Header.Get("Authorization") != "Bearer ticket":
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=%q,service=x", g.realm))
		w.WriteHeader(http.StatusUnauthorized)
	default:
		g.registry.ServeHTTP(w, r)
	}
}

func TestTheTokenServiceOfARegistry(t *testing.T) {
	const basic = "Basic bWU6aHVzaA==" // me:hush
	for _, tt := range []struct {
		name      string
		elsewhere bool
		listed    bool
		named     bool
		wantToken string
		wrong     string
	}{
		{name: "on the registry's host gets the credential", wantToken: basic},
		{name: "elsewhere and not listed is not asked", elsewhere: true, wrong: "may not be asked"},
		{name: "elsewhere and listed does not get the credential", elsewhere: true, listed: true},
		{name: "elsewhere, listed and named gets it", elsewhere: true, listed: true, named: true, wantToken: basic},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &guarded{registry: registryWith(t, "1.0.0")}
			srv := serve(t, g.ServeHTTP)
			service := serve(t, g.service)
			g.realm = srv.URL + "/token"
			if tt.elsewhere {
				g.realm = strings.Replace(service.URL, "127.0.0.1", "localhost", 1) + "/token"
			}
			at, err := url.Parse(g.realm)
			if err != nil {
				t.Fatal(err)
			}
			c := egress.Credential{URL: ociRef(srv.URL, "").Repository, Username: "me", Password: "hush"}
			o := Options{Allow: []string{srv.URL}}
			if tt.listed {
				o.Allow = append(o.Allow, "http://"+at.Host)
			}
			if tt.named {
				c.TokenService = "http://" + at.Host
			}
			// A credential for oci:// is for https; a plain registry is one for tests.
			o.Credentials = []egress.Credential{c}
			s := store(t, o)
			_, err = s.Resolve(t.Context(), ociRef(srv.URL, "1.0.0"))
			if tt.wrong != "" {
				wantError(t, err, tt.wrong)
				if service.hits.Load() != 0 {
					t.Error("the service was asked")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range g.tokens {
				if got != tt.wantToken {
					t.Errorf("the service got %q, want %q", got, tt.wantToken)
				}
			}
			if len(g.tokens) == 0 {
				t.Error("the service was not asked")
			}
		})
	}
}

func TestABlobElsewhereIsFetchedWithoutTheToken(t *testing.T) {
	archive := packed(t, "app", "1.0.0")
	auth := "none"
	storage := serve(t, func(w http.ResponseWriter, r *http.Request) {
		auth = r.Header.Get("Authorization")
		_, _ = w.Write(archive)
	})
	g := &guarded{registry: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/blobs/") {
			http.Redirect(w, r, storage.URL+"/blob?signature=hush", http.StatusTemporaryRedirect)
		}
	})}
	srv := serve(t, g.ServeHTTP)
	g.realm = srv.URL + "/token"
	e := lock.Entry{Ref: ociRef(srv.URL, "1.0.0"), Version: "1.0.0", Digest: digest(archive)}
	e.URL = e.Repository + "/app:1.0.0"
	_, err := store(t, Options{Allow: []string{srv.URL}}).Fetch(t.Context(), e)
	wantError(t, err, storage.URL+" may not be asked")
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("the error shows a secret: %v", err)
	}
	if _, err := store(t, Options{Allow: []string{srv.URL, storage.URL}}).Fetch(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if auth != "" {
		t.Errorf("the storage got %q", auth)
	}
}

// An archive may be as large as MaxArchive says, also where that is more than a registry may say beside it.
func TestALargeChartOfARegistry(t *testing.T) {
	entries, noise := []tar.Header{file("app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n")}, rand.NewChaCha8([32]byte{})
	for n := range maxTalk/maxFile + 1 {
		bytes := make([]byte, maxFile) // which no archive makes smaller
		_, _ = noise.Read(bytes)
		entries = append(entries, file(fmt.Sprintf("app/files/%d", n), string(bytes)))
	}
	large := tgz(t, entries...)
	h := registryWith(t)
	srv := serve(t, h.ServeHTTP)
	push(t, srv.URL, "1.0.0", configType, static.NewLayer(large, contentType))
	s := store(t, Options{Allow: []string{srv.URL}, MaxArchive: 2 * maxTalk})
	e, err := s.Resolve(t.Context(), ociRef(srv.URL, "1.0.0"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.Fetch(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := fs.ReadDir(files, "files"); err != nil || len(all) != len(entries)-1 {
		t.Errorf("it has %d files, want %d (%v)", len(all), len(entries)-1, err)
	}
}

func TestARegistryThatTalksWithoutEndIsCut(t *testing.T) {
	page := `{"tags":["` + strings.Repeat("x", 1<<20) + `"]}`
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", `</v2/charts/app/tags/list?n=1000&last=x>; rel="next"`)
		if strings.Contains(r.URL.Path, "/tags/") {
			fmt.Fprint(w, page)
		}
	})
	s := store(t, Options{Allow: []string{srv.URL}, MaxArchive: 1 << 20})
	_, err := s.Resolve(t.Context(), ociRef(srv.URL, "*"))
	wantError(t, err, "says more than is read")
	if n := srv.hits.Load(); n > 25 {
		t.Errorf("%d requests were made", n)
	}
}

// go-containerregistry greets every registry over https first. That one is listed with
// http:// only is not why it cannot be asked.
func TestARegistryOverHTTPSaysWhyItCannotBeAsked(t *testing.T) {
	srv := serve(t, registryWith(t, "1.0.0").ServeHTTP)
	ref := ociRef(srv.URL, "")
	s := store(t, Options{Allow: []string{srv.URL}, Private: []netip.Prefix{}})
	_, err := s.Resolve(t.Context(), ref)
	wantError(t, err, "127.0.0.1 is not public")
	srv.Close()
	_, err = store(t, Options{Allow: []string{srv.URL}}).Resolve(t.Context(), ref)
	wantError(t, err, "connection refused")
}
