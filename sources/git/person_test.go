package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill-dev/waybill/sources/git"
)

// A person is who the environment says, else the repository, else the user.
func TestPerson(t *testing.T) {
	home, at := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(home, ".gitconfig"), "[user]\n\tname = Ann\n\temail = ann@home.example\n")
	env := map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}
	is := func(want git.Author) {
		t.Helper()
		if got := git.Person(at, func(name string) string { return env[name] }); got != want {
			t.Errorf("it is %+v, want %+v", got, want)
		}
	}
	is(git.Author{Name: "Ann", Email: "ann@home.example"}) // in no repository
	write(filepath.Join(at, ".git", "HEAD"), "ref: refs/heads/main\n")
	for _, dir := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(at, ".git", dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(at, ".git", "config"), "[core]\n\tbare = false\n[user]\n\temail = ann@work.example\n")
	is(git.Author{Name: "Ann", Email: "ann@work.example"})
	env["GIT_AUTHOR_NAME"], env["GIT_AUTHOR_EMAIL"] = "Wendy", "wendy@example.com"
	is(git.Author{Name: "Wendy", Email: "wendy@example.com"})
}
