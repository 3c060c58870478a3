package kubefleet

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// StagedUpdateStrategy is a ClusterStagedUpdateStrategy or a StagedUpdateStrategy as it is written.
type StagedUpdateStrategy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec UpdateStrategySpec `json:"spec"`
}

// UpdateStrategySpec lists the stages of a strategy.
type UpdateStrategySpec struct {
	// Stages are 1 to 31, in the order in which a change reaches them.
	Stages []StageConfig `json:"stages"`
}

// StageConfig is one stage as it is written.
type StageConfig struct {
	// Name is of at most 63 small letters and digits, and of no other stage.
	Name string `json:"name"`
	// LabelSelector selects Clusters by their labels. Empty, it selects all; without one, the stage has none.
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	// SortingLabelKey is the label whose integer says in which order the clusters of the stage have their turn.
	// Without one, and where it is equal, they have it in the order of their names.
	SortingLabelKey *string `json:"sortingLabelKey,omitempty"`
	// MaxConcurrency is how many clusters of the stage are under way at once: a number, or a percentage of
	// them. The default is 1.
	MaxConcurrency *intstr.IntOrString `json:"maxConcurrency,omitempty"`
	// AfterStageTasks are what is waited for when the clusters of the stage have the change: a time, an
	// approval, or both side by side.
	AfterStageTasks []StageTask `json:"afterStageTasks,omitempty"`
	// BeforeStageTasks are what is waited for before the first of them has it: an approval.
	BeforeStageTasks []StageTask `json:"beforeStageTasks,omitempty"`
}

// StageTask is something that is waited for, as it is written.
type StageTask struct {
	Type TaskType `json:"type"`
	// WaitTime is how long a TimedWait takes, such as 1h30m.
	WaitTime *metav1.Duration `json:"waitTime,omitempty"`
}

// TaskType is what a task waits for.
type TaskType string

// The types of tasks: for a time, and for somebody who approves.
const (
	TimedWait TaskType = "TimedWait"
	Approval  TaskType = "Approval"
)
