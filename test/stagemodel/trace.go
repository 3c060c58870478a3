package stagemodel

import (
	"fmt"
	"strings"
	"time"
)

// The size of the world.
const (
	Clusters = 8 // they are 0 to 7, by name
	Stages   = 3 // a cluster whose label names none of them is of the stage Stages, which comes last
)

// Version is a version of the unit, by its digest. None is that there is nothing of it.
type Version int

// None is no version.
const None Version = 0

// Total is how many replicas a version has in all clusters.
func (v Version) Total() int {
	if v == None {
		return 0
	}
	return 12 + 4*(int(v)%3)
}

// Shares divides the replicas of a version among the clusters that are in the fleet, as the world decides it: every
// version by weights of its own.
func Shares(v Version, in [Clusters]bool) (shares [Clusters]int) {
	weights, left := 0, v.Total()
	weight := func(c int) int { return 1 + (c+int(v))%3 }
	for c := range in {
		if in[c] {
			weights += weight(c)
		}
	}
	for c := range in {
		if in[c] {
			shares[c] = left * weight(c) / weights
			left, weights = left-shares[c], weights-weight(c)
		}
	}
	return shares
}

// Health is what a cluster says of the unit.
type Health int

// The states of health.
const (
	Unknown Health = iota
	Healthy
	Failing
)

// Stage is a stage of a strategy.
type Stage struct {
	Width       int // maxConcurrency
	Percent     bool
	Soak        time.Duration // TimedWait after it; 0: none
	Before      bool          // Approval before it
	After       bool          // Approval after it
	MaxFailures int
}

// Strategy is the strategy that the unit is bound to. What no stage selects goes last, one cluster at a time.
type Strategy struct {
	Stages           [Stages]Stage
	Settle, Deadline time.Duration
	Return           bool // on-failure: Return
	Wait             bool // newer: Wait
}

// Kind is a kind of event.
type Kind int

// The kinds of events.
const (
	Again      Kind = iota // nothing happens; another plan is made, and time may pass before it
	Commit                 // the head of the source has Version
	Other                  // the head of the source has a commit that leaves the unit as it is
	Reports                // Cluster says that Version is there, with Health
	Silent                 // Cluster is overdue with what it says
	Speaks                 // Cluster says again what it said last
	Leaves                 // Cluster is no longer a member, or its work fails over: the others take its share at once
	Joins                  // Cluster is a member of Stage; it holds what its branch held
	Relabelled             // Cluster is of Stage now
	Closes                 // a window closes; Opens opens it
	Opens
	Approve // a person orders something of Run; approve names Stage, and skip Cluster
	Stop
	Resume
	Skip
	Return
	Bypass
	Lost       // the state branch is deleted
	Unreadable // evidence and commands cannot be read in this plan, and only in this one
	Edited     // the strategy is Strategy now
	Unbound    // the unit is bound to no strategy; Bound binds it again
	Bound
)

var kinds = [...]string{
	"again", "commit", "other commit", "reports", "silent", "speaks", "leaves", "joins", "relabelled", "closes", "opens",
	"approve", "stop", "resume", "skip", "return", "bypass", "lost", "unreadable", "edited", "unbound", "bound",
}

func (k Kind) String() string { return kinds[k] }

// Event is something that happens, and the plan that is made then.
type Event struct {
	Kind     Kind
	After    time.Duration // since the plan before, by the clock; below 0: the clock was put back
	Cluster  int
	Stage    int
	Version  Version
	Health   Health
	Run      string
	Strategy Strategy
	// Half is that the controller dies in its push: of the clusters that change, the first half by name gets its
	// commit, rounded down, and the state does not.
	Half bool
}

func (e Event) String() string {
	s := fmt.Sprintf("+%v %v", e.After, e.Kind)
	switch e.Kind {
	case Commit:
		s += fmt.Sprintf(" v%d", e.Version)
	case Reports:
		s += fmt.Sprintf(" c%d v%d %s", e.Cluster, e.Version, [...]string{"unknown", "healthy", "failing"}[e.Health])
	case Silent, Speaks, Leaves:
		s += fmt.Sprintf(" c%d", e.Cluster)
	case Joins, Relabelled:
		s += fmt.Sprintf(" c%d stage %d", e.Cluster, e.Stage)
	case Approve, Stop, Resume, Return, Bypass:
		s += fmt.Sprintf(" %s stage %d", e.Run, e.Stage)
	case Skip:
		s += fmt.Sprintf(" %s c%d", e.Run, e.Cluster)
	case Edited:
		s += fmt.Sprintf(" %+v", e.Strategy)
	default:
	}
	if e.Half {
		s += ", half of the push arrives"
	}
	return s
}

// Phase is the phase of a run, or of one of its stages.
type Phase int

// The phases.
const (
	Done Phase = iota
	Waiting
	Updating
	Soaking
	Approving
	Stopped
	Returning
	Finishing
)

func (p Phase) String() string {
	return [...]string{"Done", "Waiting", "Updating", "Soaking", "Approving", "Stopped", "Returning", "Finishing"}[p]
}

// State is how a cluster stands in a run, as the record says.
type State int

// The states.
const (
	Pending  State = iota // it does not show the target
	Released              // it shows the target, and is neither healthy nor failed
	Well
	Failed
	Late // it is silent
)

// Cluster is what is published and recorded of a cluster.
type Cluster struct {
	Objects  [2]Version // which version of each of the two objects of the unit it shows
	Replicas int
	State    State
	Commits  int // which it got in this plan for the unit's sake
}

// Observation is what is published and recorded after a plan.
type Observation struct {
	Run          string // empty: there was none
	Phase        Phase
	Base, Target Version
	Stages       [Stages + 1]Phase
	Clusters     [Clusters]Cluster
}

func (o *Observation) String() string {
	s := &strings.Builder{}
	fmt.Fprintf(s, "run %q %v v%d to v%d, stages %v, shows", o.Run, o.Phase, o.Base, o.Target, o.Stages)
	for i, c := range o.Clusters {
		fmt.Fprintf(s, " c%d:v%d", i, c.Objects[0])
		if c.Objects[1] != c.Objects[0] {
			fmt.Fprintf(s, "/v%d", c.Objects[1])
		}
		fmt.Fprintf(s, "x%d", c.Replicas)
	}
	return s.String()
}

// Setup is what there is before the first event: clusters with their stages, and Version in all of them, done.
type Setup struct {
	In       [Clusters]bool
	Stage    [Clusters]int
	Version  Version
	Strategy Strategy
}

// System is what is held against the model. A step takes all that is due: where evidence ends a stage, its plan
// begins the next one.
type System interface {
	Step(Event) Observation
}
