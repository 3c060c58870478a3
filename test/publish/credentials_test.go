//go:build e2e

package publish

import (
	"bytes"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/test/bench"
)

// password is what no server but the one that it is for may see.
const password = "WAYBILL_PASSWORD=hunter2"

// listener is a server over TLS that notes what it is asked, and with which credentials.
type listener struct {
	*httptest.Server

	mu          sync.Mutex
	asked       []string
	credentials []string
}

// listen serves over TLS, or, with no handler, asks everybody for a password.
func listen(t *testing.T, h http.Handler) *listener {
	t.Helper()
	if h == nil {
		h = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "unauthorized", http.StatusUnauthorized)
		})
	}
	l := &listener{}
	l.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.asked = append(l.asked, r.URL.Path)
		if a := r.Header.Get("Authorization"); a != "" {
			l.credentials = append(l.credentials, a)
		}
		l.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(l.Close)
	return l
}

func (l *listener) requests() (asked, credentials []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.asked), slices.Clone(l.credentials)
}

// trust lets a command believe the certificate that these servers have.
func trust(t *testing.T, l *listener) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	write(t, file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: l.Certificate().Raw}))
	return "SSL_CERT_FILE=" + file
}

// naming is a source whose waybill.yaml names a repository to publish to.
func naming(t *testing.T, repository string) string {
	t.Helper()
	src, _ := source(t, bench.Shape{Clusters: 1, Templates: 2, Regions: 1}, 1)
	write(t, filepath.Join(src, "waybill.yaml"), []byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {publish: {repository: \""+repository+"\"}}\n"))
	git(t, src, "add", "-A")
	git(t, src, "commit", "-qm", "to there")
	return src
}

// status runs a command and returns what it printed and its exit status.
func status(t *testing.T, cmd *exec.Cmd) (string, int) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	const forever = time.Minute // a controller that is not refused goes on
	kill := time.AfterFunc(forever, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	_ = cmd.Wait() // the status says it
	if strings.Contains(out.String(), "hunter2") {
		t.Errorf("%v prints the password: %s", cmd.Args[1:], out.String())
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// commands are all that a password serves.
func commands(src string) [][]string {
	return [][]string{
		{"publish", src},
		{"publish", src, "--dry-run"},
		{"verify", "waybill/cluster/c0000", "-C", src},
		{"diff", "-C", src},
		{"diff", "HEAD", "HEAD", "-C", src},
		{"controller", src, "--rev", "main", "--listen", "", "--interval", "1h"},
	}
}

func TestAPasswordIsNotForWhomeverTheSourceNames(t *testing.T) {
	thief := listen(t, nil)
	src := naming(t, thief.URL+"/fleet.git")
	ca := trust(t, thief)
	for _, args := range commands(src) {
		out, code := status(t, waybill(t, []string{ca, password}, args...))
		if code != 2 || !strings.Contains(out, "--credentials-for "+thief.URL) {
			t.Errorf("%v: status %d\n%s", args, code, out)
		}
	}
	if asked, _ := thief.requests(); len(asked) > 0 {
		t.Errorf("it was asked for %v", asked)
	}
	for _, args := range commands(src)[:5] {
		for _, extra := range [][]string{
			{ca, password, "WAYBILL_CREDENTIALS_FOR=https://git.example.com"},
			{ca, password, "WAYBILL_CREDENTIALS_FOR=" + strings.Replace(thief.URL, "https", "http", 1)},
			{ca, password, "WAYBILL_CREDENTIALS_FOR=" + thief.URL + "/fle"},
			{ca, password, "WAYBILL_CREDENTIALS_FOR=" + thief.URL + "0"},
		} {
			out, code := status(t, waybill(t, extra, args...))
			if code != 2 || !strings.Contains(out, "those that were given are for "+strings.TrimPrefix(extra[2], "WAYBILL_CREDENTIALS_FOR=")+" only") {
				t.Errorf("%v %v: status %d\n%s", extra[2], args, code, out)
			}
		}
	}
	if _, got := thief.requests(); len(got) > 0 {
		t.Errorf("it was sent %v", got)
	}
}

func TestAPasswordIsForWhatItIsSaidToBeFor(t *testing.T) {
	dir := bare(t)
	l := listen(t, backend(t, dir))
	src := naming(t, l.URL+"/"+filepath.Base(dir))
	ca := trust(t, l)
	for _, args := range [][]string{
		{"publish", src, "--credentials-for", l.URL},
		{"publish", src, "--credentials-for", l.URL + "/"},
		{"publish", src, "--credentials-for", l.URL + "/" + filepath.Base(dir)},
		{"publish", src, "--to", l.URL + "/" + filepath.Base(dir)},
	} {
		if out, code := status(t, waybill(t, []string{ca, password}, args...)); code != 0 {
			t.Errorf("%v: status %d\n%s", args[2:], code, out)
		}
	}
	for _, args := range commands(src)[:5] {
		if out, code := status(t, waybill(t, []string{ca, password, "WAYBILL_CREDENTIALS_FOR=" + l.URL}, args...)); code != 0 && args[0] != "diff" || code == 2 {
			t.Errorf("%v: status %d\n%s", args, code, out)
		}
	}
	for _, bad := range []string{"git.example.com", "https://robot:hunter2@git.example.com", "ftp://git.example.com", "https://git.example.com?token=hunter2", "robot:hunter2@git.example.com/x"} {
		if out, code := status(t, waybill(t, []string{ca, password, "WAYBILL_CREDENTIALS_FOR=" + bad}, "publish", src)); code != 2 || !strings.Contains(out, "not of the form https://host") {
			t.Errorf("for %s: status %d\n%s", bad, code, out)
		}
	}
}

func TestAPasswordGoesOverHTTPOnlyIfThatIsAskedFor(t *testing.T) {
	dir := bare(t)
	url := serve(t, dir)
	src, _ := source(t, bench.Shape{Clusters: 1, Templates: 2, Regions: 1}, 1)
	for _, args := range [][]string{
		{"publish", src, "--to", url},
		{"publish", src, "--to", url, "--credentials-for", url},
		{"publish", src, "--to", strings.Replace(url, "http://", "http://robot:hunter2@", 1)},
		{"publish", naming(t, url), "--credentials-for", url},
	} {
		out, code := status(t, waybill(t, []string{password}, args...))
		if code != 2 || !strings.Contains(out, "--plain-http") {
			t.Errorf("%v: status %d\n%s", args[2:], code, out)
		}
		if refs := git(t, dir, "for-each-ref"); refs != "" {
			t.Fatalf("%v published: %s", args[2:], refs)
		}
	}
	if out, code := status(t, waybill(t, []string{password}, "publish", src, "--to", url, "--plain-http")); code != 0 {
		t.Errorf("asked for: status %d\n%s", code, out)
	}
}

// A clone's remote may hold a user in its URL, as CI writes it. Reports ask it without --to.
func TestAReportAsksARemoteThatHoldsAPassword(t *testing.T) {
	dir := bare(t)
	url := serve(t, dir)
	src, _ := source(t, bench.Shape{Clusters: 1, Templates: 2, Regions: 1}, 1)
	git(t, src, "remote", "add", "origin", strings.Replace(url, "http://", "http://robot:hunter2@", 1))
	if out, code := status(t, waybill(t, nil, "diff", "HEAD", "HEAD", "-C", src, "--plain-http")); code != 0 {
		t.Errorf("status %d\n%s", code, out)
	}
	if out, code := status(t, waybill(t, nil, "diff", "HEAD", "HEAD", "-C", src)); code != 2 || !strings.Contains(out, "--plain-http") {
		t.Errorf("without --plain-http: status %d\n%s", code, out)
	}
}

func TestAPasswordFollowsNoRedirectElsewhere(t *testing.T) {
	thief := listen(t, nil)
	var to string
	l := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to+r.URL.RequestURI(), http.StatusTemporaryRedirect)
	}))
	src, _ := source(t, bench.Shape{Clusters: 1, Templates: 2, Regions: 1}, 1)
	for _, to = range []string{thief.URL, strings.Replace(l.URL, "https", "http", 1), l.URL + "/other"} {
		out, code := status(t, waybill(t, []string{trust(t, l), password}, "publish", src, "--to", l.URL+"/team/fleet.git", "--credentials-for", l.URL+"/team"))
		if code != 2 || !strings.Contains(out, "redirect") {
			t.Errorf("to %s: status %d\n%s", to, code, out)
		}
	}
	if asked, _ := thief.requests(); len(asked) > 0 {
		t.Errorf("it was asked for %v", asked)
	}
	if asked, _ := l.requests(); slices.ContainsFunc(asked, func(p string) bool { return !strings.HasPrefix(p, "/team/") }) {
		t.Errorf("another path was asked for: %v", asked)
	}
}

// What a stranger writes names no repository, on this machine or elsewhere.
func TestAnUntrustedSourceNamesNoRepository(t *testing.T) {
	thief := listen(t, nil)
	elsewhere := bare(t)
	for _, repository := range []string{thief.URL + "/fleet.git", elsewhere} {
		src := naming(t, repository)
		for _, args := range append(commands(src), []string{"validate", src}, []string{"render", src}, []string{"get", "clusters", "-C", src}, []string{"explain", "configmap/version", "-n", "team-00", "-C", src}) {
			out, code := status(t, waybill(t, []string{trust(t, thief), password, "WAYBILL_CREDENTIALS_FOR=" + thief.URL}, append(args, "--untrusted")...))
			if code != 2 || !strings.Contains(out, "with --untrusted none is taken from the source; name it with --to") {
				t.Errorf("%v: status %d\n%s", args, code, out)
			}
		}
	}
	if asked, _ := thief.requests(); len(asked) > 0 {
		t.Errorf("it was asked for %v", asked)
	}
	if refs := git(t, elsewhere, "for-each-ref"); refs != "" {
		t.Errorf("published: %s", refs)
	}
}
