package karmada

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FederatedHPA scales a template by metrics of all its clusters
// (autoscaling.karmada.io/v1alpha1, Karmada section E.5).
type FederatedHPA struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FederatedHPASpec                            `json:"spec"`
	Status            autoscalingv2.HorizontalPodAutoscalerStatus `json:"status"`
}

// FederatedHPASpec is what to scale, between which bounds and by which metrics.
type FederatedHPASpec struct {
	ScaleTargetRef autoscalingv2.CrossVersionObjectReference      `json:"scaleTargetRef"`
	MinReplicas    *int32                                         `json:"minReplicas,omitempty"`
	MaxReplicas    int32                                          `json:"maxReplicas"`
	Metrics        []autoscalingv2.MetricSpec                     `json:"metrics,omitempty"`
	Behavior       *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior,omitempty"`
}

// RetainReplicasLabel on a template says that clusters decide how many replicas it has there (Karmada section D.5).
const RetainReplicasLabel = "resourcetemplate.karmada.io/retain-replicas"

// CronFederatedHPA scales a template or a FederatedHPA by the clock
// (autoscaling.karmada.io/v1alpha1, Karmada section E.6).
type CronFederatedHPA struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              CronFederatedHPASpec   `json:"spec"`
	Status            CronFederatedHPAStatus `json:"status"`
}

// CronFederatedHPASpec is what to scale, and when.
type CronFederatedHPASpec struct {
	ScaleTargetRef autoscalingv2.CrossVersionObjectReference `json:"scaleTargetRef"`
	Rules          []CronFederatedHPARule                    `json:"rules"`
}

// CronFederatedHPARule is one time and the scale that starts then: TargetReplicas
// of a template, or either or both bounds of a FederatedHPA. Schedule has five
// fields; TimeZone is a name of the IANA database.
type CronFederatedHPARule struct {
	Name                   string  `json:"name"`
	Schedule               string  `json:"schedule"`
	TargetReplicas         *int32  `json:"targetReplicas,omitempty"`
	TargetMinReplicas      *int32  `json:"targetMinReplicas,omitempty"`
	TargetMaxReplicas      *int32  `json:"targetMaxReplicas,omitempty"`
	Suspend                *bool   `json:"suspend,omitempty"`
	TimeZone               *string `json:"timeZone,omitempty"`
	SuccessfulHistoryLimit *int32  `json:"successfulHistoryLimit,omitempty"`
	FailedHistoryLimit     *int32  `json:"failedHistoryLimit,omitempty"`
}

// CronFederatedHPAStatus is what the rules did.
type CronFederatedHPAStatus struct {
	ExecutionHistories []ExecutionHistory `json:"executionHistories,omitempty"`
}

// ExecutionHistory is what one rule did; NextExecutionTime is nil while it is
// suspended.
type ExecutionHistory struct {
	RuleName             string                `json:"ruleName"`
	NextExecutionTime    *metav1.Time          `json:"nextExecutionTime,omitempty"`
	SuccessfulExecutions []SuccessfulExecution `json:"successfulExecutions,omitempty"`
	FailedExecutions     []FailedExecution     `json:"failedExecutions,omitempty"`
}

// SuccessfulExecution is a time at which a rule scaled, and to what.
type SuccessfulExecution struct {
	ScheduleTime       *metav1.Time `json:"scheduleTime"`
	ExecutionTime      *metav1.Time `json:"executionTime"`
	AppliedReplicas    *int32       `json:"appliedReplicas,omitempty"`
	AppliedMaxReplicas *int32       `json:"appliedMaxReplicas,omitempty"`
	AppliedMinReplicas *int32       `json:"appliedMinReplicas,omitempty"`
}

// FailedExecution is a time at which a rule could not scale.
type FailedExecution struct {
	ScheduleTime  *metav1.Time `json:"scheduleTime"`
	ExecutionTime *metav1.Time `json:"executionTime"`
	Message       string       `json:"message"`
}
