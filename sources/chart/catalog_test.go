package chart

import (
	"context"
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
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	c := &Catalog{Store: store(t, Options{Allow: []string{srv.URL}})}
	for range 2 {
		if _, err := c.Versions(t.Context(), helmRef(srv, ""), registry.Known{}); err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("the error is %v", err)
		}
	}
	if srv.hits.Load() != 1 {
		t.Errorf("it was asked %d times", srv.hits.Load())
	}
}

// tags answers for a registry.
type tags func(repository string) []string

func (f tags) Tags(_ context.Context, repository string, _ registry.Known) (registry.Known, error) {
	return registry.Known{ETag: "e", Tags: f(repository)}, nil
}

func TestTheVersionsOfARegistry(t *testing.T) {
	c := &Catalog{Registry: tags(func(repository string) []string {
		if repository != "ghcr.io/acme/charts/app" {
			t.Errorf("asked is %s", repository)
		}
		return []string{"1.0.0", "1.0.0_build.1", "latest"}
	})}
	ref := lock.Ref{Kind: lock.OCI, Repository: "oci://ghcr.io/acme/charts/", Name: "app", Constraint: "1.x"}
	now, err := c.Versions(t.Context(), ref, registry.Known{})
	if want := []string{"1.0.0", "1.0.0+build.1", "latest"}; err != nil || !slices.Equal(now.Tags, want) {
		t.Errorf("there are %v: %v", now.Tags, err)
	}
}

// At is the version that is asked for and no newer one, under the reference with its range, from both kinds of repositories.
func TestAVersionOfAChart(t *testing.T) {
	about := tgz(t, file("app/Chart.yaml", "name: app\nversion: 1.0.0\nhome: https://example.com\nsources: [http://plain.example, https://example.com/src]\n"+
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
