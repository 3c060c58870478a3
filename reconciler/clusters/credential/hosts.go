package credential

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Hosts are those that a source may lead a token to.
type Hosts struct {
	names  []string // in lower case, with a port or without
	below  []string // ".example.com"
	ranges []netip.Prefix
}

// With returns the hosts and one more, as a flag says it: api.example.com or 10.0.0.7, at any port,
// or at one, as api.example.com:6443; *.example.com for what is below a domain; 10.0.0.0/8 for a
// range.
func (h Hosts) With(text string) (Hosts, error) {
	text = strings.ToLower(text)
	if prefix, err := netip.ParsePrefix(text); err == nil {
		h.ranges = append(slices.Clip(h.ranges), prefix.Masked())
		return h, nil
	}
	domain, wild := strings.CutPrefix(text, "*.")
	u, err := url.Parse("https://" + domain)
	if err != nil || u.Host != domain || u.Hostname() == "" || strings.Contains(domain, "*") || wild && u.Port() != "" {
		return Hosts{}, fmt.Errorf("%q is no host; write api.example.com, api.example.com:6443, *.example.com or 10.0.0.0/8", text)
	}
	switch {
	case wild:
		h.below = append(slices.Clip(h.below), "."+domain)
	case u.Port() == "":
		h.names = append(slices.Clip(h.names), u.Hostname()) // of an IPv6 address without its brackets
	default:
		h.names = append(slices.Clip(h.names), domain)
	}
	return h, nil
}

// allow reports whether the host of a URL is among them.
func (h Hosts) allow(u *url.URL) bool {
	name := strings.ToLower(u.Hostname())
	if slices.Contains(h.names, name) || slices.Contains(h.names, strings.ToLower(u.Host)) {
		return true
	}
	for _, domain := range h.below {
		if strings.HasSuffix(name, domain) {
			return true
		}
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	for _, r := range h.ranges {
		if r.Contains(addr.Unmap()) {
			return true
		}
	}
	return false
}
