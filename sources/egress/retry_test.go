package egress

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
)

// answers is a way on which requests are answered one after the other, the last again and again; what has the status 0 fails.
type answers struct {
	all   []http.Response
	asked []*http.Request
}

func (a *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	next := a.all[min(len(a.asked), len(a.all)-1)]
	a.asked = append(a.asked, req)
	if next.StatusCode == 0 {
		return nil, errors.New("the connection breaks")
	}
	if next.Body == nil {
		next.Body = http.NoBody
	}
	return &next, nil
}

// answer is one that says when to come again; empty: it does not.
func answer(status int, after string) http.Response {
	h := http.Header{}
	if after != "" {
		h.Set("Retry-After", after)
	}
	return http.Response{StatusCode: status, Header: h}
}

// request is one of a URL.
func request(t *testing.T, method, from, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, from, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body == "" {
		req.Body = http.NoBody
	}
	return req
}

// refusal is why a request is not answered.
func refusal(by http.RoundTripper, req *http.Request) error {
	resp, err := by.RoundTrip(req)
	if err == nil {
		err = resp.Body.Close()
	}
	return err
}

// TestWhatIsAskedAgain: what a server cannot answer for the moment, as often as was said, and not before it wants to be asked.
func TestWhatIsAskedAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		answers []http.Response
		body    string
		status  int // 0: an error
		waited  []time.Duration
	}{
		"it answers":                  {answers: []http.Response{answer(200, "")}, status: 200},
		"it is away twice":            {answers: []http.Response{answer(503, ""), answer(502, ""), answer(200, "")}, status: 200, waited: []time.Duration{time.Second, 2 * time.Second}},
		"it is away for ever":         {answers: []http.Response{answer(500, "")}, status: 500, waited: []time.Duration{time.Second, 2 * time.Second}},
		"a gateway waited too long":   {answers: []http.Response{answer(504, ""), answer(200, "")}, status: 200, waited: []time.Duration{time.Second}},
		"it is busy and says when":    {answers: []http.Response{answer(429, "30"), answer(200, "")}, status: 200, waited: []time.Duration{30 * time.Second}},
		"it is busy for long":         {answers: []http.Response{answer(429, "31"), answer(200, "")}, status: 429},
		"what it says is no number":   {answers: []http.Response{answer(429, "soon"), answer(200, "")}, status: 200, waited: []time.Duration{time.Second}},
		"it refuses":                  {answers: []http.Response{answer(404, ""), answer(200, "")}, status: 404},
		"it is not there":             {answers: []http.Response{{}, answer(200, "")}},
		"what was sent is used up":    {answers: []http.Response{answer(503, ""), answer(200, "")}, body: "x", status: 503},
		"a wait that doubles too far": {answers: []http.Response{answer(429, "20"), answer(503, ""), answer(200, "")}, status: 503, waited: []time.Duration{20 * time.Second}},
	} {
		var waited []time.Duration
		g, err := New(Options{Retries: 2, Pause: func(_ context.Context, d time.Duration) error {
			waited = append(waited, d)
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		way := &answers{all: tt.answers}
		g.inner = way
		resp, err := g.RoundTrip(request(t, http.MethodGet, "https://example.com/x", tt.body))
		got := 0
		if err == nil {
			got = resp.StatusCode
			resp.Body.Close()
		}
		if got != tt.status || !reflect.DeepEqual(waited, tt.waited) || len(way.asked) != len(tt.waited)+1 {
			t.Errorf("%s: %d, %v; asked %d times, waited %v; want %d, %v", name, got, err, len(way.asked), waited, tt.status, tt.waited)
		}
	}
}

// TestWhoIsCutOffAsksNoMore: not after the wait that was cut off.
func TestWhoIsCutOffAsksNoMore(t *testing.T) {
	g, err := New(Options{Retries: 2, Pause: func(context.Context, time.Duration) error { return context.Canceled }})
	if err != nil {
		t.Fatal(err)
	}
	way := &answers{all: []http.Response{answer(503, "")}}
	g.inner = way
	if err := refusal(g, request(t, http.MethodGet, "https://example.com/x", "")); !errors.Is(err, context.Canceled) || len(way.asked) != 1 {
		t.Errorf("it was asked %d times: %v", len(way.asked), err)
	}
}

// TestARedirectStaysWithHTTPS: even at a host that may be asked over http.
func TestARedirectStaysWithHTTPS(t *testing.T) {
	g, err := New(Options{Allow: []string{"https://a.example", "http://a.example"}})
	if err != nil {
		t.Fatal(err)
	}
	g.inner = &answers{all: []http.Response{answer(200, "")}}
	for _, tt := range []struct {
		from, to string
		want     bool
	}{
		{"", "http://a.example/x", true},
		{"http://a.example/", "http://a.example/x", true},
		{"http://a.example/", "https://a.example/x", true},
		{"https://a.example/", "https://a.example/x", true},
		{"https://a.example/", "http://a.example/x", false},
		{"https://a.example/", "https://b.example/x", false},
	} {
		req := request(t, http.MethodGet, tt.to, "")
		if tt.from != "" {
			req.Response = &http.Response{Request: request(t, http.MethodGet, tt.from, "")}
		}
		resp, err := g.RoundTrip(req)
		if err == nil {
			resp.Body.Close()
		}
		if (err == nil) != tt.want {
			t.Errorf("from %q to %s: %v", tt.from, tt.to, err)
		}
	}
}

// TestAnAddressIsJudged: which addresses may be asked by whom. What gives out credentials is asked by nobody.
func TestAnAddressIsJudged(t *testing.T) {
	ranges := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16")}
	for _, tt := range []struct {
		address string
		listed  bool
		want    string // of the error; empty: none
	}{
		{"8.8.8.8", false, ""},
		{"10.1.2.3", true, ""},
		{"::ffff:10.1.2.3", true, ""},
		{"10.1.2.3", false, "must be in the list of allowed hosts"},
		{"192.168.0.1", true, "name its range to allow it"},
		{"192.168.0.1", false, "name its range to allow it"},
		{"169.254.169.254", true, "gives out credentials"},
		{"::ffff:169.254.169.254", true, "gives out credentials"},
	} {
		d := &dialer{private: ranges, listed: func(host, port string) bool { return tt.listed && host == "h" && port == "443" }}
		if err := d.judge("h", "443", netip.MustParseAddr(tt.address)); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, listed %t: %v, want %q", tt.address, tt.listed, err, tt.want)
		}
	}
}

// TestWhereNothingIsListed: anything public is asked, or nothing, as was said.
func TestWhereNothingIsListed(t *testing.T) {
	for listed, want := range map[bool]bool{false: true, true: false} {
		g, err := New(Options{Listed: listed})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.permit(request(t, http.MethodGet, "https://example.com/x", "")); (err == nil) != want {
			t.Errorf("listed %t: %v", listed, err)
		}
		if err := g.permit(request(t, http.MethodGet, "http://example.com/x", "")); err == nil {
			t.Errorf("listed %t: http is asked", listed)
		}
	}
}

// TestOptionsThatAreRefused: a proxy that is none, hosts and credentials that are written wrongly.
func TestOptionsThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Proxy: &url.URL{Scheme: "socks", Host: "proxy.example"}}, "the proxy is not of the form"},
		{Options{Proxy: &url.URL{Scheme: "http", Host: ":3128"}}, "the proxy is not of the form"},
		{Options{Allow: []string{"https://a.example/path"}}, "reading the allowed hosts"},
		{Options{Allow: []string{"https://me@a.example"}}, "reading the allowed hosts"},
		{Options{Allow: []string{"https://a.example?x"}}, "reading the allowed hosts"},
		{Options{Allow: []string{"https://a.example#x"}}, "reading the allowed hosts"},
		{Options{Allow: []string{"ftp://a.example"}}, "only https and http are spoken"},
		{Options{Allow: []string{"https://a..example"}}, "is no host name"},
		{Options{Allow: []string{"https://" + strings.Repeat("a", 254)}}, "is no host name"},
		{Options{Allow: []string{"https://a.example:0"}}, "is no port"},
		{Options{Allow: []string{"https://a.example:65536"}}, "is no port"},
		{Options{Allow: []string{"https://a.example:0443"}}, "is no port"},
		{Options{Allow: []string{"https://" + strings.Repeat("a", 253)}}, ""},
		{Options{Allow: []string{"https://0x7f.0x1"}}, "neither a name nor an address"},
		{Options{Allow: []string{"https://[fe80::1%25eth0]"}}, "has a zone"},
		{Options{Credentials: []Credential{{URL: "https://me@a.example"}}}, "reading a credential"},
		{Options{Credentials: []Credential{{URL: "https://a.example?x"}}}, "reading a credential"},
		{Options{Credentials: []Credential{{URL: "https://a.example#x"}}}, "reading a credential"},
		{Options{Credentials: []Credential{{URL: "ftp://a.example"}}}, "reading a credential"},
		{Options{Credentials: []Credential{{URL: "https://a.example", TokenService: "https://b.example"}}}, "is not for a registry"},
		{Options{Credentials: []Credential{{URL: "oci://a.example", TokenService: "ftp://b.example"}}}, "reading a credential"},
		{Options{Proxy: &url.URL{Scheme: "http", Host: "proxy.example"}, Allow: []string{"https://[2001:db8::1]:65535"}, Credentials: []Credential{{URL: "oci://a.example", TokenService: "https://b.example"}}}, ""},
	} {
		if _, err := New(tt.o); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.o, err, tt.want)
		}
	}
}

// TestConnections: a listed host may have an address of a range that was named, and one that is not listed may not; what a proxy is asked
// is not judged by the address of the proxy.
func TestConnections(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RequestURI) }))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for _, tt := range []struct {
		name, from string
		o          Options
		want       string // empty: an error
	}{
		{"listed, of a range that was named", server.URL + "/x", Options{Allow: []string{server.URL}, Private: loopback}, "/x"},
		{"listed, of no range", server.URL + "/x", Options{Allow: []string{server.URL}}, ""},
		{"not listed", server.URL + "/x", Options{Allow: []string{"https://a.example"}, Private: loopback}, ""},
		{"by a proxy", "http://plain.example/x", Options{Allow: []string{"http://plain.example"}, Proxy: at}, "http://plain.example/x"},
		{"not listed, by a proxy", "http://other.example/x", Options{Allow: []string{"http://plain.example"}, Proxy: at}, ""},
		{"an address, by a proxy", "http://127.0.0.1:1/x", Options{Allow: []string{"http://127.0.0.1:1"}, Proxy: at}, ""},
	} {
		g, err := New(tt.o)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := g.RoundTrip(request(t, http.MethodGet, tt.from, ""))
		if err != nil {
			if _, judged := errors.AsType[*HostError](err); tt.want != "" || !judged {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != tt.want || tt.want == "" {
			t.Errorf("%s: %s, %v", tt.name, body, err)
		}
		resp.Body.Close()
	}
	for from, want := range map[string]bool{"https://a.example": true, "https://a.example:8443": false, "http://b.example:8080": true, "https://b.example:8080": true, "https://[2606::1]": true, "https://[2606::2]": false} {
		list, err := newHosts([]string{"https://a.example", "http://b.example:8080", "https://[2606:0::1]:443"}, true)
		u, bad := url.Parse(from)
		if err != nil || bad != nil {
			t.Fatal(err, bad)
		}
		if got := list.lists(u.Hostname(), portOf(u)); got != want {
			t.Errorf("%s is listed: %t", from, got)
		}
	}
}
