package kubefleet

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Strategy says how a change reaches clusters in stages. Every default is filled in.
type Strategy struct {
	Namespace string // empty for a ClusterStagedUpdateStrategy
	Name      string
	Stages    []Stage
	// Rest is the stage of clusters that no other stage selects. It comes last, and waits for nothing.
	Rest      Stage
	OnFailure OnFailure
	Newer     Newer
	Unmatched Unmatched
}

// RestStage is the name of Strategy.Rest, which no stage can have that somebody writes.
const RestStage = "_unmatched"

// Stage is a set of clusters that a change reaches together.
type Stage struct {
	Name string
	// LabelSelector selects the clusters of the stage by their labels: nil none, empty all.
	LabelSelector *metav1.LabelSelector
	SortingLabel  string // the label by whose integer the clusters are sorted; empty for none
	// MaxConcurrency is how many clusters are released and not yet healthy at once. See Concurrency.
	MaxConcurrency Amount
	// MaxFailures is how many clusters may fail until the run stops. See Tolerates.
	MaxFailures Amount
	// ProgressDeadline is how long after its release a cluster may take to be healthy.
	ProgressDeadline time.Duration
	// Settle is how long a cluster must have failed until that counts.
	Settle time.Duration
	// Before and After are what is waited for, of each type at most one; those of one list side by side.
	Before, After []Task
}

// Task is something that is waited for.
type Task struct {
	Type     TaskType
	WaitTime time.Duration // of a TimedWait; otherwise 0
}

// OnFailure is what comes of a run in which more clusters fail than may.
type OnFailure string

// What comes of a failed run: it stops, or every cluster goes back to what it had before.
const (
	Stop   OnFailure = "Stop"
	Return OnFailure = "Return"
)

// Newer is what a newer change does to a run that is under way.
type Newer string

// What a newer change does: it starts a run of its own at the first stage, or it waits until the run is over.
const (
	Restart Newer = "Restart"
	Wait    Newer = "Wait"
)

// Unmatched is what becomes of clusters that no stage selects.
type Unmatched string

// What becomes of such clusters: they come last, or no run starts while there are any.
const (
	Last   Unmatched = "last"
	Refuse Unmatched = "refuse"
)

// Amount is a number of clusters, or a percentage of those of a stage.
type Amount struct {
	Value   int
	Percent bool
}

// Of returns the amount of so many clusters. A fraction is rounded down.
func (a Amount) Of(clusters int) int {
	if !a.Percent {
		return a.Value
	}
	return clusters * a.Value / 100
}

// String returns the amount as it is written: 2, or 50%.
func (a Amount) String() string {
	if a.Percent {
		return fmt.Sprintf("%d%%", a.Value)
	}
	return strconv.Itoa(a.Value)
}

// Concurrency is how many clusters of the stage may be under way at once where it has so many: at least 1.
func (s *Stage) Concurrency(clusters int) int { return max(1, s.MaxConcurrency.Of(clusters)) }

// Tolerates is how many clusters of the stage may fail where it has so many.
func (s *Stage) Tolerates(clusters int) int { return s.MaxFailures.Of(clusters) }

// What holds where a strategy does not say otherwise.
const (
	defaultDeadline = 30 * time.Minute
	defaultSettle   = time.Minute
)

// stage returns a stage of a name in which everything is as it is where nobody says otherwise.
func stage(name string) Stage {
	return Stage{Name: name, MaxConcurrency: Amount{Value: 1}, ProgressDeadline: defaultDeadline, Settle: defaultSettle}
}
