package build

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The secrets of these tests, which must be shown nowhere.
const (
	username = "robot-canary"
	password = "hunter2-canary"
)

// credential makes a file of credentials with one for a repository, and has all
// commands use it.
func (f *fleet) credential(url, password string) {
	f.t.Helper()
	file := filepath.Join(f.t.TempDir(), "credentials.yaml")
	text := fmt.Sprintf("- {url: %q, username: %s, password: %s}\n", url, username, password)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	f.flags = append(f.flags, "--registry-credentials", file)
}

// demandsPassword has the server answer those who know it only.
func (s *server) demandsPassword() {
	s.answers(func(w http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); u != username || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="charts"`)
			http.Error(w, "unauthorized: you sent "+r.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		s.usual.ServeHTTP(w, r)
	})
}

// leaks checks that no secret is in what a command said, in the source, on a branch, or
// in what is kept.
func (f *fleet) leaks(results ...result) {
	f.t.Helper()
	const basic = "cm9ib3QtY2FuYXJ5" // base64 of the user name
	for _, r := range results {
		r.lacks("canary", basic)
	}
	for _, dir := range []string{f.dir, f.cache} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if text := string(data); strings.Contains(text, "canary") || strings.Contains(text, basic) {
				f.t.Errorf("a secret is in %s", path)
			}
			return err
		})
		if err != nil {
			f.t.Fatal(err)
		}
	}
	for object := range strings.FieldsSeq(f.exec(f.bare, "git", "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
		if text := f.exec(f.bare, "git", "cat-file", "-p", object); strings.Contains(text, "canary") {
			f.t.Errorf("a secret is in the published object %s:\n%s", object, text)
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	helm := newFiles(t, "1.0.0")
	r := newRegistry(t)
	r.push("charts", shop("shop", "1.0.0"))
	for name, c := range map[string]struct {
		*server
		url string // of the repository
	}{
		"of a Helm repository": {helm.server, helm.URL},
		"of a registry":        {r.server, "oci://" + r.host() + "/charts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.demandsPassword()
			f := newFleet(t, source(c.url, "1.x"), c.URL)
			none := f.waybill("update", ".").exits(2, "401")

			plain := f.flags
			f.credential(c.url, "wrong-canary")
			wrong := f.waybill("update", ".").exits(2, "401")
			held := f.waybill("validate", ".", "--for", "render").exits(1, "chart-unavailable")

			f.flags = plain
			f.credential(c.url, password)
			right := f.waybill("update", ".").exits(0)
			f.commit(nil)
			f.forget()
			out := f.publish().exits(0)
			f.holds("eu", shopFile, "chart: shop-1.0.0")
			f.leaks(none, wrong, held, right, out)
		})
	}
}

// What the flag was called before still works, and says what it is called now.
func TestTheOlderNameOfTheFlagOfCredentials(t *testing.T) {
	t.Parallel()
	server := newFiles(t, "1.0.0")
	server.demandsPassword()
	f := newFleet(t, source(server.URL, "1.x"), server.URL)
	f.credential(server.URL, password)
	f.flags[len(f.flags)-2] = "--chart-credentials"
	if r := f.waybill("update", ".").exits(0); !strings.Contains(r.out, "it is called --registry-credentials now") {
		t.Errorf("it does not say what it is called now: %s", r.out)
	}
}

// A redirect, and an index that names another host, do not take a credential along.
func TestACredentialIsNotSentToAnotherHost(t *testing.T) {
	t.Parallel()
	server, elsewhere := newFiles(t, "1.0.0"), newFiles(t, "1.0.0")
	f := newFleet(t, source(server.URL, "1.x"), server.URL, elsewhere.URL)
	f.credential(server.URL, password)
	away := func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusFound)
			return
		}
		server.usual.ServeHTTP(w, r)
	}
	server.answers(away)
	first := f.waybill("update", ".").exits(0)
	asked := elsewhere.takeAsked()
	if len(asked) != 1 || asked[0] != "GET /shop-1.0.0.tgz" {
		t.Errorf("the other host was asked %q", asked)
	}
	index, err := os.ReadFile(filepath.Join(server.dir, "index.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	server.answers(text([]byte(strings.ReplaceAll(string(index), "shop-1.0.0.tgz", elsewhere.URL+"/shop-1.0.0.tgz"))))
	f.forget()
	second := f.waybill("update", ".").exits(0)
	if asked = elsewhere.takeAsked(); len(asked) != 1 || asked[0] != "GET /shop-1.0.0.tgz" {
		t.Errorf("the other host was asked %q", asked)
	}
	if asked = server.takeAsked(); len(asked) == 0 || !strings.Contains(asked[0], "Basic ") {
		t.Errorf("its own host was asked %q", asked)
	}
	f.leaks(first, second)
}

func TestAFileOfCredentialsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	server := newFiles(t, "1.0.0")
	f := newFleet(t, source(server.URL, "1.x"), server.URL)
	for name, text := range map[string]string{
		"no list":       "password: hunter2-canary",
		"another field": "- {url: https://charts.example.com, passwd: hunter2-canary}",
		"no YAML":       "hunter2-canary: [",
		"in the URL":    "- {url: 'https://robot:hunter2-canary@charts.example.com'}",
	} {
		file := filepath.Join(t.TempDir(), "credentials.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := f.waybill("update", ".", "--registry-credentials", file).exits(2, "credential").lacks("canary")
		if r.out == "" {
			t.Errorf("%s: it does not say what is wrong", name)
		}
	}
}

// A password in the URL of a repository is neither used nor shown.
func TestASecretInTheURLOfARepository(t *testing.T) {
	t.Parallel()
	server := newFiles(t, "1.0.0")
	with := strings.Replace(server.URL, "http://", "http://robot:hunter2-canary@", 1)
	for _, url := range []string{with, server.URL + "/?token=hunter2-canary"} {
		f := newFleet(t, source(url, "1.x"), server.URL)
		f.waybill("validate", ".").exits(1, "bad-release").lacks("canary")
		f.waybill("update", ".").lacks("canary")
		f.publish().exits(1).lacks("canary")
		if asked := server.takeAsked(); asked != nil {
			t.Errorf("it asked %v", asked)
		}
	}
}
