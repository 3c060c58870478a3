package lock

import (
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
)

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

// maxPassed is how many versions are told that are not taken.
const maxPassed = 10

// Newest returns the newest version that a constraint takes and that is known for the least age,
// if it is newer than the locked one, and otherwise nothing; and the versions that are newer than
// what is taken or stays locked, the newest first, at most ten, with the reason. It never goes down: a
// list that is empty, or shorter than it was, takes nothing. Only full versions count, and a constraint that is
// no range, as a tag that moves or a digest, takes nothing.
func Newest(constraint string, offers []Offer, locked string, now time.Time, age time.Duration) (take string, passed []Passed) {
	constraint = strings.TrimSpace(constraint)
	if constraint == "" {
		constraint = "*"
	}
	within, err := semver.NewConstraint(constraint)
	if err != nil {
		return "", nil
	}
	for _, o := range newer(offers, locked) {
		why := refusal(within, o.parsed)
		until := o.Seen.Add(age)
		switch {
		case why != "":
			passed = append(passed, Passed{Version: o.Version, Why: why})
		case until.After(now):
			passed = append(passed, Passed{Version: o.Version, Why: TooYoung, Until: until})
		default:
			return o.Version, passed[:min(len(passed), maxPassed)]
		}
	}
	return "", passed[:min(len(passed), maxPassed)]
}

// offered is an offer whose version was read.
type offered struct {
	Offer

	parsed *semver.Version
}

// newer returns the offers of full versions above the locked one, the newest first. Of versions that differ in spelling
// or build metadata only, the last in byte order comes first, as Pick takes it.
func newer(offers []Offer, locked string) []offered {
	floor, err := semver.NewVersion(locked)
	var all []offered
	for _, o := range offers {
		if !IsVersion(o.Version) {
			continue
		}
		v, wrong := semver.NewVersion(o.Version)
		if wrong == nil && (err != nil || v.GreaterThan(floor)) {
			all = append(all, offered{o, v})
		}
	}
	slices.SortStableFunc(all, func(a, b offered) int {
		if c := b.parsed.Compare(a.parsed); c != 0 {
			return c
		}
		return strings.Compare(b.Version, a.Version)
	})
	return all
}

// refusal says why a range leaves a version out; empty if it does not.
func refusal(within *semver.Constraints, v *semver.Version) Why {
	if within.Check(v) {
		return ""
	}
	if v.Prerelease() != "" {
		if release, err := v.SetPrerelease(""); err == nil && within.Check(&release) {
			return Prerelease
		}
	}
	return OutOfRange
}
