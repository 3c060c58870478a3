package publish

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/summary"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/words"
)

// message is the commit message of branches of a plan, which says as much of what was allowed.
func message(p *plan.Plan, base Base, version string, allowed plan.Released) string {
	r := p.Revision
	at := ""
	if p.Basis.Scheduled {
		at = p.Basis.Time.UTC().Format(time.RFC3339)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", r.Commit[:min(12, len(r.Commit))], subject(r.Subject))
	if moved := summary.ByFailover(p); len(moved) > 0 {
		b.WriteString(moves("Failover", moved) + "\n")
	}
	if moved := summary.ByDecision(p); len(moved) > 0 {
		b.WriteString(moves("Moves", moved) + "\n")
	}
	if moved := summary.ByDescheduler(p); len(moved) > 0 {
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
		{TrailerReleasedBy, strings.Join(allowed.Approvers(), "\n"+TrailerReleasedBy+": ")},
		{TrailerBypassed, strings.Join(bypassed(p), "\n"+TrailerBypassed+": ")},
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

// bypassed says of what goes to every cluster at once, although it goes out in stages, who had it do so.
func bypassed(p *plan.Plan) (all []string) {
	for i := range p.Rollouts {
		r := p.Rollouts[i].After
		if r == nil || r.Status.Phase != rollouts.Finishing || r.Status.Reason != rollouts.Bypassed {
			continue
		}
		by := ""
		for _, c := range slices.Backward(r.Status.Commands) {
			if c.Verb == rollouts.Bypass && !c.Refused {
				by = fmt.Sprintf(" by %s (%s)", cmp.Or(c.By, "who says to be "+c.Says), c.Ref)
				break
			}
		}
		all = append(all, words.Printable(r.Unit.String()+by))
	}
	return all
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
		from string
		to   files.ID
	}
	at := func(u *git.Update) step { return step{fmt.Sprint(u.Parents()), u.Tree.ID()} }
	named := map[step]*strings.Builder{}
	said := map[step]map[string]bool{}
	for _, w := range c.written {
		s := at(&c.updates[w.update])
		if named[s] == nil {
			named[s], said[s] = &strings.Builder{}, map[string]bool{}
			named[s].WriteString(c.message)
		}
		for _, line := range w.said {
			if !said[s][line] {
				said[s][line] = true
				named[s].WriteString(line + "\n")
			}
		}
	}
	for _, w := range c.written {
		u := &c.updates[w.update]
		u.Message = named[at(u)].String()
	}
}

// The words of TrailerReleased.
const (
	heldWord    = "of held clusters"
	missingWord = "of what is missing"
)

// released says which removals were allowed, as ReadReleased reads it; empty for none.
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

// ReadReleased reads of a message which removals were allowed, of any cluster.
func ReadReleased(message string) plan.Released {
	said := Trailer(message, TrailerReleased)
	return plan.Released{
		Held:    strings.Contains(said, heldWord) || len(sources.Trailers(message, TrailerReleasedIn)) > 0,
		Missing: strings.Contains(said, missingWord),
	}
}

// Releases reports a message by which what was held of a cluster is allowed.
func Releases(message, cluster string) bool {
	return strings.Contains(Trailer(message, TrailerReleased), heldWord) || slices.Contains(sources.Trailers(message, TrailerReleasedIn), cluster)
}

// Trailer returns the value of a trailer of a commit message; "" where there is
// none.
func Trailer(message, key string) string {
	for _, value := range sources.Trailers(message, key) {
		return value
	}
	return ""
}
