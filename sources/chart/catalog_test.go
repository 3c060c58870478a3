package chart

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/registry"
)

// An index is asked for once in a look, and not brought at all where nothing is new.
func TestTheVersionsOfAHelmRepository(t *testing.T) {
	etag, versions := `"1"`, "[{version: 1.2}, {version: 2.0.0}, {version: 1.1.0}, {version: 2.0.0}]"
	bodies := 0
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		bodies++
		fmt.Fprintf(w, "entries:\n  app: %s\n  api: [{version: 0.1.0}]\n  none: []\n", versions)
	})
	s := store(t, Options{Allow: []string{srv.URL}, Listed: true})
	app, api := helmRef(srv, "1.x"), helmRef(srv, "")
	api.Name = "api"
	look := func(c *Catalog, ref lock.Ref, known registry.Known, want ...string) registry.Known {
		t.Helper()
		now, err := c.Versions(t.Context(), ref, known)
		if err != nil || !slices.Equal(now.Tags, want) {
			t.Fatalf("%s has %v, want %v: %v", ref.Name, now, want, err)
		}
		return now
	}
	first := &Catalog{Store: s}
	known := look(first, app, registry.Known{}, "1.1.0", "1.2", "2.0.0")
	look(first, api, registry.Known{}, "0.1.0")
	if srv.hits.Load() != 1 || known.ETag != etag {
		t.Errorf("it was asked %d times, and known is %+v", srv.hits.Load(), known)
	}
	second := &Catalog{Store: s}
	look(second, app, known, "1.1.0", "1.2", "2.0.0")
	look(second, api, registry.Known{ETag: etag, Tags: []string{"0.1.0"}}, "0.1.0")
	if srv.hits.Load() != 2 || bodies != 1 {
		t.Errorf("where nothing is new it was asked %d times, and brought %d", srv.hits.Load(), bodies)
	}
	look(second, api, registry.Known{ETag: `"0"`, Tags: []string{"old"}}, "0.1.0") // of which another index is known
	etag, versions = `"2"`, "[{version: 3.0.0}]"
	known = look(&Catalog{Store: s}, app, known, "3.0.0")
	digested := registry.Known{ETag: "sha256:" + strings.Repeat("0", 64), Tags: []string{"old"}} // which is ours, and no server's
	etag = digested.ETag
	if now := look(&Catalog{Store: s}, app, digested, "3.0.0"); now.ETag != "" {
		t.Errorf("an ETag that is none is remembered: %q", now.ETag)
	}
	known.ETag = ""
	missing := api
	missing.Name = "none"
	for _, ref := range []lock.Ref{missing, {Kind: lock.Helm, Repository: "https://elsewhere.example", Name: "app"}, {}} {
		now, err := (&Catalog{Store: s}).Versions(t.Context(), ref, known)
		if err == nil || !slices.Equal(now.Tags, known.Tags) {
			t.Errorf("with %+v it is %v, and the error %v", ref, now, err)
		}
	}
}

// A repository that fails is asked once for all of its charts.
func TestARepositoryThatFailsIsAskedOnce(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"refused", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "403"},
		{"not modified, which nobody asked", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, "304"},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Sign in: </html>") }, "/index.yaml: it is no index"},
	} {
		srv := serve(t, tt.answer)
		c := &Catalog{Store: store(t, Options{Allow: []string{srv.URL}})}
		for range 2 {
			_, err := c.Versions(t.Context(), helmRef(srv, ""), registry.Known{})
			wantError(t, err, tt.want)
			_, _, err = c.At(t.Context(), helmRef(srv, ""), "1.0.0")
			wantError(t, err, tt.want)
		}
		if srv.hits.Load() != 1 {
			t.Errorf("%s: it was asked %d times", tt.name, srv.hits.Load())
		}
	}
}

// What is read of a chart has a bound.
func TestTheVersionsOfAChartAreBounded(t *testing.T) {
	n := maxVersions
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"entries":{"app":[%s{"version":"2"}]}}`, strings.Repeat(`{"version":"1"},`, n-1))
	})
	s := store(t, Options{Allow: []string{srv.URL}})
	now, err := (&Catalog{Store: s}).Versions(t.Context(), helmRef(srv, ""), registry.Known{})
	if err != nil || !slices.Equal(now.Tags, []string{"1", "2"}) {
		t.Errorf("%d entries have the versions %v: %v", n, now.Tags, err)
	}
	n++
	_, err = (&Catalog{Store: s}).Versions(t.Context(), helmRef(srv, ""), registry.Known{})
	wantError(t, err, "more than the 10000")
}

// tags answers for a registry.
type tags func(repository string) ([]string, error)

func (f tags) Tags(_ context.Context, repository string, _ registry.Known) (registry.Known, error) {
	all, err := f(repository)
	return registry.Known{ETag: "e", Tags: all}, err
}

func TestTheVersionsOfARegistry(t *testing.T) {
	remembered := []string{"latest", "1.0.0_build.1", "1.0.0", "1.0.0_build.1"} // by the registry's client, and its own
	before := slices.Clone(remembered)
	var refused error
	c := &Catalog{Registry: tags(func(repository string) ([]string, error) {
		if repository != "ghcr.io/acme/charts/app" {
			t.Errorf("asked is %s", repository)
		}
		return remembered, refused
	})}
	ref := lock.Ref{Kind: lock.OCI, Repository: "oci://ghcr.io/acme/charts/", Name: "app", Constraint: "1.x"}
	now, err := c.Versions(t.Context(), ref, registry.Known{})
	if want := []string{"1.0.0", "1.0.0+build.1", "latest"}; err != nil || !slices.Equal(now.Tags, want) {
		t.Errorf("there are %v: %v", now.Tags, err)
	}
	if !slices.Equal(remembered, before) {
		t.Errorf("what the client remembers became %v", remembered)
	}
	refused = errors.New("401 Unauthorized")
	if now, err = c.Versions(t.Context(), ref, registry.Known{Tags: []string{"1.0.0"}}); !errors.Is(err, refused) || !slices.Equal(now.Tags, []string{"1.0.0"}) {
		t.Errorf("where it is refused there are %v: %v", now.Tags, err)
	}
}

// At is the version that is asked for and no newer one, under the reference with its range, from both kinds of repositories.
func TestAVersionOfAChart(t *testing.T) {
	about := tgz(t, file("app/Chart.yaml", "name: app\nversion: 1.0.0\nhome: https://example.com\nsources: [http://plain.example, https://example.com/src, https://example.com/other]\n"+
		"annotations: {waybill.dev/changelog: https://example.com/log}\n"))
	helm := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/index.yaml" {
			fmt.Fprint(w, "entries: {app: [{version: 2.0.0, urls: [none.tgz]}, {version: 1.0.0, urls: [app.tgz]}]}")
			return
		}
		_, _ = w.Write(about)
	})
	c := &Catalog{Store: store(t, Options{Allow: []string{helm.URL}})}
	e, said, err := c.At(t.Context(), helmRef(helm, ">=1"), "1.0.0")
	if err != nil || e.Version != "1.0.0" || e.Constraint != ">=1" || e.Digest != digest(about) {
		t.Errorf("it is %+v: %v", e, err)
	}
	if want := (registry.Image{Source: "https://example.com/src", Changelog: "https://example.com/log", URL: "https://example.com"}); said != want {
		t.Errorf("it says %+v", said)
	}
	if e, _, err = c.At(t.Context(), helmRef(helm, ">=1"), "2.0.0"); err == nil {
		t.Errorf("an archive of another version is taken: %+v", e)
	}
	if _, _, err := c.At(t.Context(), helmRef(helm, ">=1"), "1.0.1"); err == nil {
		t.Error("another version was found")
	}
	oci := serve(t, registryWith(t, "1.0.0", "1.1.0_b.1", "2.0.0").ServeHTTP)
	c = &Catalog{Store: store(t, Options{Allow: []string{oci.URL}})}
	e, _, err = c.At(t.Context(), ociRef(oci.URL, ">=1"), "1.1.0+b.1")
	if err != nil || e.Version != "1.1.0+b.1" || e.Constraint != ">=1" || !strings.Contains(e.URL, "/app:1.1.0_b.1@sha256:") {
		t.Errorf("it is %+v: %v", e, err)
	}
}
