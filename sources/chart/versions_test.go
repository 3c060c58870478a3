package chart

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVersions(t *testing.T) {
	helm := repo(t, "1.0.0", "1.4", "v1.5.0", "2.0.0-rc.1")
	oci := serve(t, registryWith(t, "1.0.0", "1.4.0_build.7", "v1.5.0", "latest", "1.4").ServeHTTP)
	s := store(t, Options{Allow: []string{helm.URL, oci.URL}})
	got, err := s.Versions(t.Context(), helmRef(helm, "^1"))
	if d := cmp.Diff([]string{"1.0.0", "v1.5.0", "2.0.0-rc.1"}, got); err != nil || d != "" || helm.hits.Load() != 1 {
		t.Errorf("of a Helm repository, by %d requests: %v (-want +got):\n%s", helm.hits.Load(), err, d)
	}
	got, err = s.Versions(t.Context(), ociRef(oci.URL, "latest"))
	slices.Sort(got)
	if d := cmp.Diff([]string{"1.0.0", "1.4.0+build.7", "v1.5.0"}, got); err != nil || d != "" {
		t.Errorf("of a registry: %v (-want +got):\n%s", err, d)
	}
	_, err = store(t, Options{Allow: []string{helm.URL}}).Versions(t.Context(), ociRef(oci.URL, ""))
	wantError(t, err, "listing the versions", "may not be asked")
	away := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	_, err = store(t, Options{Allow: []string{away.URL}}).Versions(t.Context(), helmRef(away, ""))
	wantError(t, err, "listing the versions", "404 Not Found")
}
