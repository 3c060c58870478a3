package stage

import (
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/diag"
)

// Input is all that is known of a unit.
type Input struct {
	Unit rollouts.Unit
	// Pos is where the unit is bound to its strategy, for diagnostics.
	Pos diag.Pos
	Now time.Time
	// Source is what the source says now, and Published what it said in the commit that was published last;
	// the zero value where that is not known.
	Source, Published rollouts.Version
	// PublishedCommit is the commit that was published last, whether it can be read or not; empty for none.
	PublishedCommit string
	// Strategy is the one that the unit is bound to; nil for none. See InForce.
	Strategy *rollouts.Strategy
	// Refused says why no run may begin and nothing may be released, as where the strategy cannot be read;
	// empty if they may.
	Refused string
	// Clusters are those that have the unit, or should have its base or its target, in the order in which they are
	// released within a stage.
	Clusters []Cluster
	// LeavesAll reports that the target has nothing of the unit in any cluster.
	LeavesAll bool
	// Windows say of stages, by name, whether clusters may be released now. A stage without one is open.
	Windows map[string]Window
	// Commands are those that may be given to the unit, oldest first. One that was acted on may be there again.
	Commands []rollouts.Command
	// Unreadable are the source commits that cannot be read.
	Unreadable []string
	// Before is what was recorded last; nil for nothing.
	Before *rollouts.Rollout
}

// Cluster is what is known of a unit in a cluster. Base and target are those that Versions returns, laid
// out for the present fleet; bytes are compared without replicas that are divided.
type Cluster struct {
	Name  string
	Stage string // the one that it is in now; empty for none
	// Has reports that something of the unit is published there.
	Has bool
	// IsNew reports that it was not registered when the plan before was made: what is published there is of whichever version it had
	// when it was.
	IsNew bool
	// IsTarget and IsBase report that what is published there is what the target, or the base, gives. What cannot be made there, or is not
	// dispatched, the target does not give; of the base it does not count.
	IsTarget, IsBase bool
	// Lacks reports that what is published there is what the target gives, but for what cannot be made, or is not dispatched there, of
	// which it has nothing.
	Lacks bool
	// LosesLast reports that it has something that the target sends to other clusters only, and that counts for none of these: it keeps
	// that until every stage is over.
	LosesLast bool
	// Misses reports that what the record says that it shows did not come to it, as where the guard held it. It is told of the plan that
	// begins a run.
	Misses bool
	// StaysAhead reports that nothing goes back there, whatever is published: the base cannot be made there, or what is not as the base
	// gives it was another unit's by the base.
	StaysAhead bool
	// WasTarget reports that the target is published there as far as the record knows. What is there in fact was pushed by a plan
	// that recorded nothing.
	WasTarget bool
	// Leaves reports that the base wants the cluster, and the target does not.
	Leaves bool
	// Takes reports that it takes over what another cluster lost: something has to run there at once.
	Takes bool
	// Suspended reports that a policy suspends dispatching to it, and Closed that nothing is applied
	// there now, because it is suspended or the window of its sync is closed.
	Suspended, Closed bool
	// Held reports that the guard held it in the last plan.
	Held bool
	// Unwritable says why what the target wants there cannot be made; empty if it can.
	Unwritable string
	// Unwatched reports that it cannot be told whether the cluster answers.
	Unwatched bool
	Evidence  Evidence
}

// Evidence is what is known of the health of a unit in a cluster. The zero value is that nothing ever
// spoke for it.
type Evidence struct {
	Health Health
	// IsPresent reports that it speaks of what is published there now.
	IsPresent bool
	// Since is since when the unit has that health, by whoever says so; the zero value where it is not told.
	Since time.Time
	// Ref is where it was read, as waybill/status/eu@77d0..., and Message what it says.
	Ref, Message string
	// WasUnhealthy reports that the unit was unhealthy there before it got what is published there now.
	WasUnhealthy bool
	// IsOld reports that it was there before what is published came: the cluster may have had the same bytes once before.
	IsOld bool
	// LeastWait is for how long that has to be told to count for a while, where not every change of it is told.
	LeastWait time.Duration
	// LeastSettle is for how long a failure has to last at least to count, where whoever says so tries again after a while.
	LeastSettle time.Duration
}

// Health is how a unit is in a cluster.
type Health string

// How it may be.
const (
	Unknown     Health = ""            // nothing ever spoke for the cluster
	Healthy     Health = "Healthy"     // every object is there as published, and none is unhealthy; what was removed is gone
	Progressing Health = "Progressing" // neither healthy nor failed
	Failed      Health = "Failed"      // an object failed
	Silent      Health = "Silent"      // the cluster does not answer, or its report is overdue
	Unasked     Health = "Unasked"     // who could say it was not asked: what is recorded stays
)

// Window says whether clusters of a stage may be released at a time.
type Window struct {
	IsClosed bool
	// Edge is when that changes next; zero for never.
	Edge time.Time
}

// Output is what is decided of a unit.
type Output struct {
	// Unit is what it is about, Pos where that is bound, Source what the source says of it, and Windows are those of the input.
	Unit    rollouts.Unit
	Pos     diag.Pos
	Source  rollouts.Version
	Windows map[string]Window
	// Phase is how far the run is. Base and Target are the versions that it is about.
	Phase        rollouts.Phase
	Base, Target rollouts.Version
	// IsBack reports a run that goes back, or whose clusters are back.
	IsBack bool
	// Shown says which version each cluster shows, in the order of the input.
	Shown []Shown
	// Before is what was recorded by the plan before, and After is what is recorded; nil for nothing.
	Before, After *rollouts.Rollout
	// Breaks are the choices of what was recorded that do not follow from what was recorded before; see Breaks. A decision has none.
	Breaks  []string
	Recheck recheck.Recheck
	Diags   []diag.Diagnostic
}

// Shown is which version of a unit a cluster shows.
type Shown struct {
	Cluster string
	Choice  Choice
	// Commit is the source commit of the version; empty where what is published stays as it is.
	Commit string
	// IsAnew reports that an older version is to be there as the commit gives it on the present fleet, whatever is published: the run
	// goes back, or what is published is of another version.
	IsAnew bool
}

// Choice is which version a cluster shows.
type Choice string

// The choices.
const (
	// Target: it gets what the target gives.
	Target Choice = "Target"
	// Older: its turn has not come, or it went back. What is published stays where the present fleet asks for nothing else of that
	// version (reason.WaitsForStage); otherwise it is written from the commit.
	Older Choice = "Older"
	// Kept: what is published stays, whatever it is (reason.WaitsForStage).
	Kept Choice = "Kept"
)
