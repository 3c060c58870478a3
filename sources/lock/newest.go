package lock

import "time"

// Offer is a version that a repository has, and since when it is known here. What the repository
// says of its age does not count, for anybody can write that.
type Offer struct {
	Version string
	Seen    time.Time
}

// Why says why a newer version is not taken.
type Why string

// The reasons.
const (
	TooYoung   Why = "TooYoung"   // it is known for less than the least age, until Passed.Until
	OutOfRange Why = "OutOfRange" // the constraint leaves it out
	Prerelease Why = "Prerelease" // the constraint would take it but names no pre-release
)

// Passed is a version that is newer than what is locked, and is not taken.
type Passed struct {
	Version string
	Why     Why
	Until   time.Time // with TooYoung: when it is old enough
}

// Newest returns the newest version that a constraint takes and that is known for the least age,
// if it is newer than the locked one, and otherwise nothing; and the versions that are newer than
// what is taken or stays locked, the newest first, at most ten, with the reason. It never goes down: a
// list that is empty, or shorter than it was, takes nothing.
func Newest(constraint string, offers []Offer, locked string, now time.Time, age time.Duration) (take string, passed []Passed) {
	return "", nil
}
