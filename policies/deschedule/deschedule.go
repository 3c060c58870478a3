// Package deschedule decides how many replicas leave a cluster because they find no node there:
// what Karmada's descheduler decides (Karmada section A.18), as functions of values. It does not
// choose where they go instead: package place does.
//
// # What counts
//
// A replica counts as unschedulable when the scheduler of its cluster said so for longer than a
// threshold. A Deployment may have more pods than replicas, as while it is rolled out, or has
// been told to have fewer and still removes some: so many of those that wait are not replicas
// that anybody asked for. A Deployment with fewer pods than replicas is not yet as its branch has
// it, and is left alone.
//
// # Laws
//
// What is left in a cluster is at most what was there, and at least what is ready there and was
// asked for. The same observation takes nothing away twice: of what is left it finds no replica
// that waits.
package deschedule

import (
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// Rules bound what is moved.
type Rules struct {
	// Threshold is how long replicas wait for a node before they are moved.
	Threshold time.Duration
	// Cooldown is how long a cluster that replicas left takes no others of the same template.
	Cooldown time.Duration
}

// Watch says of which workloads observers count the replicas that wait for a node; nil asks for
// none.
type Watch struct {
	// Threshold is how long a replica waits before it counts.
	Threshold time.Duration
	// Workloads are refs of templates, in their order.
	Workloads []object.Ref
}

// Moves reports a kind whose replicas are moved, as Karmada moves them: Deployments.
func Moves(r object.Ref) bool { return r.Group == "apps" && r.Kind == "Deployment" }

// Shrink returns how many of the desired replicas of a workload stay in a cluster, by what was
// observed there: the desired ones less those that wait for a node, and not less than are ready.
// The observation counts from the time on at which it has lasted for the limit, which is returned
// where it is still to come; until then all stay.
func Shrink(desired int32, seen karmada.Unschedulable, now time.Time, limit time.Duration) (stay int32, due time.Time) {
	waiting := Waiting(desired, seen)
	if waiting == 0 {
		return desired, time.Time{}
	}
	if due = seen.Since.Add(limit); due.After(now) {
		return desired, due
	}
	return max(desired-waiting, min(seen.Ready, desired), 0), time.Time{}
}

// Waiting returns how many of the desired replicas wait for a node, by what was observed.
func Waiting(desired int32, seen karmada.Unschedulable) int32 {
	if seen.Pods < desired {
		return 0
	}
	return min(max(seen.Unschedulable-(seen.Pods-desired), 0), desired)
}
