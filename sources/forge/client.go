package forge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/sources/pause"
)

// The limits of a call.
const (
	callTimeout = 30 * time.Second
	maxAnswer   = 32 << 20 // bytes
	maxTries    = 4
	firstPause  = time.Second // after the first try; twice as long after the next
)

// The limits of a list.
const (
	pageSize  = 100
	giteaPage = 50 // what a Gitea gives at most, unless it is set up otherwise
	maxPages  = 100
)

// client makes the calls of one repository.
type client struct {
	kind       Kind
	host       string
	root       string // URL of the API
	at         string // path of the repository below it
	scheme     string // of the header Authorization
	headers    map[string]string
	credential func(context.Context) (string, error)
	http       *http.Client
	now        func() time.Time
	pause      func(context.Context, time.Duration) error
	patience   time.Duration

	mu    sync.Mutex
	until time.Time // the forge asked not to be asked before
	self  *User     // who asks; nil: it is not known yet
}

func newClient(o Options, base *url.URL) *client {
	c := &client{kind: o.Kind, host: base.Host, http: newHTTP(), now: o.Now, pause: o.Pause, patience: cmp.Or(o.Patience, DefaultPatience)}
	c.credential = func(context.Context) (string, error) { return o.Token, nil }
	if c.pause == nil {
		c.pause = pause.For
	}
	return c
}

// call is one call of the API.
type call struct {
	doing  string // for people, as "commenting on pull request 7"
	method string
	path   string // below that of the repository, or absolute if it begins with two slashes
	root   string // of another API, below which the path is; empty: of this one
	query  url.Values
	in     any // what is sent; nil: nothing
	out    any // what is read into; nil: nothing
	// again says that the call may be made twice, because the second does what the first did.
	again bool
	// bearer stands in place of the credential.
	bearer string
}

// get is a call that reads.
func get(doing, path string, out any) call {
	return call{doing: doing, method: http.MethodGet, path: path, out: out, again: true}
}

// do makes a call, and makes it again where the forge could not answer for the moment, or asks
// to wait.
func (c *client) do(ctx context.Context, k call) error {
	patience := c.patience
	for try := 1; ; try++ {
		if err := c.wait(ctx, &k, &patience); err != nil {
			return err
		}
		answer, err := c.once(ctx, &k)
		if err == nil && answer.ok() {
			return answer.read(k.out)
		}
		if err == nil {
			err = answer.failure()
		}
		last := try == maxTries || ctx.Err() != nil
		switch {
		case answer != nil && answer.limited():
			c.limit(answer.wait(c.now(), try))
		case !last && k.again && (answer == nil || answer.passing()):
			if err := c.pause(ctx, firstPause<<(try-1)); err != nil {
				return err
			}
			continue
		default:
			return err
		}
		if last {
			return err
		}
	}
}

// limit notes that the forge is not to be asked for some time.
func (c *client) limit(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := c.now().Add(d); until.After(c.until) {
		c.until = until
	}
}

// wait waits until the forge may be asked, if that is within a call's patience.
func (c *client) wait(ctx context.Context, k *call, patience *time.Duration) error {
	c.mu.Lock()
	d := c.until.Sub(c.now())
	c.mu.Unlock()
	if d <= 0 {
		return nil
	}
	if d > *patience {
		return &Error{Kind: c.kind, Host: c.host, Doing: k.doing, Status: http.StatusTooManyRequests, Until: c.now().Add(d)}
	}
	*patience -= d
	return c.pause(ctx, d)
}

// once makes a call once.
func (c *client) once(ctx context.Context, k *call) (*answer, error) {
	secret := k.bearer
	scheme := "Bearer"
	if secret == "" {
		var err error
		if secret, err = c.credential(ctx); err != nil {
			return nil, err
		}
		scheme = c.scheme
	}
	var body io.Reader
	if k.in != nil {
		data, err := json.Marshal(k.in)
		if err != nil {
			return nil, fmt.Errorf("encoding what %s says: %w", k.doing, err)
		}
		body = bytes.NewReader(data)
	}
	at := c.root + c.at + k.path
	if k.root != "" {
		at = k.root + k.path
	} else if path, ok := strings.CutPrefix(k.path, "/"); ok && strings.HasPrefix(path, "/") {
		at = c.root + path
	}
	req, err := http.NewRequestWithContext(ctx, k.method, at, body)
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", k.doing, c.host, err)
	}
	req.URL.RawQuery = k.query.Encode()
	req.Header.Set("Authorization", scheme+" "+secret)
	req.Header.Set("User-Agent", "waybill")
	req.Header.Set("Accept", "application/json")
	for name, value := range c.headers {
		req.Header.Set(name, value)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	a := &answer{kind: c.kind, host: c.host, doing: k.doing, secret: secret}
	resp, err := c.http.Do(req)
	if err == nil {
		defer resp.Body.Close()
		a.status, a.header = resp.StatusCode, resp.Header
		a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	}
	if err != nil {
		return nil, &Error{Kind: c.kind, Host: c.host, Doing: k.doing, Cause: cause(err)}
	}
	if len(a.body) > maxAnswer {
		return nil, &Error{Kind: c.kind, Host: c.host, Doing: k.doing, Cause: fmt.Errorf("the answer is longer than %d MiB", maxAnswer>>20)}
	}
	return a, nil
}

// cause leaves of an error of HTTP what is not the URL, which the error around it names.
func cause(err error) error {
	if u, ok := err.(*url.Error); ok { //nolint:errorlint // it is the outermost, as net/http says
		return u.Err
	}
	return err
}

// answer is what a forge answered.
type answer struct {
	kind        Kind
	host, doing string
	secret      string // which was sent
	status      int
	header      http.Header
	body        []byte
}

func (a *answer) ok() bool { return a.status >= 200 && a.status < 300 }

// passing reports an answer that may be another one soon.
func (a *answer) passing() bool { return a.status >= 500 && a.status != http.StatusNotImplemented }

// limited reports that the forge wants fewer requests: 429, or GitHub's 403 that says so, or
// whatever says when to come again.
func (a *answer) limited() bool {
	_, said := a.number("Retry-After")
	left, told := a.number("X-RateLimit-Remaining")
	switch a.status {
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden:
		return said || told && left == 0
	case http.StatusServiceUnavailable:
		return said
	}
	return false
}

// minimumWait is how long is waited at least after a limit that says nothing of its end, as
// GitHub asks of clients.
const minimumWait = time.Minute

// wait is how long the forge wants to be left alone after a try: as Retry-After says (RFC 9110,
// section 10.2.3), else until the window of requests begins anew, by the forge's own clock if
// it tells that.
func (a *answer) wait(now time.Time, try int) time.Duration {
	if seconds, ok := a.number("Retry-After"); ok {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(a.header.Get("Date")); err == nil {
		now = date
	}
	if at, err := http.ParseTime(a.header.Get("Retry-After")); err == nil {
		return max(at.Sub(now), firstPause)
	}
	for _, name := range []string{"X-RateLimit-Reset", "RateLimit-Reset"} {
		if at, ok := a.number(name); ok {
			return max(time.Unix(at, 0).Sub(now), firstPause)
		}
	}
	return minimumWait << (try - 1)
}

// number reads a header that is a whole number.
func (a *answer) number(header string) (int64, bool) {
	n, err := strconv.ParseUint(a.header.Get(header), 10, 32)
	return int64(n), err == nil
}

// read reads what was answered.
func (a *answer) read(out any) error {
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(a.body, out); err != nil {
		return &Error{Kind: a.kind, Host: a.host, Doing: a.doing, Cause: fmt.Errorf("the answer is not what the API says: %w; is that the URL of the forge?", err)}
	}
	return nil
}

// pages reads a list, a page after the other, until one is not full, or the last on it is one
// after which nothing counts. Enough may be nil.
func pages[T any](ctx context.Context, c *client, k call, enough func(*T) bool) (all []T, err error) {
	size, name, full := pageSize, "per_page", pageSize
	if c.kind == Gitea { // a server may be set up to give less than it is asked for
		size, name, full = giteaPage, "limit", 1
	}
	for page := 1; page <= maxPages; page++ {
		var some []T
		k.out = &some
		query := url.Values{"page": {strconv.Itoa(page)}, name: {strconv.Itoa(size)}}
		maps.Copy(query, k.query)
		asked := k
		asked.query = query
		if err := c.do(ctx, asked); err != nil {
			return nil, err
		}
		all = append(all, some...)
		if len(some) < full || enough != nil && enough(&some[len(some)-1]) {
			return all, nil
		}
	}
	return nil, c.tooMany(k.doing)
}

func (c *client) tooMany(doing string) error {
	return &Error{Kind: c.kind, Host: c.host, Doing: doing, Cause: fmt.Errorf("there are more than %d pages", maxPages)}
}

// isLoopback reports a host that is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
