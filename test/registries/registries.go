// Package registries runs a real registry of images on this machine, for tests: distribution, the CNCF's,
// built from the module in distribution, and builds cosign, which signs what is there, from the module in cosign; each once
// for each state of its module, and kept in the user's cache.
package registries

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/waybill-dev/waybill/sources/pause"
	"github.com/waybill-dev/waybill/test/controlplane"
	"github.com/waybill-dev/waybill/test/peers"
)

// User and Password are those of the one who may read and write.
const (
	User     = "ann"
	Password = "For-the-test-1"
)

// Registry is one that runs, over https.
type Registry struct {
	Host    string         // with its port
	RootCAs *x509.CertPool // who certify it
	process *controlplane.Process
}

// Install builds distribution, which takes half a minute of a processor the first time, or finds it in the
// user's cache.
func Install() (string, error) { return install("distribution", ".") }

// Cosign builds cosign, which takes two minutes of a processor the first time where Flux's source-controller was built before, whose
// packages are of the same versions, and more where it was not, or finds it in the user's cache.
func Cosign() (string, error) { return install("cosign", "github.com/sigstore/cosign/v3/cmd/cosign") }

// install builds a program from the module in a folder of that name.
func install(name, pkg string) (string, error) {
	here, err := peers.Go(".", "list", "-f", "{{.Dir}}", "github.com/waybill-dev/waybill/test/registries")
	if err != nil {
		return "", err
	}
	return peers.Install(filepath.Join(strings.TrimSpace(here), name), name, "-trimpath", "-ldflags", "-s -w", pkg)
}

const config = `version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {inmemory: {}, delete: {enabled: true}}
http: {addr: "%s", tls: {certificate: "%[2]s", key: "%[2]s"}}
auth: {htpasswd: {realm: test, path: "%s"}}
`

// Start starts a registry, which it builds where it must, with a certificate and its key, as PEM. All that
// it has lies in dir.
func Start(ctx context.Context, dir string, certificate []byte) (*Registry, error) {
	program, err := Install()
	if err != nil {
		return nil, err
	}
	port, err := controlplane.Port()
	if err != nil {
		return nil, err
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(Password), bcrypt.MinCost)
	if err != nil {
		return nil, err
	}
	r := &Registry{Host: "127.0.0.1:" + port, RootCAs: x509.NewCertPool()}
	r.RootCAs.AppendCertsFromPEM(certificate)
	pem, users, file := filepath.Join(dir, "tls.pem"), filepath.Join(dir, "users"), filepath.Join(dir, "config.yaml")
	for name, data := range map[string][]byte{
		pem: certificate, users: []byte(User + ":" + string(hash) + "\n"), file: fmt.Appendf(nil, config, r.Host, pem, users),
	} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return nil, err
		}
	}
	if r.process, err = controlplane.Run(dir, program, nil, file); err != nil {
		return nil, err
	}
	return r, r.ready(ctx)
}

// ready waits until the registry answers.
func (r *Registry) ready(ctx context.Context) error {
	by := &http.Client{Transport: r.Transport()}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+r.Host+"/v2/", nil)
		if err != nil {
			return err
		}
		resp, err := by.Do(req)
		if err == nil {
			return resp.Body.Close()
		}
		if r.process.Ended() {
			return errors.New("the registry ended: " + r.process.Log())
		}
		if err := pause.For(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// Transport trusts the registry.
func (r *Registry) Transport() http.RoundTripper {
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: r.RootCAs, MinVersion: tls.VersionTLS12}}
}

// Stop ends it.
func (r *Registry) Stop() { r.process.Stop() }
