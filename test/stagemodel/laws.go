package stagemodel

import "fmt"

// LawError is that an observation breaks a law.
type LawError struct {
	Law string // I1 to I11, or what the table of states asks for
	Why string
}

func (e *LawError) Error() string { return e.Law + ": " + e.Why }

func broken(law, format string, args ...any) error {
	return &LawError{law, fmt.Sprintf(format, args...)}
}

// Observe takes in an event and what was observed after its plan. It returns the first law that is broken.
func (m *Model) Observe(e Event, o Observation) error {
	wasWhole := m.isWhole
	if m.held != nil {
		m.run, m.held = *m.held, nil
	}
	m.happen(e)
	m.isWhole = !e.Half && e.Kind != Unreadable
	isStale := m.command(e)
	if err := m.turn(e, &o); err != nil {
		return err
	}
	m.finish()
	if e.Half && m.held == nil && m.mayStop() { // the plan of which half arrives may have stopped it, for what the cluster no longer has
		m.run.mayStop = true
	}
	for _, law := range []func(Event, *Observation) error{m.whole, m.gains, m.widths, m.replicas, m.backwards} {
		if err := law(e, &o); err != nil {
			return err
		}
	}
	if isStill := isStale || e.Kind == Other || e.Kind == Again; isStill && e.After == 0 && wasWhole && m.isWhole {
		if err := m.still(&o); err != nil {
			return err
		}
	}
	if m.isWhole {
		for _, law := range []func(Event, *Observation) error{m.stops, m.states, m.due} {
			if err := law(e, &o); err != nil {
				return err
			}
		}
	}
	m.remember(&o)
	return nil
}

// open reports that a run is open.
func (o *Observation) open() bool { return o.Phase != Done }

// still holds that nothing happened where nothing was to happen.
func (m *Model) still(o *Observation) error {
	if p := m.last.Phase; p == Finishing || p == Returning || m.run.lost {
		return nil
	}
	if p := m.last.Phase; (p == Stopped || p == Done) && m.last.Target != m.head { // a newer version may have waited for the end
		return nil
	}
	if !m.isStill(o) {
		return broken("I4", "a cluster changes, and nothing happened")
	}
	if o.Run != m.last.Run || o.Phase != m.last.Phase || o.Stages != m.last.Stages {
		return broken("I4", "the run is another one, or goes on, and nothing happened")
	}
	return nil
}

// isStill reports that nothing was published.
func (m *Model) isStill(o *Observation) bool {
	for c, n := range o.Clusters {
		if n.Objects != m.last.Clusters[c].Objects || n.Replicas != m.last.Clusters[c].Replicas {
			return false
		}
	}
	return true
}

// stops holds the run to when it stops, stays so, and returns.
func (m *Model) stops(e Event, o *Observation) error {
	r := &m.run
	must := o.open() && m.mustStop() && m.last.Run == o.Run
	returns := r.kept || m.last.open() && m.head == r.base && !r.lost
	isHeld := o.Phase == Stopped || o.Phase == Returning
	wasStopped := m.last.Phase == Stopped && m.last.Run == o.Run && !r.lost
	switch {
	case must && !returns && !isHeld:
		return broken("stop", "it should have stopped")
	case o.Phase == Stopped && !m.mayStop() && (!wasStopped || r.commanded && e.Kind == Resume):
		return broken("stop", "it stopped, and nothing failed")
	case o.Phase == Returning && !returns && (!m.mayStop() || !r.loose.Return):
		return broken("stop", "it returns, and nobody asked for it")
	case wasStopped && o.open() && !isHeld && !r.commanded:
		return broken("I5", "it went on by itself after a stop")
	}
	if must && !r.mayStop && r.strict.Return && r.base != None || o.Phase == Returning {
		r.kept, returns = true, true
	}
	if returns {
		return m.returned(o)
	}
	return m.bypasses(e, o)
}

// returned holds a return to be whole.
func (m *Model) returned(o *Observation) error {
	for c := range m.members {
		x, isOut := &m.members[c], m.last.shows(c) == m.run.target
		if x.in && !x.silent && !x.arrived && o.shows(c) != m.run.base && (isOut || !m.run.skipped[c]) {
			return broken("I6", "the run returns, and c%d does not", c)
		}
	}
	return nil
}

// bypasses holds a bypass to be whole.
func (m *Model) bypasses(e Event, o *Observation) error {
	for c := range m.members {
		x := &m.members[c]
		if m.run.bypassed && e.Kind == Bypass && m.run.commanded && x.in && !x.silent && !m.run.skipped[c] && o.shows(c) != m.run.target {
			return broken("bypass", "c%d was not released", c)
		}
	}
	return nil
}

// states holds what is recorded of clusters to I2.
func (m *Model) states(_ Event, o *Observation) error {
	if !o.open() || m.run.lost || m.run.bypassed {
		return nil
	}
	for c, n := range o.Clusters {
		x := &m.members[c]
		isTakenBack := x.unrecorded && x.recorded == m.run.target && o.shows(c) != m.run.target // half of a push took away what it speaks of
		if !x.in || m.last.shows(c) != o.shows(c) || m.run.kept || m.head == o.Base || isTakenBack {
			continue
		}
		_, failed := m.failedAt(c, &m.run.loose, 0)
		if n.State == Well && !x.proved || n.State == Failed && !failed && !x.silent || n.State == Late && !x.silent {
			return broken("I2", "c%d is recorded as %d, and its evidence does not say that", c, n.State)
		}
	}
	return nil
}

// due holds the run to release what is surely due, so that it is never stuck.
func (m *Model) due(_ Event, o *Observation) error {
	r := &m.run
	if r.free || r.kept || r.bypassed || m.shut || !m.bound || o.Phase == Stopped || o.Phase == Returning || m.head == o.Base && o.open() {
		return nil
	}
	for s := range Stages + 1 {
		if o.open() && m.mustFinish(s) {
			if !r.over[s] && s < Stages { // the time of the next one begins
				m.touch(s + 1)
			}
			r.over[s] = true
			continue
		}
		if err := m.dueIn(s, o); err != nil || o.open() {
			return err
		}
	}
	if o.open() && o.Phase != Finishing {
		return broken("stuck", "all stages are over, and the run is %v", o.Phase)
	}
	return nil
}

// dueIn holds a stage whose turn it is to release what is surely due.
func (m *Model) dueIn(s int, o *Observation) error {
	r, stage := &m.run, m.run.strict.stage(s)
	out, in, waiting := 0, 0, -1
	for _, c := range m.of(s) {
		if m.waits(c, o) && waiting < 0 {
			waiting = c
		}
		if o.shows(c) == r.target && (m.members[c].silent || !m.surelyGood(c) || m.last.shows(c) != r.target) {
			out++
		}
		if !m.members[c].silent {
			in++
		}
	}
	if waiting >= 0 && out < stage.width(in) && (!stage.Before || r.surelyBefore[s]) {
		return broken("stuck", "c%d of stage %d is due, and not released", waiting, s)
	}
	return nil
}

// remember takes in what was observed.
func (m *Model) remember(o *Observation) {
	for c := range m.members {
		x := &m.members[c]
		if m.isWhole {
			x.recorded = o.shows(c)
		}
		if o.Clusters[c].State == Failed && m.last.Clusters[c].State != Failed {
			x.failed = m.now
		}
		if was, is := m.last.shows(c), o.shows(c); is != was {
			x.sound = m.healthy(c) && !x.silent && !x.arrived
			x.ill = x.says == was && was == m.run.base && x.health == Failing && m.step > m.unsure
			x.shown, x.shownStep = m.now, m.step
			x.isSteady = false
			x.isBroken, x.broken = x.says == is && x.health == Failing, m.now
			x.proved, x.unrecorded = false, !m.isWhole || x.unrecorded && is == m.run.target
			m.touch(x.stage)
		}
	}
	if !o.open() && m.isWhole {
		m.run.finished = [Stages + 1]bool{true, true, true, true}
		m.run.bypassed, m.run.kept, m.run.stop, m.run.mayStop = false, false, false, false
	}
	if m.isWhole {
		m.wasBound = m.bound
	}
	m.last = *o
}
