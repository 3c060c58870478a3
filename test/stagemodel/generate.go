package stagemodel

import (
	"math/rand/v2"
	"time"
)

// NewSetup makes a fleet and a strategy at random.
func NewSetup(r *rand.Rand) Setup {
	s := Setup{Version: 1, Strategy: newStrategy(r)}
	for c := range s.In {
		s.In[c], s.Stage[c] = c < 6 || r.IntN(2) == 0, c*Stages/Clusters
		if r.IntN(12) == 0 {
			s.Stage[c] = Stages
		}
	}
	return s
}

// newStrategy makes a strategy at random.
func newStrategy(r *rand.Rand) Strategy {
	s := Strategy{Settle: time.Minute, Deadline: time.Hour, Return: r.IntN(3) == 0, Wait: r.IntN(3) == 0}
	for i := range s.Stages {
		t := &s.Stages[i]
		t.Width, t.MaxFailures = 1+r.IntN(3), r.IntN(4)/2
		if r.IntN(3) == 0 {
			t.Width, t.Percent = 50, true
		}
		t.Soak = time.Duration(r.IntN(2)) * 30 * time.Minute
		t.Before, t.After = r.IntN(5) == 0, r.IntN(4) == 0
	}
	return s
}

// Next makes the next event at random. Most of them are what a run that goes well is made of, so that runs come to
// their end, too.
func (m *Model) Next(r *rand.Rand) Event {
	e := Event{After: pauses[r.IntN(len(pauses))], Cluster: r.IntN(Clusters)}
	switch p := r.IntN(100); {
	case p < 35:
		m.report(r, &e)
	case p < 50:
		e.Kind, e.After = Again, long[r.IntN(len(long))]
	case p < 60:
		m.helpful(&e)
	case p < 67:
		e.Kind, e.Version = Commit, 1+Version(r.IntN(5))
		if r.IntN(3) == 0 && m.last.Base != None {
			e.Version = m.last.Base
		}
	case p < 82:
		m.fleet(r, &e)
	case p < 90:
		e.Kind, e.After = Approve+Kind(r.IntN(int(Bypass-Approve)+1)), 0
		e.Run, e.Stage = m.last.Run, r.IntN(Stages)
		if r.IntN(3) == 0 {
			e.Run = "another"
		}
	case p < 96:
		m.world(r, &e)
	default:
		e.Kind, e.After = []Kind{Again, Other}[r.IntN(2)], 0
	}
	if isEnding := m.last.Phase == Finishing || m.last.Phase == Returning; (isEnding || !m.isWhole) && e.Kind >= Approve && e.Kind <= Bypass {
		e.Run = "another" // the table does not say what a command does to a run that begins or ends in this plan
	}
	if e.Kind == Again || e.Kind == Commit || e.Kind == Reports {
		e.Half = !m.strategy.Wait && !m.run.loose.Wait && r.IntN(12) == 0
	}
	return e
}

var (
	pauses = []time.Duration{time.Second, time.Second, 20 * time.Second, time.Minute}
	long   = []time.Duration{0, 59 * time.Second, time.Minute, 29*time.Minute + 59*time.Second, 30 * time.Minute, time.Hour, -time.Hour}
)

// report makes a cluster speak: mostly of what it shows, mostly well, and mostly one that has not spoken of it yet.
func (m *Model) report(r *rand.Rand, e *Event) {
	for try := 0; try < 3 && (!m.members[e.Cluster].in || m.members[e.Cluster].heard > m.members[e.Cluster].shownStep); try++ {
		e.Cluster = r.IntN(Clusters)
	}
	e.Kind, e.Version, e.Health = Reports, m.last.shows(e.Cluster), Healthy
	switch r.IntN(12) {
	case 0:
		e.Version = m.last.Base
	case 1, 2:
		e.Health = Failing
	case 3:
		e.Health = Unknown
	case 4:
		m.relapse(r, e)
	}
}

// relapse makes a cluster fail that was healthy, of a stage that is over; any other event stays as it is.
func (m *Model) relapse(r *rand.Rand, e *Event) {
	var over []int
	for c := range m.members {
		x := &m.members[c]
		isOver := x.stage < Stages && m.last.open() && m.last.Stages[x.stage] == Done
		if x.in && !x.silent && isOver && x.proved && m.last.shows(c) == m.last.Target {
			over = append(over, c)
		}
	}
	if len(over) > 0 {
		e.Cluster, e.Version, e.Health = over[r.IntN(len(over))], m.last.Target, Failing
	}
}

// helpful does what a run waits for: it opens the window, approves or resumes.
func (m *Model) helpful(e *Event) {
	e.Run, e.Kind = m.last.Run, Approve
	for e.Stage < Stages && m.last.Stages[e.Stage] == Done {
		e.Stage++
	}
	if m.shut {
		e.Kind = Opens
	} else if m.last.Phase == Stopped {
		e.Kind = Resume
	} else if !m.last.open() {
		e.Kind, e.Version = Commit, m.head%5+1
	}
	if e.Kind != Commit && e.Kind != Opens {
		e.After = 0
	}
}

// fleet changes something about a cluster.
func (m *Model) fleet(r *rand.Rand, e *Event) {
	switch x := &m.members[e.Cluster]; {
	case !x.in:
		e.Kind, e.Stage = Joins, r.IntN(Stages+1)
	case x.silent:
		e.Kind = Speaks
	default:
		e.Kind, e.Stage = []Kind{Silent, Silent, Leaves, Relabelled}[r.IntN(4)], r.IntN(Stages+1)
	}
}

// world changes something about the source, the state or the windows.
func (m *Model) world(r *rand.Rand, e *Event) {
	switch e.Kind = []Kind{Closes, Closes, Lost, Unreadable, Edited, Unbound}[r.IntN(6)]; e.Kind {
	case Edited:
		e.Strategy = newStrategy(r)
		e.Strategy.Wait = m.strategy.Wait
	case Unbound:
		if !m.bound {
			e.Kind = Bound
		} else if r.IntN(2) == 0 {
			e.Version = m.head%5 + 1
		}
	default:
	}
}
