package karmada

// ReplicaSchedulingType is how replicas relate to clusters.
type ReplicaSchedulingType string

// The replica scheduling types.
const (
	ReplicaSchedulingTypeDuplicated ReplicaSchedulingType = "Duplicated"
	ReplicaSchedulingTypeDivided    ReplicaSchedulingType = "Divided"
)

// ReplicaDivisionPreference is how divided replicas are divided.
type ReplicaDivisionPreference string

// The replica division preferences.
const (
	ReplicaDivisionPreferenceAggregated ReplicaDivisionPreference = "Aggregated"
	ReplicaDivisionPreferenceWeighted   ReplicaDivisionPreference = "Weighted"
)

// ReplicaScheduling says how replicas are given to the chosen clusters.
type ReplicaScheduling struct {
	ReplicaSchedulingType     ReplicaSchedulingType     `json:"replicaSchedulingType,omitempty"`
	ReplicaDivisionPreference ReplicaDivisionPreference `json:"replicaDivisionPreference,omitempty"`
	WeightPreference          *ClusterPreferences       `json:"weightPreference,omitempty"`
}

// DynamicWeightFactor is what dynamic weights are taken from.
type DynamicWeightFactor string

// DynamicWeightByAvailableReplicas weighs a cluster by the replicas it has room for.
const DynamicWeightByAvailableReplicas DynamicWeightFactor = "AvailableReplicas"

// ClusterPreferences weighs clusters, by a list or by their capacity.
type ClusterPreferences struct {
	StaticWeightList []StaticClusterWeight `json:"staticWeightList,omitempty"`
	DynamicWeight    DynamicWeightFactor   `json:"dynamicWeight,omitempty"`
}

// StaticClusterWeight gives the clusters it matches a weight of at least 1.
type StaticClusterWeight struct {
	TargetCluster ClusterAffinity `json:"targetCluster"`
	Weight        int64           `json:"weight"`
}
