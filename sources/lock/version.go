package lock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/waybill-dev/waybill/sources/words"
)

// Pick returns the version that `helm pull --version constraint` takes: the one that
// is spelled as the constraint, if there is one; otherwise the highest of those in the
// range. An empty constraint is the range "*". A range takes pre-releases only if it
// names one, as in ">=1.0.0-0". Versions that are not semantic ones are only found by
// their spelling. Of versions that differ in spelling or build metadata only, the last
// in byte order is taken, so that the order of the list does not matter.
func Pick(versions []string, constraint string) (string, error) {
	constraint = strings.TrimSpace(constraint)
	if constraint != "" && slices.Contains(versions, constraint) {
		return constraint, nil
	}
	text := constraint
	if text == "" {
		text = "*"
	}
	within, err := semver.NewConstraint(text)
	if err != nil {
		return "", fmt.Errorf("%q is neither one of the versions (%s) nor a range", constraint, few(versions))
	}
	best, parsed := "", (*semver.Version)(nil)
	for _, v := range versions {
		p, err := semver.NewVersion(v)
		if err != nil || !within.Check(p) {
			continue
		}
		if parsed == nil || p.GreaterThan(parsed) || p.Equal(parsed) && v > best {
			best, parsed = v, p
		}
	}
	if parsed == nil {
		return "", fmt.Errorf("none of the versions (%s) is in the range %q", few(versions), text)
	}
	return best, nil
}

// IsVersion reports a constraint that names one semantic version in full and so no
// range.
func IsVersion(constraint string) bool {
	_, err := semver.StrictNewVersion(strings.TrimPrefix(constraint, "v"))
	return err == nil
}

// IsFixed reports a reference that stands for the same chart on each day: it names a version in full, or a manifest by its digest.
func (r Ref) IsFixed() bool {
	return IsVersion(r.Constraint) || r.Kind == OCI && IsDigest(r.Constraint)
}

// IsRange reports a constraint that may stand for several versions: an empty one, or a range. A version, a digest and
// a tag are none.
func IsRange(constraint string) bool {
	constraint = strings.TrimSpace(constraint)
	if IsVersion(constraint) || IsDigest(constraint) {
		return false
	}
	_, err := semver.NewConstraint(constraint)
	return constraint == "" || err == nil
}

// few shows the three highest of the versions, or fewer and some that are no semantic one.
func few(versions []string) string {
	var semantic semver.Collection
	var others []string
	for _, v := range versions {
		if p, err := semver.NewVersion(v); err == nil {
			semantic = append(semantic, p)
		} else {
			others = append(others, v)
		}
	}
	if len(semantic) == 0 {
		return "there are none"
	}
	slices.SortFunc(semantic, func(a, b *semver.Version) int { return b.Compare(a) })
	names := make([]string, 0, len(versions))
	for _, v := range semantic {
		names = append(names, v.Original())
	}
	return words.List(append(names, others...))
}
