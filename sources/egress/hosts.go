package egress

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// HostError says that a host may not be asked.
type HostError struct {
	Host   string // as Options.Allow would list it where that would help
	Reason string
}

func (e *HostError) Error() string { return e.Host + " may not be asked: " + e.Reason }

// hosts are the hosts that are listed, as Origin writes them.
type hosts struct {
	listed map[string]bool
	only   bool // no other is asked
}

// hostName is what DNS and certificates take; anything else would be changed on its way
// to them. Names in other scripts are written in Punycode.
var hostName = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$`)

var defaultPorts = map[string]string{"http": "80", "https": "443"}

// newHosts reads entries of Options.Allow.
func newHosts(entries []string, only bool) (hosts, error) {
	list := hosts{listed: map[string]bool{}, only: only || len(entries) > 0}
	for _, entry := range entries {
		u, err := url.Parse(entry)
		if err != nil || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return hosts{}, fmt.Errorf("reading the allowed hosts: %q is not of the form https://host or https://host:port", entry)
		}
		o, err := Origin(u)
		if err != nil {
			return hosts{}, fmt.Errorf("reading the allowed hosts: %w", err)
		}
		list.listed[o] = true
	}
	return list, nil
}

// Origin writes scheme, host and port of a URL in one way, without the port that the
// scheme implies. It refuses what is no http or https URL of a usual host.
func Origin(u *url.URL) (string, error) {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	shown := u.Scheme + "://" + u.Host
	standard, ok := defaultPorts[u.Scheme]
	if !ok {
		return "", &HostError{Host: shown, Reason: "only https and http are spoken"}
	}
	a, isAddress, err := address(host)
	if err != nil {
		return "", &HostError{Host: shown, Reason: err.Error()}
	}
	if isAddress {
		host = a.Unmap().String()
		if a.Unmap().Is6() {
			host = "[" + host + "]"
		}
	} else if len(host) > 253 || strings.Contains(host, "..") || !hostName.MatchString(host) {
		return "", &HostError{Host: shown, Reason: fmt.Sprintf("%q is no host name", host)}
	}
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0 || strconv.FormatUint(n, 10) != port) {
		return "", &HostError{Host: shown, Reason: fmt.Sprintf("%q is no port", port)}
	}
	if port == "" || port == standard {
		return u.Scheme + "://" + host, nil
	}
	return u.Scheme + "://" + host + ":" + port, nil
}

// lists reports whether a host that is being connected to is listed, whatever the scheme.
func (h hosts) lists(host, port string) bool {
	for scheme := range defaultPorts {
		if o, err := Origin(&url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port)}); err == nil && h.listed[o] {
			return true
		}
	}
	return false
}

// portOf returns the port of a URL; empty if it has none and its scheme implies none.
func portOf(u *url.URL) string { return cmp.Or(u.Port(), defaultPorts[u.Scheme]) }

// permit says whether a URL may be asked, before its name is resolved.
func (h hosts) permit(u *url.URL) error {
	o, err := Origin(u)
	switch {
	case err != nil:
		return err
	case u.User != nil:
		return &HostError{Host: o, Reason: "the URL has a user name or password"}
	case h.listed[o]:
		return nil
	case u.Scheme != "https":
		return &HostError{Host: o, Reason: "http is only used for a host that is in the list of allowed hosts with http://"}
	case h.only:
		return &HostError{Host: o, Reason: "it is not in the list of allowed hosts"}
	}
	return nil
}
