//go:build e2e && !race

package hostile

import (
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// dnsName is the name that fixtures look up.
const dnsName = "secret.canary.test"

// secretVariable is a variable of the environment of these tests, and so of whatever
// they start that is not kept from it.
const secretVariable = "CANARY"

// canaries are what no rendering may get at. Each run of a fixture has its own.
type canaries struct {
	source  string // the folder of the fixture, if it is on the disk
	outside string // a folder beside it, with secrets
	fakes   string // a folder of programs that say that they ran
	api     string // the address of the HTTP server
	dns     string // and of the DNS server

	secrets   map[string]string // by where they are
	requested atomic.Int64      // of the HTTP server
	asked     atomic.Int64      // of the DNS server
	listing   string            // of outside, to begin with
	fill      *strings.Replacer // of placeholders
	unfill    *strings.Replacer
}

// programs are the fakes: all that kustomize and Helm are known to start, and what
// a stranger would.
var programs = []string{"git", "helm", "helmV3", "kustomize", "kubectl", "docker", "sh", "bash", "starlark", "go"}

func newCanaries(t *testing.T) *canaries {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &canaries{
		source: filepath.Join(dir, "source"), outside: filepath.Join(dir, "outside"), fakes: filepath.Join(dir, "fakes"),
		secrets: map[string]string{"environment": os.Getenv(secretVariable), "file": rand.Text(), "server": rand.Text(), "values": rand.Text()},
	}
	for _, d := range []string{c.source, c.outside, c.fakes} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c.writeSecrets(t)
	for _, p := range programs {
		write(t, filepath.Join(c.fakes, p), "#!/bin/sh\n: >\"${0}.ran\"\n", 0o700)
	}
	c.serve(t)
	c.listing = list(t, c.outside)
	places := []string{
		"${HTTP}", c.api, "${DNS_NAME}", dnsName, "${OUTSIDE}", c.outside, "${SOURCE}", c.source,
		"${SECRET}", c.secrets["values"],
	}
	c.fill = strings.NewReplacer(places...)
	slices.Reverse(places)
	c.unfill = strings.NewReplacer(places...)
	return c
}

// writeSecrets puts the secret of the disk into files of all kinds that are read.
func (c *canaries) writeSecrets(t *testing.T) {
	t.Helper()
	s := c.secrets["file"]
	for name, text := range map[string]string{
		"secret.txt":         s + "\n",
		"secret.env":         "KEY=" + s + "\n",
		"manifest.yaml":      manifest(s),
		"schema.json":        schema(s),
		"kustomization.yaml": "resources: [manifest.yaml]\n",
		"values.yaml":        "secret: " + s + "\n",
		"patch.yaml":         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base}\ndata: {secret: " + s + "}\n",
	} {
		write(t, filepath.Join(c.outside, name), text, 0o600)
	}
}

func manifest(secret string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: leaked\ndata:\n  secret: " + secret + "\n"
}

// schema is one that no value meets, and whose constant is part of the reason.
func schema(secret string) string {
	return fmt.Sprintf(`{"const": %q}`, secret)
}

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// serve starts the servers.
func (c *canaries) serve(t *testing.T) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requested.Add(1)
		text := manifest(c.secrets["server"])
		if strings.HasSuffix(r.URL.Path, ".json") {
			text = schema(c.secrets["server"])
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	c.api = server.Listener.Addr().String()
	packets, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = packets.Close() })
	c.dns = packets.LocalAddr().String()
	go func() {
		query := make([]byte, 1500)
		for {
			n, from, err := packets.ReadFrom(query)
			if err != nil {
				return
			}
			c.asked.Add(1)
			if n > 3 {
				query[2], query[3] = 0x81, 0x83 // a response: there is no such name
				_, _ = packets.WriteTo(query[:n], from)
			}
		}
	}()
}

// environment is that of a process that renders without walls.
func (c *canaries) environment() []string {
	return []string{
		secretVariable + "=" + c.secrets["environment"], "PATH=" + c.fakes, "HOME=" + c.source, "TMPDIR=" + os.TempDir(),
		"KUSTOMIZE_PLUGIN_HOME=" + filepath.Join(c.source, "plugin"),
	}
}

// hits lists the kinds of what a rendering got at, by its text and by the canaries.
func (c *canaries) hits(t *testing.T, text string) []string {
	t.Helper()
	var kinds []string
	for _, s := range c.secrets {
		if strings.Contains(text, s) {
			kinds = append(kinds, "secret")
		}
	}
	if c.requested.Load() > 0 {
		kinds = append(kinds, "http")
	}
	if c.asked.Load() > 0 {
		kinds = append(kinds, "dns")
	}
	if strings.Contains(list(t, c.fakes), ".ran") {
		kinds = append(kinds, "exec")
	}
	if list(t, c.outside) != c.listing {
		kinds = append(kinds, "write")
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// list is the names and sizes of the files of a folder.
func list(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s %d\n", e.Name(), info.Size())
	}
	return all.String()
}
