package forge

import (
	"net"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// Site is where a forge shows a repository to people. The zero value is that nobody knows where.
type Site struct {
	kind   Kind
	base   string // of the repository, without a slash at its end
	folder string // of the repository that paths are in
}

// SiteOf returns where a forge shows the repository at a URL, as Git has it, of which paths are in a folder. An empty kind is
// told from the name of the host. It is the zero value where that cannot be told.
func SiteOf(kind Kind, repository, folder string) Site {
	base := baseOf(repository)
	if base == "" {
		return Site{}
	}
	if kind == "" {
		kind = kindOfURL(base)
	}
	if kind == "" {
		return Site{}
	}
	return Site{kind: kind, base: base, folder: folder}
}

// baseOf is the address of a repository for people; empty where the URL has none.
func baseOf(repository string) string {
	if host, name, ok := strings.Cut(repository, ":"); ok && !strings.Contains(repository, "://") && strings.Contains(host, "@") {
		repository = "ssh://" + host + "/" + strings.TrimPrefix(name, "/") // as scp has it
	}
	u, err := url.Parse(repository)
	name := ""
	if err == nil {
		name = strings.TrimSuffix(strings.Trim(u.EscapedPath(), "/"), ".git")
	}
	if name == "" || u.Host == "" {
		return ""
	}
	switch u.Scheme {
	case "https", "http":
		return u.Scheme + "://" + u.Host + "/" + name
	case "ssh", "git":
		host := u.Hostname() // the port is that of Git
		if strings.Contains(host, ":") {
			host = net.JoinHostPort(host, "443")
		}
		return "https://" + host + "/" + name
	}
	return ""
}

// kindOfURL tells the kind of a forge from a URL of it; empty where that says nothing.
func kindOfURL(address string) Kind {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return KindOf(u.Hostname())
}

// KindOf tells the kind of a forge from the name of its host; empty where that says nothing.
func KindOf(host string) Kind {
	for _, k := range []struct {
		word string
		kind Kind
	}{{"github", GitHub}, {"gitlab", GitLab}, {"gitea", Gitea}, {"forgejo", Gitea}, {"codeberg", Gitea}} {
		if strings.Contains(host, k.word) {
			return k.kind
		}
	}
	return ""
}

// Commit is the page of a commit; empty where nobody knows.
func (s Site) Commit(id string) string {
	switch {
	case s.base == "" || id == "":
		return ""
	case s.kind == GitLab:
		return s.base + "/-/commit/" + url.PathEscape(id)
	}
	return s.base + "/commit/" + url.PathEscape(id)
}

// File is the page of a file in a commit, at a line if that is not 0; empty where nobody knows.
func (s Site) File(commit, file string, line int) string {
	if s.base == "" || commit == "" || file == "" {
		return ""
	}
	at := map[Kind]string{GitHub: "/blob/", GitLab: "/-/blob/", Gitea: "/src/commit/"}[s.kind] + url.PathEscape(commit)
	parts := strings.Split(strings.TrimPrefix(path.Join(s.folder, file), "/"), "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	at += "/" + strings.Join(parts, "/")
	if line > 0 {
		at += "#L" + strconv.Itoa(line)
	}
	return s.base + at
}
