//go:build e2e

package canaries

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/test/program"
)

// places are where canaries sit. Those of the source are @named@ in testdata.
var places = []string{
	"string-data", "data", "last-applied", "config-last-applied", "policy-last-applied", "misspelt", "embedded", "private-key", "override", "annotation-override", "field-override",
	"release", "failing-release", "generated",
	"target-url", "origin-url", "password-file", "forge-token", "token-file", "ci-token", "webhook-secret", "kubeconfig-token", "random-key", "chart-credentials", "proxy", "environment", "broken-key", "ui-client-secret", "ui-cookie-key",
}

// delivered are those that are no values of Secrets to a cluster, so that its branch has them.
var delivered = []string{"embedded", "private-key"}

// canary is what sits in a place; each version of the source has another one.
func canary(place string, version int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", place, version))
	letters := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, base64.StdEncoding.EncodeToString(sum[:]))
	return "Canary" + letters[:18]
}

// leaks lists the canaries that a text has, but for those of some places.
func leaks(text []byte, except ...string) []string {
	values := map[string]string{}
	for _, place := range places {
		if slices.Contains(except, place) {
			continue
		}
		for version := range 2 {
			values[fmt.Sprintf("%s of version %d", place, version)] = canary(place, version)
		}
	}
	return Seen(text, values)
}

// TestLeaksAreFound shows that what finds nothing finds something.
func TestLeaksAreFound(t *testing.T) {
	value := canary("data", 1)
	for _, text := range []string{
		value, strings.ToUpper(value), "a" + value + "b", reversed(value), percent(value), fmt.Sprintf("%x", value), fmt.Sprintf("%X", "password="+value),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte("user:" + value)), base64.URLEncoding.EncodeToString([]byte(`{"a":"` + value + `"}`)),
	} {
		if len(leaks([]byte(text))) == 0 {
			t.Errorf("%s is not found", text)
		}
	}
	if found := leaks([]byte("nothing")); found != nil {
		t.Errorf("in nothing there is %v", found)
	}
}

// house is a source with canaries, and all that Waybill is given to reach others.
type house struct {
	*testing.T

	waybill, dir string
	secrets      string // what waybill.yaml says of plain Secrets; if it allows them, none is encrypted
	env          []string
	keys         map[string]string // by what they are: texts by which private keys are known
}

var placeholder = regexp.MustCompile(`@(base64 )?([a-z0-9-]+)@`)

// write writes a version of the source.
func (h *house) write(version int) {
	h.Helper()
	sources := os.DirFS("testdata/source")
	err := fs.WalkDir(sources, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(sources, path)
		if err != nil {
			return err
		}
		text := placeholder.ReplaceAllStringFunc(string(data), func(s string) string {
			m := placeholder.FindStringSubmatch(s)
			if !slices.Contains(places, m[2]) {
				h.Fatalf("%s: %s is no place", path, s)
			}
			if value := canary(m[2], version); m[1] == "" {
				return value
			} else {
				return base64.StdEncoding.EncodeToString([]byte(value))
			}
		})
		if h.secrets == "allow" {
			text = strings.Replace(text, "waybill.dev/age-recipients: ", "note: ", 1)
		}
		name := filepath.Join(h.dir, "source", path)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		return os.WriteFile(name, []byte(text), 0o600)
	})
	if err != nil {
		h.Fatal(err)
	}
}

// file writes a file beside the source.
func (h *house) file(name, text string) {
	h.Helper()
	name = filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		h.Fatal(err)
	}
}

func (h *house) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = h.dir
	cmd.Env = h.env
	return cmd
}

func (h *house) git(args ...string) []byte {
	h.Helper()
	out, err := h.command(h.Context(), "git", args...).Output()
	if err != nil {
		h.Fatalf("git %v: %v", args, err)
	}
	return out
}

// says runs waybill, and looks for canaries in what it says. It returns that, which has to be so
// much at least, lest a command that says nothing pass.
func (h *house) says(args ...string) string {
	h.Helper()
	out, _ := h.command(h.Context(), h.waybill, args...).CombinedOutput() // most of these fail, and are to
	for _, found := range h.leaks(out) {
		h.Errorf("waybill %s tells %s:\n%s", strings.Join(args, " "), found, out)
	}
	if len(out) == 0 || bytes.Contains(out, []byte("unknown flag")) || bytes.Contains(out, []byte("panic:")) {
		h.Errorf("waybill %s says %q", strings.Join(args, " "), out)
	}
	return string(out)
}

// newHouse returns a house. Where Secrets are allowed on branches, they are there in plain text.
func newHouse(t *testing.T, secrets string) *house {
	t.Helper()
	h := &house{T: t, waybill: program.Build(t), dir: t.TempDir(), secrets: secrets}
	proxy := "http://user:" + canary("proxy", 0) + "@127.0.0.1:1"
	h.env = []string{
		"PATH=" + os.Getenv("PATH"), "GOGC=" + os.Getenv("GOGC"), "HOME=" + h.dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"WAYBILL_FORGE_TOKEN=" + canary("forge-token", 0), "GITHUB_TOKEN=" + canary("ci-token", 0), "HTTPS_PROXY=" + proxy, "https_proxy=" + proxy, "PASSWORD=" + canary("environment", 0),
	}
	h.file("password", canary("password-file", 0)+"\n")
	h.file("token", canary("token-file", 0)+"\n")
	h.file("webhook-secret", canary("webhook-secret", 0)+"\n")
	h.file("random-key", canary("random-key", 0)+strings.Repeat("r", 32))
	h.file("broken-key", canary("broken-key", 0)+"\n")
	h.file("ui-client-secret", canary("ui-client-secret", 0)+"\n")
	h.file("ui-cookie-key", canary("ui-cookie-key", 0)+strings.Repeat("r", 32))
	h.makeKeys()
	h.file("charts.yaml", "- {url: https://charts.example.com, username: u, password: "+canary("chart-credentials", 0)+"}\n")
	for _, name := range []string{"open", "sealed"} {
		h.file("clusters/"+name+".kubeconfig", fmt.Sprintf(kubeconfig, canary("kubeconfig-token", 0)))
	}
	h.git("init", "-q", "-b", "main", "source")
	h.git("init", "-q", "--bare", "published.git")
	h.write(0)
	h.file("source/waybill.yaml", "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {secrets: "+secrets+"}\n")
	h.git("-C", "source", "add", "-A")
	h.git("-C", "source", "commit", "-qm", "first")
	return h
}

const kubeconfig = `apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: %s}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
`

// TestNoSecretIsTold runs each command that shows anything of a source, of branches or of what others
// answer, on a source that has a canary in every place, and on a change of all of them.
func TestNoSecretIsTold(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "refuse")
	h.story()
	h.branches()
}

// TestNoPlainSecretIsTold is the same where branches have Secrets as they are, which Waybill then
// compares as they are.
func TestNoPlainSecretIsTold(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "allow")
	h.story()
	if objects := h.git("-C", "published.git", "cat-file", "--batch-all-objects", "--batch"); len(leaks(objects, delivered...)) == 0 {
		t.Error("the branches have no Secret in plain text")
	}
}

// story publishes, asks for all that can be said, and changes every value.
func (h *house) story() {
	h.Helper()
	if said := h.says("publish", "source", "--to", "published.git", "--random-key-file", "random-key", "--signing-key", "signing-key"); !strings.Contains(said, "no such user: [a secret]") {
		h.Errorf("publish does not say what the chart says, without the value:\n%s", said)
	}
	for _, format := range []string{"table", "junit", "sarif", "json", "yaml"} {
		h.says("validate", "source", "-o", format)
	}
	h.says("render", "source")
	h.says("render", "source", "--out", "rendered")
	for _, object := range []string{"secret/plain", "secret/filled", "secret/misspelt", "secret/rendered", "configmap/carrier", "helmrelease/shop", "helmrelease/failing"} {
		h.says("explain", object, "-n", "shop", "-C", "source", "--to", "published.git")
	}
	for _, list := range []string{"clusters", "policies", "bindings", "works"} {
		for _, format := range []string{"table", "yaml", "json"} {
			h.says("get", list, "-C", "source", "--to", "published.git", "-o", format)
		}
	}
	h.says("status", "-C", "source", "--to", "published.git")
	h.write(1)
	for _, form := range [][]string{{"-o", "text"}, {"--stat"}, {"-o", "markdown"}, {"-o", "json"}, {"-o", "yaml"}, {"-o", "html"}} {
		said := h.says(append([]string{"diff", "-C", "source", "--to", "published.git"}, form...)...)
		if strings.Contains(said, "The guard holds") {
			h.Errorf("nothing is compared, because all is held:\n%s", said)
		}
		if !strings.Contains(said, "plain") {
			h.Errorf("diff %v does not say that a Secret changes:\n%s", form, said)
		}
	}
	h.git("-C", "source", "commit", "-qam", "second")
	h.says("publish", "source", "--to", "published.git", "-o", "json", "--signing-key", "signing-key")
	h.previews()
	h.says("verify", "waybill/cluster/sealed", "-C", "source", "--to", "published.git")
}

// TestNoCredentialIsTold has everybody whom Waybill asks refuse, or not be there.
func TestNoCredentialIsTold(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "refuse")
	h.says("publish", "source", "--to", "published.git")
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"message": "not allowed: %s %s"}`, r.URL.Path, r.Header.Get("User-Agent"))
	}))
	t.Cleanup(refusing.Close)
	with := func(place string) string {
		return strings.Replace(refusing.URL, "http://", "http://bot:"+canary(place, 0)+"@", 1) + "/fleet.git"
	}
	h.says("publish", "source", "--to", with("target-url"), "--plain-http")
	h.says("publish", "source", "--to", "https://bot:"+canary("target-url", 0)+"@127.0.0.1:1/fleet.git")
	h.says("publish", "source", "--to", refusing.URL+"/fleet.git", "--plain-http", "--username", "bot", "--password-file", "password")
	h.git("-C", "source", "remote", "add", "origin", with("origin-url"))
	for _, command := range [][]string{{"diff"}, {"status"}, {"render"}, {"get", "bindings"}, {"explain", "configmap/exported", "-n", "shop"}, {"get", "flux"}} {
		h.says(append(command, "-C", "source", "--plain-http")...)
	}
	h.git("-C", "source", "remote", "remove", "origin")
	post := []string{"diff", "HEAD", "HEAD", "-C", "source", "--to", "published.git", "--post", "--forge", "gitea", "--forge-url", refusing.URL, "--forge-repository", "acme/fleet", "--pull-request", "1", "--plain-http"}
	h.says(post...)
	h.says(append(post, "--token-file", "token")...)
	h.says("apply", "-C", "source", "--to", "published.git", "--kubeconfig-dir", "clusters")
	h.says("get", "configmaps", "-C", "source", "--clusters", "--kubeconfig-dir", "clusters", "--request-timeout", "2s")
	h.says("update", "source", "--registry-credentials", "charts.yaml")
	h.says("doctor", "--random-key-file", "random-key")
	for _, key := range []string{"broken-key", "app-key", "identity"} { // each for what it is not
		h.says("publish", "source", "--to", "published.git", "--signing-key", key)
	}
	for _, key := range []string{"broken-key", "app-key", "signing-key"} {
		h.says("apply", "-C", "source", "--to", "published.git", "--kubeconfig-dir", "clusters", "--age-identity-file", key)
	}
	app := []string{"--forge", "github", "--forge-url", refusing.URL, "--forge-repository", "acme/fleet", "--pull-request", "1", "--plain-http", "--github-app-id", "7", "--github-app-key-file"}
	for _, key := range []string{"broken-key", "signing-key", "identity", "app-key"} {
		h.says(append(append([]string{"diff", "HEAD", "HEAD", "-C", "source", "--to", "published.git", "--post"}, app...), key)...)
	}
	h.says("publish", "source", "--to", "ssh://git@127.0.0.1:1/fleet.git", "--ssh-key", "signing-key", "--known-hosts", "token")
	h.says("publish", "source", "--to", "ssh://git@127.0.0.1:1/fleet.git", "--ssh-key", "broken-key", "--known-hosts", "token")
	h.says("controller", "source", "--ui-listen", ":0", "--ui-url", "http://localhost", "--ui-oidc-issuer", refusing.URL, "--ui-oidc-client-id", "c", "--ui-oidc-client-secret-file", "ui-client-secret", "--ui-oidc-allowed-groups", "a", "--ui-cookie-key-file", "token")
	h.controller(refusing.URL)
	h.branches()
}

// controller runs a controller until it has been asked by webhooks with wrong signatures, and ends it.
func (h *house) controller(forge string) {
	h.Helper()
	ctx, stop := context.WithTimeout(h.Context(), time.Minute)
	defer stop()
	log, err := os.Create(filepath.Join(h.dir, "log"))
	if err != nil {
		h.Fatal(err)
	}
	defer log.Close()
	listener := httptest.NewServer(nil) // for an address that is free
	address := strings.TrimPrefix(listener.URL, "http://")
	listener.Close()
	cmd := h.command(ctx, h.waybill, "controller", "source", "--to", "published.git", "--interval", "1s", "--listen=", "--apply", "--kubeconfig-dir", "clusters", "--random-key-file", "random-key",
		"--signing-key", "signing-key", "--age-identity-file", "identity", "--ui-listen", "127.0.0.1:0", "--ui-url", "http://localhost", "--ui-oidc-issuer", forge, "--ui-oidc-client-id", "c", "--ui-oidc-client-secret-file", "ui-client-secret",
		"--ui-oidc-allowed-groups", "a", "--ui-cookie-key-file", "ui-cookie-key", "--webhook-secret-file", "webhook-secret", "--webhook-listen", address, "--forge", "gitea", "--forge-url", forge, "--forge-repository", "acme/fleet", "--token-file", "token", "--commit-statuses", "--plain-http")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		h.Fatal(err)
	}
	for said := ""; !strings.Contains(said, "127.0.0.1:1"); { // that a cluster does not answer
		if req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/webhooks/gitea", strings.NewReader(`{"ref": "refs/heads/main"}`)); err == nil {
			req.Header.Set("X-Gitea-Event", "push")
			req.Header.Set("X-Gitea-Signature", strings.Repeat("0", 64))
			if resp, err := http.DefaultClient.Do(req); err == nil {
				resp.Body.Close()
			}
		}
		data, err := os.ReadFile(log.Name())
		if err != nil || ctx.Err() != nil {
			h.Fatalf("the controller does not say that a cluster does not answer: %v\n%s", err, data)
		}
		said = string(data)
	}
	stop()
	_ = cmd.Wait()
	data, err := os.ReadFile(log.Name())
	if err != nil {
		h.Fatal(err)
	}
	for _, found := range h.leaks(data) {
		h.Errorf("the log of the controller tells %s:\n%s", found, data)
	}
}

// branches looks for canaries in all that was published: commits, trees and files.
func (h *house) branches() {
	h.Helper()
	objects := h.git("-C", "published.git", "cat-file", "--batch-all-objects", "--batch")
	for _, found := range h.leaks(objects, delivered...) {
		h.Errorf("what is published tells %s", found)
	}
	refs := strings.Fields(string(h.git("-C", "published.git", "for-each-ref", "--format=%(refname:short)")))
	for _, want := range []string{"waybill/cluster/open", "waybill/cluster/sealed", "waybill/state"} {
		if !slices.Contains(refs, want) {
			h.Errorf("there is no branch %s, but %v", want, refs)
		}
	}
	if !bytes.Contains(objects, []byte("ENC[")) {
		h.Error("nothing is encrypted, so that no Secret was published")
	}
}

// TestEveryPlaceIsUsed holds the places to what the tests plant.
func TestEveryPlaceIsUsed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "refuse")
	planted := map[string]bool{"target-url": true, "origin-url": true} // on command lines
	text := strings.Join(h.env, "\n")
	err := filepath.WalkDir(h.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		text += "\n" + string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range leaks([]byte(text)) {
		place, _, _ := strings.Cut(found, " of version")
		planted[place] = true
	}
	if missing := len(places) - len(planted); missing != 0 {
		t.Errorf("only these are planted: %v", slices.Sorted(maps.Keys(planted)))
	}
}
