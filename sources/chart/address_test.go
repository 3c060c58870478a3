package chart

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/sources/egress"
)

// canary is a listener on every address of this machine that counts who comes.
func canary(tb testing.TB) (port string, visits *atomic.Int64) {
	tb.Helper()
	var config net.ListenConfig
	l, err := config.Listen(tb.Context(), "tcp", ":0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	visits = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			visits.Add(1)
			_ = c.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, visits
}

// hostile are spellings of addresses that are nobody's business. PORT is the canary's.
var hostile = []string{
	"https://127.0.0.1:PORT/", "https://127.1:PORT/", "https://127.0.1:PORT/", "https://127.255.255.254:PORT/",
	"https://2130706433:PORT/", "https://017700000001:PORT/", "https://0x7f000001:PORT/", "https://0x7f.0.0.1:PORT/",
	"https://0x7f.1:PORT/", "https://0177.0.0.1:PORT/", "https://0177.0.0.0x1:PORT/", "https://127.0.0.01:PORT/",
	"https://127.0.0.1.:PORT/", "https://0:PORT/", "https://0.0.0.0:PORT/", "https://00000.0:PORT/",
	"https://[::1]:PORT/", "https://[::]:PORT/", "https://[0:0:0:0:0:0:0:1]:PORT/", "https://[::ffff:127.0.0.1]:PORT/",
	"https://[::ffff:7f00:1]:PORT/", "https://[::127.0.0.1]:PORT/", "https://[64:ff9b::7f00:1]:PORT/",
	"https://[2002:7f00:1::]:PORT/", "https://[::1%25lo]:PORT/", "https://[fe80::1%25lo]:PORT/", "https://[fd00:ec2::254]:PORT/",
	"https://169.254.169.254/latest/meta-data/", "https://[::ffff:169.254.169.254]/", "https://2852039166/",
	"https://0xa9fea9fe/", "https://169.254.1.1/", "https://10.0.0.1:PORT/", "https://192.168.0.1:PORT/",
	"https://172.16.0.1:PORT/", "https://100.64.0.1:PORT/", "https://100.100.100.200/", "https://168.63.129.16/",
	"https://224.0.0.1:PORT/", "https://255.255.255.255:PORT/", "https://240.0.0.1:PORT/", "https://[ff02::1]:PORT/",
	"https://[fc00::1]:PORT/", "https://[fec0::1]:PORT/",
	"https://localhost:PORT/", "https://LOCALHOST:PORT/", "https://localhost.:PORT/", "https://loop.example:PORT/",
	"https://mapped.example:PORT/", "https://meta.example/", "https://both.example:PORT/", "https://six.example:PORT/",
	"https://charts.example@127.0.0.1:PORT/", "https://charts.example:x@127.0.0.1:PORT/", "https://127.0.0.1:PORT@charts.example/",
	"https://charts.example#@127.0.0.1:PORT/", "https://charts.example%00.127.0.0.1:PORT/", "https://127.0.0.1%2f@charts.example/",
	"https://charts.example\\@127.0.0.1:PORT/", "https://①②⑦.⓪.⓪.①:PORT/", "https://127。0。0。1:PORT/", "https://loc\u00adalhost:PORT/",
	"https:127.0.0.1:PORT", "https:///127.0.0.1:PORT/", "//127.0.0.1:PORT/", "https://127.0.0.1:0/", "https://127.0.0.1:+1/",
	"http://127.0.0.1:PORT/", "http://charts.example:PORT/", "file:///etc/passwd", "gopher://127.0.0.1:PORT/", "unix:///run/docker.sock",
	"dict://127.0.0.1:PORT/", "data:,x", "",
}

func TestNoSpellingOfAnAddressGetsToWhatIsNotPublic(t *testing.T) {
	port, visits := canary(t)
	s, err := New(Options{Timeout: 5 * time.Second, resolver: names(t, func(name string) []string {
		return map[string][]string{
			"loop.example": {"127.0.0.1"}, "mapped.example": {"::ffff:127.0.0.1"}, "meta.example": {"169.254.169.254"},
			"both.example": {"10.1.2.3", "127.0.0.1", "::1"}, "six.example": {"::1", "fd00:ec2::254"},
		}[name]
	})})
	if err != nil {
		t.Fatal(err)
	}
	for _, spelling := range hostile {
		t.Run(spelling, func(t *testing.T) {
			raw := strings.ReplaceAll(spelling, "PORT", port)
			if _, err := s.get(t.Context(), raw, 1<<10); err == nil {
				t.Error("it was asked")
			}
			if _, err := s.Fetch(t.Context(), entryAt(raw, nil)); err == nil {
				t.Error("it was fetched")
			}
			if n := visits.Load(); n != 0 {
				t.Fatalf("%d connections were made", n)
			}
		})
	}
}

func TestAnAddressIsJudgedWhenItIsDialled(t *testing.T) {
	loops := names(t, func(string) []string { return []string{"127.0.0.1"} })
	s, err := New(Options{Timeout: 5 * time.Second, resolver: loops})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.get(t.Context(), "https://loop.example/", 1<<10)
	host, ok := errors.AsType[*egress.HostError](err)
	if !ok || !strings.Contains(host.Reason, "127.0.0.1 is not public") {
		t.Errorf("the error is %v, want a HostError of the address", err)
	}
}

func TestANameThatChangesItsAddressGainsNothing(t *testing.T) {
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	var hits atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		fmt.Fprint(w, "x")
	}))
	_ = srv.Listener.Close()
	srv.Listener = l
	srv.Config.SetKeepAlivesEnabled(false)
	srv.Start()
	t.Cleanup(srv.Close)
	at := "http://rebind.example:" + srv.URL[strings.LastIndex(srv.URL, ":")+1:]
	var answer atomic.Value
	answer.Store([]string{"127.0.0.2"})
	s, err := New(Options{
		Allow: []string{at}, Private: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")},
		resolver: names(t, func(string) []string { return answer.Load().([]string) }),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.get(t.Context(), at, 10); err != nil || hits.Load() != 1 {
		t.Fatalf("the allowed address: %v after %d requests", err, hits.Load())
	}
	answer.Store([]string{"127.0.0.1"})
	if _, err := s.get(t.Context(), at, 10); err == nil || hits.Load() != 1 {
		t.Errorf("the other address: %v after %d requests, want an error after 1", err, hits.Load())
	}
}

func TestARangeIsOnlyForListedHosts(t *testing.T) {
	port, visits := canary(t)
	s, err := New(Options{Private: loopback})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.get(t.Context(), "https://127.0.0.1:"+port, 10)
	wantError(t, err, "must be in the list of allowed hosts")
	if visits.Load() != 0 {
		t.Error("it was asked")
	}
}

func TestAProxyIsOnlyTheOneThatIsGiven(t *testing.T) {
	archive := packed(t, "app", "1.0.0")
	asked := ""
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		_, _ = w.Write(archive)
	})
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	e := entryAt("http://charts.example/app.tgz", archive)
	nobody := names(t, func(string) []string { return nil })
	s := store(t, Options{Allow: []string{"http://charts.example"}, resolver: nobody})
	if _, err := s.Fetch(t.Context(), e); err == nil || asked != "" {
		t.Errorf("without a proxy: %v, and the one of the environment was asked for %q", err, asked)
	}
	s = store(t, Options{Allow: []string{"http://charts.example"}, Proxy: at})
	if _, err := s.Fetch(t.Context(), e); err != nil || asked != "http://charts.example/app.tgz" {
		t.Errorf("with a proxy: %v, and it was asked for %q", err, asked)
	}
	s = store(t, Options{Proxy: at})
	for _, hidden := range []string{"https://127.0.0.1/", "https://169.254.169.254/", "https://2130706433/"} {
		before := proxy.hits.Load()
		if _, err := s.get(t.Context(), hidden, 10); err == nil || proxy.hits.Load() != before {
			t.Errorf("%s was asked of the proxy: %v", hidden, err)
		}
	}
}
