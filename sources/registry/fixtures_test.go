package registry_test

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	gcr "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/waybill-dev/waybill/sources/registry"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// server is a registry over https in this process that remembers what it was asked.
type server struct {
	*httptest.Server

	host string
	mu   sync.Mutex
	seen []string // method and URI
	h    http.HandlerFunc
}

// answer has the server answer so from now on.
func (s *server) answer(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.h = h
}

func serve(tb testing.TB, h http.HandlerFunc) *server {
	tb.Helper()
	s := &server{h: h}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Method+" "+r.RequestURI)
		answer := s.h
		s.mu.Unlock()
		answer(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate(tb)}}
	s.StartTLS()
	tb.Cleanup(s.Close)
	s.host = strings.TrimPrefix(s.URL, "https://")
	return s
}

// certificate is one of its own for the names of this machine.
func certificate(tb testing.TB) tls.Certificate {
	tb.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(nil, template, template, public, private)
	if err != nil {
		tb.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}

// asked returns what was asked since it was called last.
func (s *server) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = nil
	return seen
}

// clock is a clock that goes on when somebody waits.
type clock struct {
	mu  sync.Mutex
	at  time.Time
	sum time.Duration // that was waited
}

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pause(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.sum = c.at.Add(d), c.sum+d
	return ctx.Err()
}

// client returns a client that may ask the servers, and its clock.
func client(tb testing.TB, o registry.Options, servers ...*server) (*registry.Client, *clock) {
	tb.Helper()
	return trusting(tb, o, servers)
}

// trusting returns a client that may ask the servers, and takes the others for who they are.
func trusting(tb testing.TB, o registry.Options, servers []*server, others ...*server) (*registry.Client, *clock) {
	tb.Helper()
	at := &clock{at: noon}
	o.Now, o.RootCAs = at.now, x509.NewCertPool()
	if o.Pause == nil {
		o.Pause = at.pause
	}
	if o.Private == nil {
		o.Private = loopback
	}
	for _, s := range servers {
		o.Allow = append(o.Allow, s.host)
	}
	for _, s := range slices.Concat(servers, others) {
		o.RootCAs.AddCert(s.Certificate())
	}
	c, err := registry.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return c, at
}

// wantClass checks the class of an error, and what it says. It returns when to ask again.
func wantClass(tb testing.TB, err error, class registry.Class, parts ...string) time.Time {
	tb.Helper()
	e, ok := errors.AsType[*registry.Error](err)
	if !ok || e.Class != class || registry.ClassOf(err) != class {
		tb.Fatalf("the error is %v of the class %q, want %q", err, registry.ClassOf(err), class)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			tb.Errorf("the error is %q, want %q in it", err, p)
		}
	}
	return e.Until
}

// tagsHandler lists tags, as a registry does.
func tagsHandler(tags ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { list(w, tags) }
}

func list(w io.Writer, tags []string) {
	fmt.Fprintf(w, `{"name":"org/app","tags":["%s"]}`, strings.Join(tags, `","`))
}

// stocked is the registry of go-containerregistry, and a way to put an image or index into it.
func stocked(tb testing.TB) (*server, func(tag string, t remote.Taggable)) {
	tb.Helper()
	s := serve(tb, gcr.New(gcr.Logger(log.New(io.Discard, "", 0)), gcr.WithReferrersSupport(true)).ServeHTTP)
	return s, func(tag string, t remote.Taggable) {
		tb.Helper()
		ref, err := name.ParseReference(s.host + "/org/app:" + tag)
		if err != nil {
			tb.Fatal(err)
		}
		if i, ok := t.(v1.ImageIndex); ok {
			err = remote.WriteIndex(ref, i, remote.WithTransport(s.Client().Transport))
		} else {
			err = remote.Push(ref, t, remote.WithTransport(s.Client().Transport))
		}
		if err != nil {
			tb.Fatal(err)
		}
		s.asked()
	}
}
