package notify

import (
	"cmp"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/progress"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// steps are the units whose run came to another point that somebody should know of.
func steps(before, now *facts.Facts) (all []Event) {
	if now.Rollouts == nil {
		return nil
	}
	units := now.Rollouts().Units
	for n := range units {
		is := &units[n]
		was := before.Rollout(is.Unit)
		if was == nil {
			was = &rollouts.Rollout{Status: rollouts.Status{Phase: rollouts.Done}}
		}
		kind := stepOf(was, is)
		if kind == "" {
			continue
		}
		p := progress.Of(is)
		all = append(all, Event{Kind: kind, Unit: p.Unit.String(), Run: p.Run, Message: stepMessage(kind, &p)})
	}
	return all
}

// stepOf is what there is to tell of a unit; empty for nothing.
func stepOf(was, is *rollouts.Rollout) string {
	isNew := was.Status.Run != is.Status.Run
	isOther := isNew || was.Status.Phase != is.Status.Phase || was.Status.Reason != is.Status.Reason
	switch s := &is.Status; {
	case s.Run == "":
		return ""
	case s.Phase == rollouts.Returning, s.IsKeptBack():
		if isNew || !wentBack(was) {
			return RolloutReturned
		}
		return ""
	case s.Phase == rollouts.Stopped:
		if isNew || was.Status.Phase != rollouts.Stopped {
			return RolloutStopped
		}
		return ""
	case s.Phase == rollouts.Done:
		switch {
		case was.Status.Phase == rollouts.Done && !isNew, wentBack(was) && !isNew:
			return ""
		case !isNew && s.Target.Is(was.Status.Base):
			return RolloutReturned // nobody looked in between
		}
		return RolloutDone
	case s.Reason == rollouts.ApprovalMissing && (isOther || progress.Of(was).Stage != progress.Of(is).Stage):
		return RolloutWaits
	case isNew:
		return RolloutBegan
	}
	return ""
}

// wentBack reports a run of which it was told already that it goes back.
func wentBack(r *rollouts.Rollout) bool {
	return r.Status.Phase == rollouts.Returning || r.Status.IsKeptBack()
}

// stepMessage says more of it.
func stepMessage(kind string, p *progress.Progress) string {
	switch kind {
	case RolloutBegan:
		return rollouts.By(p.Strategy) + ", commit " + progress.Short(p.Target)
	case RolloutWaits:
		return p.Stage + "; to approve it: " + cmp.Or(first(p.Commands), "waybill rollout approve")
	case RolloutDone:
		return "commit " + progress.Short(p.Target)
	}
	return p.Message
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}
