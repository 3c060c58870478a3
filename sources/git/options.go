package git

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/transport"
)

// Options says which repository to open and how.
type Options struct {
	// Location is the path of a repository, or of a directory inside a work tree; or
	// a URL: http://, https://, ssh:// or user@host:path, or file:// for the path of a
	// repository. Credentials in a URL serve where Auth has none, and are shown nowhere.
	Location string
	// CacheDir holds the objects of repositories behind URLs, a folder for each. Needed
	// for URLs only.
	CacheDir string
	Auth     Auth
	// Sign signs the commits that are published; nil: they are not signed.
	Sign Signer
}

// Auth is the credentials for a URL. They are sent to the scheme, host and port of
// the location only, and only if they are meant for it.
type Auth struct {
	// For is what they are meant for, as https://host[:port][/path] or ssh://host[:port]:
	// that scheme, host and port, and what is below the path. A location elsewhere is
	// asked without them. Empty: for the location, whatever it is.
	For        string
	Username   string // HTTP(S): any if empty, which suits tokens; SSH: "git" if empty
	Password   string // HTTP(S): the password, or a token
	SSHKey     string // file with a private key; empty: the SSH agent's
	Passphrase string // of SSHKey
	KnownHosts string // file with host keys; empty: where OpenSSH has it
	// PlainHTTP lets credentials, those of the location itself too, be sent over http.
	PlainHTTP bool
}

// IsURL reports whether a location is a URL rather than a path: it contains "://", or
// a colon before the first slash, as Git has it. Write ./a:b for such a path.
func IsURL(location string) bool {
	if strings.Contains(location, "://") {
		return true
	}
	host, _, ok := strings.Cut(location, ":")
	return ok && host != "" && !strings.Contains(host, "/")
}

// address is a parsed URL.
type address struct {
	shown    string              // without credentials; names the repository everywhere
	endpoint *transport.Endpoint // without credentials
	user     string              // from the URL; empty for none
	password string
}

// parseURL takes a location apart. Its errors never repeat what could be a
// credential.
func parseURL(location string) (address, error) {
	if !strings.Contains(location, "://") {
		return parseSCP(location)
	}
	shown := withoutUser(location)
	u, err := url.Parse(location)
	if err != nil {
		return address{}, fmt.Errorf("location %s is not a URL that can be read; write special characters of a password as %%XX, or give it apart", shown)
	}
	switch u.Scheme {
	case "http", "https", "ssh":
	default:
		return address{}, fmt.Errorf("location %s: scheme %q is not supported; want https, http, ssh or a path", shown, u.Scheme)
	}
	if u.Host == "" {
		return address{}, fmt.Errorf("location %s names no host", shown)
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return address{}, fmt.Errorf("location of host %s has a query or a fragment, which URLs of repositories do not; give tokens as a password", u.Host)
	}
	a := address{user: u.User.Username()}
	a.password, _ = u.User.Password()
	u.User = nil
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	a.shown = u.String()
	a.endpoint, err = transport.NewEndpoint(a.shown)
	if err != nil {
		return address{}, fmt.Errorf("location %s is not a URL of a repository", a.shown)
	}
	return a, nil
}

// parseSCP reads user@host:path, which stands for SSH.
func parseSCP(location string) (address, error) {
	host, path, _ := strings.Cut(location, ":")
	user := ""
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		user, host = host[:i], host[i+1:]
	}
	if before, _, _ := strings.Cut(path, "/"); strings.Contains(before, "@") {
		return address{}, errors.New("a location of the form user:password@host is no URL; write https:// before it") // it may hold a password
	}
	if host == "" || host[0] == '-' || path == "" {
		return address{}, fmt.Errorf("location %q is neither a path nor user@host:path", location)
	}
	return address{
		shown:    host + ":" + path,
		endpoint: &transport.Endpoint{Protocol: "ssh", Host: host, Path: path},
		user:     user,
	}, nil
}

// withoutUser cuts what could be credentials from a URL that may not even parse.
func withoutUser(location string) string {
	scheme, rest, _ := strings.Cut(location, "://")
	rest, _, _ = strings.Cut(rest, "?")
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	return scheme + "://" + rest
}

// cacheName is the name of a URL's folder in the cache.
func (a address) cacheName() string {
	sum := sha256.Sum256([]byte(a.shown))
	return hex.EncodeToString(sum[:16]) + ".git"
}
