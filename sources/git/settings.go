package git

import (
	"crypto/sha1" //nolint:gosec // how long Git's ids are
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/go-git/gcfg"
	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// Environment returns the value of a variable of the environment; empty for none.
type Environment func(name string) string

// settings is what the config files of a work tree say, of the system, of the user and of
// the repository, of which the last counts.
type settings struct {
	env    Environment
	config *config.Config
}

// maxIncludes is how many files may include each other, as Git has it.
const maxIncludes = 10

// readSettings reads them for a repository.
func readSettings(d directories, env Environment) (settings, error) {
	s := settings{env: env, config: config.New()}
	var paths []string
	if env("GIT_CONFIG_NOSYSTEM") == "" {
		paths = append(paths, orElse(env("GIT_CONFIG_SYSTEM"), "/etc/gitconfig"))
	}
	if global := env("GIT_CONFIG_GLOBAL"); global != "" {
		paths = append(paths, global)
	} else {
		paths = append(paths, s.userFile("config"), s.home("~/.gitconfig"))
	}
	paths = append(paths, filepath.Join(d.common, "config"))
	for _, p := range paths {
		if err := s.read(p, 0); err != nil {
			return s, err
		}
	}
	if s.is("extensions", "worktreeconfig", false) {
		return s, s.read(filepath.Join(d.git, "config.worktree"), 0)
	}
	return s, nil
}

// orElse returns a value, or another one where it is empty.
func orElse(value, other string) string {
	if value == "" {
		return other
	}
	return value
}

// userFile is where a user has a file for Git; empty without a home.
func (s settings) userFile(name string) string {
	if dir := s.env("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", name)
	}
	return s.home("~/.config/git/" + name)
}

// home puts the user's home in the place of a "~" at the beginning of a path.
func (s settings) home(p string) string {
	rest, ok := strings.CutPrefix(p, "~/")
	if !ok {
		return p
	}
	if home := s.env("HOME"); home != "" {
		return filepath.Join(home, rest)
	}
	return ""
}

// read adds what a file says, if it is there, and what the files that it includes say.
func (s settings) read(file string, depth int) error {
	f, err := os.Open(file) //nolint:gosec // where Git has its config
	if file == "" || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading Git's config: %w", err)
	}
	defer f.Close()
	var failed error
	err = gcfg.ReadWithCallback(f, func(section, subsection, key, value string, _ bool) error {
		if section = strings.ToLower(section); section == "include" && subsection == "" && strings.EqualFold(key, "path") {
			failed = s.include(file, value, depth)
		} else if key != "" { // else a section begins
			s.config.AddOption(section, subsection, key, value)
		}
		return failed
	})
	if failed == nil && err != nil {
		return fmt.Errorf("reading Git's config %s: %w", file, err)
	}
	return failed
}

// include adds what a file says that another one includes, which stands where that names it.
func (s settings) include(by, path string, depth int) error {
	if path = s.home(path); !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(by), path)
	}
	if depth == maxIncludes {
		return fmt.Errorf("reading Git's config %s: more than %d files include each other", by, maxIncludes)
	}
	return s.read(path, depth+1)
}

// value returns what stands at a key of the section core.
func (s settings) value(key string) string { return s.config.Section("core").Option(key) }

// is reads a boolean.
func (s settings) is(section, key string, unless bool) bool {
	if !s.config.Section(section).HasOption(key) {
		return unless
	}
	switch strings.ToLower(s.config.Section(section).Option(key)) {
	case "false", "no", "off", "0":
		return false
	}
	return true
}

// hash is how many bytes the ids of the repository have.
func (s settings) hash() int {
	if s.config.Section("extensions").Option("objectformat") == "sha256" {
		return sha256.Size
	}
	return sha1.Size
}

// filters reports whether content goes through the program of a filter before Git stores it.
func (s settings) filters(name string) bool {
	f := s.config.Section("filter").Subsection(name)
	return name != "" && (f.Option("clean") != "" || f.Option("process") != "")
}

// userData reads a file of the user's that a key of core names, or the one that stands for
// it. What cannot be read says nothing, as for Git.
func (s settings) userData(key, name, root string) []byte {
	file := s.home(s.value(key))
	if file == "" {
		file = s.userFile(name)
	} else if !filepath.IsAbs(file) {
		file = filepath.Join(root, file)
	}
	data, err := os.ReadFile(file) //nolint:gosec // where Git has it
	if err != nil {
		return nil
	}
	return data
}
