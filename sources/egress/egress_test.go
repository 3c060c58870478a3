package egress

import (
	"net/netip"
	"net/url"
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
