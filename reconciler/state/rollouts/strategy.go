package rollouts

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/waybill-dev/waybill/render"
)

// Strategy is by which stages a unit is rolled out. All of its fields are settled: annotations and
// defaults are in them.
type Strategy struct {
	Name   string  `json:"strategy"`
	Stages []Stage `json:"stages"`
	// OnFailure is what becomes of a run in which too many clusters fail, and Newer what a newer digest does
	// to an open run.
	OnFailure OnFailure `json:"onFailure,omitempty"`
	Newer     Newer     `json:"newer,omitempty"`
	// Unmatched is what becomes of clusters that no stage selects, as the strategy says it.
	Unmatched string `json:"unmatched,omitempty"`
}

// IsNone reports the strategy of a unit that is bound to none, and that windows hold back: all of it goes out at once, and
// needs no evidence.
func (s *Strategy) IsNone() bool { return s.Name == render.NoStrategy }

// By says in words how a unit goes out, by the name of its strategy: "by careful", or "without a strategy".
func By(strategy string) string {
	if strategy == render.NoStrategy {
		return "without a strategy"
	}
	return "by " + strategy
}

// OnFailure is what becomes of a run in which too many clusters fail.
type OnFailure string

// What may become of it. Empty is StopOnFailure.
const (
	StopOnFailure   OnFailure = "Stop"
	ReturnOnFailure OnFailure = "Return"
)

// Newer is what a newer digest does to an open run.
type Newer string

// What it may do. Empty is RestartForNewer.
const (
	RestartForNewer Newer = "Restart" // the run is replaced by one for the newer version
	WaitForNewer    Newer = "Wait"    // the run ends first, and one for the newest version follows
)

// Unmatched is the stage of clusters that no stage of a strategy selects. It comes last, with the
// defaults of a stage unless the strategy has it among its stages. No stage of a user's has this name.
const Unmatched = "_unmatched"

// Stage is a stage of a strategy.
type Stage struct {
	Name string `json:"name"`
	// LabelSelector selects its clusters, and SortingLabelKey is the label that orders them.
	LabelSelector   *metav1.LabelSelector `json:"labelSelector,omitempty"`
	SortingLabelKey string                `json:"sortingLabelKey,omitempty"`
	// MaxConcurrency is how many clusters of it may be released and not be healthy, at least 1;
	// MaxFailures is how many may fail. Both are numbers, or percent of the stage, rounded down.
	MaxConcurrency intstr.IntOrString `json:"maxConcurrency"`
	MaxFailures    intstr.IntOrString `json:"maxFailures"`
	// ProgressDeadline is how long a released cluster may take to be healthy, and Settle how long it has to
	// fail before it counts as failed.
	ProgressDeadline metav1.Duration `json:"progressDeadline"`
	Settle           metav1.Duration `json:"settle"`
	// BeforeStageTasks are done before the first cluster is released, and AfterStageTasks when all are
	// healthy, side by side.
	BeforeStageTasks []StageTask `json:"beforeStageTasks,omitempty"`
	AfterStageTasks  []StageTask `json:"afterStageTasks,omitempty"`
}

// StageTask is a task of a stage.
type StageTask struct {
	Type     TaskType        `json:"type"`
	WaitTime metav1.Duration `json:"waitTime,omitzero"` // of a WaitTask
}

// TaskType is what a task asks for.
type TaskType string

// The types, in KubeFleet's words.
const (
	WaitTask     TaskType = "TimedWait" // all clusters of the stage are healthy for a time
	ApprovalTask TaskType = "Approval"
)
