package validate

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
)

// spreadAnnotation set to strict makes constraints act that Karmada passes over,
// so that there is nothing to warn of.
const spreadAnnotation = "waybill.dev/spread"

// maxAffinityName is the length of the longest name of an affinity group.
const maxAffinityName = 32

func checkPlacement(fs *findings, p *karmada.Placement, at field) {
	if p.ClusterAffinity != nil && len(p.ClusterAffinities) > 0 {
		fs.fail(at.at("clusterAffinities"), diag.ConflictingFields, "cannot be given beside clusterAffinity", "make clusterAffinity the first of clusterAffinities")
	}
	checkClusterAffinity(fs, at.at("clusterAffinity"), p.ClusterAffinity)
	checkAffinityGroups(fs, p, at.at("clusterAffinities"))
	checkTolerations(fs, at.at("clusterTolerations"), p.ClusterTolerations)
	checkSpreadConstraints(fs, p, at.at("spreadConstraints"))
	if p.ReplicaScheduling != nil {
		checkReplicaScheduling(fs, p.ReplicaScheduling, at.at("replicaScheduling"))
	}
	if p.WorkloadAffinity != nil {
		checkWorkloadAffinity(fs, p.WorkloadAffinity, at.at("workloadAffinity"))
	}
}

// divides reports whether replicas are divided, and byCapacity by what clusters
// have room for (section A.12).
func divides(r *karmada.ReplicaScheduling) bool {
	return r != nil && r.ReplicaSchedulingType != karmada.ReplicaSchedulingTypeDuplicated
}

func byCapacity(r *karmada.ReplicaScheduling) bool {
	return divides(r) && (r.ReplicaDivisionPreference == karmada.ReplicaDivisionPreferenceAggregated ||
		r.WeightPreference != nil && r.WeightPreference.DynamicWeight != "")
}

func checkAffinityGroups(fs *findings, p *karmada.Placement, at field) {
	names := map[string]bool{}
	for i := range p.ClusterAffinities {
		g := &p.ClusterAffinities[i]
		checkAffinityName(fs, at.at(i, "affinityName"), g.AffinityName, names)
		checkClusterAffinity(fs, at.at(i), &g.ClusterAffinity)
		if len(g.OverflowAffinities) > 0 {
			checkOverflow(fs, p, g, at.at(i))
		}
	}
	if len(p.ClusterAffinities) > 1 && !byCapacity(p.ReplicaScheduling) {
		fs.warn(at, diag.CapacityIgnored,
			"is tried in order, but replicas that are duplicated or divided by fixed weights never lack room, so that a full group does not lead to the next",
			"divide by Aggregated or by dynamicWeight: AvailableReplicas")
	}
}

// checkAffinityName reports a name that is not valid or was seen before.
func checkAffinityName(fs *findings, at field, name string, seen map[string]bool) {
	fs.key(at, name)
	if len(name) > maxAffinityName {
		fs.fail(at, diag.InvalidValue, fmt.Sprintf("%q has %d characters; at most %d are allowed", name, len(name), maxAffinityName), "")
	}
	if seen[name] && name != "" {
		fs.fail(at, diag.DuplicateValue, fmt.Sprintf("%q is the name of another group", name), "")
	}
	seen[name] = true
}

// checkOverflow holds the groups that take what g has no room for.
func checkOverflow(fs *findings, p *karmada.Placement, g *karmada.ClusterAffinityTerm, at field) {
	if !byCapacity(p.ReplicaScheduling) {
		fs.fail(at.at("overflowAffinities"), diag.ConflictingFields, "needs replicas that are divided by capacity",
			"divide by Aggregated or by dynamicWeight: AvailableReplicas, or remove it")
	}
	if demandsNothing(&g.ClusterAffinity) {
		fs.fail(at.at("overflowAffinities"), diag.ConflictingFields, "can take nothing, because the group before it matches every cluster", "say which clusters come first")
	}
	names := map[string]bool{g.AffinityName: true}
	for i := range g.OverflowAffinities {
		o := &g.OverflowAffinities[i]
		checkAffinityName(fs, at.at("overflowAffinities", i, "affinityName"), o.AffinityName, names)
		checkClusterAffinity(fs, at.at("overflowAffinities", i), &o.ClusterAffinity)
	}
}

// demandsNothing reports an affinity that matches every cluster.
func demandsNothing(a *karmada.ClusterAffinity) bool {
	return a.LabelSelector == nil && a.FieldSelector == nil && len(a.ClusterNames) == 0 && len(a.ExcludeClusters) == 0
}

func checkSpreadConstraints(fs *findings, p *karmada.Placement, at field) {
	var by []karmada.SpreadFieldValue
	for i, c := range p.SpreadConstraints {
		at := at.at(i)
		checkGroups(fs, c, at)
		if c.SpreadByLabel != "" {
			fs.key(at.at("spreadByLabel"), c.SpreadByLabel)
			if c.SpreadByField != "" {
				fs.fail(at.at("spreadByLabel"), diag.ConflictingFields, "cannot be given beside spreadByField", "remove one of them")
			}
			continue
		}
		if c.SpreadByField == "" {
			c.SpreadByField = karmada.SpreadByFieldCluster
		}
		oneOf(fs, at.at("spreadByField"), c.SpreadByField, karmada.SpreadByFieldCluster, karmada.SpreadByFieldRegion, karmada.SpreadByFieldZone, karmada.SpreadByFieldProvider)
		if slices.Contains(by, c.SpreadByField) {
			fs.fail(at.at("spreadByField"), diag.DuplicateValue, fmt.Sprintf("%q has a constraint already", c.SpreadByField), "remove one of them")
		}
		by = append(by, c.SpreadByField)
	}
	if len(by) > 0 && !slices.Contains(by, karmada.SpreadByFieldCluster) {
		fs.fail(at, diag.RequiredField, "has no constraint by cluster, and needs one beside any other field",
			"add spreadByField: cluster with minGroups and maxGroups")
	}
}

// checkGroups holds minGroups and maxGroups.
func checkGroups(fs *findings, c karmada.SpreadConstraint, at field) {
	fs.atLeast(at.at("minGroups"), int64(c.MinGroups), 0)
	fs.atLeast(at.at("maxGroups"), int64(c.MaxGroups), 0)
	if c.MaxGroups > 0 && c.MaxGroups < c.MinGroups {
		fs.fail(at.at("maxGroups"), diag.ConflictingFields, fmt.Sprintf("%d is less than minGroups %d", c.MaxGroups, c.MinGroups), "")
	}
}

// checkSpreadTraps warns of constraints that do other than they seem to (section A.10).
// The mode is the value of spreadAnnotation.
func checkSpreadTraps(fs *findings, p *karmada.Placement, mode string, at field) {
	if len(p.SpreadConstraints) == 0 {
		return
	}
	r := p.ReplicaScheduling
	if divides(r) && !byCapacity(r) && (r.WeightPreference == nil || len(r.WeightPreference.StaticWeightList) > 0) {
		fs.warn(at, diag.SpreadIgnored, "does nothing, because replicas are divided by fixed weights",
			"divide by Aggregated or by dynamicWeight: AvailableReplicas, or remove it")
		return
	}
	for i, c := range p.SpreadConstraints {
		switch idle := idleSpread(c, p.SpreadConstraints); {
		case idle != "" && mode != "strict":
			fs.warn(at.at(i), diag.SpreadIdle, idle, "annotate the policy with "+spreadAnnotation+": strict to make it act")
		case c.MaxGroups == 0:
			fs.warn(at.at(i, "maxGroups"), diag.SpreadSelectsNone, "is 0, which allows no group at all; it does not mean that there is no bound",
				"write how many groups there may be at most")
		}
	}
}

// idleSpread says what Karmada does with a constraint that does not spread, or
// nothing for one that does. By a label alone Karmada fails, but we spread.
func idleSpread(c karmada.SpreadConstraint, all []karmada.SpreadConstraint) string {
	byField := func(c karmada.SpreadConstraint) bool { return c.SpreadByLabel == "" }
	switch {
	case c.SpreadByLabel != "" && slices.ContainsFunc(all, byField):
		return fmt.Sprintf("does nothing by label %q, because another constraint is by field", c.SpreadByLabel)
	case c.SpreadByLabel == "" && (c.SpreadByField == karmada.SpreadByFieldZone || c.SpreadByField == karmada.SpreadByFieldProvider):
		return fmt.Sprintf("leaves out clusters without a %s, but does not spread over them", c.SpreadByField)
	}
	return ""
}

func checkWorkloadAffinity(fs *findings, a *karmada.WorkloadAffinity, at field) {
	if a.Affinity != nil {
		fs.key(at.at("affinity", "groupByLabelKey"), a.Affinity.GroupByLabelKey)
	}
	if a.AntiAffinity == nil {
		return
	}
	fs.key(at.at("antiAffinity", "groupByLabelKey"), a.AntiAffinity.GroupByLabelKey)
	if key := a.AntiAffinity.GroupByLabelKey; a.Affinity != nil && key != "" && key == a.Affinity.GroupByLabelKey {
		fs.fail(at.at("antiAffinity", "groupByLabelKey"), diag.ConflictingFields, fmt.Sprintf("%q is the key of affinity too", key), "")
	}
}
