package imagepolicy

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Facts are what is known when a version is chosen.
type Facts struct {
	Now     time.Time
	Current string   // the tag in use
	Tags    []string // that the registry has
	// FirstSeen is when each tag was seen first. One that is not in it is seen now.
	FirstSeen map[string]time.Time
	// MinimumAge is how long a tag has to have been there.
	MinimumAge time.Duration
	// Major lets a version of a higher major be taken; it counts for semver alone.
	Major bool
	// KeptBack are the tags that are not taken, and why, for people; tag@digest is what a tag stands for, and not
	// read here.
	KeptBack map[string]string
}

// Reason is why a newer version is not taken.
type Reason string

// The reasons.
const (
	TooYoung Reason = "TooYoung"
	Major    Reason = "Major"
	KeptBack Reason = "KeptBack"
)

// Newer is a version that is newer than what is in use.
type Newer struct {
	Tag   string
	Since time.Time // when it was seen first
	// Why is why it is not taken; empty for the one that is, and for those below it. Until is when it is old enough, and
	// Message why it is kept back.
	Why     Reason
	Until   time.Time
	Message string
}

// Choice is what there is to take.
type Choice struct {
	Tag   string  // what is taken; empty for nothing
	Newer []Newer // the newest first
	Fit   int     // how many tags are wanted versions
	Unfit int     // how many are not
}

// Choose chooses the newest version that may be taken. It takes none that is not newer than what is in use. Where the
// order does not know what is in use, as with a tag latest, every wanted version counts as newer.
func (r *Rule) Choose(f Facts) Choice {
	all, unfit := r.versions(f.Tags)
	c := Choice{Unfit: unfit, Fit: len(all)}
	current, known := r.read(f.Current)
	for _, v := range all {
		if known && r.weigh(v, current) <= 0 {
			continue
		}
		n := Newer{Tag: v.tag, Since: f.Now}
		if since, seen := f.FirstSeen[v.tag]; seen {
			n.Since = since
		}
		switch why, kept := r.kept(v, n.Since, f); {
		case kept:
			n.Why, n.Message = KeptBack, why
		case r.wanted != nil && known && !f.Major && v.semver.Major() > current.semver.Major():
			n.Why = Major
		case f.Now.Before(n.Since.Add(f.MinimumAge)):
			n.Why, n.Until = TooYoung, n.Since.Add(f.MinimumAge)
		case c.Tag == "":
			c.Tag = v.tag
		}
		c.Newer = append(c.Newer, n)
	}
	return c
}

// kept says why a version is kept back, if it is: by itself, in whatever spelling, or because it is older than one that is, and was
// there already when that came. Who sent a version back did not ask for the one before it; a later fix of an older line is news.
func (r *Rule) kept(v version, since time.Time, f Facts) (why string, is bool) {
	if why, is = f.KeptBack[v.tag]; is {
		return why, true
	}
	for _, tag := range slices.Sorted(maps.Keys(f.KeptBack)) {
		of, known := r.read(tag)
		if !known || strings.Contains(tag, "@") || r.weigh(v, of) > 0 {
			continue
		}
		if r.weigh(v, of) == 0 {
			return f.KeptBack[tag], true
		}
		if came, seen := f.FirstSeen[tag]; !seen || !since.After(came) {
			return "it is older than " + tag + ", which is kept back", true
		}
	}
	return "", false
}
