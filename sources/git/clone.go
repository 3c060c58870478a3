package git

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/config"

	"github.com/waybill-dev/waybill/sources/git/internal/refs"
)

// clone is what a repository on disk says of others.
type clone struct {
	named   bool // its remotes may be called by their names
	remotes map[string]remoteConfig
	instead []rewriteRule // for every URL
	pushed  []rewriteRule // for what is pushed to, if it has no pushurl
}

// remoteConfig is one remote, as the config has it.
type remoteConfig struct{ urls, pushURLs []string }

// rewriteRule is one url.<base>.insteadOf, or pushInsteadOf.
type rewriteRule struct{ prefix, base string }

// readClone takes the remotes out of a config. go-git's own reading mixes URLs to push to
// with the others, and takes a section without insteadOf for one that fits everything.
func readClone(cfg *config.Config, named bool) clone {
	c := clone{named: named, remotes: map[string]remoteConfig{}}
	for _, s := range cfg.Raw.Section("remote").Subsections {
		if urls := s.OptionAll("url"); len(urls) > 0 {
			c.remotes[s.Name] = remoteConfig{urls, s.OptionAll("pushurl")}
		}
	}
	for _, s := range cfg.Raw.Section("url").Subsections {
		for _, from := range s.OptionAll("insteadOf") {
			c.instead = append(c.instead, rewriteRule{from, s.Name})
		}
		for _, from := range s.OptionAll("pushInsteadOf") {
			c.pushed = append(c.pushed, rewriteRule{from, s.Name})
		}
	}
	return c
}

// rewritten returns what stands for a URL: of the rules that fit, the longest counts.
// False where none fits.
func rewritten(location string, rules []rewriteRule) (string, bool) {
	var best rewriteRule
	for _, r := range rules {
		if len(r.prefix) > len(best.prefix) && strings.HasPrefix(location, r.prefix) {
			best = r
		}
	}
	return best.base + location[len(best.prefix):], best.prefix != ""
}

// destination returns where git push would go.
func (c clone) destination(r remoteConfig) string {
	if len(r.pushURLs) > 0 {
		at, _ := rewritten(r.pushURLs[0], c.instead)
		return at
	}
	if at, ok := rewritten(r.urls[0], c.pushed); ok {
		return at
	}
	at, _ := rewritten(r.urls[0], c.instead)
	return at
}

// Remotes returns the names of the remotes that a clone has, sorted. A bare repository has
// none, for anybody could put one into a folder of a source, with remotes of their choice.
func (r *Repo) Remotes() []string {
	if !r.clone.named {
		return nil
	}
	return slices.Sorted(maps.Keys(r.clone.remotes))
}

// Remote is another repository that a clone has a name for.
type Remote struct {
	Name     string
	Location string // as Options takes it; it may hold credentials
	// PassedOver is where git push would go instead, without credentials. It is another
	// host, and does not count.
	PassedOver string
}

// Remote returns the remote of a clone by its name: where git push would go, by pushurl,
// pushInsteadOf and insteadOf of the clone's own config, if that is on the host that
// credentials are for, which meant says as Auth.For does. Otherwise, it is the remote's url
// as it stands. If meant is empty, the host is that of the url.
func (r *Repo) Remote(name, meant string) (Remote, error) {
	is, ok := r.clone.remotes[name]
	if !ok || !r.clone.named {
		return Remote{}, fmt.Errorf("%s has no remote %q", r.shown, name)
	}
	if n := max(len(is.urls), len(is.pushURLs)); n > 1 {
		return Remote{}, fmt.Errorf("remote %s of %s has %d URLs, and branches go to one: give it by itself", name, r.shown, n)
	}
	remote := Remote{Name: name, Location: r.absolute(is.urls[0])}
	host := hostOf(remote.Location)
	if meant != "" {
		host = hostOf(meant)
	}
	switch pushed := r.absolute(r.clone.destination(is)); {
	case hostOf(pushed) == host:
		remote.Location = pushed
	case pushed != remote.Location:
		remote.PassedOver = shownLocation(pushed)
	}
	return remote, nil
}

// absolute is a location with a path as it is from the root of the repository.
func (r *Repo) absolute(location string) string {
	if IsURL(location) || filepath.IsAbs(location) {
		return location
	}
	return filepath.Join(r.shown, location)
}

// hostOf returns the host of a URL; empty for a path.
func hostOf(location string) string {
	at := Origin(location)
	_, host, _ := strings.Cut(at, "://")
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	return host
}

// shownLocation is a location without credentials.
func shownLocation(location string) string {
	if !IsURL(location) {
		return location
	}
	if a, err := parseURL(location); err == nil {
		return a.shown
	}
	return "a URL that cannot be read"
}

// Source names the repository as a source, without credentials: it names a source alike in
// every clone of it, by where the remote origin is. Without one, it is Name.
func (r *Repo) Source() string {
	origin, ok := r.clone.remotes["origin"]
	if !ok {
		return r.shown
	}
	at, _ := rewritten(origin.urls[0], r.clone.instead)
	if path, ok, err := filePath(at); ok && err == nil {
		return path
	}
	if !IsURL(at) {
		return filepath.Clean(r.absolute(at))
	}
	if a, err := parseURL(at); err == nil {
		return a.shown
	}
	return r.shown
}

// filePath returns the path that a file:// URL names; false for what is none.
func filePath(location string) (path string, ok bool, err error) {
	if !strings.HasPrefix(location, "file://") {
		return "", false, nil
	}
	u, err := url.Parse(location)
	switch {
	case err != nil || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return "", true, errors.New("it is no URL of a file; write file:///path, and special characters as %XX")
	case u.Host != "" && u.Host != "localhost":
		return "", true, fmt.Errorf("it names the host %s, and file:// is for this one: write file:///path", u.Host)
	}
	return filepath.FromSlash(u.Path), true, nil
}

// Fetched returns what this machine knows of another repository, and since when: in a
// clone the branches of a remote as they were fetched last, and behind a URL, for which
// remote is empty, those in the cache. It asks nobody and is not published to. The time is
// zero if nobody knows.
func (r *Repo) Fetched(remote string) (*Repo, time.Time) {
	known := &Repo{shown: r.shown, subdir: r.subdir, clone: r.clone, refs: r.refs, store: r.store}
	if remote == "" {
		known.kind = r.kind.remembered(known, refs.Heads)
		return known, modified(filepath.Join(r.store.dir, "packed-refs"))
	}
	known.kind = r.kind.remembered(known, "refs/remotes/"+remote+"/")
	for _, file := range []string{"FETCH_HEAD", "logs/refs/remotes/" + remote + "/HEAD", "refs/remotes/" + remote + "/HEAD", "packed-refs"} {
		if at := modified(filepath.Join(r.store.dir, filepath.FromSlash(file))); !at.IsZero() {
			return known, at
		}
	}
	return known, time.Time{}
}

// modified is when a file was written last; zero if it is not there.
func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
