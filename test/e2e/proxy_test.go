//go:build e2e

package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// proxy stands between waybill and an API server. It counts requests, and may kill who sends
// them.
type proxy struct {
	t    *testing.T
	to   *httputil.ReverseProxy
	mu   sync.Mutex
	seen []string // method and path

	// disturb stands in for passing the n-th request on; nil: it is passed on.
	disturb func(n int, w http.ResponseWriter, pass func(http.ResponseWriter))

	trap   trap
	victim *exec.Cmd
	at     int // the write at which it is killed
	after  bool
	writ   int
}

// counting puts a proxy in the way to a cluster.
func (s *site) counting(cluster string) *proxy {
	s.t.Helper()
	path := filepath.Join(s.kubeconfigs, cluster+".kubeconfig")
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), `server: "`)
	server, _, _ := strings.Cut(rest, `"`)
	_, rest, _ = strings.Cut(string(data), "certificate-authority: ")
	authority, _, _ := strings.Cut(rest, "}")
	target, err := url.Parse(server)
	if err != nil {
		s.t.Fatal(err)
	}
	pem, err := os.ReadFile(authority)
	if err != nil {
		s.t.Fatal(err)
	}
	cert, err := tls.LoadX509KeyPair(authority, strings.TrimSuffix(authority, ".crt")+".key")
	if err != nil {
		s.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	p := &proxy{t: s.t, to: httputil.NewSingleHostReverseProxy(target)}
	p.to.ErrorLog = log.New(io.Discard, "", 0) // of those who are killed
	p.to.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	listen := httptest.NewUnstartedServer(p)
	listen.Config.ErrorLog = p.to.ErrorLog
	listen.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	listen.EnableHTTP2 = true
	listen.StartTLS()
	s.t.Cleanup(listen.Close)
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), server, listen.URL, 1)), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return p
}

func isWrite(method string) bool { return method != http.MethodGet && method != http.MethodHead }

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.seen = append(p.seen, r.Method+" "+r.URL.RequestURI())
	n := len(p.seen)
	victim := p.victim
	if victim != nil && isWrite(r.Method) {
		p.writ++
	}
	dies, after := victim != nil && isWrite(r.Method) && p.writ >= p.at, p.after
	if dies && p.writ > p.at { // it is dead, and this is late
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	if dies && !after {
		_ = victim.Process.Kill()
		return
	}
	if dies {
		p.to.ServeHTTP(httptest.NewRecorder(), r)
		_ = victim.Process.Kill()
		return
	}
	if p.disturb != nil {
		p.disturb(n, w, func(w http.ResponseWriter) { p.to.ServeHTTP(w, r) })
		return
	}
	p.trap.pass(p.to, w, r)
}

// kill runs a command that is killed at its n-th write; ended says that it had none.
func (p *proxy) kill(cmd *exec.Cmd, n int, after bool) (ended bool) {
	p.t.Helper()
	p.mu.Lock()
	p.victim, p.at, p.after, p.writ = cmd, n, after, 0
	err := cmd.Start()
	p.mu.Unlock()
	if err != nil {
		p.t.Fatal(err)
	}
	_ = cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writ < n
}

// pass lets everything pass from now on.
func (p *proxy) pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.victim = nil
}

func (p *proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = nil
}

func (p *proxy) list() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.seen...)
}

func (p *proxy) total() int { return len(p.list()) }

func (p *proxy) writes() int {
	n := 0
	for _, r := range p.list() {
		if method, _, _ := strings.Cut(r, " "); isWrite(method) && !strings.Contains(r, "dryRun=All") {
			n++
		}
	}
	return n
}

// matching counts requests by their method and a part of their path.
func (p *proxy) matching(method, part string) int {
	n := 0
	for _, r := range p.list() {
		if strings.HasPrefix(r, method+" ") && strings.Contains(r, part) {
			n++
		}
	}
	return n
}
