package staged

import (
	"reflect"

	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// isQuiet reports a unit whose run is over in every cluster, of which the source says the same, and nobody says anything:
// each cluster shows what the source says, and what clusters have of it makes no difference. It does of one that is gone.
func (u *Unit) isQuiet(revision string) bool {
	r, is := u.Before, u.source(revision)
	return r != nil && r.Status.Phase == rollouts.Done && len(r.Clusters) == 0 &&
		len(u.Commands)+len(r.Status.Commands) == 0 && r.Status.Target.Is(is) && !is.Absent
}

// source is the unit as the source has it. What it should be is not known of one that cannot be read: as far as that goes it
// is what it was.
func (u *Unit) source(revision string) rollouts.Version {
	if u.Unknown && u.Before != nil {
		return u.Before.Status.Target
	}
	return rollouts.Version{Commit: revision, Digest: u.Digest, Absent: u.Absent}
}

// quiet is what is decided of a quiet unit; false if it is none, or something else was recorded. It is what is decided with all of its
// clusters, but that it lists none.
func (u *Unit) quiet(in *Input) (out stage.Output, isQuiet bool) {
	if !u.isQuiet(in.Revision) {
		return out, false
	}
	out = stage.Decide(stage.Input{
		Unit: u.Unit.Unit, Pos: u.Pos, Now: in.Now, Strategy: u.Strategy, Refused: u.Refused, Windows: u.Windows, Before: u.Before,
		Source: u.source(in.Revision),
	})
	if out.Shown = nil; u.Recorded == nil {
		return out, true
	}
	isSame := out.After != nil && len(u.Recorded.Clusters) == 0 && reflect.DeepEqual(out.After.Status, u.Recorded.Status)
	out.After = u.Recorded
	return out, isSame
}
