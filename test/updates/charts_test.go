package updates

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/rogpeppe/go-internal/testscript"
)

// helm is a Helm repository over HTTP.
type helm struct {
	mu       sync.Mutex
	archives map[string][]byte // by paths
	index    map[string]string // lines of the index, by charts
	fails    int               // the status of every answer; 0: none
	brought  int               // indexes that were brought
}

func (h *helm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	archive, isArchive := h.archives[r.URL.Path]
	switch {
	case h.fails != 0:
		w.WriteHeader(h.fails)
	case isArchive:
		_, _ = w.Write(archive) // who asked is gone
	case r.URL.Path == "/index.yaml":
		var b strings.Builder
		b.WriteString("apiVersion: v1\nentries:\n")
		for chart, lines := range h.index {
			b.WriteString("  " + chart + ":\n" + lines)
		}
		etag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256([]byte(b.String()))))
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h.brought++
		fmt.Fprint(w, b.String())
	default:
		http.NotFound(w, r)
	}
}

// packed is the archive of a chart with one ConfigMap, which says the version.
func packed(ts *testscript.TestScript, chart, version string) []byte {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for file, text := range map[string]string{
		"Chart.yaml":        fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\nsources: [https://example.com/%s]\n", chart, version, version),
		"templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {version: {{ .Chart.Version }}}\n",
	} {
		ts.Check(w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: chart + "/" + file, Mode: 0o644, Size: int64(len(text))}))
		_, err := w.Write([]byte(text))
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(zipped.Close())
	return out.Bytes()
}

// offer puts charts into the Helm repository: offer CHART VERSION...
func offer(ts *testscript.TestScript, _ bool, args []string) {
	h := ts.Value("helm").(*helm)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, version := range args[1:] {
		file := args[0] + "-" + version + ".tgz"
		h.archives["/"+file] = packed(ts, args[0], version)
		h.index[args[0]] += fmt.Sprintf("  - {version: %q, urls: [%s]}\n", version, file)
	}
}

// fail has the Helm repository answer with a status, or with 0 as ever: fail STATUS
func fail(ts *testscript.TestScript, _ bool, args []string) {
	h := ts.Value("helm").(*helm)
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := fmt.Sscan(args[0], &h.fails)
	ts.Check(err)
}

// brought requires how many indexes were brought: brought N
func brought(ts *testscript.TestScript, _ bool, args []string) {
	h := ts.Value("helm").(*helm)
	h.mu.Lock()
	defer h.mu.Unlock()
	if got := strconv.Itoa(h.brought); got != args[0] {
		ts.Fatalf("%s indexes were brought, want %s", got, args[0])
	}
}

// chart pushes charts to the registry: chart REPOSITORY VERSION...
func chart(ts *testscript.TestScript, _ bool, args []string) {
	short := args[0][strings.LastIndex(args[0], "/")+1:]
	for _, version := range args[1:] {
		image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), "application/vnd.cncf.helm.config.v1+json")
		image, err := mutate.AppendLayers(image, static.NewLayer(packed(ts, short, version), "application/vnd.cncf.helm.chart.content.v1.tar+gzip"))
		ts.Check(err)
		write(ts, args[0]+":"+version, image)
	}
}

func write(ts *testscript.TestScript, at string, image v1.Image) {
	ref, err := name.ParseReference(ts.Getenv("REGISTRY") + "/" + at)
	ts.Check(err)
	ts.Check(remote.Write(ref, image))
}

// sign signs what a tag of the registry stands for, as cosign sign --key, and puts the public key in place of $KEY in a file:
// sign REPOSITORY TAG [FILE]
func sign(ts *testscript.TestScript, _ bool, args []string) {
	key, is := ts.Value("key").(*key)
	if !is {
		ts.Fatalf("there is no key")
	}
	ref, err := name.ParseReference(ts.Getenv("REGISTRY") + "/" + args[0] + ":" + args[1])
	ts.Check(err)
	of, err := remote.Head(ref)
	ts.Check(err)
	payload := fmt.Appendf(nil, `{"critical":{"identity":{},"image":{"docker-manifest-digest":"%s"},"type":"cosign container image signature"}}`, of.Digest)
	sum := sha256.Sum256(payload)
	signature, err := ecdsa.SignASN1(rand.Reader, key.private, sum[:])
	ts.Check(err)
	image, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
		Layer:       static.NewLayer(payload, "application/vnd.dev.cosign.simplesigning.v1+json"),
		Annotations: map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(signature)},
	})
	ts.Check(err)
	write(ts, args[0]+":"+strings.Replace(of.Digest.String(), ":", "-", 1)+".sig", image)
}

// trust puts the public key, in base64, in place of $KEY in files: trust FILE...
func trust(ts *testscript.TestScript, _ bool, args []string) {
	public := base64.StdEncoding.EncodeToString(ts.Value("key").(*key).public)
	for _, file := range args {
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(strings.ReplaceAll(ts.ReadFile(file), "$KEY", public)), 0o600))
	}
}

// key is a key pair of cosign's.
type key struct {
	private *ecdsa.PrivateKey
	public  []byte
}

func newKey() (*key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	return &key{private, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})}, err
}
