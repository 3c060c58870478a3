package egress

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "93.184.216.34": true, "2606:2800:220:1::1": true, "::ffff:8.8.8.8": true, "172.32.0.1": true,
		"192.0.1.1": true, "100.128.0.1": true, "198.20.0.1": true, "2001:4860:4860::8888": true,
		"172.31.255.255": false, "100.127.255.255": false, "198.19.255.255": false, "192.0.0.1": false, "0.1.2.3": false,
		"2001:db8::1": false, "2001:0:1::1": false, "2002::1": false, "4000::1": false, "64:ff9b::808:808": false,
		"fd20:ce::254": false, "168.63.129.16": false, "2606::1%eth0": false, "3fff::1": false,
	} {
		if got := public(netip.MustParseAddr(text)); got != want {
			t.Errorf("public(%s) = %v", text, got)
		}
	}
}

func TestCredentialServicesAreNeverAsked(t *testing.T) {
	d := &dialer{private: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}, listed: func(string, string) bool { return true }}
	for _, a := range credentialServices {
		if err := d.judge("h", "443", a); err == nil {
			t.Errorf("%s may be asked", a)
		}
	}
	if err := d.judge("h", "443", netip.MustParseAddr("10.0.0.1")); err != nil {
		t.Error(err)
	}
}

func TestHostsAreComparedInOneSpelling(t *testing.T) {
	list, err := newHosts([]string{"https://Charts.Example/", "http://plain.example:8080", "https://[2606:0::1]"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]bool{
		"https://charts.example/x": true, "https://charts.example:443/x": true, "https://CHARTS.example": true,
		"https://[2606::1]:443/": true, "http://plain.example:8080/": true,
		"http://charts.example": false, "https://charts.example:8443": false, "http://plain.example": false,
		"https://plain.example:8080": false, "https://sub.charts.example": false, "https://charts.example.evil": false,
		"https://me@charts.example": false, "https://charts.example:0443": false,
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := list.permit(u) == nil; got != want {
			t.Errorf("%s: allowed is %v", raw, got)
		}
	}
}

// A server is written in one way: by its lower case name or its address as it is, with a port that its scheme does not imply.
func TestOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"https://Charts.Example/a?b": "https://charts.example", "https://charts.example:443": "https://charts.example", "http://charts.example:443": "http://charts.example:443",
		"http://charts.example:80/": "http://charts.example", "https://[2606:0::1]:65535": "https://[2606::1]:65535", "https://[::ffff:8.8.8.8]/": "https://8.8.8.8",
		"https://8.8.8.8:8443": "https://8.8.8.8:8443", "ftp://charts.example": "", "https://charts..example": "", "https://charts.example:0": "", "https://charts.example:65536": "",
		"https://charts.example:0443": "", "https://[fe80::1%25eth0]": "", "https://" + strings.Repeat("a.", 126) + "a": "https://" + strings.Repeat("a.", 126) + "a",
		"https://" + strings.Repeat("a.", 126) + "aa": "", "https:///path": "",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if is, err := Origin(u); is != want || (err == nil) != (want != "") {
			t.Errorf("%s is of %q (%v), want %q", text, is, err, want)
		}
	}
}
