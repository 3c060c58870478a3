package stagemodel

// command takes in a command. It reports that it is stale.
func (m *Model) command(e Event) (isStale bool) {
	if e.Kind < Approve || e.Kind > Bypass {
		return false
	}
	r, current := &m.run, 0
	for current < Stages && m.last.Stages[current] == Done {
		current++
	}
	if e.Run != m.last.Run || !m.last.open() {
		return true
	}
	m.run.commanded = true
	switch e.Kind {
	case Approve:
		return m.approve(e.Stage, current)
	case Stop:
		r.mayStop, r.stop = true, true
	case Resume:
		if m.last.Phase != Stopped {
			return true
		}
		m.resume()
	case Skip:
		r.skipped[e.Cluster], r.surelySkipped[e.Cluster] = true, m.members[e.Cluster].in
		m.touch()
	case Return:
		if r.base == None { // nobody knows to what
			return true
		}
		r.kept = true
	case Bypass:
		r.bypassed, r.mayStop, r.stop, r.kept = true, false, false, false
	default:
	}
	return false
}

// approve takes in an approval of a stage. It reports that it is stale.
func (m *Model) approve(stage, current int) (isStale bool) {
	r, phase := &m.run, m.last.Stages[stage]
	if stage != current || phase != Waiting && phase != Soaking && phase != Approving {
		return true
	}
	isBefore := phase == Waiting
	if isBefore { // only now the stage may begin, and its time with it
		m.touch(stage)
	}
	r.before[stage], r.after[stage] = r.before[stage] || isBefore, r.after[stage] || !isBefore
	if m.last.Phase != Stopped { // otherwise it may come too early, as one that no task asks for yet
		is := m.strategy.stage(stage)
		if !m.bound {
			is = r.loose.stage(stage)
		}
		r.surelyBefore[stage] = r.surelyBefore[stage] || isBefore && is.Before
		r.surelyAfter[stage] = r.surelyAfter[stage] || !isBefore && is.After
	}
	return false
}

// resume forgives the failures so far. What was kept back begins anew.
func (m *Model) resume() {
	r := &m.run
	r.mayStop, r.stop = false, false
	for c := range r.forgiven {
		r.forgiven[c] = m.last.shows(c) == r.target && (!m.good(c) || m.members[c].silent)
		r.surelyForgiven[c] = r.forgiven[c] && m.last.Clusters[c].State == Failed // what fails, and has not failed yet, may count later
	}
	if r.kept {
		loose, strict := r.loose, r.strict
		m.begin(r.base, r.target, r.free)
		m.run.loose, m.run.strict = bounds(loose, strict, m.strategy)
		m.run.again = true
	}
	m.touch()
}

// turn settles which run it is now, and whether it may be.
func (m *Model) turn(e Event, o *Observation) error {
	r := &m.run
	switch {
	case e.Half: // the record is an older one; what arrives is of the run that is to begin
		if m.head != r.target && m.head != r.base && (!m.last.open() || !r.strict.Wait) {
			held := m.run
			m.begin(m.doneOr(r.base), m.head, m.isFree())
			m.held = &held
		}
		return nil
	case o.Run == m.last.Run && o.Base == r.base && o.Target == r.target && o.open() == m.last.open() && !r.lost:
	case !o.open():
		if err := m.ends(o); err != nil {
			return err
		}
		if o.Target != r.target {
			skipped := r.skipped
			m.run = done(o.Base, o.Target, m.strategy)
			m.run.skipped = skipped
			m.run.free, m.run.returned = true, true // a return waits for nothing, also where a cluster was silent
		}
		if r.lost && m.isFree() { // no record and no strategy: nothing tells that there was a run
			m.run = done(o.Base, o.Target, m.strategy)
			m.run.free, m.run.lost = true, true
		}
	case r.again && o.Base == r.base && o.Target == r.target:
	case o.Base == r.base && o.Target == r.target && o.open() && m.last.open() && !r.lost && o.Run == m.last.Run:
	default:
		if err := m.begins(o); err != nil {
			return err
		}
	}
	return m.aims(o)
}

// aims holds an open run to what the head of the source has.
func (m *Model) aims(o *Observation) error {
	isSure := m.isWhole && o.Phase != Returning
	mayWait := m.run.loose.Wait || m.strategy.Wait
	switch {
	case !o.open():
		return nil
	case o.Target == o.Base:
		return broken("run", "it goes from v%d to v%d", o.Base, o.Target)
	case isSure && o.Target != m.head && !mayWait:
		return broken("run", "its target is v%d, and the head has v%d", o.Target, m.head)
	case isSure && m.head == o.Base:
		return broken("I6", "the head is back at v%d, and the run does not return", m.head)
	}
	return nil
}

// isFree reports that a run which begins now goes by no strategy: the unit was unbound before it changed.
func (m *Model) isFree() bool { return !m.bound && (!m.wasBound || m.run.lost) }

// doneOr is the base of a run that begins now: what was done, or the base of the run that it supersedes.
func (m *Model) doneOr(base Version) Version {
	if m.last.open() {
		return base
	}
	return m.last.Target
}

// begins holds the beginning of a run against what happened.
func (m *Model) begins(o *Observation) error {
	r := &m.run
	if !r.lost {
		switch base := m.doneOr(r.base); {
		case o.Target != m.head:
			return broken("run", "a run to v%d begins, and the head has v%d", o.Target, m.head)
		case o.Target == r.target && m.last.open():
			return broken("I4", "a run to v%d begins once more", o.Target)
		case o.Base == r.target && m.last.open(): // one run ends, and the next begins
			if err := m.ends(&Observation{Target: r.target, Base: r.base, Clusters: m.last.Clusters}); err != nil {
				return err
			}
		case o.Base != base:
			return broken("run", "a run begins from v%d, and v%d was done last", o.Base, base)
		case o.Run == m.last.Run && m.last.open():
			return broken("run", "another run has the name %s, too", o.Run)
		}
	}
	m.begin(o.Base, o.Target, m.isFree())
	return nil
}

// ends holds the end of a run against what is known of it.
func (m *Model) ends(o *Observation) error {
	r := &m.run
	if mayWait := r.loose.Wait || m.strategy.Wait; o.Target != m.head && m.isWhole && !mayWait && !m.isStill(o) {
		return broken("run", "v%d is done, and the head has v%d", o.Target, m.head)
	}
	if o.Target != r.target && m.head != r.base { // it began and ended in this plan
		m.begin(m.doneOr(r.base), m.head, m.isFree())
	}
	if r.lost || r.bypassed || r.free || m.head == r.base {
		return nil
	}
	m.finish()
	for s := range Stages + 1 {
		if !r.finished[s] {
			return broken("I1", "the run is done, and its stage %d is not over", s)
		}
	}
	return nil
}

// finish notes which stages may be over, in their order.
func (m *Model) finish() {
	for c := range m.members {
		isGood := m.good(c)
		m.run.forgiven[c] = m.run.forgiven[c] && (!isGood || m.members[c].silent) // nobody hears of one that is silent
		m.run.surelyForgiven[c] = m.run.surelyForgiven[c] && !isGood
		m.members[c].ill = m.members[c].ill && !m.good(c)
		x := &m.members[c]
		x.proved = x.proved || m.good(c)
		switch {
		case m.good(c) && !x.isSteady:
			x.steady, x.isSteady = x.since, true
		case m.evident(c) && !m.good(c):
			x.isSteady = false
		}
	}
	for s := range Stages + 1 {
		if m.run.finished[s] {
			continue
		}
		if !m.mayFinish(s) {
			return
		}
		m.run.finished[s], m.run.entered[s+1] = true, m.now
	}
}
