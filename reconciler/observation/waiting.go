package observation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// Replica is what counts of a pod of a Deployment.
type Replica struct {
	Of    string // namespace and name of the Deployment, with a slash between
	Ready bool
	Waits bool // its scheduler finds no node for it
}

// ReplicaOf returns what counts of a pod; false for one that is of no Deployment, or ends. The
// ReplicaSet between the two is called as the Deployment, with the hash of the pod template.
func ReplicaOf(p *corev1.Pod) (Replica, bool) {
	owner := metav1.GetControllerOf(p)
	if owner == nil || owner.Kind != "ReplicaSet" || p.DeletionTimestamp != nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return Replica{}, false
	}
	name, isHashed := strings.CutSuffix(owner.Name, "-"+p.Labels["pod-template-hash"])
	if !isHashed {
		return Replica{}, false
	}
	r := Replica{Of: p.Namespace + "/" + name}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			r.Ready = c.Status == corev1.ConditionTrue
		}
		if c.Type == corev1.PodScheduled {
			r.Waits = c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable && p.Spec.NodeName == ""
		}
	}
	return r, true
}

// Waiting is what is seen of the workloads of which somebody asks how many replicas wait for a
// node. Without workloads nobody asks.
type Waiting struct {
	Threshold time.Duration // of what counts
	Workloads map[object.Ref]Replicas
}

// Replicas are those of a workload of which some wait.
type Replicas struct {
	APIVersion  string
	Pods, Ready int32
	Waiting     []string // names of pods, with their namespaces
}

// waits remembers since when pods wait, by their names, by the clock of whoever observes: that of
// the cluster may be wrong.
type waits map[string]time.Time

// next returns the workloads with replicas that have waited for longer than the threshold. What
// is as it is recorded stays so. Whoever starts anew believes what is recorded.
func (w *waits) next(seen *Waiting, recorded []karmada.Unschedulable, now time.Time) []karmada.Unschedulable {
	now = now.UTC().Truncate(time.Second)
	before, isFirst := *w, *w == nil
	*w = waits{}
	var rows []karmada.Unschedulable
	for ref, r := range seen.Workloads {
		row := karmada.Unschedulable{
			APIVersion: r.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, Pods: r.Pods, Ready: r.Ready, Seen: metav1.NewTime(now),
		}
		was := find(recorded, &row)
		for i, pod := range slices.Sorted(slices.Values(r.Waiting)) {
			since, known := before[pod]
			switch {
			case known:
			case isFirst && was != nil && i < int(was.Unschedulable):
				since = was.Since.UTC()
			default:
				since = now
			}
			(*w)[pod] = since
			if now.Sub(since) >= seen.Threshold {
				row.Unschedulable++
				row.Since = metav1.NewTime(latest(row.Since.Time, since))
			}
		}
		switch {
		case row.Unschedulable == 0:
		case was != nil && says(was, &row):
			rows = append(rows, *was)
		default:
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, compare)
	return rows
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// compare orders rows by what they are about.
func compare(a, b karmada.Unschedulable) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion))
}

// find returns the row about the same workload; nil if there is none.
func find(rows []karmada.Unschedulable, about *karmada.Unschedulable) *karmada.Unschedulable {
	for i := range rows {
		if compare(rows[i], *about) == 0 {
			return &rows[i]
		}
	}
	return nil
}

// says reports that two rows say the same. How many pods are ready makes no difference: those
// that wait are not.
func says(a, b *karmada.Unschedulable) bool {
	return a.Pods == b.Pods && a.Unschedulable == b.Unschedulable
}

// waitingOf returns the rows of a status, which may be nil.
func waitingOf(s *karmada.ClusterStatus) []karmada.Unschedulable {
	if s == nil || s.Waybill == nil {
		return nil
	}
	return s.Waybill.Unschedulable
}

// putWaiting puts rows into a status, and says what changes by them.
func putWaiting(status *karmada.ClusterStatus, rows []karmada.Unschedulable, change *Change) {
	before := waitingOf(status)
	words := map[string]bool{}
	for i := range rows {
		if was := find(before, &rows[i]); was == nil || !says(was, &rows[i]) {
			words[fmt.Sprintf("no node for %d of %d pods of %s/%s", rows[i].Unschedulable, rows[i].Pods, rows[i].Namespace, rows[i].Name)] = true
		}
	}
	for i := range before {
		if find(rows, &before[i]) == nil {
			words[fmt.Sprintf("a node for all pods of %s/%s", before[i].Namespace, before[i].Name)] = true
		}
	}
	if len(words) == 0 {
		return
	}
	next := karmada.ObservedBesides{Unschedulable: rows}
	if status.Waybill != nil {
		next.Sequence = status.Waybill.Sequence
	}
	if status.Waybill = nil; len(rows) > 0 || next.Sequence != nil {
		status.Waybill = &next
	}
	change.Words, change.Soon = append(change.Words, slices.Sorted(maps.Keys(words))...), true
}

// retold returns the rows that an agent tells, in the time of whoever records: how long something
// has lasted is right by any clock.
func retold(told, before []karmada.Unschedulable, now time.Time) []karmada.Unschedulable {
	now = now.UTC().Truncate(time.Second)
	rows := slices.Clone(told)
	for i := range rows {
		row := &rows[i]
		if was := find(before, row); was != nil && says(was, row) {
			*row = *was
			continue
		}
		lasted := max(row.Seen.Sub(row.Since.Time), 0)
		row.Since, row.Seen = metav1.NewTime(now.Add(-lasted)), metav1.NewTime(now)
	}
	return rows
}
