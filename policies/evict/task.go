package evict

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Task records a cluster that work is leaving.
type Task = karmada.GracefulEvictionTask

// Release has a task whose old copy stays for good go on as a policy says now, if that says
// otherwise.
func Release(t *Task, b *karmada.FailoverBehavior) {
	if b != nil && b.Application != nil && b.Application.PurgeMode == karmada.PurgeModeNever {
		return
	}
	t.PurgeMode, t.SuppressDeletion = karmada.PurgeModeGracefully, nil
}

// The producers and reasons of tasks, in Karmada's words.
const (
	TaintManager     = "TaintManager"
	TaintUntolerated = "TaintUntolerated"
	// ApplicationFailover is the producer where the work itself fails.
	ApplicationFailover = "resource-binding-application-failover-controller"
	ApplicationFailure  = "ApplicationFailure"
)

// Rules are what a config says.
type Rules struct {
	Timeout  time.Duration // of a graceful eviction; 0 waits for nothing
	Rate     float64       // see Pace
	KeepLast bool          // the last copy stays
	Limits   Limits
}

// Pace returns the pace of the rules, by when its bucket is full.
func (r *Rules) Pace(full time.Time) Pace {
	if r.Timeout <= 0 {
		return Pace{}
	}
	return Pace{Rate: r.Rate, Full: full}
}

// From is where work leaves: one of the clusters that it was in before.
type From struct {
	Cluster karmada.TargetCluster
	Before  []karmada.TargetCluster
	// Seen is what is known of it there.
	Seen Seen
}

// Task returns the task of work that leaves a cluster as its policy says. It is due.
func (d Due) Task(from From, b *karmada.FailoverBehavior, now time.Time) Task {
	at := metav1.NewTime(now.UTC())
	t := Task{FromCluster: from.Cluster.Name, CreationTimestamp: &at, PurgeMode: karmada.PurgeModeGracefully, Message: d.Why}
	if from.Cluster.Replicas > 0 {
		t.Replicas = &from.Cluster.Replicas
	}
	for _, c := range from.Before {
		t.ClustersBeforeFailover = append(t.ClustersBeforeFailover, c.Name)
	}
	mode := karmada.PurgeMode("")
	if d.fails {
		t.Producer, t.Reason = ApplicationFailover, ApplicationFailure
		mode, t.GracePeriodSeconds = b.Application.PurgeMode, b.Application.GracePeriodSeconds
	} else {
		t.Producer, t.Reason = TaintManager, TaintUntolerated
		if b != nil && b.Cluster != nil {
			mode = b.Cluster.PurgeMode
		}
	}
	if mode != "" {
		t.PurgeMode = mode
	}
	if suppressed := t.PurgeMode == karmada.PurgeModeNever; suppressed {
		t.SuppressDeletion = &suppressed
	}
	t.PreservedLabelState = preserved(d.Preserves(b), from.Seen.Preserved)
	return t
}

// preserved are the labels that rules ask for; nil for none, or if one of them is not known.
func preserved(p *karmada.StatePreservation, known map[string]string) map[string]string {
	if p == nil {
		return nil
	}
	labels := map[string]string{}
	for _, r := range p.Rules {
		value, ok := known[r.AliasLabelName]
		if !ok {
			return nil
		}
		labels[r.AliasLabelName] = value
	}
	return labels
}

// Preserves returns what is to be preserved of work that leaves a cluster; nil for nothing.
func (d Due) Preserves(b *karmada.FailoverBehavior) *karmada.StatePreservation {
	switch {
	case b == nil:
	case d.fails:
		return b.Application.StatePreservation
	case b.Cluster != nil:
		return b.Cluster.StatePreservation
	}
	return nil
}

// Labels returns the labels that a new copy of work gets in a cluster, from the status of the one
// that failed: if the last task purges directly, it goes to one cluster only, and that had no
// copy before.
func Labels(tasks []Task, clusters []karmada.TargetCluster, cluster string) map[string]string {
	if len(tasks) == 0 || len(clusters) != 1 || clusters[0].Name != cluster {
		return nil
	}
	t := &tasks[len(tasks)-1]
	if t.PurgeMode != karmada.PurgeModeDirectly || slices.Contains(t.ClustersBeforeFailover, cluster) {
		return nil
	}
	return t.PreservedLabelState
}
