package lock

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var (
	// chartName has no slash and does not begin with a dot, so that it is one segment
	// of a path whatever it is joined to (CVE-2024-25620, CVE-2026-35206 in Helm).
	chartName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,249}$`)
	digestFormat = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

const (
	maxURL        = 2048 // bytes
	maxConstraint = 256  // bytes
)

// Validate says what is wrong with a reference; nil if it can be asked for. It does
// not say whether the repository has it.
func (r Ref) Validate() error {
	schemes := []string{"http", "https"}
	switch r.Kind {
	case Helm:
	case OCI:
		schemes = []string{"oci"}
	default:
		return fmt.Errorf("kind %q is neither %q nor %q", r.Kind, Helm, OCI)
	}
	if err := location(r.Repository, schemes); err != nil {
		return fmt.Errorf("repository %s: %w", Shown(r.Repository), err)
	}
	if !chartName.MatchString(r.Name) {
		return fmt.Errorf("name %q is no chart name", r.Name)
	}
	if len(r.Constraint) > maxConstraint || strings.ContainsFunc(r.Constraint, unprintable) {
		return fmt.Errorf("constraint %q is no version, range or tag", r.Constraint)
	}
	return nil
}

// Validate says what is wrong with an entry; nil if it can be written and fetched.
func (e Entry) Validate() error {
	if err := e.Ref.Validate(); err != nil {
		return err
	}
	if e.Version == "" || len(e.Version) > maxConstraint || strings.ContainsFunc(e.Version, unprintable) {
		return fmt.Errorf("version %q is no version", e.Version)
	}
	schemes := []string{"http", "https"}
	if e.Kind == OCI {
		schemes = []string{"oci"}
	}
	if err := location(e.URL, schemes); err != nil {
		return fmt.Errorf("url %s: %w", Shown(e.URL), err)
	}
	if at := e.Normal().Repository + "/" + e.Name; e.Kind == OCI && !strings.HasPrefix(e.URL, at+":") && !strings.HasPrefix(e.URL, at+"@") {
		return fmt.Errorf("url %s is not of %s", Shown(e.URL), at)
	}
	if !IsDigest(e.Digest) {
		return fmt.Errorf("digest %q is not sha256: and 64 lower-case hexadecimal digits", e.Digest)
	}
	return nil
}

// IsDigest reports a digest as it is written here: sha256: and 64 lower-case
// hexadecimal digits.
func IsDigest(s string) bool { return digestFormat.MatchString(s) }

func unprintable(r rune) bool { return r < ' ' || r > '~' }

// location says what is wrong with a URL that is to stand in a file in Git.
func location(raw string, schemes []string) error {
	if len(raw) > maxURL || strings.ContainsFunc(raw, unprintable) || strings.ContainsAny(raw, ` \`) {
		return errors.New("it has a space, a backslash or other characters that no URL has, or is too long")
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return errors.New("it is no URL") // the parser's message shows all of it
	case !slices.Contains(schemes, u.Scheme):
		return fmt.Errorf("its scheme is %q, not %s", u.Scheme, strings.Join(schemes, " or "))
	case u.User != nil:
		return errors.New("it has a user name or password; credentials are given to waybill, not written in files")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(raw, "#"):
		return errors.New("it has a query or a fragment, which may hold a secret and is not written in files")
	case u.Opaque != "" || u.Hostname() == "":
		return errors.New("it names no host")
	}
	return nil
}

// Shown is a URL as messages may show it: without user name, password, query and
// fragment. What is no URL is not shown at all.
func Shown(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(not a URL)"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
