package evict

import "time"

// RecoveryDelay is how long enough clusters have to be ready until something moves again: clusters that
// could not be reached come back one after the other.
const RecoveryDelay = time.Minute

// Limits bound what moves at once.
type Limits struct {
	// Unhealthy is the share of the fleet in percent from which on nothing moves. In a fleet of
	// more than Large clusters that is LargeUnhealthy.
	Unhealthy, Large, LargeUnhealthy int
	// OneIn lets at most one cluster in so many, rounded up, be left at a time.
	OneIn int
}

// Frozen reports that so many clusters of a fleet are not ready that nothing is to move, and
// the share in percent from which on it is so.
func (l Limits) Frozen(unready, fleet int) (threshold int, frozen bool) {
	threshold = l.Unhealthy
	if fleet > l.Large {
		threshold = l.LargeUnhealthy
	}
	return threshold, unready > 0 && unready*100 >= fleet*threshold
}

// AtOnce is how many clusters of a fleet may be left at a time.
func (l Limits) AtOnce(fleet int) int { return (fleet + l.OneIn - 1) / l.OneIn }
