package evict

import "time"

// burst is how many leave at once before the rate counts.
const burst = 3

// Pace lets templates leave, three at once and then Rate a second, whenever it is asked. It
// is the state of a bucket of tokens: Full is when the bucket is full again.
type Pace struct {
	Rate float64 // a second; 0 does not pace
	Full time.Time
}

// gap is the time between two that leave.
func (p *Pace) gap() time.Duration { return time.Duration(float64(time.Second) / p.Rate) }

// Next returns when the next one may leave.
func (p *Pace) Next() time.Time {
	if p.Rate <= 0 {
		return time.Time{}
	}
	return p.Full.Add(-(burst - 1) * p.gap())
}

// Take lets one leave now; false if it is to wait until Next.
func (p *Pace) Take(now time.Time) bool {
	if p.Rate <= 0 {
		return true
	}
	if p.Next().After(now) {
		return false
	}
	if p.Full.Before(now) {
		p.Full = now
	}
	p.Full = p.Full.Add(p.gap())
	return true
}
