package evict

import (
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// Evidence is what clusters say of objects, by the name of the cluster. A cluster that says
// nothing is not in it.
type Evidence map[object.Ref]map[string]Seen

// Seen is what a cluster says of an object.
type Seen struct {
	// Health is Karmada's answer, by which work leaves a cluster.
	Health karmada.ResourceHealth
	Since  time.Time // that it is so
	// Done reports that the object is as it should be, so that a copy elsewhere may go.
	Done bool
	// Current reports that the object is there as the cluster's branch has it.
	Current bool
	// UpToDate reports that the cluster applied the head of its branch last: what it says is of no earlier time, in which
	// it may have had the object, too.
	UpToDate bool
	// Gone reports that the branch does not have it, and neither has the cluster.
	Gone bool
	// Preserved are the labels that hold what is to be preserved of its status; nil if they cannot
	// be had.
	Preserved map[string]string
}
