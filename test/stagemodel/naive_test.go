package stagemodel

import (
	"fmt"
	"slices"
	"time"
)

// naive is the smallest System that keeps the laws. With a fault it breaks one of them.
type naive struct {
	fault      string
	clock, now time.Duration
	step       int
	head       Version
	shut       bool
	bound      bool
	strategy   Strategy
	fleet      [Clusters]naiveCluster
	published  [Clusters]Cluster
	record     naiveRecord
}

type naiveCluster struct {
	in, silent, arrived bool
	stage               int
	says                Version
	health              Health
	heard               int
}

// naiveRecord is what the state branch remembers.
type naiveRecord struct {
	run                                         string
	phase                                       Phase
	base, target                                Version
	strategy                                    Strategy
	free, stopped, kept, bypassed, returned     bool
	bound                                       bool // when it was written
	stages                                      [Stages + 1]Phase
	finished, had, before, after                [Stages + 1]bool
	skipped, forgiven, unsound, wasGood, wasBad [Clusters]bool
	shows                                       [Clusters]Version
	released                                    [Clusters]int // step
	releasedAt, goodSince, badSince             [Clusters]time.Duration
	moved                                       time.Duration
}

func newNaive(s Setup, fault string) *naive {
	n := &naive{fault: fault, head: s.Version, bound: true, strategy: s.Strategy}
	shares := Shares(s.Version, s.In)
	for c := range n.fleet {
		n.fleet[c] = naiveCluster{in: s.In[c], stage: s.Stage[c], says: s.Version, health: Healthy}
		if s.In[c] {
			n.published[c] = Cluster{Objects: [2]Version{s.Version, s.Version}, Replicas: shares[c]}
		}
		n.record.shows[c] = n.published[c].Objects[0]
	}
	n.record.base, n.record.target, n.record.strategy, n.record.bound = s.Version, s.Version, s.Strategy, true
	return n
}

// Step implements System.
func (n *naive) Step(e Event) Observation {
	n.happen(e)
	before := n.record
	r := &n.record
	if e.Kind == Unreadable && n.fault != "releases what cannot be read" {
		return n.observe([Clusters]Cluster{}, false)
	}
	switch {
	case e.Kind == Lost:
		n.adopt()
	case r.phase == Finishing, r.phase == Returning && n.head == r.base:
		r.returned, r.free = r.phase == Returning, r.free || r.phase == Returning
		r.phase, r.base, r.target, r.kept = Done, n.versionDone(), n.versionDone(), false
	case r.phase == Returning:
		r.phase = Stopped
	}
	n.turn()
	n.command(e)
	n.look(e)
	wanted := n.decide()
	r.bound = n.bound
	if e.Half {
		n.record = before
	}
	return n.observe(wanted, e.Half)
}

func (n *naive) versionDone() Version {
	if n.record.phase == Returning {
		return n.record.base
	}
	return n.record.target
}

func (n *naive) happen(e Event) {
	n.clock += e.After
	n.now = max(n.now, n.clock)
	n.step++
	c := &n.fleet[e.Cluster]
	for i := range n.fleet {
		n.fleet[i].arrived = false
	}
	switch e.Kind {
	case Commit:
		n.head = e.Version
	case Reports:
		c.says, c.health, c.heard = e.Version, e.Health, n.step
	case Silent, Speaks:
		c.silent = e.Kind == Silent
	case Leaves:
		c.in = false
	case Joins:
		c.in, c.silent, c.arrived, c.stage = true, false, true, e.Stage
	case Relabelled:
		c.stage = e.Stage
	case Closes, Opens:
		n.shut = e.Kind == Closes
	case Edited:
		n.strategy = e.Strategy
		if n.bound && !n.record.free {
			n.record.strategy = e.Strategy
		}
	case Bound, Unbound:
		n.bound = e.Kind == Bound
		if e.Version != None {
			n.head = e.Version
		}
	default:
	}
}

// adopt makes a record of what is published.
func (n *naive) adopt() {
	base := n.head
	for c, p := range n.published {
		if n.fleet[c].in && p.Objects[0] != n.head && p.Objects[0] != None {
			base = p.Objects[0]
		}
	}
	n.record = naiveRecord{base: n.head, target: n.head, strategy: n.strategy}
	if base != n.head {
		n.record.base = base
		n.begin(base)
		n.record.had = [Stages + 1]bool{}
	}
	if n.fault == "releases to all after lost state" {
		n.record.bypassed = true
	}
}

// turn begins a run where one is due.
func (n *naive) turn() {
	r := &n.record
	switch {
	case n.head == r.target:
	case r.phase == Done:
		n.begin(r.target)
	case n.head == r.base:
		r.kept, r.phase = true, Returning
	case !r.strategy.Wait:
		n.begin(r.base)
	}
}

func (n *naive) begin(base Version) {
	old := n.record
	n.record = naiveRecord{
		base: base, target: n.head, run: fmt.Sprintf("v%d-v%d", base, n.head), phase: Waiting, strategy: n.strategy, moved: n.now,
		shows: old.shows, released: old.released, releasedAt: old.releasedAt, free: !n.bound && !old.bound, bound: old.bound,
	}
	if n.fault == "approvals outlive a restart" {
		n.record.before, n.record.after = old.before, old.after
	}
	for s := range Stages + 1 {
		n.record.stages[s] = Waiting
		n.record.had[s] = len(n.of(s)) > 0 && !slices.ContainsFunc(n.of(s), func(c int) bool { return n.published[c].Objects[0] != n.head })
	}
}

func (n *naive) command(e Event) {
	r := &n.record
	isOther := e.Run != r.run && n.fault != "takes an approval of another run"
	if e.Kind < Approve || e.Kind > Bypass || isOther || r.phase == Done {
		return
	}
	switch e.Kind {
	case Approve:
		r.before[e.Stage] = r.before[e.Stage] || n.current() == e.Stage && r.stages[e.Stage] == Waiting
		isSoaking := r.stages[e.Stage] == Soaking || r.stages[e.Stage] == Approving || n.fault == "approves before the soak"
		r.after[e.Stage] = r.after[e.Stage] || isSoaking
	case Stop:
		r.stopped = n.fault != "ignores stop"
	case Resume:
		if r.phase != Stopped {
			return
		}
		r.stopped, r.phase = false, Updating
		for c := range r.forgiven {
			r.forgiven[c] = n.isOut(c) && !r.wasGood[c]
		}
		if r.kept {
			old := *r
			n.begin(r.base)
			if n.head == old.target {
				r.free, r.strategy = old.free, old.strategy
			}
		}
	case Skip:
		r.skipped[e.Cluster] = true
	case Return:
		if !r.kept {
			r.kept, r.phase = true, Returning
		}
	case Bypass:
		r.bypassed, r.kept, r.stopped = true, false, false
	default:
	}
}

func (n *naive) current() int {
	s := 0
	for s < Stages && n.record.finished[s] {
		s++
	}
	return s
}

// look notes evidence, and when it came.
func (n *naive) look(Event) {
	r := &n.record
	for c := range n.fleet {
		x := &n.fleet[c]
		n.note(c)
		isEvident := r.shows[c] == r.target && (x.says == r.target && x.heard > r.released[c] || n.fault == "counts old health")
		isGood, isBad := isEvident && x.health == Healthy, isEvident && x.health == Failing
		if isGood && !r.wasGood[c] && (n.fault != "does not begin the soak again" || r.goodSince[c] == 0) {
			r.goodSince[c] = n.now
		}
		if isBad && !r.wasBad[c] {
			r.badSince[c] = n.now
		}
		r.wasGood[c], r.wasBad[c] = isGood, isBad
		r.forgiven[c] = r.forgiven[c] && !isGood
	}
}

// note remembers since when a cluster shows what it shows.
func (n *naive) note(c int) {
	if r, shows := &n.record, n.published[c].Objects[0]; r.shows[c] != shows {
		r.shows[c], r.released[c], r.releasedAt[c] = shows, n.step, n.now
	}
}

func (n *naive) of(s int) (all []int) {
	for c := range n.fleet {
		if n.fleet[c].in && n.fleet[c].stage == s {
			all = append(all, c)
		}
	}
	return all
}

func (n *naive) isOut(c int) bool { return n.published[c].Objects[0] == n.record.target }

func (n *naive) failedAt(c int) (time.Duration, bool) {
	r := &n.record
	at := r.releasedAt[c] + r.strategy.Deadline
	if !n.isOut(c) || r.wasGood[c] {
		return 0, false
	}
	if r.wasBad[c] {
		at = min(at, r.badSince[c]+r.strategy.Settle)
	}
	return at, at <= n.now
}

// over reports that a stage is over, and the phase that it is in otherwise.
func (n *naive) over(s int) (bool, Phase) {
	r, stage := &n.record, n.record.strategy.stage(s)
	all := n.of(s)
	good, skipped, waited, out, failures, last := 0, 0, 0, 0, 0, time.Duration(0)
	ended := true
	for _, c := range all {
		at, failed := n.failedAt(c)
		switch {
		case r.skipped[c]:
			skipped++
			continue
		case n.fleet[c].silent && n.fault != "waits for who is silent":
			continue
		case r.wasGood[c] && !n.fleet[c].silent:
			good, last = good+1, max(last, r.goodSince[c])
		case failed:
			last = max(last, at)
			if !r.forgiven[c] && !r.unsound[c] {
				failures++
			}
		default:
			ended = false
		}
		waited++
		if n.isOut(c) {
			out++
		}
	}
	switch {
	case len(all) == 0, waited == 0 && skipped > 0, r.had[s] && out == waited:
		return true, Done
	case out == 0:
		return false, Waiting
	case !ended || good+skipped == 0 || failures > stage.MaxFailures && n.fault != "goes on after failures":
		return false, Updating
	case n.now < last+stage.Soak+n.longer() && n.fault != "does not soak":
		return false, Soaking
	case stage.After && !r.after[s]:
		return false, Approving
	}
	return true, Done
}

func (n *naive) longer() time.Duration {
	if n.fault == "soaks for longer" {
		return 10 * time.Minute
	}
	return 0
}

// fails reports that failures stop the run.
func (n *naive) fails() bool {
	r := &n.record
	for s := range Stages + 1 {
		failures, good, waiting := 0, 0, 0
		for _, c := range n.of(s) {
			_, failed := n.failedAt(c)
			if r.wasGood[c] {
				good++
			} else if failed && !r.forgiven[c] && !r.skipped[c] && (!r.unsound[c] || n.fault == "counts who failed before") && !n.fleet[c].silent {
				failures++
			}
			if !r.skipped[c] && !failed && !n.fleet[c].silent {
				waiting++
			}
		}
		if failures > r.strategy.stage(s).MaxFailures {
			return true
		}
		if len(n.of(s)) > 0 && good+waiting == 0 && s == n.current() && !r.finished[s] && n.now >= r.moved+r.strategy.Deadline {
			return true
		}
	}
	return false
}

// decide returns what each cluster is to hold.
func (n *naive) decide() [Clusters]Cluster {
	r := &n.record
	var shows [Clusters]Version
	for c := range shows {
		shows[c] = n.published[c].Objects[0]
		if n.fleet[c].arrived {
			n.arrive(c, &shows)
		}
	}
	isStopped := false
	switch {
	case n.fault == "tries again what was kept back" && r.kept && r.phase == Stopped && n.now > r.moved+time.Hour:
		r.kept, r.phase = false, Waiting
	case n.fault == "goes on when what failed recovers" && r.phase == Stopped && !r.kept && !r.stopped && !n.fails():
		r.phase = Waiting
	}
	if r.phase != Done && !r.bypassed && !r.kept {
		n.finish()
		isStopped = r.stopped || r.phase == Stopped || n.fault != "goes on after failures" && n.fails()
		if isStopped && !r.stopped && r.phase != Stopped && r.strategy.Return {
			r.kept, r.phase = true, Returning
		}
	}
	switch {
	case r.kept && r.phase != Done:
		if n.fault != "return waits for soak" || n.current() > 0 {
			n.all(r.base, &shows)
		}
		if r.phase != Returning {
			r.phase = Stopped
		}
	case r.bypassed && r.phase != Done:
		n.all(r.target, &shows)
		r.phase = Finishing
	case isStopped:
		r.phase = Stopped
	default:
		n.advance(&shows)
	}
	return n.wanted(shows)
}

func (n *naive) all(v Version, shows *[Clusters]Version) {
	for c := range n.fleet {
		isSkipped := n.record.skipped[c] && v == n.record.target
		if x := n.fleet[c]; x.in && !x.silent && !isSkipped {
			shows[c] = v
		}
	}
}

// arrive is what a cluster shows that joined.
func (n *naive) arrive(c int, shows *[Clusters]Version) {
	r, s := &n.record, n.fleet[c].stage
	isReleased := r.finished[s] || r.phase == Done
	for _, d := range n.of(s) {
		isReleased = isReleased || d != c && !n.fleet[d].arrived && n.isOut(d)
	}
	if isReleased && !r.kept && r.phase != Stopped && !r.stopped {
		shows[c], r.unsound[c] = r.target, true
	} else if shows[c] != r.target || r.kept {
		shows[c] = r.base
	}
}

// finish notes which stages are over, in their order, and the phase of the first that is not.
func (n *naive) finish() {
	r := &n.record
	for s := 0; s <= Stages && !r.free; s++ {
		if r.finished[s] {
			continue
		}
		if r.finished[s], r.stages[s] = n.over(s); !r.finished[s] && n.fault != "does not wait for stages" {
			return
		}
		r.moved = n.now
	}
}

// advance goes through the stages.
func (n *naive) advance(shows *[Clusters]Version) {
	r := &n.record
	if r.phase == Done || r.free {
		for s := range Stages + 1 {
			stage := r.strategy.stage(s)
			if r.free {
				stage = Stage{Width: Clusters}
			}
			n.release(s, stage, shows)
		}
		if r.free && r.phase != Done && !slices.ContainsFunc(n.waiting(shows), func(int) bool { return true }) {
			r.phase = Finishing
		}
		return
	}
	for s := range Stages + 1 {
		if r.finished[s] {
			n.release(s, r.strategy.stage(s), shows)
			continue
		}
		if stage := r.strategy.stage(s); !stage.Before || r.before[s] {
			n.release(s, stage, shows)
		}
		if r.stages[s] == Waiting && slices.ContainsFunc(n.of(s), func(c int) bool { return shows[c] == r.target }) {
			r.stages[s] = Updating
		}
		r.phase = r.stages[s]
		if n.fault != "does not wait for stages" {
			return
		}
	}
	r.phase = Finishing
}

// waiting lists the clusters that are to be released.
func (n *naive) waiting(shows *[Clusters]Version) (all []int) {
	for s := range Stages + 1 {
		for _, c := range n.of(s) {
			isLate := n.fleet[c].silent && n.fault != "releases while late"
			if shows[c] != n.record.target && !isLate && !n.record.skipped[c] {
				all = append(all, c)
			}
		}
	}
	return all
}

// release releases clusters of a stage as far as its width goes; those that are healthy go first.
func (n *naive) release(s int, stage Stage, shows *[Clusters]Version) {
	r := &n.record
	if n.shut && !n.record.returned && n.fault != "releases in a closed window" {
		return
	}
	out := 0
	for _, c := range n.of(s) {
		_, failed := n.failedAt(c)
		if shows[c] == r.target && (!r.wasGood[c] || !n.isOut(c)) && !failed && !n.fleet[c].silent && !r.skipped[c] {
			out++
		}
	}
	width := stage.width(len(n.of(s)))
	if n.fault == "releases beyond width" {
		width++
	}
	waiting := slices.DeleteFunc(n.waiting(shows), func(c int) bool { return n.fleet[c].stage != s })
	slices.SortStableFunc(waiting, func(a, b int) int { return n.ill(a) - n.ill(b) })
	if n.fault == "releases the last first" {
		slices.Reverse(waiting)
	}
	for _, c := range waiting {
		if out < width {
			shows[c], out = r.target, out+1
			r.unsound[c], r.moved = n.ill(c) == 1 || n.fleet[c].arrived, n.now
		}
	}
}

func (n *naive) ill(c int) int {
	if x := n.fleet[c]; x.says == n.published[c].Objects[0] && x.health == Healthy {
		return 0
	}
	return 1
}

// wanted joins versions and replicas.
func (n *naive) wanted(shows [Clusters]Version) (all [Clusters]Cluster) {
	r := &n.record
	var in [Clusters]bool
	for c := range in {
		in[c] = n.fleet[c].in
	}
	older, newer := Shares(r.base, in), Shares(r.target, in)
	for c := range all {
		all[c] = n.published[c]
		all[c].Commits = 0
		isSilent := n.fleet[c].silent && n.fault != "releases while late"
		if !in[c] || isSilent {
			continue
		}
		all[c].Objects = [2]Version{shows[c], shows[c]}
		all[c].Replicas = older[c]
		if shows[c] == r.target {
			all[c].Replicas = max(older[c], newer[c])
		}
		switch {
		case r.kept || r.phase == Returning:
			all[c].Replicas = older[c]
		case r.phase == Done || r.phase == Finishing, n.fault == "total of replicas dips" && shows[c] == r.target:
			all[c].Replicas = newer[c]
		}
		if n.fault == "failover waits while stopped" && r.phase == Stopped {
			all[c].Replicas = n.published[c].Replicas
		}
		if n.fault == "mixes versions" && all[c].Replicas > 4 {
			all[c].Objects[1] = n.published[c].Objects[1]
		}
	}
	return all
}

// observe publishes what is wanted, or half of it, and shows what there is then.
func (n *naive) observe(wanted [Clusters]Cluster, isHalf bool) Observation {
	var changed []int
	for c := range wanted {
		n.published[c].Commits = 0
		if wanted[c] != n.published[c] && wanted != [Clusters]Cluster{} {
			changed = append(changed, c)
		}
	}
	if isHalf {
		changed = changed[:len(changed)/2]
	}
	for _, c := range changed {
		n.published[c] = wanted[c]
		n.published[c].Commits = 1
		if !isHalf {
			n.note(c)
		}
		if n.fault == "two commits for a cluster that returns" && n.record.phase == Returning {
			n.published[c].Commits = 2
		}
	}
	r := &n.record
	o := Observation{Run: r.run, Phase: r.phase, Base: r.base, Target: r.target, Stages: r.stages, Clusters: n.published}
	for c := range o.Clusters {
		_, failed := n.failedAt(c)
		switch {
		case n.fleet[c].silent:
			o.Clusters[c].State = Late
		case n.isOut(c) && r.wasGood[c]:
			o.Clusters[c].State = Well
		case n.isOut(c) && failed:
			o.Clusters[c].State = Failed
		case n.isOut(c):
			o.Clusters[c].State = Released
		default:
			o.Clusters[c].State = Pending
		}
		n.published[c].State = 0
	}
	return o
}
