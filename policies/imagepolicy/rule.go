package imagepolicy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Direction is a direction in which versions grow.
type Direction string

// The directions: the last is the newest, or the first is.
const (
	Ascending  Direction = "asc"
	Descending Direction = "desc"
)

// Spec says which tags are versions, and which of two is newer. One of Range, Numerical and Alphabetical is set.
type Spec struct {
	Range string // of semver
	// Loose reads a version that lacks numbers, as 1.2, which the indexes of charts may have.
	Loose        bool
	Numerical    Direction
	Alphabetical Direction
	// Pattern is a regular expression (RE2) that a tag has to match; empty matches all. Extract is what of its groups
	// is the version, as $name or $1; empty for the whole tag.
	Pattern, Extract string
	// Excluded are regular expressions of tags that are no versions.
	Excluded []string
}

// A FieldError is a mistake in a field of a Spec.
type FieldError struct {
	Field   string // as Spec calls it
	Index   int    // in Excluded
	Problem string
}

func (e *FieldError) Error() string { return e.Problem }

// Rule is a Spec that was read.
type Rule struct {
	spec     Spec
	wanted   *semver.Constraints // nil: another order
	filter   *regexp.Regexp      // nil: every tag
	excluded []*regexp.Regexp
}

// Read reads a Spec. The error is a *FieldError.
func Read(s Spec) (*Rule, error) {
	r := &Rule{spec: s}
	var err error
	switch {
	case s.Range != "":
		if r.wanted, err = semver.NewConstraint(s.Range); err != nil {
			return nil, &FieldError{Field: "Range", Problem: fmt.Sprintf("%q is no range of versions: %v", s.Range, err)}
		}
	case s.Numerical != "" && !s.Numerical.isKnown():
		return nil, &FieldError{Field: "Numerical", Problem: fmt.Sprintf("the order %q is none of %s and %s", s.Numerical, Ascending, Descending)}
	case s.Alphabetical != "" && !s.Alphabetical.isKnown():
		return nil, &FieldError{Field: "Alphabetical", Problem: fmt.Sprintf("the order %q is none of %s and %s", s.Alphabetical, Ascending, Descending)}
	}
	if s.Pattern != "" {
		if r.filter, err = regexp.Compile(s.Pattern); err != nil {
			return nil, &FieldError{Field: "Pattern", Problem: fmt.Sprintf("%q is no regular expression (RE2): %v", s.Pattern, err)}
		}
	}
	for i, e := range s.Excluded {
		x, err := regexp.Compile(e)
		if err != nil {
			return nil, &FieldError{Field: "Excluded", Index: i, Problem: fmt.Sprintf("%q is no regular expression (RE2): %v", e, err)}
		}
		r.excluded = append(r.excluded, x)
	}
	return r, nil
}

func (o Direction) isKnown() bool { return o == Ascending || o == Descending }

// FitsOne reports that the filter lets no more than one tag pass, whatever tags there are: a tag that moves, or none
// that is ever new.
func (r *Rule) FitsOne() bool {
	bare, begins := strings.CutPrefix(r.spec.Pattern, "^")
	bare, ends := strings.CutSuffix(bare, "$")
	if !begins || !ends {
		return false
	}
	x, err := regexp.Compile(bare)
	if err != nil {
		return false
	}
	_, whole := x.LiteralPrefix()
	return whole
}

// version is a tag that is a version.
type version struct {
	tag    string
	semver *semver.Version
	number float64
	text   string
}

// read reads a tag as a version, whether the range wants it or not; false if it is none.
func (r *Rule) read(tag string) (version, bool) {
	v := version{tag: tag, text: tag}
	for _, x := range r.excluded {
		if x.MatchString(tag) {
			return v, false
		}
	}
	if r.filter != nil {
		groups := r.filter.FindStringSubmatchIndex(tag)
		if groups == nil {
			return v, false
		}
		if r.spec.Extract != "" {
			v.text = string(r.filter.ExpandString(nil, r.spec.Extract, tag, groups))
		}
	}
	var err error
	switch {
	case r.wanted != nil && r.spec.Loose:
		v.semver, err = semver.NewVersion(v.text)
	case r.wanted != nil:
		v.semver, err = semver.StrictNewVersion(strings.TrimPrefix(v.text, "v"))
	case r.spec.Numerical != "":
		v.number, err = strconv.ParseFloat(v.text, 64)
	}
	return v, err == nil && v.number == v.number // NaN has no order
}

// compare is positive where a is newer than b. Of two equal versions the tag decides, so that the order is total.
func (r *Rule) compare(a, b version) int {
	if c := r.weigh(a, b); c != 0 {
		return c
	}
	return strings.Compare(a.tag, b.tag)
}

// weigh is positive where a is a newer version than b, and zero where both are one version.
func (r *Rule) weigh(a, b version) int {
	switch {
	case r.wanted != nil:
		return a.semver.Compare(b.semver)
	case r.spec.Numerical != "":
		return r.spec.Numerical.turned(cmp.Compare(a.number, b.number))
	}
	return r.spec.Alphabetical.turned(strings.Compare(a.text, b.text))
}

func (o Direction) turned(c int) int {
	if o == Descending {
		return -c
	}
	return c
}

// Compare says which of two tags is newer, positive where a is; false where one of them is no version. The range does
// not count: what is in use may be outside of it.
func (r *Rule) Compare(a, b string) (int, bool) {
	va, isA := r.read(a)
	vb, isB := r.read(b)
	if !isA || !isB {
		return 0, false
	}
	return r.weigh(va, vb), true
}

// versions are the tags that are wanted, the newest first, and how many are not.
func (r *Rule) versions(tags []string) (all []version, unfit int) {
	for _, tag := range tags {
		v, ok := r.read(tag)
		if !ok || r.wanted != nil && !r.wanted.Check(v.semver) {
			unfit++
			continue
		}
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b version) int { return r.compare(b, a) })
	return all, unfit
}
