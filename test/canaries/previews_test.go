//go:build e2e

package canaries

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"filippo.io/age"
	"golang.org/x/crypto/ssh"

	"github.com/waybill-dev/waybill/sources/forge/forgetest"
)

// makeKeys makes a private key of each kind that Waybill takes.
func (h *house) makeKeys() {
	h.Helper()
	_, signing, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		h.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(signing, "")
	if err != nil {
		h.Fatal(err)
	}
	app, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		h.Fatal(err)
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		h.Fatal(err)
	}
	seed := signing.Seed()
	h.keys = map[string]string{
		"the identity": strings.TrimPrefix(identity.String(), "AGE-SECRET-KEY-1"), "the signing key, in hex": hex.EncodeToString(seed), "the signing key, in base64": base64.RawStdEncoding.EncodeToString(seed),
	}
	texts := map[string]string{
		"signing-key": string(pem.EncodeToMemory(block)), "identity": identity.String() + "\n",
		"app-key": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(app)})),
	}
	for name, text := range texts {
		h.file(name, text)
		for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
			if from := map[string]int{"signing-key": 4, "app-key": 8, "identity": 1}[name]; i >= from && !strings.HasPrefix(line, "-----") && len(line) > 20 { // what is public stands before it
				h.keys[fmt.Sprintf("line %d of %s", i, name)] = line
			}
		}
	}
}

// leaks lists the canaries and the keys that a text has, but for those of some places.
func (h *house) leaks(text []byte, except ...string) []string {
	return append(leaks(text, except...), Seen(text, h.keys)...)
}

// heard is what was sent to somebody.
type heard struct {
	*httptest.Server

	mu   sync.Mutex
	text strings.Builder
}

func (h *house) hears() *heard {
	c := &heard{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, _ = io.Copy(&c.text, r.Body)
	}))
	h.Cleanup(c.Close)
	return c
}

// pause is the time between two looks at what is not there yet.
const pause = 50 * time.Millisecond

// free is an address of this machine that nobody uses.
func free() string {
	s := httptest.NewServer(nil)
	defer s.Close()
	return strings.TrimPrefix(s.URL, "http://")
}

// asks gets a page, once it is served.
func (h *house) asks(ctx context.Context, url string) string {
	h.Helper()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for ; ; <-tick.C {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			h.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if ctx.Err() != nil {
			h.Fatalf("%s: %v", url, err)
		}
		if err != nil {
			continue
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			h.Errorf("%s: %s, %v", url, resp.Status, err)
		}
		return string(body)
	}
}

// previews has a controller show a pull request that goes back to the first version of the source,
// and looks for canaries in its comment, in its status, in every page about it, and in metrics and traces.
func (h *house) previews() {
	h.Helper()
	ctx, stop := context.WithTimeout(h.Context(), time.Minute)
	defer stop()
	h.git("-C", "source", "checkout", "-q", "-b", "change")
	h.write(0)
	h.git("-C", "source", "commit", "-qam", "back to the first")
	head := strings.TrimSpace(string(h.git("-C", "source", "rev-parse", "HEAD")))
	h.git("-C", "source", "checkout", "-q", "main")
	h.git("-C", "source", "update-ref", "refs/pull/7/head", head)
	fake := forgetest.NewFake()
	fake.PushCommit(head)
	fake.Touch(time.Now())
	url := forgetest.GitHub(h.T, fake, &forgetest.Waybill, forgetest.Bearer(canary("token-file", 0)))
	traced, site, metrics := h.hears(), "http://"+free(), free()
	log, err := os.Create(filepath.Join(h.dir, "preview-log"))
	if err != nil {
		h.Fatal(err)
	}
	defer log.Close()
	cmd := h.command(ctx, h.waybill, "controller", "source", "--to", "published.git", "--interval", "1s", "--listen", metrics, "--random-key-file", "random-key", "--signing-key", "signing-key", "-v",
		"--previews", "--commit-statuses", "--forge", "github", "--forge-url", url, "--forge-repository", forgetest.Name, "--token-file", "token", "--plain-http",
		"--ui-listen", strings.TrimPrefix(site, "http://"), "--ui-url", site, "--otlp-endpoint", traced.URL)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		h.Fatal(err)
	}
	said := map[string]string{}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for ; said["the comment"] == ""; <-tick.C {
		all, err := fake.Comments(ctx, forgetest.Number)
		if err != nil || ctx.Err() != nil {
			data, _ := os.ReadFile(log.Name())
			h.Fatalf("there is no comment: %v\n%s", err, data)
		}
		for _, c := range all {
			said["the comment"] += c.Body
		}
	}
	said["the status"] = fmt.Sprint(fake.Shown(head, "waybill/preview"))
	for _, path := range []string{"/", "/matrix", "/clusters/open", "/clusters/sealed", "/changes", "/changes/" + strings.TrimSpace(string(h.git("-C", "source", "rev-parse", "main"))), "/previews", "/previews/7"} {
		said[path] = h.asks(ctx, site+path)
	}
	said["metrics"] = h.asks(ctx, "http://"+metrics+"/metrics")
	_ = cmd.Cancel()
	_ = cmd.Wait()
	traced.mu.Lock()
	said["traces"] = traced.text.String()
	traced.mu.Unlock()
	data, err := os.ReadFile(log.Name())
	if err != nil {
		h.Fatal(err)
	}
	said["the log"] = string(data)
	for what, text := range said {
		for _, found := range h.leaks([]byte(text)) {
			h.Errorf("%s: there is %s:\n%s", what, found, text)
		}
	}
	for what, want := range map[string]string{"the comment": "plain", "/previews/7": `"m":"plain"`, "/previews": "#7 a change", "metrics": "waybill_", "traces": "sync", "the log": "pull request shown", "the status": site + "/previews/7"} {
		if !strings.Contains(said[what], want) {
			h.Errorf("%s: want %q in\n%s", what, want, said[what])
		}
	}
}
