package validate

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
)

// checkReplicaScheduling holds the fields, and warns of those that have no effect
// beside the others (section A.12).
func checkReplicaScheduling(fs *findings, r *karmada.ReplicaScheduling, at field) {
	oneOf(fs, at.at("replicaSchedulingType"), r.ReplicaSchedulingType, "", karmada.ReplicaSchedulingTypeDuplicated, karmada.ReplicaSchedulingTypeDivided)
	oneOf(fs, at.at("replicaDivisionPreference"), r.ReplicaDivisionPreference, "", karmada.ReplicaDivisionPreferenceAggregated, karmada.ReplicaDivisionPreferenceWeighted)
	if r.ReplicaSchedulingType == "" {
		fs.warn(at.at("replicaSchedulingType"), diag.ImplicitDivided, "is not given, which means Divided; only without replicaScheduling are replicas duplicated",
			"write replicaSchedulingType: Divided or Duplicated")
	}
	switch {
	case !divides(r) && r.ReplicaDivisionPreference != "":
		fs.warn(at.at("replicaDivisionPreference"), diag.UnusedField, "does nothing, because replicas are duplicated", "write replicaSchedulingType: Divided, or remove it")
	case !divides(r) && r.WeightPreference != nil:
		fs.warn(at.at("weightPreference"), diag.UnusedField, "does nothing, because replicas are duplicated", "write replicaSchedulingType: Divided, or remove it")
	case r.ReplicaDivisionPreference == karmada.ReplicaDivisionPreferenceAggregated && r.WeightPreference != nil:
		fs.warn(at.at("weightPreference"), diag.UnusedField, "does nothing, because replicas are aggregated", "write replicaDivisionPreference: Weighted, or remove it")
	}
	if r.WeightPreference != nil {
		checkWeights(fs, r.WeightPreference, at.at("weightPreference"))
	}
}

func checkWeights(fs *findings, w *karmada.ClusterPreferences, at field) {
	oneOf(fs, at.at("dynamicWeight"), w.DynamicWeight, "", karmada.DynamicWeightByAvailableReplicas)
	for i := range w.StaticWeightList {
		at := at.at("staticWeightList", i)
		fs.atLeast(at.at("weight"), w.StaticWeightList[i].Weight, 1)
		checkUncheckedAffinity(fs, at.at("targetCluster"), &w.StaticWeightList[i].TargetCluster, "the weight goes by it all the same")
	}
	switch {
	case w.DynamicWeight != "" && len(w.StaticWeightList) > 0:
		fs.warn(at.at("staticWeightList"), diag.UnusedField, fmt.Sprintf("does nothing, because dynamicWeight: %s wins", w.DynamicWeight), "remove one of them")
	case w.DynamicWeight == "" && len(w.StaticWeightList) == 0:
		fs.warn(at, diag.EmptyWeights, "is empty, which weighs every cluster alike", "write staticWeightList or dynamicWeight, or remove it")
	}
}
