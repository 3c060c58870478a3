package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRemotes(t *testing.T) {
	for _, test := range []struct {
		name, config, meant string
		want                Remote
	}{
		{"its url", "", "", Remote{Location: "https://git.example.com/team/fleet.git"}},
		{"a pushurl on the same host", "\tpushurl = ssh://git@git.example.com/team/fleet.git\n", "", Remote{Location: "ssh://git@git.example.com/team/fleet.git"}},
		{
			"a pushurl on another host", "\tpushurl = https://robot:hunter2@evil.example/fleet.git\n", "",
			Remote{Location: "https://git.example.com/team/fleet.git", PassedOver: "https://evil.example/fleet.git"},
		},
		{
			"a pushurl on the host of the credentials", "\tpushurl = https://push.example.com/fleet.git\n", "https://push.example.com",
			Remote{Location: "https://push.example.com/fleet.git"},
		},
		{"a pushurl that is a path", "\tpushurl = /tmp/fleet.git\n", "", Remote{Location: "https://git.example.com/team/fleet.git", PassedOver: "/tmp/fleet.git"}},
		{
			"insteadOf on the same host", "[url \"git@git.example.com:\"]\n\tinsteadOf = https://git.example.com/\n", "",
			Remote{Location: "git@git.example.com:team/fleet.git"},
		},
		{
			"insteadOf with a port", "[url \"https://git.example.com:8443/\"]\n\tinsteadOf = https://git.example.com/\n", "",
			Remote{Location: "https://git.example.com:8443/team/fleet.git"},
		},
		{
			"insteadOf on another host", "[url \"https://evil.example/\"]\n\tinsteadOf = https://git.example.com/\n", "",
			Remote{Location: "https://git.example.com/team/fleet.git", PassedOver: "https://evil.example/team/fleet.git"},
		},
		{
			"the longest insteadOf", "[url \"https://git.example.com/a/\"]\n\tinsteadOf = https://git.example.com/\n[url \"https://git.example.com/b/\"]\n\tinsteadOf = x:\n\tinsteadOf = https://git.example.com/team/\n", "",
			Remote{Location: "https://git.example.com/b/fleet.git"},
		},
		{
			"pushInsteadOf", "[url \"ssh://git.example.com/\"]\n\tpushInsteadOf = https://git.example.com/\n[url \"https://git.example.com/x/\"]\n\tinsteadOf = https://\n", "",
			Remote{Location: "ssh://git.example.com/team/fleet.git"},
		},
		{
			"pushInsteadOf is not for a pushurl", "\tpushurl = https://git.example.com/push.git\n[url \"ssh://git.example.com/\"]\n\tpushInsteadOf = https://git.example.com/\n", "",
			Remote{Location: "https://git.example.com/push.git"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			run(t, dir, "init", "-q", "-b", "main")
			config := filepath.Join(dir, ".git", "config")
			before, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			text := string(before) + "[remote \"origin\"]\n\turl = https://git.example.com/team/fleet.git\n" + test.config
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			test.want.Name = "origin"
			got, err := mustOpen(t, Options{Location: dir}).Remote("origin", test.meant)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("remote (-want +got):\n%s", d)
			}
			if pushed := run(t, dir, "remote", "get-url", "--push", "origin"); test.want.PassedOver == "" && pushed != got.Location {
				t.Errorf("git would push to %s, this to %s", pushed, got.Location)
			}
		})
	}
}

// TestSource: a source is called what every clone of it calls it, by where origin is read, and without credentials.
func TestSource(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "work")
	run(t, ".", "init", "-q", "-b", "main", dir)
	if got := mustOpen(t, Options{Location: dir}).Source(); got != dir {
		t.Errorf("without origin it is %s", got)
	}
	run(t, dir, "remote", "add", "fork", "https://git.example.com/fork.git")
	if got := mustOpen(t, Options{Location: dir}).Source(); got != dir {
		t.Errorf("with another remote it is %s", got)
	}
	run(t, dir, "remote", "add", "origin", "x")
	for origin, want := range map[string]string{
		"https://git.example.com/fleet.git":               "https://git.example.com/fleet.git",
		"https://robot:hunter2@git.example.com/fleet.git": "https://git.example.com/fleet.git",
		"git@git.example.com:fleet.git":                   "git.example.com:fleet.git",
		"file:///srv/a%20fleet.git":                       "/srv/a fleet.git",
		"/srv/./fleet.git/":                               "/srv/fleet.git",
		"../fleet.git":                                    filepath.Join(filepath.Dir(dir), "fleet.git"),
		"gh:fleet.git":                                    "https://github.example.com/fleet.git",
		"https://robot:hunter2@[/fleet.git":               dir,
		"file://robot:hunter2@elsewhere/fleet.git":        dir,
	} {
		run(t, dir, "config", "url.https://github.example.com/.insteadOf", "gh:")
		run(t, dir, "remote", "set-url", "origin", origin)
		run(t, dir, "config", "remote.origin.pushurl", "https://push.example.com/fleet.git")
		if got := mustOpen(t, Options{Location: dir}).Source(); got != want {
			t.Errorf("of %s it is %s, want %s", origin, got, want)
		}
	}
}

func TestRemotesThatCountForNothing(t *testing.T) {
	dir := t.TempDir()
	run(t, dir, "init", "-q", "-b", "main")
	run(t, dir, "remote", "add", "origin", "https://git.example.com/fleet.git")
	run(t, dir, "remote", "add", "two", "https://git.example.com/fleet.git")
	run(t, dir, "remote", "set-url", "--add", "two", "https://robot:hunter2@git.example.com/other.git")
	run(t, dir, "remote", "add", "push", "https://git.example.com/fleet.git")
	for _, to := range []string{"one", "other"} {
		run(t, dir, "remote", "set-url", "--push", "--add", "push", "https://robot:hunter2@git.example.com/"+to+".git")
	}
	r := mustOpen(t, Options{Location: dir})
	if d := cmp.Diff([]string{"origin", "push", "two"}, r.Remotes()); d != "" {
		t.Error(d)
	}
	for name, want := range map[string]string{"two": "has 2 URLs", "push": "has 2 URLs", "nosuch": "has no remote \"nosuch\""} {
		if _, err := r.Remote(name, ""); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("remote %s: %v", name, err)
		}
	}
	// A folder of a source may be a bare repository, which somebody made up.
	run(t, ".", "init", "-q", "--bare", filepath.Join(dir, "sub"))
	run(t, filepath.Join(dir, "sub"), "remote", "add", "origin", "https://evil.example/fleet.git")
	r = mustOpen(t, Options{Location: filepath.Join(dir, "sub")})
	if _, err := r.Remote("origin", ""); err == nil || len(r.Remotes()) > 0 {
		t.Errorf("remotes of a bare repository: %v, %v", r.Remotes(), err)
	}
}

func TestFileURLs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "with space.git")
	run(t, ".", "init", "-q", "--bare", "-b", "main", dir)
	url := "file://" + strings.ReplaceAll(dir, " ", "%20")
	for _, location := range []string{url, strings.Replace(url, "file://", "file://localhost", 1)} {
		r := mustOpen(t, Options{Location: location})
		heads, err := r.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mustPublish(t, r, update("a", heads["a"], map[string]string{"f": location}))
		if got, err := text(t.Context(), mustOpen(t, Options{Location: dir}), "a", "f"); got != location || err != nil {
			t.Errorf("file = %q, %v", got, err)
		}
	}
	for location, want := range map[string]string{
		"file://git.example.com/fleet.git": "names the host git.example.com",
		"file:///nosuch/fleet.git":         "no such file",
		url + "/objects":                   "give a folder by its path",
		url + "?x=hunter2":                 "no URL of a file",
	} {
		_, err := Open(t.Context(), Options{Location: location})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: error %v", location, err)
		}
	}
}

func TestFetched(t *testing.T) {
	s, dir := newServer(t), t.TempDir()
	there := s.repo(t, "repo.git")
	r := s.open(t, "repo.git", t.TempDir())
	first := mustPublish(t, r, update("a", noID, map[string]string{"f": "1"}), update("local", noID, map[string]string{"f": "1"}))
	if _, at := r.Fetched(""); at.IsZero() {
		t.Error("nothing is known of a URL that was published to")
	}
	run(t, ".", "clone", "-q", "--bare", there, filepath.Join(dir, "mirror.git"))
	run(t, ".", "clone", "-q", "-b", "a", there, filepath.Join(dir, "clone"))
	clone := mustOpen(t, Options{Location: filepath.Join(dir, "clone")})
	mustPublish(t, r, update("a", first[0], map[string]string{"f": "2"}))
	run(t, filepath.Join(dir, "clone"), "branch", "only-here")
	known, at := clone.Fetched("origin")
	if at.IsZero() || time.Since(at) > time.Hour {
		t.Errorf("fetched at %v", at)
	}
	heads, err := known.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	delete(heads, "HEAD")
	if len(heads) != 2 || heads["a"] != first[0] || heads["local"] != first[1] {
		t.Errorf("heads %v", heads)
	}
	if got, err := text(t.Context(), known, "a", "f"); got != "1" || err != nil {
		t.Errorf("file = %q, %v", got, err)
	}
	if _, err := known.Publish(t.Context(), []Update{update("b", noID, map[string]string{"f": "1"})}); err == nil {
		t.Error("it published to a memory")
	}
	known, _ = clone.Fetched("nosuch")
	if heads, err := known.Heads(t.Context()); len(heads) > 0 || err != nil {
		t.Errorf("heads of no remote: %v, %v", heads, err)
	}
}
