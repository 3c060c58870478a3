package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIncludedSettings holds what files that the config of a repository includes say to what Git itself makes of it: what stands there
// counts from where it is included, and until something else is said.
func TestIncludedSettings(t *testing.T) {
	for name, config := range map[string]string{
		"behind what is said":      "[user]\n\tname = Own\n[include]\n\tpath = other\n",
		"before what is said":      "[include]\n\tpath = other\n[user]\n\tname = Own\n",
		"between":                  "[user]\n\tname = One\n[include]\n\tpath = other\n[user]\n\temail = own@example.com\n",
		"between two of one":       "[user]\n\tname = One\n[include]\n\tpath = other\n[user]\n\tname = Two\n",
		"one after the other":      "[include]\n\tpath = other\n\tpath = sub/third\n",
		"the other way round":      "[include]\n\tpath = sub/third\n\tpath = other\n",
		"by one in another folder": "[include]\n\tpath = sub/fourth\n",
		"one that is not there":    "[include]\n\tpath = none\n[user]\n\tname = Own\n",
		"in other letters":         "[Include]\n\tPath = other\n",
		"without a name":           "[include]\n\tpath = sub/fifth\n",
		"of the work tree":         "[extensions]\n\tworktreeConfig = true\n[user]\n\tname = Own\n\temail = own@example.com\n",
		"not of the work tree":     "[extensions]\n\tworktreeConfig = off\n[user]\n\tname = Own\n",
		"ten inside each other":    "[include]\n\tpath = chain/1\n[user]\n\temail = own@example.com\n",
	} {
		t.Run(name, func(t *testing.T) {
			at := t.TempDir()
			run(t, at, "init", "-q")
			all := map[string]string{
				"config": "[core]\n\tbare = false\n\trepositoryformatversion = 0\n" + config,
				"other":  "[user]\n\tname = Other\n\temail = other@example.com\n", "sub/third": "[user]\n\tname = Third\n",
				"sub/fourth": "[include]\n\tpath = third\n[user]\n\temail = fourth@example.com\n", "sub/fifth": "[core]\n\tfilemode\n",
				"config.worktree": "[user]\n\tname = Worktree\n", "chain/10": "[user]\n\tname = Last\n",
			}
			for n := range maxIncludes - 1 {
				all[fmt.Sprint("chain/", n+1)] = fmt.Sprintf("[include]\n\tpath = %d\n", n+2)
			}
			for file, text := range all {
				path := filepath.Join(at, ".git", file)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			ask := func(key string) string {
				said, _ := attempt(t, at, "config", "--default", "", key)
				return strings.TrimSpace(said)
			}
			want := Author{Name: ask("user.name"), Email: ask("user.email")}
			if got := Person(at, noUser); got != want {
				t.Errorf("it is %+v, want %+v", got, want)
			}
		})
	}
}

// TestSettingsOfAUser are in the file that the environment names, or else where Git looks, in that order, and may include one at home.
func TestSettingsOfAUser(t *testing.T) {
	home := t.TempDir()
	name := func(text string) string { return "[user]\n\tname = " + text + "\n" }
	for file, text := range map[string]string{
		".gitconfig": name("Home") + "[include]\n\tpath = ~/more\n", "more": "[user]\n\temail = more@example.com\n",
		".config/git/config": name("Config"), "xdg/git/config": name("XDG"), "global": name("Global"), "system": name("System"),
		"loop": name("Loop") + "[include]\n\tpath = loop\n", "garbage": name("Garbage") + "[user\n",
	} {
		path := filepath.Join(home, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	with := func(pairs ...string) map[string]string {
		env := map[string]string{"GIT_CONFIG_NOSYSTEM": "1"}
		for i := 0; i < len(pairs); i += 2 {
			env[pairs[i]] = pairs[i+1]
		}
		return env
	}
	for _, tt := range []struct {
		name string
		env  map[string]string
		want Author
	}{
		{"at home", with("HOME", home), Author{Name: "Home", Email: "more@example.com"}},
		{"without a home", with(), Author{}},
		{"where XDG says", with("XDG_CONFIG_HOME", filepath.Join(home, "xdg")), Author{Name: "XDG"}},
		{"home counts over XDG", with(
			"HOME", home, "XDG_CONFIG_HOME", filepath.Join(home, "xdg"),
		), Author{Name: "Home", Email: "more@example.com"}},
		{"the file that is named, alone", with("HOME", home, "GIT_CONFIG_GLOBAL", filepath.Join(home, "global")), Author{Name: "Global"}},
		{"the system's", map[string]string{"GIT_CONFIG_SYSTEM": filepath.Join(home, "system")}, Author{Name: "System"}},
		{"not the system's", with("GIT_CONFIG_SYSTEM", filepath.Join(home, "system")), Author{}},
		{"a user's counts over the system's", map[string]string{
			"GIT_CONFIG_SYSTEM": filepath.Join(home, "system"), "GIT_CONFIG_GLOBAL": filepath.Join(home, "global"),
		}, Author{Name: "Global"}},
		{"files that include each other", with("GIT_CONFIG_GLOBAL", filepath.Join(home, "loop"), "GIT_AUTHOR_NAME", "Ann"), Author{Name: "Ann"}},
		{"files that include each other, and nothing else is said", with("GIT_CONFIG_GLOBAL", filepath.Join(home, "loop")), Author{}},
		{"a file that cannot be read", with(
			"GIT_CONFIG_GLOBAL", filepath.Join(home, "garbage"), "GIT_AUTHOR_EMAIL", "ann@example.com",
		), Author{Email: "ann@example.com"}},
		{"a folder in the place of a file", with("GIT_CONFIG_GLOBAL", home), Author{}},
		{"a file in the place of a folder", with(
			"XDG_CONFIG_HOME", filepath.Join(home, "more"), "HOME", home,
		), Author{Name: "Home", Email: "more@example.com"}},
		{"the environment counts over all", with("HOME", home, "GIT_AUTHOR_NAME", "Ann"), Author{Name: "Ann", Email: "more@example.com"}},
	} {
		if got := Person(t.TempDir(), func(key string) string { return tt.env[key] }); got != tt.want {
			t.Errorf("%s: it is %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestSettingsThatAreYesOrNo are what Git takes them for; nothing stands for what it is unless somebody says so.
func TestSettingsThatAreYesOrNo(t *testing.T) {
	at := t.TempDir()
	run(t, at, "init", "-q")
	for _, value := range []string{"true", "True", "yes", "on", "ON", "1", "false", "FALSE", "no", "No", "off", "0"} {
		run(t, at, "config", "core.ignorecase", value)
		d, err := discover(at)
		if err != nil {
			t.Fatal(err)
		}
		s, err := readSettings(d, noUser)
		if err != nil {
			t.Fatal(err)
		}
		if is, want := s.is("core", "ignorecase", false), run(t, at, "config", "--bool", "core.ignorecase") == "true"; is != want {
			t.Errorf("%s is %t, and for Git it is %t", value, is, want)
		}
		if !s.is("core", "none", true) || s.is("core", "none", false) {
			t.Error("what nobody says is not what it is unless somebody does")
		}
	}
}
