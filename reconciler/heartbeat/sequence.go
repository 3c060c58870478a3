package heartbeat

import (
	"errors"
	"fmt"
	"time"
)

// A sequence number is a time: milliseconds since 1970, by the clock of the agent, and above the last
// one that the agent gave. Agents of the release before counted otherwise: from zero, or, after another
// agent, from a multiple of 2^32.
const (
	// Ahead is how far a sequence number may be after the clock of whoever reads it.
	Ahead = 5 * time.Minute
	// Late is how far the clock of an agent may be behind: it goes on from what it, or the agent before it,
	// signed last, unless that is further from now by its own clock. Such a number somebody else signed.
	Late = 24 * time.Hour
	// firstTime is the first sequence number that is a time: the beginning of 2020.
	firstTime = 1_577_836_800_000
	// mostCounted is how many beats an agent of the release before counted from where it began.
	mostCounted = 1 << 25
)

// The reasons for which a sequence number is not taken.
var (
	ErrOld   = errors.New("its sequence number is not above the last one: it was heard before, or is repeated by somebody")
	ErrAhead = fmt.Errorf("its sequence number is a time more than %s from now: the clock of the agent is wrong, or somebody else has its key", Ahead)
)

// Next returns the sequence number after the last one, which may be zero.
func Next(last uint64, now time.Time) uint64 { return max(last+1, uint64(now.UnixMilli())) }

// GoesOn reports a last sequence number, by the agent's own key, from which the agent goes on.
func GoesOn(last uint64, now time.Time) bool { return last <= uint64(now.Add(Late).UnixMilli()) }

// IsAhead reports a sequence number that is too far after a time.
func IsAhead(sequence uint64, now time.Time) bool {
	return sequence > uint64(now.Add(Ahead).UnixMilli())
}

// isCounted reports a sequence number of an agent of the release before.
func isCounted(sequence uint64, now time.Time) bool {
	const term, mostTerms = 1 << 32, 1 << 20
	return sequence < firstTime || IsAhead(sequence, now) && sequence%term < mostCounted && sequence/term < mostTerms
}

// follows decides whether a beat may come after those that a cluster sent before.
func (p *pulse) follows(sequence uint64, now time.Time) error {
	switch {
	case isCounted(sequence, now):
		if p.highest > 0 || sequence <= p.beat.Sequence && p.beat != (Beat{}) {
			return ErrOld
		}
	case IsAhead(sequence, now):
		return ErrAhead
	case sequence <= p.highest:
		return ErrOld
	}
	return nil
}
