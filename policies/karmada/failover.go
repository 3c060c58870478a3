package karmada

// PurgeMode is how an evicted application leaves its old cluster.
type PurgeMode string

// The purge modes.
const (
	PurgeModeDirectly   PurgeMode = "Directly"
	PurgeModeGracefully PurgeMode = "Gracefully"
	PurgeModeNever      PurgeMode = "Never"
)

// FailoverBehavior says what moves when an application or a cluster fails.
type FailoverBehavior struct {
	Application *ApplicationFailoverBehavior `json:"application,omitempty"`
	Cluster     *ClusterFailoverBehavior     `json:"cluster,omitempty"`
}

// ApplicationFailoverBehavior is failover of an unhealthy application.
type ApplicationFailoverBehavior struct {
	DecisionConditions DecisionConditions `json:"decisionConditions"`
	PurgeMode          PurgeMode          `json:"purgeMode,omitempty"`
	GracePeriodSeconds *int32             `json:"gracePeriodSeconds,omitempty"`
	StatePreservation  *StatePreservation `json:"statePreservation,omitempty"`
}

// DecisionConditions says when an application counts as failed.
type DecisionConditions struct {
	TolerationSeconds *int32 `json:"tolerationSeconds,omitempty"`
}

// ClusterFailoverBehavior is failover of a tainted cluster.
type ClusterFailoverBehavior struct {
	PurgeMode         PurgeMode          `json:"purgeMode,omitempty"`
	StatePreservation *StatePreservation `json:"statePreservation,omitempty"`
}

// StatePreservation carries status values into the next cluster as labels.
type StatePreservation struct {
	Rules []StatePreservationRule `json:"rules"`
}

// StatePreservationRule maps one status field to one label.
type StatePreservationRule struct {
	AliasLabelName string `json:"aliasLabelName"`
	JSONPath       string `json:"jsonPath"`
}
