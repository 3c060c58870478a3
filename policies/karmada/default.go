package karmada

import (
	"math"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// serviceImports are the template kinds that need their dependencies (section A.2): Karmada has the first alone.
var serviceImports = []gvk{{"multicluster.x-k8s.io/v1alpha1", "ServiceImport"}, {"multicluster.x-k8s.io/v1beta1", "ServiceImport"}}

// Default fills in what Karmada's API server and mutating webhooks fill in
// (Karmada section A.2, and the default columns of A.1, C.1, E.5 and E.6), and
// nothing that depends on the time or on chance: no permanent id, no timeAdded.
// x is what Decode returned; of other values nothing changes. It rewrites
// deprecated spellings, so validate first. Applied twice it does what it did
// once.
func Default(x any) {
	switch x := x.(type) {
	case *PropagationPolicy:
		x.setDefaults()
	case *OverridePolicy:
		defaultNamespace(x.Spec.ResourceSelectors, x.Namespace)
	case *Cluster:
		x.Spec.setDefaults()
	case *FederatedHPA:
		x.Spec.setDefaults()
	case *CronFederatedHPA:
		for i := range x.Spec.Rules {
			x.Spec.Rules[i].setDefaults()
		}
	}
}

// defaultNamespace gives a namespaced policy's selectors its namespace. Selectors
// of a cluster-wide policy stay as they are and then match in every namespace.
func defaultNamespace(selectors []ResourceSelector, namespace string) {
	for i := range selectors {
		setEmpty(&selectors[i].Namespace, namespace)
	}
}

func (p *PropagationPolicy) setDefaults() {
	s := &p.Spec
	defaultNamespace(s.ResourceSelectors, p.Namespace)
	s.PropagateDeps = s.FollowsDependencies()
	setNil(&s.Priority, 0)
	setEmpty(&s.Preemption, PreemptNever)
	setEmpty(&s.SchedulerName, DefaultScheduler)
	setEmpty(&s.ConflictResolution, ConflictAbort)
	for i := range s.Placement.SpreadConstraints {
		s.Placement.SpreadConstraints[i].setDefaults()
	}
	if r := s.Placement.ReplicaScheduling; r != nil {
		r.setDefaults()
	}
	if s.Failover != nil {
		s.Failover.setDefaults()
	}
}

// FollowsDependencies reports propagateDeps as it is in force.
func (s *PropagationSpec) FollowsDependencies() bool {
	return s.PropagateDeps || slices.ContainsFunc(s.ResourceSelectors, func(r ResourceSelector) bool {
		return slices.Contains(serviceImports, gvk{r.APIVersion, r.Kind})
	})
}

// setDefaults leaves maxGroups at 0, as Karmada does, which then selects nothing.
func (c *SpreadConstraint) setDefaults() {
	if c.SpreadByLabel == "" {
		setEmpty(&c.SpreadByField, SpreadByFieldCluster)
	}
	setEmpty(&c.MinGroups, 1)
}

func (r *ReplicaScheduling) setDefaults() {
	setEmpty(&r.ReplicaSchedulingType, ReplicaSchedulingTypeDivided)
	if r.ReplicaSchedulingType == ReplicaSchedulingTypeDivided {
		setEmpty(&r.ReplicaDivisionPreference, ReplicaDivisionPreferenceWeighted)
	}
}

func (f *FailoverBehavior) setDefaults() {
	if a := f.Application; a != nil {
		a.PurgeMode = a.PurgeMode.InForce()
		setNil(&a.DecisionConditions.TolerationSeconds, 300)
		if a.PurgeMode == PurgeModeGracefully {
			setNil(&a.GracePeriodSeconds, 600)
		}
	}
	if c := f.Cluster; c != nil {
		c.PurgeMode = c.PurgeMode.InForce()
	}
}

// The spellings of purge modes that Karmada 1.19 took away.
const (
	purgeModeImmediately PurgeMode = "Immediately"
	purgeModeGraciously  PurgeMode = "Graciously"
)

// InForce is the mode that acts: the default where none is given, and the new word
// for an old one.
func (m PurgeMode) InForce() PurgeMode {
	switch m {
	case purgeModeImmediately:
		return PurgeModeDirectly
	case purgeModeGraciously, "":
		return PurgeModeGracefully
	default:
		return m
	}
}

// setDefaults moves the deprecated zone into zones and brings resource models into
// the order of their grades, from nothing to no bound (sections A.7 and C.1). A
// cluster without models stays without; see DefaultResourceModels.
func (s *ClusterSpec) setDefaults() {
	if s.Zone != "" && len(s.Zones) == 0 {
		s.Zones, s.Zone = []string{s.Zone}, ""
	}
	if len(s.ResourceModels) == 0 {
		return
	}
	slices.SortStableFunc(s.ResourceModels, byGrade)
	for i := range s.ResourceModels[0].Ranges {
		s.ResourceModels[0].Ranges[i].Min.Set(0)
	}
	last := s.ResourceModels[len(s.ResourceModels)-1]
	for i := range last.Ranges {
		last.Ranges[i].Max.Set(math.MaxInt64)
	}
}

// setDefaults scales by the use of CPU where no metric is given.
func (s *FederatedHPASpec) setDefaults() {
	setNil(&s.MinReplicas, 1)
	if len(s.Metrics) > 0 {
		return
	}
	percent := int32(80)
	s.Metrics = []autoscalingv2.MetricSpec{{
		Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{
			Name:   corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent},
		},
	}}
}

func (r *CronFederatedHPARule) setDefaults() {
	setNil(&r.Suspend, false)
	setNil(&r.SuccessfulHistoryLimit, 3)
	setNil(&r.FailedHistoryLimit, 3)
}

// setEmpty gives a zero value its default.
func setEmpty[T comparable](value *T, instead T) {
	if *value == *new(T) {
		*value = instead
	}
}

// setNil gives a value that is not there its default.
func setNil[T any](value **T, instead T) {
	if *value == nil {
		*value = &instead
	}
}
