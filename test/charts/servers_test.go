package build

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	helmregistry "helm.sh/helm/v3/pkg/registry"
	"helm.sh/helm/v3/pkg/repo"
)

// server remembers what it was asked, and can be told to answer otherwise than it
// would.
type server struct {
	*httptest.Server

	usual   http.Handler
	mu      sync.Mutex
	asked   []string // method, path and Authorization of each request
	instead http.HandlerFunc
}

func serve(t *testing.T, h http.Handler) *server {
	t.Helper()
	s := &server{usual: h}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")))
		answer := s.instead
		s.mu.Unlock()
		if answer == nil {
			answer = h.ServeHTTP
		}
		answer(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Close)
	return s
}

// answers has the server answer with h from now on; nil: as it would.
func (s *server) answers(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instead = h
}

// takeAsked returns what was asked since the last call.
func (s *server) takeAsked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// files serves a folder that holds a Helm repository.
type files struct {
	*server

	t   *testing.T
	dir string
}

// newFiles serves a Helm repository with the chart shop in these versions.
func newFiles(t *testing.T, versions ...string) *files {
	t.Helper()
	f := &files{t: t, dir: t.TempDir()}
	f.server = serve(t, http.FileServer(http.Dir(f.dir)))
	for _, v := range versions {
		f.add(shop("shop", v))
	}
	return f
}

// add packs charts and writes the index anew, both as Helm does.
func (f *files) add(charts ...*chart.Chart) {
	f.t.Helper()
	for _, c := range charts {
		if _, err := chartutil.Save(c, f.dir); err != nil {
			f.t.Fatal(err)
		}
	}
	index, err := repo.IndexDirectory(f.dir, "")
	if err != nil {
		f.t.Fatal(err)
	}
	if err := index.WriteFile(filepath.Join(f.dir, "index.yaml"), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// move puts an archive elsewhere, and writes the index anew.
func (f *files) move(from, to string) {
	f.t.Helper()
	to = filepath.Join(f.dir, to)
	if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o750), os.Rename(filepath.Join(f.dir, from), to)); err != nil {
		f.t.Fatal(err)
	}
	f.add()
}

// shop is a chart that renders to one ConfigMap, with its version and values.
func shop(name, version string) *chart.Chart {
	const template = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
data:
  chart: {{ .Chart.Name }}-{{ .Chart.Version }}
  currency: {{ .Values.currency | quote }}
  cluster: {{ .Values.cluster | quote }}
`
	return &chart.Chart{
		Metadata:  &chart.Metadata{APIVersion: chart.APIVersionV2, Name: name, Version: version},
		Values:    map[string]any{"currency": "EUR", "cluster": "none"},
		Raw:       []*chart.File{{Name: chartutil.ValuesfileName, Data: []byte("currency: EUR\ncluster: none\n")}},
		Templates: []*chart.File{{Name: "templates/shop.yaml", Data: []byte(template)}},
	}
}

// registry is a registry with charts.
type registry struct {
	*server

	t *testing.T
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	return &registry{t: t, server: serve(t, ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0))))}
}

// host is the registry's, with its port.
func (r *registry) host() string { return strings.TrimPrefix(r.URL, "http://") }

// push packs a chart and pushes it to a folder of the registry, both as Helm does. It
// returns the digest of the manifest.
func (r *registry) push(folder string, c *chart.Chart) string {
	r.t.Helper()
	archive, err := chartutil.Save(c, r.t.TempDir())
	if err != nil {
		r.t.Fatal(err)
	}
	data, err := os.ReadFile(archive)
	if err != nil {
		r.t.Fatal(err)
	}
	client, err := helmregistry.NewClient(helmregistry.ClientOptPlainHTTP(), helmregistry.ClientOptWriter(io.Discard))
	if err != nil {
		r.t.Fatal(err)
	}
	ref := fmt.Sprintf("%s/%s/%s:%s", r.host(), folder, c.Name(), c.Metadata.Version)
	pushed, err := client.Push(data, ref)
	if err != nil {
		r.t.Fatal(err)
	}
	r.takeAsked()
	return pushed.Manifest.Digest
}

// digest is the SHA-256 of data in hexadecimal digits.
func digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
