//go:build e2e

package e2e

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/test/controlplane"
)

// api is an API server, and kubectl for it.
type api struct {
	t                     *testing.T
	url, kubeconfig, path string
	http                  http.Client
	cluster               *controlplane.Cluster
	process               *controlplane.Process
}

func newAPI(t *testing.T, url, authority, kubeconfig, kubectl string) *api {
	t.Helper()
	pem, err := os.ReadFile(authority)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return &api{t: t, url: url, kubeconfig: kubeconfig, path: kubectl, http: http.Client{
		Timeout: 2 * time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
	}}
}

// with is the API server for another test.
func (a *api) with(t *testing.T) *api {
	t.Helper()
	b := *a
	b.t = t
	return &b
}

// do sends a request; a server that does not answer is status 0.
func (a *api) do(method, path, kind string, body []byte) (status int, answer []byte) {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.url+path, bytes.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+controlplane.Token)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := a.http.Do(req)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		return 0, []byte(err.Error())
	}
	return resp.StatusCode, answer
}

// kubectl runs kubectl and returns what it prints.
func (a *api) kubectl(args ...string) string {
	a.t.Helper()
	return a.run(exec.Command(a.path, args...))
}

func (a *api) apply(yaml string) {
	a.t.Helper()
	cmd := exec.Command(a.path, "apply", "--server-side", "-f", "-")
	cmd.Stdin = strings.NewReader(yaml)
	a.run(cmd)
}

func (a *api) run(cmd *exec.Cmd) string {
	a.t.Helper()
	cmd.Env = append(os.Environ(), "KUBECONFIG="+a.kubeconfig)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		a.t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, out, stderr.String())
	}
	return string(out)
}

// object is as much of an object as the tests look at.
type object struct {
	Metadata struct {
		Name, UID string
		Labels    map[string]string
	}
	Spec struct {
		Prune          bool
		DeletionPolicy string
	}
	Status struct {
		LastAppliedRevision string
		Conditions          []struct{ Type, Status, Message string }
	}
}

func (o *object) ready() (bool, string) {
	for _, c := range o.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True", c.Message
		}
	}
	return false, "no condition yet"
}

// list lists objects by the path of their kind.
func (a *api) list(path string) []object {
	a.t.Helper()
	status, body := a.do(http.MethodGet, path, "", nil)
	var l struct{ Items []object }
	if err := json.Unmarshal(body, &l); status != http.StatusOK || err != nil {
		a.t.Fatalf("GET %s: %d, %v\n%.500s", path, status, err, body)
	}
	return l.Items
}

// uids returns the UIDs of the ConfigMaps of namespaces, and of the namespaces, by name.
func (a *api) uids(namespaces ...string) map[string]string {
	a.t.Helper()
	uids := map[string]string{}
	for _, o := range a.list("/api/v1/namespaces") {
		uids[o.Metadata.Name] = o.Metadata.UID
	}
	out := map[string]string{}
	for _, ns := range namespaces {
		if uid, ok := uids[ns]; ok {
			out[ns] = uid
		}
		for _, o := range a.list("/api/v1/namespaces/" + ns + "/configmaps") {
			out[ns+"/"+o.Metadata.Name] = o.Metadata.UID
		}
	}
	return out
}

const fluxObjects = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux-system/kustomizations"

// eventually waits until something holds. A busy machine takes its time.
func eventually(t *testing.T, what string, holds func() (bool, string)) {
	t.Helper()
	deadline := time.Now().Add(6 * time.Minute)
	for {
		ok, why := holds()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("never: %s: %s", what, why)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
