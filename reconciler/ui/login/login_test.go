package login_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/ui/login"
)

func asked(from, host string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.RemoteAddr, r.Host = from, host
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func TestOnlyThisMachineIsLetInWithoutALogin(t *testing.T) {
	for host, in := range map[string]bool{
		"localhost": true, "localhost:8090": true, "LOCALHOST": true, "127.0.0.1:8090": true, "[::1]:8090": true, "127.9.9.9": true,
		"": false, "waybill.example.com": false, "localhost.example.com": false, "127.0.0.1.example.com:8090": false, "10.0.0.1": false, "0.0.0.0:8090": false,
	} {
		if _, err := (login.Open{}).Who(asked("127.0.0.1:1234", host)); (err == nil) != in {
			t.Errorf("as %q: %v", host, err)
		}
	}
}

func TestTheHeaderOfAProxyCountsFromItsAddress(t *testing.T) {
	trusted, err := login.ParseTrusted([]string{"10.1.0.0/16", "fd00::/8", "192.0.2.7"})
	if err != nil {
		t.Fatal(err)
	}
	p := &login.Proxy{Header: "X-Forwarded-User", Trusted: trusted}
	for _, tt := range []struct {
		name, from string
		headers    []string
		user       string
	}{
		{"of a trusted proxy", "10.1.2.3:999", []string{"X-Forwarded-User", "ann"}, "ann"},
		{"the name in other letters", "10.1.2.3:999", []string{"x-forwarded-user", " ann "}, "ann"},
		{"by IPv6", "[fd00::1]:999", []string{"X-Forwarded-User", "ann"}, "ann"},
		{"by IPv4 as IPv6", "[::ffff:10.1.2.3]:999", []string{"X-Forwarded-User", "ann"}, "ann"},
		{"of a single address", "192.0.2.7:1", []string{"X-Forwarded-User", "ann"}, "ann"},
		{"forged by another address", "10.2.0.1:999", []string{"X-Forwarded-User", "ann"}, ""},
		{"forged by this machine", "127.0.0.1:999", []string{"X-Forwarded-User", "ann"}, ""},
		{"forged with where it comes from", "203.0.113.9:999", []string{"X-Forwarded-User", "ann", "X-Forwarded-For", "10.1.2.3", "X-Real-Ip", "10.1.2.3", "Forwarded", "for=10.1.2.3"}, ""},
		{"none", "10.1.2.3:999", nil, ""},
		{"an empty one", "10.1.2.3:999", []string{"X-Forwarded-User", " "}, ""},
		{"two", "10.1.2.3:999", []string{"X-Forwarded-User", "eve", "X-Forwarded-User", "ann"}, ""},
		{"another one", "10.1.2.3:999", []string{"X-Remote-User", "ann"}, ""},
		{"from nowhere", "", []string{"X-Forwarded-User", "ann"}, ""},
	} {
		s, err := p.Who(asked(tt.from, "waybill.example.com", tt.headers...))
		if s.User != tt.user || (err == nil) != (tt.user != "") {
			t.Errorf("%s: %q, %v", tt.name, s.User, err)
		}
	}
	for _, bad := range []string{"", "10.0.0.0/33", "ten", "10.0.0.0/8,10.1.0.0/16"} {
		if _, err := login.ParseTrusted([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
