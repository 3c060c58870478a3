package sources

import (
	"net/url"
	"strings"
)

// Place returns where a repository is: host and path, without how it is reached: scheme, user,
// the port of the scheme and ".git". Any other port tells servers apart. What is no URL stays a path.
func Place(repository string) string {
	s := repository
	if u, err := url.Parse(repository); err == nil && u.Host != "" {
		host := u.Hostname()
		if p := u.Port(); p != "" && p != map[string]string{"https": "443", "http": "80", "ssh": "22"}[u.Scheme] {
			host = u.Host
		}
		s = host + "/" + strings.TrimLeft(u.Path, "/")
	} else if host, rest, ok := strings.Cut(repository, ":"); ok && !strings.Contains(host, "/") {
		s = host[strings.LastIndex(host, "@")+1:] + "/" + strings.TrimLeft(rest, "/")
	}
	return strings.TrimSuffix(strings.TrimRight(s, "/"), ".git")
}
