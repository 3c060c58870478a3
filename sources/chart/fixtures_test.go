package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/lock"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// tgz packs entries in their order; file and link make them.
func tgz(tb testing.TB, entries ...tar.Header) []byte {
	tb.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, h := range entries {
		body := h.PAXRecords["TEST.body"]
		h.PAXRecords = nil
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			h.PAXRecords = map[string]string{"comment": "0123456789"}
		} else {
			h.Mode, h.Size = 0o644, int64(len(body))
		}
		if err := w.WriteHeader(&h); err != nil {
			tb.Fatal(err)
		}
		if _, err := w.Write([]byte(body)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// file is an entry for tgz.
func file(name, body string) tar.Header {
	return tar.Header{Name: name, PAXRecords: map[string]string{"TEST.body": body}}
}

// packed is the archive of a small chart.
func packed(tb testing.TB, name, version string) []byte {
	tb.Helper()
	return tgz(tb,
		file(name+"/Chart.yaml", fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version)),
		file(name+"/values.yaml", "replicas: 1\n"),
		file(name+"/templates/cm.yaml", "kind: ConfigMap\n"),
	)
}

// server is an HTTP server in this process that remembers what it was asked.
type server struct {
	*httptest.Server

	hits atomic.Int64
}

func serve(tb testing.TB, h http.HandlerFunc) *server {
	tb.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hits.Add(1)
		h(w, r)
	}))
	tb.Cleanup(s.Close)
	return s
}

// repo serves an index of the chart app in these versions, and their archives below
// /files/.
func repo(tb testing.TB, versions ...string) *server {
	tb.Helper()
	var index strings.Builder
	index.WriteString("apiVersion: v1\nentries:\n  other: []\n  app:\n")
	archives := map[string][]byte{}
	for _, v := range versions {
		archives["/files/app-"+v+".tgz"] = packed(tb, "app", v)
		fmt.Fprintf(&index, "  - name: app\n    version: %q\n    digest: %s\n    urls: [files/app-%s.tgz]\n",
			v, strings.TrimPrefix(digest(packed(tb, "app", v)), "sha256:"), v)
	}
	return serve(tb, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/index.yaml" {
			fmt.Fprint(w, index.String())
		} else if data, ok := archives[r.URL.Path]; ok {
			_, _ = w.Write(data)
		} else {
			http.NotFound(w, r)
		}
	})
}

// store returns a store that may ask servers of this process which are listed.
func store(tb testing.TB, o Options) *Store {
	tb.Helper()
	if o.Private == nil {
		o.Private = loopback
	}
	if o.pause == nil {
		o.pause = func(context.Context, time.Duration) error { return nil }
	}
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	s, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func helmRef(s *server, constraint string) lock.Ref {
	return lock.Ref{Kind: lock.Helm, Repository: s.URL, Name: "app", Constraint: constraint}
}

// entryAt is an entry for an archive at a URL.
func entryAt(at string, archive []byte) lock.Entry {
	return lock.Entry{
		Ref:     lock.Ref{Kind: lock.Helm, Repository: "https://charts.example", Name: "app"},
		Version: "1.0.0", URL: at, Digest: digest(archive),
	}
}

// read returns the files of a file system.
func read(tb testing.TB, f fs.FS) map[string]string {
	tb.Helper()
	files := map[string]string{}
	err := fs.WalkDir(f, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(f, p)
		files[p] = string(data)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return files
}

// wantChart checks that a file system is what packed packs.
func wantChart(tb testing.TB, f fs.FS) {
	tb.Helper()
	got := slices.Sorted(maps.Keys(read(tb, f)))
	if want := []string{"Chart.yaml", "templates/cm.yaml", "values.yaml"}; !slices.Equal(got, want) {
		tb.Errorf("the chart has the files %v, want %v", got, want)
	}
}

// wantError checks that an error says what it should.
func wantError(tb testing.TB, err error, parts ...string) {
	tb.Helper()
	if err == nil {
		tb.Fatalf("there is no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			tb.Errorf("the error is %q, want %q in it", err, p)
		}
	}
}

// names is a DNS server in this process: name -> addresses at the n-th question.
func names(tb testing.TB, answer func(name string) []string) *net.Resolver {
	tb.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	go func() {
		for buf := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(dnsAnswer(buf[:n], answer), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// dnsAnswer answers a question for addresses (RFC 1035, 4.1).
func dnsAnswer(query []byte, answer func(string) []string) []byte {
	end, labels := 12, []string(nil)
	for query[end] != 0 {
		n := int(query[end])
		labels = append(labels, string(query[end+1:end+1+n]))
		end += 1 + n
	}
	kind := query[end+2]
	end += 5
	var records []byte
	count := byte(0)
	for _, a := range answer(strings.Join(labels, ".")) {
		raw := netip.MustParseAddr(a).AsSlice()
		if kind == 1 && len(raw) == 4 || kind == 28 && len(raw) == 16 {
			records = append(records, 0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0, 0, byte(len(raw)))
			records = append(records, raw...)
			count++
		}
	}
	out := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, count, 0, 0, 0, 0}, query[12:end]...)
	return append(out, records...)
}

// serveTLS is serve over https, and who certifies it.
func serveTLS(tb testing.TB, h http.HandlerFunc) (*httptest.Server, *x509.CertPool) {
	tb.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are meant to fail
	s.StartTLS()
	tb.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return s, roots
}
