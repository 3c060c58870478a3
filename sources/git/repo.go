package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/waybill-dev/waybill/sources/files"
)

// Options say which repository, and how to reach it.
type Options struct {
	// Location is a path, of a repository or of a folder in a work tree, or a URL:
	// http, https, ssh, or user@host:path. User name and password in a URL serve as
	// credentials and are shown nowhere.
	Location string
	// CacheDir is where objects of remotes are kept, a bare repository each.
	CacheDir string
	Auth     Auth
}

// Auth are credentials for one remote. They are sent to its host only.
type Auth struct {
	Username, Password string // HTTP(S); a token is a password
	SSHKey             string // private key file
	SSHPassphrase      string // of the key file
	KnownHosts         string // file of host keys; default ~/.ssh/known_hosts
}

// Repo is an open repository. It is safe for concurrent use.
type Repo struct {
	name   string // location without credentials
	gitDir string
	subdir string
	store  *filesystem.Storage
	remote *remote // nil for a repository on this machine

	mu      sync.Mutex
	folders map[files.ID]*files.Folder // read or written: known to be stored
}

// Open opens a repository. A remote is not contacted yet.
func Open(_ context.Context, o Options) (*Repo, error) {
	if IsURL(o.Location) {
		return openRemote(o)
	}
	gitDir, subdir, err := locate(o.Location)
	if err != nil {
		return nil, err
	}
	return newRepo(o.Location, gitDir, subdir)
}

func newRepo(name, gitDir, subdir string) (*Repo, error) {
	if err := supported(gitDir); err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	if abs, err := filepath.Abs(name); err == nil && !IsURL(name) {
		name = abs
	}
	store := filesystem.NewStorageWithOptions(osfs.New(gitDir, osfs.WithBoundOS()), cache.NewObjectLRU(64*cache.MiByte), filesystem.Options{KeepDescriptors: true})
	return &Repo{name: name, gitDir: gitDir, subdir: subdir, store: store, folders: map[files.ID]*files.Folder{}}, nil
}

// Name returns the repository's location, without credentials.
func (r *Repo) Name() string { return r.name }

// Subdir returns the folder of the repository that the location named; "" for its
// root.
func (r *Repo) Subdir() string { return r.subdir }

var scpLike = regexp.MustCompile(`^[\w.-]+@[\w.-]+:[^/\\]`)

// IsURL reports whether a location names a remote and no path.
func IsURL(location string) bool {
	return strings.Contains(location, "://") || scpLike.MatchString(location)
}

// locate finds the repository that a path is in, and where in it the path is.
func locate(path string) (gitDir, subdir string, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", "", fmt.Errorf("opening %s: %w", path, err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return "", "", fmt.Errorf("opening %s: %w", path, err)
	}
	for dir := abs; ; dir = filepath.Dir(dir) {
		if isGitDir(dir) {
			return dir, "", nil
		}
		dotGit := filepath.Join(dir, ".git")
		if data, err := os.ReadFile(dotGit); err == nil { // a linked work tree
			if target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: "); ok {
				dotGit = commonDir(dir, target)
			}
		}
		if isGitDir(dotGit) {
			rel, err := filepath.Rel(dir, abs)
			if err != nil {
				return "", "", fmt.Errorf("opening %s: %w", path, err)
			}
			if rel == "." {
				rel = ""
			}
			return dotGit, filepath.ToSlash(rel), nil
		}
		if dir == filepath.Dir(dir) {
			return "", "", fmt.Errorf("%s is in no Git repository; run \"git init\" and commit, or name one", path)
		}
	}
}

// commonDir returns the repository of a linked work tree.
func commonDir(dir, target string) string {
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	if data, err := os.ReadFile(filepath.Join(target, "commondir")); err == nil {
		return filepath.Join(target, strings.TrimSpace(string(data)))
	}
	return target
}

func isGitDir(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// supported refuses repositories of formats that are not read here.
func supported(gitDir string) error {
	data, err := os.ReadFile(filepath.Join(gitDir, "config"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading its config: %w", err)
	}
	config := strings.ToLower(strings.ReplaceAll(string(data), " ", ""))
	for _, format := range []string{"objectformat=sha256", "refstorage=reftable"} {
		if strings.Contains(config, format) {
			return fmt.Errorf("its format (%s) is not supported; use a SHA-1 repository with refs as files", format)
		}
	}
	return nil
}

// remote is where a repository that is not on this machine is.
type remote struct {
	endpoint  *transport.Endpoint
	transport transport.Transport
	auth      transport.AuthMethod
}

// openRemote makes, or opens, the cache of a remote.
func openRemote(o Options) (*Repo, error) {
	name := redact(o.Location)
	rem, err := newRemote(o)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", name, err)
	}
	sum := sha256.Sum256([]byte(name))
	gitDir := filepath.Join(o.CacheDir, hex.EncodeToString(sum[:12])+".git")
	for _, dir := range []string{"objects/pack", "objects/info", "refs/heads", "refs/tags"} {
		if err := os.MkdirAll(filepath.Join(gitDir, dir), 0o700); err != nil {
			return nil, fmt.Errorf("making the cache of %s: %w", name, err)
		}
	}
	for file, content := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"} {
		path := filepath.Join(gitDir, file)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return nil, fmt.Errorf("making the cache of %s: %w", name, err)
		}
	}
	r, err := newRepo(name, gitDir, "")
	if err != nil {
		return nil, err
	}
	r.remote = rem
	return r, r.sweep()
}

// redact takes credentials, query and fragment off a location.
func redact(location string) string {
	if !strings.Contains(location, "://") {
		return location // user@host:path has no password
	}
	u, err := url.Parse(location)
	if err != nil {
		return "(a URL that does not parse)"
	}
	if u.Scheme != "ssh" {
		u.User = nil
	} else if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String()
}

func hashOf(id files.ID) plumbing.Hash { return plumbing.Hash(id) }
