package preview

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/sources/words"
)

// Title names what a change is about: the first object, and how many more there are.
func (c *Change) Title() string {
	title := c.Objects[0].String()
	if n := len(c.Objects) - 1; n > 0 {
		title += fmt.Sprintf(" and %d more", n)
	}
	return title
}

// Does is the verb for as many objects as the change is about.
func (c *Change) Does() string { return c.Verb.Of(len(c.Objects)) }

// Of is what so many objects do: "1 moves", "2 move", "1 is held".
func (v Verb) Of(n int) string {
	switch {
	case v == Held || v == Frozen:
		if n == 1 {
			return "is " + string(v)
		}
		return "are " + string(v)
	case n == 1:
		return string(v)
	}
	return strings.TrimSuffix(string(v), "s")
}

// String sums up in one line, as "2 objects in 3 of 10 clusters: 1 moves, 1 changes".
func (t *Totals) String() string {
	var parts []string
	verbs := Verbs()
	for i := range verbs {
		v := verbs[len(verbs)-1-i]
		if n := t.Verbs[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v.Of(n)))
		}
	}
	line := fmt.Sprintf("%s in %d of %s", words.Count(t.Objects, "object"), t.Clusters, words.Count(t.Of, "cluster"))
	if len(parts) > 0 {
		line += ": " + strings.Join(parts, ", ")
	}
	return line
}

// Manifests counts over all clusters, as "3 added, 1 removed".
func (t *Totals) Manifests() string {
	var parts []string
	for _, n := range []struct {
		n    int
		verb string
	}{{t.Added, "added"}, {t.Changed, "changed"}, {t.Removed, "removed"}} {
		if n.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.n, n.verb))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ")
}

// String prints a span as "2 -> 3", and as "2" if nothing changes.
func (s Span) String() string {
	if s.Before == s.After {
		return strconv.Itoa(s.Before)
	}
	return fmt.Sprintf("%d -> %d", s.Before, s.After)
}
