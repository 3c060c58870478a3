package karmada

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WorkloadRebalancer places templates afresh, without regard to where they are
// (apps.karmada.io/v1alpha1, Karmada section E.8).
type WorkloadRebalancer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WorkloadRebalancerSpec   `json:"spec"`
	Status            WorkloadRebalancerStatus `json:"status,omitempty"`
}

// WorkloadRebalancerSpec lists the templates to place afresh.
type WorkloadRebalancerSpec struct {
	Workloads               []RebalancedWorkload `json:"workloads"`
	TTLSecondsAfterFinished *int32               `json:"ttlSecondsAfterFinished,omitempty"`
}

// RebalancedWorkload names a template; Namespace is empty for a cluster-scoped one.
type RebalancedWorkload struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Namespace  string `json:"namespace,omitempty"`
}

// WorkloadRebalancerStatus is what became of the templates.
type WorkloadRebalancerStatus struct {
	ObservedWorkloads  []ObservedWorkload `json:"observedWorkloads,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	FinishTime         *metav1.Time       `json:"finishTime,omitempty"`
}

// ObservedWorkload is the result for one template: Successful or Failed.
type ObservedWorkload struct {
	Workload RebalancedWorkload `json:"workload"`
	Result   string             `json:"result,omitempty"`
	Reason   string             `json:"reason,omitempty"`
}

// Remedy asks for an action in clusters whose condition matches
// (remedy.karmada.io/v1alpha1, Karmada section E.8).
type Remedy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              RemedySpec `json:"spec"`
}

// RemedySpec acts when any of DecisionMatches holds, or at once when there is none.
type RemedySpec struct {
	ClusterAffinity *RemedyClusterAffinity `json:"clusterAffinity,omitempty"`
	DecisionMatches []DecisionMatch        `json:"decisionMatches,omitempty"`
	Actions         []RemedyAction         `json:"actions,omitempty"`
}

// RemedyClusterAffinity lists clusters by name; empty means every cluster.
type RemedyClusterAffinity struct {
	ClusterNames []string `json:"clusterNames,omitempty"`
}

// DecisionMatch is one reason to act.
type DecisionMatch struct {
	ClusterConditionMatch *ClusterConditionRequirement `json:"clusterConditionMatch,omitempty"`
}

// ServiceDomainNameResolutionReady is the one condition type a Remedy can watch.
const ServiceDomainNameResolutionReady = "ServiceDomainNameResolutionReady"

// ClusterConditionOperator relates a condition's status to a value.
type ClusterConditionOperator string

// The operators of a ClusterConditionRequirement.
const (
	ClusterConditionEqual    ClusterConditionOperator = "Equal"
	ClusterConditionNotEqual ClusterConditionOperator = "NotEqual"
)

// ClusterConditionRequirement is a demand on one condition of a cluster.
type ClusterConditionRequirement struct {
	ConditionType   string                   `json:"conditionType"`
	Operator        ClusterConditionOperator `json:"operator"`
	ConditionStatus string                   `json:"conditionStatus"`
}

// RemedyAction is what a Remedy asks for.
type RemedyAction string

// TrafficControl takes the cluster out of multi-cluster traffic.
const TrafficControl RemedyAction = "TrafficControl"
