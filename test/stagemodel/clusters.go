package stagemodel

// whole holds what is published to I8 and I11.
func (m *Model) whole(_ Event, o *Observation) error {
	for c, n := range o.Clusters {
		p := m.last.Clusters[c]
		if n.Objects[0] != n.Objects[1] {
			return broken("I11", "c%d shows v%d and v%d", c, n.Objects[0], n.Objects[1])
		}
		isNew := n.Objects != p.Objects || n.Replicas != p.Replicas
		if n.Commits > 1 || isNew != (n.Commits == 1) {
			return broken("I8", "c%d has %d commits; it shows v%d x%d, and before v%d x%d", c, n.Commits, n.Objects[0], n.Replicas, p.Objects[0], p.Replicas)
		}
		if isNew && !m.members[c].in && n.Objects[0] != None {
			return broken("I4", "c%d changes, and is no member", c)
		}
	}
	return nil
}

// gains holds what was released to the laws of each cluster by itself.
func (m *Model) gains(e Event, o *Observation) error {
	r := &m.run
	isReturn := m.last.open() && r.target == m.head && m.head == r.base
	for c := range m.members {
		x, was, is := &m.members[c], m.last.shows(c), o.shows(c)
		if is == was || !x.in || is != r.target || isReturn || x.isRestored(is) {
			continue
		}
		if err := m.gain(c, e, o); err != nil {
			return err
		}
	}
	return nil
}

// isRestored reports that a cluster is back at what it had by the record, and half of a push had taken away.
func (x *member) isRestored(is Version) bool { return x.unrecorded && is == x.recorded }

// gain holds the release of a cluster to the laws.
func (m *Model) gain(c int, e Event, o *Observation) error {
	r, x := &m.run, &m.members[c]
	isStopped := !e.Half && m.last.Phase == Stopped && o.Phase == Stopped || r.stop || r.kept || m.mustStop()
	switch {
	case e.Kind == Unreadable:
		return broken("I10", "c%d is released by what could not be read", c)
	case x.silent && !r.free && !r.bypassed && !m.wasReleased(c): // what goes by no strategy, or by no stage any more, may wait for nobody
		return broken("late", "c%d is released, and it is silent", c)
	case x.arrived && m.released(x.stage), x.joined && !isStopped, r.free && r.lost:
		return nil
	case r.surelySkipped[c] && !r.bypassed:
		return broken("skip", "c%d is released, and was skipped", c)
	case isStopped:
		return broken("I5", "c%d is released, and the run has stopped", c)
	case m.shut && !r.bypassed && !r.returned && !r.free:
		return broken("window", "c%d is released, and the window is closed", c)
	case r.free || r.bypassed:
		return nil
	}
	return m.turnOf(c, o)
}

// turnOf holds the release of a cluster to its turn.
func (m *Model) turnOf(c int, o *Observation) error {
	r, x := &m.run, &m.members[c]
	if r.loose.stage(x.stage).Before && !r.before[x.stage] && !r.finished[x.stage] {
		return broken("I1", "c%d is released, and nobody approved its stage %d before", c, x.stage)
	}
	for s := range x.stage {
		if !r.finished[s] {
			return broken("I1", "c%d of stage %d is released, and stage %d is not over", c, x.stage, s)
		}
	}
	for _, d := range m.of(x.stage) {
		if d < c && m.waits(d, o) && m.healthy(c) && m.last.shows(d) == m.last.shows(c) {
			return broken("order", "c%d is released before c%d", c, d)
		}
	}
	return nil
}

// released reports that a stage had a release before this plan.
func (m *Model) released(s int) bool {
	r, p := &m.run, m.last.Stages[s]
	isSaid := m.last.open() && (p == Soaking || p == Approving) // those that it released may have left since
	return (r.finished[s] || isSaid) && !r.lost || len(m.of(s)) > 0 && m.someShow(s, r.target)
}

// wasReleased reports a cluster that the run had released by its record: half of another push may have taken that away.
func (m *Model) wasReleased(c int) bool {
	s := m.last.Clusters[c].State
	return m.last.Run != "" && m.members[c].unrecorded && (s == Released || s == Well || s == Failed)
}

func (m *Model) someShow(s int, v Version) bool {
	for _, c := range m.of(s) {
		if !m.members[c].arrived && m.last.shows(c) == v {
			return true
		}
	}
	return false
}

// waits reports that a cluster surely waits to be released, and was not.
func (m *Model) waits(c int, o *Observation) bool {
	x := &m.members[c]
	return x.in && !x.silent && !x.arrived && !m.run.skipped[c] && o.shows(c) != m.run.target && m.healthy(c)
}

// healthy reports that a cluster was healthy with what it showed before this plan.
func (m *Model) healthy(c int) bool {
	x := &m.members[c]
	return x.says == m.last.shows(c) && x.health == Healthy
}

// widths holds what was released to I3.
func (m *Model) widths(_ Event, o *Observation) error {
	r := &m.run
	if r.free || r.bypassed {
		return nil
	}
	for s := range Stages + 1 {
		out, gained := m.outIn(s, o)
		if width := r.loose.stage(s).width(len(m.of(s))); gained > 0 && out > width {
			return broken("I3", "stage %d has %d clusters out, and its width is %d", s, out, width)
		}
	}
	return nil
}

// outIn counts the clusters of a stage that are released and neither healthy nor failed, and those that were released in this
// plan; without one that joined a stage which was released before.
func (m *Model) outIn(s int, o *Observation) (out, gained int) {
	r := &m.run
	for _, c := range m.of(s) {
		if o.shows(c) != r.target {
			continue
		}
		x := &m.members[c]
		isNew := m.last.shows(c) != r.target && !x.isRestored(r.target)
		if isNew && x.arrived && m.released(s) {
			continue
		}
		if isNew {
			gained++
		}
		_, failed := m.failedAt(c, &r.loose, 0)
		if isNew || !m.good(c) && !x.proved && !failed && !x.silent && !r.skipped[c] {
			out++
		}
	}
	return out, gained
}

// replicas holds what was published to I7.
func (m *Model) replicas(e Event, o *Observation) error {
	if !m.isWhole || o.Base == None {
		return nil
	}
	in := [Clusters]bool{}
	for c := range in {
		in[c] = m.members[c].in
	}
	older, newer := Shares(o.Base, in), Shares(o.Target, in)
	total, isReturned := 0, m.run.kept || m.head == o.Base
	for c, n := range o.Clusters {
		x := &m.members[c]
		if !x.in {
			continue
		}
		least := older[c]
		if o.shows(c) == o.Target && !isReturned {
			least = max(older[c], newer[c])
		}
		switch {
		case m.isBehind(c, o):
			n.Replicas = max(n.Replicas, least, newer[c])
		case o.Phase == Finishing || o.Phase == Returning:
		case !o.open() && n.Replicas != newer[c]:
			return broken("replicas", "c%d has %d, and its share of v%d is %d", c, n.Replicas, o.Target, newer[c])
		case o.open() && n.Replicas < least:
			return broken("replicas", "c%d has %d; its shares are %d of v%d, and %d of v%d", c, n.Replicas, older[c], o.Base, newer[c], o.Target)
		}
		total += n.Replicas
	}
	least := min(o.Base.Total(), o.Target.Total())
	if !o.open() {
		least = o.Target.Total()
	}
	if e.Kind != Lost && total < least && in != [Clusters]bool{} {
		return broken("I7", "there are %d replicas, and %d are wanted at least", total, least)
	}
	return nil
}

// isBehind reports a cluster for which nobody waits, or which shows none of the versions that the run is about.
func (m *Model) isBehind(c int, o *Observation) bool {
	isOlder := o.shows(c) != o.Target && (!o.open() || o.shows(c) != o.Base)
	return m.members[c].silent || m.run.skipped[c] || isOlder
}

// backwards holds what went back, or what joined, to what it may show.
func (m *Model) backwards(_ Event, o *Observation) error {
	r := &m.run
	mayReturn := r.kept || m.head == r.base || m.mayStop() && (r.loose.Return || m.strategy.Return)
	for c := range m.members {
		x, was, is := &m.members[c], m.last.shows(c), o.shows(c)
		if is == was || !x.in || is == r.target || mayReturn && is == r.base {
			continue
		}
		isShown := is == r.base || is == o.Base
		for _, d := range m.of(x.stage) {
			isShown = isShown || d != c && m.last.shows(d) == is
		}
		if (!x.arrived || !isShown) && !x.unrecorded {
			return broken("I4", "c%d goes from v%d to v%d, which is neither its turn nor a return", c, was, is)
		}
	}
	return nil
}
