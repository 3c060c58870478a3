package publish

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// message is the commit message of the branches of a plan of which as much was allowed.
func message(p *plan.Plan, base Base, version string, allowed plan.Released) string {
	r := p.Revision
	at := ""
	if p.Basis.Scheduled {
		at = p.Basis.Time.UTC().Format(time.RFC3339)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", r.Commit[:min(12, len(r.Commit))], subject(r.Subject))
	if moved := p.Moved(); len(moved) > 0 {
		b.WriteString(moves("Failover", moved) + "\n")
	}
	if moved := p.Descheduled(); len(moved) > 0 {
		b.WriteString(moves("Descheduled", moved) + "\n")
	}
	for _, t := range [][2]string{
		{TrailerRepository, r.Repo},
		{TrailerCommit, r.Commit},
		{TrailerPath, r.Path},
		{TrailerFleet, p.Basis.FleetDigest},
		{TrailerState, base.State.Commit},
		{TrailerAhead, strings.Join(base.Ahead, " ")},
		{TrailerReleased, released(allowed)},
		{TrailerRandomKey, p.Basis.RandomKey},
		{TrailerTime, at},
		{TrailerVersion, version},
	} {
		if t[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", t[0], t[1])
		}
	}
	return b.String()
}

// moves lists what moves, a line each, below a title.
func moves(title string, said []string) string {
	const most = 20
	var b strings.Builder
	b.WriteString(title + ":\n")
	for _, s := range said[:min(most, len(said))] {
		fmt.Fprintf(&b, "- %s\n", s)
	}
	if more := len(said) - most; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	return b.String()
}

// subject shortens the subject of a source commit: it is repeated on every branch.
func subject(s string) string {
	const most = 200 // bytes
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// nameClusters has commits say which clusters they are for.
func (c *changer) nameClusters() {
	type step struct {
		from, to files.ID
		released bool
	}
	at := func(w *written) step {
		u := &c.updates[w.update]
		return step{u.Old, u.Tree.ID(), w.released}
	}
	named := map[step]*strings.Builder{}
	said := map[step]map[string]bool{}
	for i := range c.written {
		w := &c.written[i]
		s := at(w)
		if named[s] == nil {
			named[s], said[s] = &strings.Builder{}, map[string]bool{}
			if s.released {
				named[s].WriteString(c.releasing)
			} else {
				named[s].WriteString(c.message)
			}
		}
		for _, line := range w.said {
			if !said[s][line] {
				said[s][line] = true
				named[s].WriteString(line + "\n")
			}
		}
	}
	for i := range c.written {
		w := &c.written[i]
		c.updates[w.update].Message = named[at(w)].String()
	}
}

// The words of TrailerReleased.
const (
	heldWord    = "of held clusters"
	missingWord = "of what is missing"
)

// released says which removals were allowed, as ParseReleased reads it; empty for none.
func released(r plan.Released) string {
	var words []string
	if r.Held {
		words = append(words, heldWord)
	}
	if r.Missing {
		words = append(words, missingWord)
	}
	return strings.Join(words, ", ")
}

// Releases reports a message that says that removals of a cluster were held and are allowed.
func Releases(message, cluster string) bool {
	return ParseReleased(Trailer(message, TrailerReleased)).Held || slices.Contains(sources.Trailers(message, TrailerReleasedIn), cluster)
}

// ParseReleased reads TrailerReleased.
func ParseReleased(s string) plan.Released {
	return plan.Released{Held: strings.Contains(s, heldWord), Missing: strings.Contains(s, missingWord)}
}

// Trailer returns the value of a trailer of a commit message; "" where there is
// none.
func Trailer(message, key string) string {
	for _, value := range sources.Trailers(message, key) {
		return value
	}
	return ""
}
