package evict

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// Due is when work leaves a cluster, and why.
type Due struct {
	At  time.Time
	Why string // for people

	leaves   bool
	fails    bool // it is the work itself that fails
	observed bool // it follows from what was observed of the cluster
}

// Along is that work leaves at once, with something else that leaves for a reason.
func Along(why string) Due { return Due{Why: why, leaves: true} }

// Never reports that the work does not leave.
func (d Due) Never() bool { return !d.leaves }

// Now reports that the work should have left.
func (d Due) Now(now time.Time) bool { return !d.Never() && !d.At.After(now) }

// Fails reports that it is the work itself that fails, and not the cluster.
func (d Due) Fails() bool { return d.fails }

// Observed is the same for what follows from what was observed of a cluster.
func (d Due) Observed() Due {
	d.observed = !d.Never()
	return d
}

// ForGain reports that the work leaves only if it gains a copy, or replicas, elsewhere: what fails is not
// better off with one copy less, and a cluster that does not answer may be well.
func (d Due) ForGain() bool { return d.fails || d.observed }

// ByTaints returns when taints drive out work that has tolerations.
func ByTaints(taints []corev1.Taint, tolerations []corev1.Toleration) (due Due) {
	for i := range taints {
		t := &taints[i]
		if t.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		at, leaves := expiry(t, tolerations)
		if leaves && (due.Never() || at.Before(due.At)) {
			due = Due{leaves: true, At: at, Why: fmt.Sprintf("the taint %s is not tolerated", t.ToString())}
		}
	}
	return due
}

// expiry returns when the first toleration that matches a taint ends; false if it never does.
func expiry(t *corev1.Taint, tolerations []corev1.Toleration) (at time.Time, leaves bool) {
	if t.TimeAdded != nil {
		at = t.TimeAdded.Time
	}
	for _, l := range tolerations {
		if !fleet.Tolerates(l, t) {
			continue
		}
		if l.TolerationSeconds == nil {
			return at, false
		}
		return at.Add(time.Duration(max(*l.TolerationSeconds, 0)) * time.Second), true
	}
	return at, true
}

// ByHealth returns when work leaves a cluster because it fails there, as its policy says. What
// leaves another cluster for that already waits until that is settled.
func ByHealth(s Seen, a *karmada.ApplicationFailoverBehavior, tasks []Task) Due {
	if a == nil || a.DecisionConditions.TolerationSeconds == nil || s.Health != karmada.ResourceUnhealthy ||
		slices.ContainsFunc(tasks, func(t Task) bool { return t.Producer == ApplicationFailover }) {
		return Due{}
	}
	seconds := *a.DecisionConditions.TolerationSeconds
	return Due{
		At: s.Since.Add(time.Duration(seconds) * time.Second), leaves: true, fails: true,
		Why: fmt.Sprintf("it is not healthy there for %d seconds", seconds),
	}
}
