package evidence

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// UnitState is how a unit, which is rolled out as one, is in a cluster.
type UnitState string

// The states.
const (
	// UnitSilent is that nothing counts of what the cluster says, if it says anything.
	UnitSilent UnitState = "Silent"
	// UnitClosed is that nobody is to apply in the cluster now.
	UnitClosed UnitState = "Closed"
	// UnitProgressing is that not all is there yet as it is published, or not all is healthy yet.
	UnitProgressing UnitState = "Progressing"
	// UnitFailed is that something cannot be applied as it is published, or has failed with it.
	UnitFailed UnitState = "Failed"
	// UnitHealthy is that all is there as it is published and healthy, and that what was removed is gone.
	UnitHealthy UnitState = "Healthy"
)

// UnitObject is an object of a unit in a cluster, or one that left the unit.
type UnitObject struct {
	Ref object.Ref // in the API server of the cluster
	// Published is the object's file on the head of the cluster's branch, Before the one that it had there before the release,
	// Applied the one in the commit that was applied of the object, and Round the one in the commit that was applied of the
	// branch; nil where there is none.
	Published, Before, Applied, Round *files.Blob
}

// Unit is what is known of a unit in a cluster.
type Unit struct {
	Report *status.Report // nil: nobody says anything
	// Ignored says why the report does not count, such as that nobody hears of whoever applies; empty if it does.
	Ignored string
	Objects []UnitObject
	// Released is when the cluster was given what is published; zero: long ago.
	Released time.Time
}

// UnitAnswer is what a cluster says of a unit.
type UnitAnswer struct {
	State UnitState
	// Since is when it became so, by whoever applies. It is shown: who counts time does it by the times of plans.
	Since time.Time
	// Ref is an object that says so, and Message why; zero where it is all of them.
	Ref     object.Ref
	Message string
}

// Read says how the unit is at a time. A report that is older than lasting is worth nothing.
func (u *Unit) Read(now time.Time, lasting time.Duration) UnitAnswer {
	r := u.Report
	switch {
	case r == nil:
		return UnitAnswer{State: UnitSilent, Message: "nobody reports"}
	case u.Ignored != "":
		return UnitAnswer{State: UnitSilent, Since: r.At, Message: u.Ignored}
	case now.Sub(r.At) > lasting:
		return UnitAnswer{State: UnitSilent, Since: r.At, Message: "nobody said anything since " + r.At.UTC().Format(time.RFC3339)}
	case r.Verdict.Reason == status.Suspended:
		return UnitAnswer{State: UnitClosed, Since: r.Since, Message: r.Verdict.Message}
	case !r.Verdict.Looked():
		return UnitAnswer{State: UnitSilent, Since: r.Since, Message: r.Verdict.Message}
	}
	return u.worst()
}

// worst is the answer of the object of which the worst is known: one that failed first, else one that is not there yet, else
// the one that became healthy last.
func (u *Unit) worst() UnitAnswer {
	found := UnitAnswer{State: UnitHealthy}
	order := []UnitState{UnitHealthy, UnitProgressing, UnitFailed}
	for i := range u.Objects {
		a := u.object(&u.Objects[i])
		was, is := slices.Index(order, found.State), slices.Index(order, a.State)
		switch {
		case is > was, is == was && a.State == UnitFailed && a.Since.Before(found.Since):
			found = a
		case a.State == UnitHealthy && is == was && a.Since.After(found.Since):
			found.Since = a.Since
		}
	}
	return found
}

// object is the answer of an object.
func (u *Unit) object(o *UnitObject) UnitAnswer {
	said := u.Report.Objects[o.Ref]
	progressing := func(why string) UnitAnswer {
		return UnitAnswer{State: UnitProgressing, Since: u.Report.At, Ref: o.Ref, Message: why}
	}
	switch {
	case o.Published == nil && said == nil && o.Round == nil:
		return UnitAnswer{State: UnitHealthy}
	case o.Published == nil:
		return progressing("it is not gone yet")
	case said == nil:
		return progressing("it is not there yet")
	case said.Applied.Phase == status.PhaseFailed && same(o.Round, o.Published):
		return UnitAnswer{State: UnitFailed, Since: said.Applied.Since, Ref: o.Ref, Message: said.Applied.Message}
	case said.Applied.Phase != status.PhaseApplied || !same(o.Applied, o.Published):
		return progressing("it is not applied yet as it is published")
	}
	since := said.Health.Since
	if isNew := !same(o.Before, o.Published); isNew {
		// What is new is healthy since it is there at the earliest, whatever was healthy before.
		if since.Before(said.Applied.Since) {
			since = said.Applied.Since
		}
		if !u.Released.IsZero() && !since.After(u.Released) {
			return progressing("what is said of it is older than the release")
		}
	}
	return u.healthOf(o.Ref, &said.Health, since)
}

// healthOf is the answer of an object that is there as it is published.
func (u *Unit) healthOf(r object.Ref, h *status.Health, since time.Time) UnitAnswer {
	a := UnitAnswer{State: UnitProgressing, Since: since, Ref: r, Message: h.Message}
	switch {
	case h.State == karmada.ResourceHealthy:
		a.State, a.Message = UnitHealthy, ""
	case h.State == karmada.ResourceUnhealthy && h.Reason == health.Failed:
		a.State = UnitFailed
	}
	return a
}

// same reports two files with the same content.
func same(a, b *files.Blob) bool { return a != nil && b != nil && a.ID() == b.ID() }
