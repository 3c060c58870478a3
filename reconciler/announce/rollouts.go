package announce

import (
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/progress"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// remembered is for how long after it began a run that is over is shown: whoever starts later tells nobody of what ended
// long ago.
const remembered = 7 * 24 * time.Hour

// Rollouts returns the status of each run that is open, or was a while ago, at the source commit that it is about.
func Rollouts(all []rollouts.Rollout, now time.Time) (statuses []Status) {
	for n := range all {
		p := progress.Of(&all[n])
		isOld := !p.IsOpen() && now.Sub(p.Since) > remembered
		if p.Run == "" || p.Target == "" || isOld {
			continue
		}
		s := Status{Commit: p.Target, Fact: Rollout(p.Unit.String()), State: Pending, Description: p.Clusters()}
		switch p.Phase {
		case rollouts.Done:
			s.State, s.Description = Success, "it is out in every cluster that takes it"
		case rollouts.Stopped, rollouts.Returning:
			s.State, s.Description = Failure, p.Message
		case rollouts.Waiting, rollouts.Updating, rollouts.Soaking, rollouts.Approving, rollouts.Finishing:
			if p.Stage != "" {
				s.Description = p.Stage + ": " + s.Description
			}
		}
		statuses = append(statuses, s)
	}
	return statuses
}

// Replaced are the statuses of runs that were shown to be open and that a run about another commit replaced: nobody waits
// for them any longer.
func Replaced(sent, now []Status) (all []Status) {
	for _, was := range Latest(sent) {
		isOther := func(s Status) bool { return s.Fact == was.Fact && s.Commit != was.Commit }
		if isRollout(was.Fact) && was.State == Pending && slices.ContainsFunc(now, isOther) {
			was.State, was.Description = Failure, "a newer version replaced it before it was out"
			all = append(all, was)
		}
	}
	return all
}

func isRollout(f Fact) bool { return strings.HasPrefix(string(f), string(Rollout(""))) }
