package clusters

import (
	"net/http"
	"sync/atomic"
	"time"
)

// serverClock reads the time of an API server from the Date of its answers: how old an object is can
// be told by no other clock.
type serverClock struct {
	next  http.RoundTripper
	ahead atomic.Pointer[time.Duration] // of ours; nil before the first answer
}

// RoundTrip notes the Date of the answer.
func (c *serverClock) RoundTrip(r *http.Request) (*http.Response, error) {
	next := c.next
	if next == nil {
		next = http.DefaultTransport
	}
	answer, err := next.RoundTrip(r)
	if err == nil {
		if date, parseErr := http.ParseTime(answer.Header.Get("Date")); parseErr == nil {
			ahead := time.Until(date)
			c.ahead.Store(&ahead)
		}
	}
	return answer, err //nolint:wrapcheck // it is that of the transport
}

// now is the server's time; zero if it never said one.
func (c *serverClock) now() time.Time {
	if c == nil {
		return time.Time{}
	}
	ahead := c.ahead.Load()
	if ahead == nil {
		return time.Time{}
	}
	return time.Now().Add(*ahead)
}
