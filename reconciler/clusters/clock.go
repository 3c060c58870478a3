package clusters

import (
	"net/http"
	"sync/atomic"
	"time"
)

// serverClock reads the time of an API server from the Date of its answers: how old an object is can
// be told by no other clock.
type serverClock struct {
	next http.RoundTripper
	date atomic.Pointer[time.Time] // of the last answer; nil before the first
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
			c.date.Store(&date)
		}
	}
	return answer, err
}

// last is the time of the server's last answer; zero if it never said one.
func (c *serverClock) last() time.Time {
	if c == nil {
		return time.Time{}
	}
	if date := c.date.Load(); date != nil {
		return *date
	}
	return time.Time{}
}
