package validate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
)

func checkPropagationPolicy(fs *findings, p *karmada.PropagationPolicy, at field) {
	s := &p.Spec
	if len(s.ResourceSelectors) == 0 {
		fs.fail(at.at("resourceSelectors"), diag.RequiredField, "has no selector, and needs one", "")
	}
	checkResourceSelectors(fs, at.at("resourceSelectors"), s.ResourceSelectors, &p.ObjectMeta)
	if s.Association {
		fs.warn(at.at("association"), diag.UnusedField, "is read by nobody", "write propagateDeps")
	}
	checkPlacement(fs, &s.Placement, at.at("placement"))
	checkSpreadTraps(fs, &s.Placement, p.Annotations[spreadAnnotation], at.at("placement", "spreadConstraints"))
	checkPreemption(fs, s, at)
	if s.SchedulerName != "" && s.SchedulerName != karmada.DefaultScheduler {
		fs.warn(at.at("schedulerName"), diag.OtherScheduler,
			fmt.Sprintf("%q is not the scheduler %q, so that Karmada's leaves this policy alone; here it changes nothing", s.SchedulerName, karmada.DefaultScheduler), "remove it")
	}
	if s.Failover != nil {
		checkFailover(fs, s, at)
	}
	oneOf(fs, at.at("conflictResolution"), s.ConflictResolution, "", karmada.ConflictAbort, karmada.ConflictOverwrite)
	oneOf(fs, at.at("activationPreference"), s.ActivationPreference, "", karmada.LazyActivation)
	checkSuspension(fs, s.Suspension, at.at("suspension"))
	if p := s.SchedulePriority; p != nil {
		oneOf(fs, at.at("schedulePriority", "priorityClassSource"), p.PriorityClassSource, "KubePriorityClass")
		fs.require(at.at("schedulePriority", "priorityClassName"), p.PriorityClassName, "")
	}
}

// checkPreemption must name what it takes, so that it takes nothing by accident.
func checkPreemption(fs *findings, s *karmada.PropagationSpec, at field) {
	oneOf(fs, at.at("preemption"), s.Preemption, "", karmada.PreemptAlways, karmada.PreemptNever)
	if s.Preemption != karmada.PreemptAlways {
		return
	}
	for i, r := range s.ResourceSelectors {
		fs.require(at.at("resourceSelectors", i, "name"), r.Name, `a policy with preemption: Always takes objects by name only`)
	}
}

func checkSuspension(fs *findings, s *karmada.Suspension, at field) {
	if s == nil || s.Dispatching == nil || !*s.Dispatching || s.DispatchingOnClusters == nil {
		return
	}
	if len(s.DispatchingOnClusters.ClusterNames) > 0 {
		fs.fail(at.at("dispatchingOnClusters", "clusterNames"), diag.ConflictingFields,
			"is given, but dispatching: true suspends every cluster", "remove one of them")
	}
}

func checkFailover(fs *findings, s *karmada.PropagationSpec, at field) {
	if a := s.Failover.Application; a != nil {
		if !s.FollowsDependencies() {
			fs.fail(at.at("propagateDeps"), diag.ConflictingFields, "is false, and failover.application needs it", "write propagateDeps: true")
		}
		checkApplicationFailover(fs, a, at.at("failover", "application"))
	}
	if c := s.Failover.Cluster; c != nil {
		at := at.at("failover", "cluster")
		checkPurgeMode(fs, at.at("purgeMode"), c.PurgeMode, karmada.PurgeModeDirectly, karmada.PurgeModeGracefully)
		checkStatePreservation(fs, c.StatePreservation, at.at("statePreservation", "rules"))
	}
}

func checkApplicationFailover(fs *findings, a *karmada.ApplicationFailoverBehavior, at field) {
	if seconds := a.DecisionConditions.TolerationSeconds; seconds != nil {
		fs.atLeast(at.at("decisionConditions", "tolerationSeconds"), int64(*seconds), 0)
	}
	checkPurgeMode(fs, at.at("purgeMode"), a.PurgeMode, karmada.PurgeModeDirectly, karmada.PurgeModeGracefully, karmada.PurgeModeNever)
	if a.GracePeriodSeconds != nil {
		fs.atLeast(at.at("gracePeriodSeconds"), int64(*a.GracePeriodSeconds), 1)
		if a.PurgeMode.InForce() != karmada.PurgeModeGracefully {
			fs.fail(at.at("gracePeriodSeconds"), diag.ConflictingFields,
				fmt.Sprintf("has no meaning with purgeMode %q", a.PurgeMode), "remove it, or write purgeMode: Gracefully")
		}
	}
	checkStatePreservation(fs, a.StatePreservation, at.at("statePreservation", "rules"))
}

// checkPurgeMode lets the spellings before Karmada 1.19 pass with a warning.
func checkPurgeMode(fs *findings, at field, m karmada.PurgeMode, allowed ...karmada.PurgeMode) {
	if now := m.InForce(); m != "" && now != m {
		fs.warn(at, diag.OldPurgeMode, fmt.Sprintf("%q is no longer a purge mode; it is read as %q", m, now),
			"write purgeMode: "+string(now))
		return
	}
	oneOf(fs, at, m, append(allowed, "")...)
}

func checkStatePreservation(fs *findings, s *karmada.StatePreservation, at field) {
	if s == nil {
		return
	}
	if s.Rules == nil {
		fs.missing(at)
	}
	for i, r := range s.Rules {
		fs.key(at.at(i, "aliasLabelName"), r.AliasLabelName)
		fs.require(at.at(i, "jsonPath"), r.JSONPath, "")
	}
}

// checkTolerations differ from a pod's in that numbers are not compared. The effect is
// not checked by Karmada, but one it does not know tolerates nothing.
func checkTolerations(fs *findings, at field, ts []corev1.Toleration) {
	for i, t := range ts {
		at := at.at(i)
		oneOf(fs, at.at("operator"), t.Operator, "", corev1.TolerationOpEqual, corev1.TolerationOpExists)
		switch t.Effect {
		case "", corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute:
		default:
			fs.warn(at.at("effect"), diag.MatchesNothing, fmt.Sprintf("no cluster has a taint with effect %q", t.Effect),
				"write NoSchedule or NoExecute, or leave it out for both")
		}
		if t.Operator == corev1.TolerationOpExists && t.Value != "" {
			fs.warn(at.at("value"), diag.UnusedField, fmt.Sprintf("%q does nothing, because operator Exists tolerates every value", t.Value), "remove it, or write operator: Equal")
		}
	}
}
