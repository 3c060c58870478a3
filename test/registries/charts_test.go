//go:build e2e

package registries_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/waybill-dev/waybill/test/peers"
	"github.com/waybill-dev/waybill/test/program"
	"github.com/waybill-dev/waybill/test/registries"
)

// charted is a source with charts of the registry, at which Helm pushes them and waybill looks for new ones.
type charted struct {
	*started

	t                            *testing.T
	dir, helm, waybill, accounts string
}

// runs runs a program in the folder of the source, or in one below it.
func (c *charted) runs(name string, args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), name, args...)
	cmd.Dir = filepath.Join(c.dir, "src")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "SSL_CERT_FILE=" + c.trusted, "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
	}
	out, err := peers.Output(cmd)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

func (c *charted) write(name, text string) {
	c.t.Helper()
	name = filepath.Join(c.dir, name)
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o600)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// pushes has Helm push a version of a chart, and returns the digests of its archive and of its manifest.
func (c *charted) pushes(name, version string) (archive string, manifest v1.Hash) {
	c.t.Helper()
	c.write("charts/"+name+"/Chart.yaml", fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version))
	c.write("charts/"+name+"/templates/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {version: {{ .Chart.Version }}}\n")
	c.runs(c.helm, "package", "../charts/"+name, "--destination", "../charts")
	packed := filepath.Join(c.dir, "charts", name+"-"+version+".tgz")
	c.runs(c.helm, "push", packed, "oci://"+c.Host+"/org", "--ca-file", c.trusted, "--username", registries.User, "--password", registries.Password)
	data, err := os.ReadFile(packed)
	if err != nil {
		c.t.Fatal(err)
	}
	is, err := remote.Head(c.of(name).at(c.t, version), c.options...)
	if err != nil {
		c.t.Fatal(err)
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(data)), is.Digest
}

// of is the registry, of which the repository of a chart is asked.
func (c *charted) of(chart string) *started {
	s := *c.started
	s.repository = s.Host + "/org/" + chart
	return &s
}

// locked is the lock file of the branch that is followed.
func (c *charted) locked() string {
	return c.runs("git", "-C", "../origin.git", "show", "main:waybill.lock")
}

const chartsSource = `apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: org, namespace: shop}
spec: {type: oci, url: "oci://%[1]s/org", interval: 1h}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: shop}
spec:
  interval: 1h
  chart: {spec: {chart: web, version: 1.x, sourceRef: {kind: HelmRepository, name: org}}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: api, namespace: shop}
spec: {url: "oci://%[1]s/org/api", interval: 1h, ref: {semver: ">=1.0.0"}, verify: {provider: cosign, secretRef: {name: keys}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: api, namespace: shop}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: api}}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: shop}
data: {cosign.pub: %[2]s}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: charts, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}]
  placement: {}
`

// TestChartsInDistribution has Helm push charts, and waybill lock them and commit what is new: the version and the digest of the
// archive, and of a chart whose verify asks for a signature only what cosign signed, in its older form and in its newer one. All of them
// trust the registry by its certificate, and give a password.
func TestChartsInDistribution(t *testing.T) {
	if testing.Short() {
		t.Skip("the registry is built from a module of its own")
	}
	c := &charted{started: start(t), t: t, dir: t.TempDir(), helm: peers.Build(t).Helm, waybill: program.Build(t)}
	signer := c.cosign(t)
	c.accounts = "--registry-credentials=" + filepath.Join(c.dir, "accounts.yaml")
	c.write("accounts.yaml", fmt.Sprintf("- {url: oci://%s/org, username: %s, password: %s}\n", c.Host, registries.User, registries.Password))
	c.write("src/charts.yaml", fmt.Sprintf(chartsSource, c.Host, base64.StdEncoding.EncodeToString(signer.key("mine", nil))))
	c.write("src/waybill.yaml", fmt.Sprintf(`apiVersion: waybill.dev/v1alpha1
kind: Config
spec:
  charts: {private: [127.0.0.0/8], hosts: ["https://%s"]}
  updates: {mode: commit, limits: {perHost: 1000/s, perHour: 10}}
`, c.Host))
	web, _ := c.pushes("web", "1.0.0")
	api, _ := c.pushes("api", "1.0.0")
	c.runs("git", "init", "-q", "-b", "main")
	c.runs(c.waybill, "update", c.accounts)
	c.runs("git", "add", "-A")
	c.runs("git", "commit", "-qm", "locked")
	c.runs("git", "clone", "-q", "--bare", ".", "../origin.git")
	c.runs("git", "remote", "add", "origin", filepath.Join(c.dir, "origin.git"))
	c.runs(c.waybill, "publish", "--to", "origin", c.accounts)
	if text := c.locked(); !strings.Contains(text, web) || !strings.Contains(text, api) {
		t.Fatalf("locked are\n%s", text)
	}

	newWeb, _ := c.pushes("web", "1.1.0")
	newAPI, unsigned := c.pushes("api", "1.1.0")
	c.pushes("web", "2.0.0") // which the range does not have
	out := c.runs(c.waybill, "update", "--commit", c.accounts)
	if text := c.locked(); !strings.Contains(text, newWeb) || !strings.Contains(text, api) || strings.Contains(text, newAPI) {
		t.Errorf("of the two that are new one is signed by nobody; locked are\n%s", text)
	}
	if !strings.Contains(out, "committed") || !strings.Contains(out, "OCIRepository shop/api asks who signed it") || !strings.Contains(out, "it has no signature") {
		t.Errorf("it says\n%s", out)
	}

	signer.signs(c.Host+"/org/api@"+unsigned.String(), "mine", tagged)
	out = c.runs(c.waybill, "update", "--commit", c.accounts)
	if text := c.locked(); !strings.Contains(text, newWeb) || !strings.Contains(text, newAPI) {
		t.Errorf("both are to be taken now; locked are\n%s, and it says\n%s", text, out)
	}
	newest, unsigned := c.pushes("api", "1.2.0")
	signer.signs(c.Host+"/org/api@"+unsigned.String(), "mine", unlogged)
	out += c.runs(c.waybill, "update", "--commit", c.accounts)
	if text := c.locked(); !strings.Contains(text, newest) {
		t.Errorf("what a bundle signs is to be taken; locked are\n%s, and it says\n%s", text, out)
	}
	if again := c.runs(c.waybill, "update", "--commit", c.accounts); strings.Contains(again, "committed") || strings.Contains(out+again, registries.Password) {
		t.Errorf("nothing is new, and it says\n%s", again)
	}
	if log := c.runs("git", "-C", "../origin.git", "log", "--format=%B", "main"); bytes.Count([]byte(log), []byte("Waybill-Update: chart oci://"+c.Host+"/org/")) != 3 {
		t.Errorf("the commits say\n%s", log)
	}
}
