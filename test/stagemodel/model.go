package stagemodel

import (
	"slices"
	"time"
)

// Model follows a system event by event, and knows of it only what was observed.
type Model struct {
	now      time.Duration // since the start: what passed while the clock went back counts as nothing
	lag      time.Duration // by how much the clock is behind the latest time that it showed: nothing is sure meanwhile
	step     int
	head     Version
	shut     bool // a window is closed
	bound    bool
	wasBound bool // when the record was written
	strategy Strategy
	members  [Clusters]member
	run      run
	held     *run // the run of the record, while half a push of the next one has arrived
	last     Observation
	isWhole  bool // the last plan read everything, and all of its push arrived
	unsure   int  // what was said until this step may count for nothing, for the record was lost
}

// member is what is known of a cluster.
type member struct {
	in, silent bool
	stage      int
	says       Version
	health     Health
	since      time.Duration // it says this since then
	heard      int           // step in which it said it last
	steady     time.Duration // it was healthy since then, with nothing worse heard of the target
	isSteady   bool
	broken     time.Duration // it fails with what it shows since then, whatever it said of something else in between
	isBroken   bool
	failed     time.Duration // it was recorded as failed then
	shown      time.Duration // it shows what it shows since then
	shownStep  int
	sound, ill bool // before it was released it was healthy with what it showed, or it had failed
	arrived    bool // it joined in this step
	joined     bool // it joined a stage of this run that was released
	proved     bool // it was healthy with what it shows
	// unrecorded reports that no record says when it came to what it shows: what it says may be old, and count.
	unrecorded bool
	recorded   Version // that it showed after the last plan whose record was written
}

// run is what is known of a run apart from its evidence. What may be and what is sure are kept apart.
type run struct {
	base, target    Version
	loose, strict   Strategy // the least and the most that its texts asked for
	free            bool     // it began while the unit was not bound
	finished        [Stages + 1]bool
	soaked          [Stages + 1]bool // its time may be over
	had             [Stages + 1]bool // nothing changes in the stage
	before, after   [Stages + 1]bool // approvals that may count
	surelyBefore    [Stages + 1]bool // and those that surely do
	surelyAfter     [Stages + 1]bool
	over            [Stages + 1]bool          // the stage is surely over
	touched         [Stages + 1]time.Duration // something happened to the stage last
	entered         [Stages + 2]time.Duration // a stage began at the earliest
	skipped         [Clusters]bool            // they may be skipped; surelySkipped are
	surelySkipped   [Clusters]bool
	forgiven        [Clusters]bool // their failures may be; surelyForgiven are
	surelyForgiven  [Clusters]bool
	mayStop, stop   bool // by a person
	kept, bypassed  bool
	returned        bool // it is over, and base is there again
	commanded, lost bool // in this step
	again           bool // it began again in this step, for a person said so
}

// Start returns a model of what a setup describes.
func Start(s Setup) *Model {
	m := &Model{head: s.Version, bound: true, wasBound: true, strategy: s.Strategy, isWhole: true}
	shares := Shares(s.Version, s.In)
	for c := range m.members {
		m.members[c] = member{in: s.In[c], stage: s.Stage[c], says: s.Version, health: Healthy, shownStep: -1}
		if s.In[c] {
			m.last.Clusters[c] = Cluster{Objects: [2]Version{s.Version, s.Version}, Replicas: shares[c]}
		}
	}
	m.last.Base, m.last.Target = s.Version, s.Version
	m.run = done(s.Version, s.Version, s.Strategy)
	return m
}

// done is a run that is over.
func done(base, target Version, s Strategy) run {
	return run{base: base, target: target, loose: s, strict: s, finished: [Stages + 1]bool{true, true, true, true}}
}

// happen takes in what an event says of the world.
func (m *Model) happen(e Event) {
	m.now += max(e.After, 0)
	m.step++
	m.run.commanded, m.run.again, m.run.lost = false, false, e.Kind == Lost
	if m.lag = max(m.lag-e.After, 0); e.After < 0 {
		m.touch()
	}
	for c := range m.members {
		m.members[c].arrived = false
	}
	c := &m.members[e.Cluster]
	switch e.Kind {
	case Commit:
		m.head = e.Version
	case Reports:
		m.reported(&e)
	case Silent, Speaks:
		c.silent = e.Kind == Silent
	case Leaves:
		c.in = false
	case Joins:
		c.joined = m.last.open() && m.released(e.Stage)
		c.in, c.silent, c.arrived, c.stage = true, false, true, e.Stage
		c.unrecorded, c.ill = true, false // the record may know nothing of it
		m.run.surelyForgiven[e.Cluster], m.run.surelySkipped[e.Cluster] = false, false
	case Relabelled:
		m.touch(c.stage)
		c.stage = e.Stage
	case Closes, Opens:
		if m.shut = e.Kind == Closes; !m.shut { // only now a stage may begin, and its time with it
			m.touch()
		}
	case Edited:
		m.strategy = e.Strategy
		m.run.loose, m.run.strict = bounds(m.run.loose, m.run.strict, e.Strategy)
	case Bound, Unbound:
		m.bound = e.Kind == Bound
		m.run.loose, m.run.strict = bounds(m.run.loose, m.run.strict, m.strategy)
		if e.Version != None {
			m.head = e.Version
		}
	default:
	}
	switch e.Kind {
	case Silent, Speaks, Leaves, Joins, Relabelled:
		m.touch(c.stage)
	case Lost, Unreadable, Edited, Bound, Unbound:
		m.touch()
	default:
	}
	if e.Kind == Lost {
		m.unsure = m.step
		for c := range m.members {
			m.members[c].ill, m.members[c].unrecorded = false, true
		}
	}
	if e.Half {
		m.unsure = m.step + 1
	}
	if m.step <= m.unsure {
		m.touch()
	}
}

// reported takes in what a cluster says.
func (m *Model) reported(e *Event) {
	c := &m.members[e.Cluster]
	if c.says != e.Version || c.health != e.Health || c.heard <= c.shownStep {
		c.since = m.now
		m.touch(c.stage)
	}
	if e.Version == m.last.shows(e.Cluster) {
		isNews := c.heard <= c.shownStep && !c.unrecorded
		if isBroken := e.Health == Failing; isBroken != c.isBroken || isNews {
			c.broken, c.isBroken = m.now, isBroken
		}
	}
	c.says, c.health, c.heard = e.Version, e.Health, m.step
}

// touch notes that something happened to stages, or to all of them, so that nothing of them is sure for a while.
func (m *Model) touch(stages ...int) {
	for s := range m.run.touched {
		if len(stages) == 0 || slices.Contains(stages, s) {
			m.run.touched[s] = m.now + m.lag
		}
	}
}

// bounds widens the least and the most that texts ask for by another text.
func bounds(least, most, s Strategy) (Strategy, Strategy) {
	for i, t := range s.Stages {
		l, h := &least.Stages[i], &most.Stages[i]
		l.Soak, h.Soak = min(l.Soak, t.Soak), max(h.Soak, t.Soak)
		l.Width, h.Width = max(l.Width, t.Width), min(h.Width, t.Width)
		if l.Percent || t.Percent {
			l.Width, h.Width, l.Percent, h.Percent = 100, 1, true, false
		}
		l.Before, h.Before = l.Before && t.Before, h.Before || t.Before
		l.After, h.After = l.After && t.After, h.After || t.After
		l.MaxFailures, h.MaxFailures = min(l.MaxFailures, t.MaxFailures), max(h.MaxFailures, t.MaxFailures)
	}
	least.Settle, most.Settle = min(least.Settle, s.Settle), max(most.Settle, s.Settle)
	least.Deadline, most.Deadline = min(least.Deadline, s.Deadline), max(most.Deadline, s.Deadline)
	least.Return, most.Return = least.Return || s.Return, most.Return && s.Return
	least.Wait, most.Wait = least.Wait || s.Wait, most.Wait && s.Wait
	return least, most
}

// begin begins a run.
func (m *Model) begin(base, target Version, free bool) {
	old := m.run
	m.run = run{base: base, target: target, loose: m.strategy, strict: m.strategy, free: free, lost: old.lost, commanded: old.commanded}
	m.run.entered[0] = m.now
	if !m.bound { // by the text that was recorded last
		m.run.loose, m.run.strict = bounds(old.loose, old.strict, m.strategy)
	}
	switch { // what was ordered of a run may be read again, but for what would release everything
	case old.lost && old.target == target:
		m.run.before, m.run.after, m.run.skipped, m.run.mayStop = old.before, old.after, old.skipped, old.mayStop
		m.run.loose, m.run.strict = bounds(old.loose, old.strict, m.strategy)
	case !old.lost:
		for s := range m.run.had {
			m.run.had[s] = len(m.of(s)) > 0 && !slices.ContainsFunc(m.of(s), func(c int) bool { return m.last.shows(c) != target })
		}
	}
	for c := range m.members {
		m.members[c].ill, m.members[c].joined = false, false
	}
	m.touch()
}

// of lists the members of a stage.
func (m *Model) of(s int) (all []int) {
	for c := range m.members {
		if m.members[c].in && m.members[c].stage == s {
			all = append(all, c)
		}
	}
	return all
}

// shows is the version that a cluster shows.
func (o *Observation) shows(c int) Version { return o.Clusters[c].Objects[0] }

// stage is a stage of a strategy. What no stage selects is one, too.
func (s *Strategy) stage(i int) Stage {
	if i == Stages {
		return Stage{Width: 1}
	}
	return s.Stages[i]
}

// width is how many of so many clusters may be out at once.
func (s Stage) width(of int) int {
	if s.Percent {
		return max(s.Width*of/100, 1)
	}
	return s.Width
}

// evident reports that a cluster speaks of the target, and has spoken since it was released.
func (m *Model) evident(c int) bool {
	x := &m.members[c]
	return x.says == m.run.target && m.last.shows(c) == m.run.target && (x.heard > x.shownStep || x.unrecorded)
}

// good reports that a cluster is healthy with the target.
func (m *Model) good(c int) bool { return m.evident(c) && m.members[c].health == Healthy }

// answers reports that a cluster is surely healthy with the target, and not silent.
func (m *Model) answers(c int) bool { return m.surelyGood(c) && !m.members[c].silent }

func (m *Model) surelyGood(c int) bool {
	x := &m.members[c]
	return m.good(c) && x.heard > x.shownStep && x.heard > m.unsure
}

// failedAt is since when a cluster counts as failed by a strategy, if what was before a time does not count.
func (m *Model) failedAt(c int, s *Strategy, from time.Duration) (time.Duration, bool) {
	x := &m.members[c]
	late := max(x.shown, from) + s.Deadline
	if from == 0 && x.unrecorded && m.last.Clusters[c].State == Failed { // half of a push may have taken the target away
		return min(late, x.failed), true
	}
	if m.last.shows(c) != m.run.target || m.surelyGood(c) && !x.silent {
		return 0, false
	}
	if m.evident(c) && x.health == Failing {
		since := x.since
		if x.isBroken {
			since = min(since, x.broken)
		}
		late = min(late, max(since, from)+s.Settle)
	}
	if from == 0 && m.last.Clusters[c].State == Failed { // it stays so until it is healthy
		return min(late, x.failed), true
	}
	return late, late <= m.now
}

// mayFinish reports that a stage may be over before this plan.
func (m *Model) mayFinish(s int) bool {
	r, stage := &m.run, m.run.loose.stage(s)
	all := m.of(s)
	waited := slices.DeleteFunc(slices.Clone(all), func(c int) bool { return m.members[c].silent || r.skipped[c] })
	skips := slices.ContainsFunc(all, func(c int) bool { return r.skipped[c] })
	if len(all) == 0 || r.had[s] || len(waited) == 0 && skips {
		return true
	}
	good, failed, last := 0, 0, time.Duration(0)
	for _, c := range waited {
		at, over := m.failedAt(c, &r.loose, 0)
		switch {
		case m.good(c):
			good, last = good+1, max(last, m.members[c].steady)
		case over:
			failed, last = failed+1, max(last, at)
		default:
			return false
		}
	}
	r.soaked[s] = r.soaked[s] && r.strict.stage(s).After || m.now >= last+stage.Soak // and may stay so while somebody is to approve
	tolerated := r.strict.stage(s).MaxFailures
	forgiven := slices.ContainsFunc(waited, func(c int) bool { return r.forgiven[c] || !m.members[c].sound })
	return (good > 0 || skips) && (failed <= tolerated || forgiven) && r.soaked[s] && (!stage.After || r.after[s])
}

// mustFinish reports that a stage is surely over before this plan. Nobody waits for those that are silent.
func (m *Model) mustFinish(s int) bool {
	stage, good, all := m.run.strict.stage(s), 0, m.of(s)
	for _, c := range all {
		switch x := &m.members[c]; {
		case x.silent && m.last.shows(c) != m.run.target: // one that was released may be waited for until its deadline
		case x.silent || m.run.skipped[c] || !m.surelyGood(c) || x.arrived || m.now < x.since+stage.Soak:
			return false
		default:
			good++
		}
	}
	if good == 0 && len(all) > 0 {
		return false
	}
	isAsked := stage.Before && !m.run.surelyBefore[s] // also where all have the target already
	return !isAsked && m.now >= m.run.touched[s]+stage.Soak && (!stage.After || m.run.surelyAfter[s])
}

// current is the last stage that may have begun: the first that is surely not over.
func (r *run) current() int {
	if s := slices.Index(r.finished[:], false); s >= 0 {
		return s
	}
	return Stages
}

// failures counts what has failed in a stage: what may count, and what surely counts.
func (m *Model) failures(s int) (may, sure int) {
	for _, c := range m.of(s) {
		x := &m.members[c]
		if _, over := m.failedAt(c, &m.run.loose, 0); over && !m.run.surelyForgiven[c] && !m.run.surelySkipped[c] && !x.ill {
			may++
		}
		isReleased := x.shown >= m.run.entered[0] && !x.joined // by this run, in its turn
		isOurs := isReleased && m.run.base != None && !m.run.forgiven[c] && !m.run.skipped[c]
		if _, over := m.failedAt(c, &m.run.strict, m.run.touched[s]); over && isOurs && x.sound && !x.silent && x.heard > m.unsure {
			sure++
		}
	}
	return may, sure
}

// mayStop reports that a run may stop by itself, and mustStop that it has to.
func (m *Model) mayStop() bool {
	for s := range Stages + 1 {
		if may, _ := m.failures(s); may > m.run.loose.stage(s).MaxFailures {
			return true
		}
		isHealthy := func(c int) bool { return m.answers(c) && !m.run.skipped[c] }
		if s <= m.run.current() && m.now >= m.run.entered[s]+m.run.loose.Deadline && !slices.ContainsFunc(m.of(s), isHealthy) {
			return true
		}
	}
	return m.run.mayStop || m.run.kept
}

func (m *Model) mustStop() bool {
	if !m.last.open() {
		return false
	}
	for s := range Stages + 1 {
		if _, sure := m.failures(s); sure > m.run.strict.stage(s).MaxFailures {
			return !m.run.bypassed
		}
	}
	return m.run.stop
}
