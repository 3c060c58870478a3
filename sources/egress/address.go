package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// dialTime is how long a connection may take to be made.
const dialTime = 10 * time.Second

// credentialServices are the addresses at which clouds tell a machine who it is, with
// credentials. They are never asked, even within Options.Private. (AWS and most
// others; AWS over IPv6; Alibaba; Oracle; Azure; Google over IPv6.)
var credentialServices = addresses("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd20:ce::254")

// special are the blocks that are not public though netip calls them global unicast:
// RFC 6890 and the registries of special-purpose addresses at IANA. Those of IPv6 that
// hold an IPv4 address, whatever it is, are among them.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// unicast6 is all of IPv6 that is given out (RFC 4291, 2.4).
var unicast6 = netip.MustParsePrefix("2000::/3")

func addresses(texts ...string) []netip.Addr {
	out := make([]netip.Addr, len(texts))
	for i, t := range texts {
		out[i] = netip.MustParseAddr(t)
	}
	return out
}

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		out[i] = netip.MustParsePrefix(t)
	}
	return out
}

// public reports an address that anyone on the Internet could ask: not loopback,
// private, link-local, multicast, unspecified or reserved. An IPv4 address written as
// IPv6 is judged as the IPv4 address.
func public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" || a.Is6() && !unicast6.Contains(a) {
		return false
	}
	return !within(special, a) && !credentialService(a)
}

func credentialService(a netip.Addr) bool {
	for _, c := range credentialServices {
		if c == a.Unmap().WithZone("") {
			return true
		}
	}
	return false
}

func within(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a.Unmap().WithZone("")) {
			return true
		}
	}
	return false
}

// dialer makes connections, and looks at each address before it is asked anything.
type dialer struct {
	net     net.Dialer
	private []netip.Prefix               // that may be asked
	listed  func(host, port string) bool // reports hosts that may have a private address
	proxy   string                       // host:port, which is not looked at; empty: none
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if d.proxy != "" && address == d.proxy {
		return d.net.DialContext(ctx, network, address)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", address, err)
	}
	judged := d.net
	judged.Timeout = dialTime
	judged.ControlContext = func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return fmt.Errorf("connecting to %s: %w", host, err)
		}
		return d.judge(host, port, at.Addr())
	}
	return judged.DialContext(ctx, network, address)
}

// judge says whether a host may be asked at an address.
func (d *dialer) judge(host, port string, a netip.Addr) error {
	switch {
	case credentialService(a):
		return &HostError{Host: host, Reason: "its address " + a.String() + " gives out credentials of the machine and is never asked"}
	case public(a), within(d.private, a) && d.listed(host, port):
		return nil
	case within(d.private, a):
		return &HostError{Host: host, Reason: "its address " + a.String() + " is not public, so the host must be in the list of allowed hosts"}
	}
	return &HostError{Host: host, Reason: "its address " + a.String() + " is not public; name its range to allow it"}
}

// address reads a host of a URL as an address. It is an error if a program could take
// it for one that others would not: all digits, octal, hexadecimal, too few parts, or
// with a zone.
func address(host string) (a netip.Addr, ok bool, err error) {
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" {
			return a, true, fmt.Errorf("%q has a zone", host)
		}
		return a, true, nil
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	digits := strings.TrimLeft(last, "0123456789") == ""
	if digits || strings.HasPrefix(strings.ToLower(last), "0x") {
		return netip.Addr{}, false, fmt.Errorf("%q is neither a name nor an address in its usual form", host)
	}
	return netip.Addr{}, false, nil
}
