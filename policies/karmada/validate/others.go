package validate

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
)

// DrivesOut returns a finding for each taint of a policy that would drive objects out of
// clusters, which Karmada's webhook refuses unless it is told otherwise (section C.4).
func DrivesOut(p *karmada.ClusterTaintPolicy) []karmada.FieldError {
	var fs findings
	for i, t := range p.Spec.Taints {
		if t.Effect == corev1.TaintEffectNoExecute {
			fs.fail(field{"spec"}.at("taints", i, "effect"), diag.UnsupportedValue, `"NoExecute" is not allowed here, because it drives objects out of clusters by itself`,
				"write NoSchedule, or let work fail over: failover: {enabled: true} in waybill.yaml")
		}
	}
	return fs
}

// checkTaintPolicy holds that a policy has taints that clusters can have.
func checkTaintPolicy(fs *findings, s *karmada.ClusterTaintPolicySpec, at field) {
	checkUncheckedAffinity(fs, at.at("targetClusters"), s.TargetClusters, "clusters are chosen by it all the same")
	checkMatchConditions(fs, s.AddOnConditions, at.at("addOnConditions"))
	checkMatchConditions(fs, s.RemoveOnConditions, at.at("removeOnConditions"))
	if len(s.Taints) == 0 {
		fs.fail(at.at("taints"), diag.RequiredField, "has no taint, and needs one", "")
	}
	for i, t := range s.Taints {
		at := at.at("taints", i)
		fs.unchecked(refusedByCluster, func(fs *findings) {
			oneOf(fs, at.at("effect"), t.Effect, "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)
		})
		if t.Key != "" {
			fs.unchecked(refusedByCluster, func(fs *findings) { checkTaint(fs, t, at) })
		}
	}
	checkUniqueTaints(fs, s.Taints, at.at("taints"))
	if len(s.AddOnConditions)+len(s.RemoveOnConditions) == 0 {
		fs.warn(at, diag.ChangesNothing, "has neither addOnConditions nor removeOnConditions, so that no taint is ever set", "")
	}
}

// refusedByCluster is what comes of a taint that no cluster may have.
const refusedByCluster = "Karmada takes the policy, but no cluster with such a taint"

// checkMatchConditions warns of what Karmada does not look at. What an operator or a
// status does not know is never met.
func checkMatchConditions(fs *findings, ms []karmada.MatchCondition, at field) {
	for i, m := range ms {
		at := at.at(i)
		if m.StatusValues == nil {
			fs.missing(at.at("statusValues"))
		}
		fs.unchecked("the condition is never met", func(fs *findings) {
			oneOf(fs, at.at("operator"), m.Operator, "", karmada.MatchConditionOpIn, karmada.MatchConditionOpNotIn)
		})
		fs.unchecked("no condition has that status", func(fs *findings) {
			for j, v := range m.StatusValues {
				oneOf(fs, at.at("statusValues", j), v, metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown)
			}
		})
	}
}

// checkRebalancer holds that each template is named in full (section E.8).
func checkRebalancer(fs *findings, s *karmada.WorkloadRebalancerSpec, at field) {
	if len(s.Workloads) == 0 {
		fs.fail(at.at("workloads"), diag.RequiredField, "has no workload, and needs one", "")
	}
	for i, w := range s.Workloads {
		at := at.at("workloads", i)
		fs.kind(at, w.APIVersion, w.Kind)
		fs.require(at.at("name"), w.Name, "")
	}
}

// checkRemedy refuses other operators only; what else it does not know never comes true.
func checkRemedy(fs *findings, s *karmada.RemedySpec, at field) {
	for i, m := range s.DecisionMatches {
		if m.ClusterConditionMatch == nil {
			continue
		}
		at, c := at.at("decisionMatches", i, "clusterConditionMatch"), m.ClusterConditionMatch
		fs.require(at.at("conditionType"), c.ConditionType, "write "+karmada.ServiceDomainNameResolutionReady)
		if c.ConditionType != "" && c.ConditionType != karmada.ServiceDomainNameResolutionReady {
			fs.warn(at.at("conditionType"), diag.MatchesNothing, fmt.Sprintf("no cluster has condition %q", c.ConditionType), "write "+karmada.ServiceDomainNameResolutionReady)
		}
		oneOf(fs, at.at("operator"), c.Operator, karmada.ClusterConditionEqual, karmada.ClusterConditionNotEqual)
		fs.require(at.at("conditionStatus"), c.ConditionStatus, "")
	}
	for i, a := range s.Actions {
		if a != karmada.TrafficControl {
			fs.warn(at.at("actions", i), diag.UnknownAction, fmt.Sprintf("nobody performs %q", a), "write "+string(karmada.TrafficControl))
		}
	}
}

// checkWork holds that each manifest is an object.
func checkWork(fs *findings, s *karmada.WorkSpec, at field) {
	for i, m := range s.Workload.Manifests {
		at := at.at("workload", "manifests", i)
		var t metav1.TypeMeta
		if err := json.Unmarshal(m.Raw, &t); err != nil {
			fs.fail(at, diag.InvalidValue, "is not an object", "")
			continue
		}
		fs.kind(at, t.APIVersion, t.Kind)
	}
}
