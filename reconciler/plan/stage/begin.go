package stage

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// InForce is the strategy by which a unit is rolled out: the one that it is bound to, or, where it is
// bound to none, the one that its record has: nobody escapes by unbinding a unit and changing it. It is nil for none.
func InForce(bound *rollouts.Strategy, before *rollouts.Rollout) *rollouts.Strategy {
	if isBoundToNone := bound == nil || bound.IsNone(); isBoundToNone && before != nil && len(before.Strategy.Stages) > 0 {
		return &before.Strategy
	}
	return bound
}

// Versions are those that a decision is about, and with which what is published is to be compared. It
// does not look at what is known of clusters.
func Versions(in Input) (base, target rollouts.Version) {
	next, why := goesOn(&in)
	switch why {
	case begins:
		return next.Status.Base, in.Source
	case reverts:
		return in.Source, next.Status.Target
	case stays:
	}
	return next.Status.Base, next.Status.Target
}

// step is what becomes of a run in view of the source.
type step int

const (
	stays   step = iota // it goes on, or none is open
	begins              // another one begins
	reverts             // the source says its base again
)

// goesOn says what becomes of a recorded run, by versions alone. Base is that of the run that begins.
func goesOn(in *Input) (rollouts.Rollout, step) {
	if in.Before == nil {
		var base rollouts.Version // what clusters show does not follow from the present version being published
		if !in.Published.Is(in.Source) {
			base = in.Published
		}
		r := rollouts.Rollout{Unit: in.Unit, Status: rollouts.Status{Phase: rollouts.Done, Base: base, Target: base}}
		if in.Refused != "" {
			return r, stays
		}
		return r, begins
	}
	r := *in.Before
	// What a commit is not any more, as where it got what another unit had until its run was over, cannot be ended.
	waitsForEnd := waits(in) && in.Source.Commit != r.Status.Target.Commit
	switch phase := r.Status.Phase; {
	case phase != rollouts.Done && in.Source.Is(r.Status.Base):
		return r, reverts
	case in.Source.Is(r.Status.Target):
		return r, stays
	case phase == rollouts.Done || phase == rollouts.Finishing && !waitsForEnd && !isStuck(&r):
		r.Status.Base = finished(in)
	case waitsForEnd && !r.Status.IsKeptBack() && !isStuck(&r):
		return r, stays
	}
	if in.Refused != "" {
		return *in.Before, stays
	}
	return r, begins
}

// waits reports a strategy by which a run ends before the next one begins.
func waits(in *Input) bool {
	s := InForce(in.Strategy, in.Before)
	return s != nil && s.Newer == rollouts.WaitForNewer
}

// isStuck reports a run whose last step was carried out, and did not come to every branch, as where the target cannot be made in a cluster,
// so that what is divided stays in all of them: it did not finish, and nothing more of it can be carried out.
func isStuck(r *rollouts.Rollout) bool {
	for _, e := range r.Clusters {
		if r.Status.Phase == rollouts.Finishing && e.Reason == rollouts.NotPublished {
			return true
		}
	}
	return false
}

// isBack reports a run that goes back, or whose clusters are back: what joins meanwhile goes back, too.
func isBack(s *rollouts.Status) bool { return s.Phase == rollouts.Returning || s.IsKeptBack() }

// finished is the version with which the recorded run finished. Units that start together have one base
// commit: the one that was published last, if the unit is the same there.
func finished(in *Input) rollouts.Version {
	if in.Published.Is(in.Before.Status.Target) {
		return in.Published
	}
	return in.Before.Status.Target
}

// begin returns the record with which a decision starts: that of the run that is open, or of one that
// begins now. It shares nothing with the record before that later steps change.
func begin(v *view) run {
	goes, why := goesOn(&v.Input)
	r := runOf(v, &goes)
	r.Unit, r.Strategy = v.Unit, v.strategy
	r.Status.Commands = v.heard(r.Status.Commands)
	switch why {
	case begins:
		switch isDone := r.Status.Phase == rollouts.Done; {
		case isDone && v.strategy.IsNone() && v.hindered() == "":
			return passed(v, r)
		case isDone && !v.differs():
			return unchanged(v, r)
		}
		restarts := 0
		if r.Status.Phase != rollouts.Done && r.Status.Phase != rollouts.Finishing && !v.strategy.IsNone() {
			restarts = r.Status.Restarts + 1
		}
		if s := r.Status; s.Base.Is(s.Target) { // the run before is over, and what it gave was published once more by another commit
			r = showing(r, s.Target, s.Base)
		}
		r = newRun(v, r, v.Source)
		r.Status.Restarts = restarts
		return r
	case reverts:
		r = withBase(r, v.Source)
		if r.Status.Phase != rollouts.Returning {
			r = goBack(v, r, cause{rollouts.Reverted, "the source says again what it said before the run"})
		}
		return ended(v, members(v, r))
	case stays:
	}
	return ended(v, members(v, r))
}

// withBase returns a record with another commit of the same base, which clusters show that showed the one before.
func withBase(r run, base rollouts.Version) run {
	r = showing(r, r.Status.Base, base)
	r.Status.Base = base
	return r
}

// showing returns a record in which clusters that show a version by one commit show it by another.
func showing(r run, was, is rollouts.Version) run {
	for n := range r.clusters {
		if r.known[n] && r.clusters[n].Shows == was.Commit {
			r.clusters[n].Shows = is.Commit
		}
	}
	return r
}

// unchanged records a version that changes no cluster: those that show the one before show it.
func unchanged(v *view, r run) run {
	r = showing(r, r.Status.Target, v.Source)
	r.Status.Base, r.Status.Target = v.Source, v.Source
	return members(v, r)
}

// newRun begins a run for a target. Each cluster shows what it showed before, and waits for its turn.
func newRun(v *view, r run, target rollouts.Version) run {
	given := slices.DeleteFunc(slices.Clone(r.Status.Commands), func(c rollouts.Command) bool { return !v.isGiven(c) })
	r.Status = rollouts.Status{
		Phase: rollouts.Waiting, Base: r.Status.Base, Target: target, Rules: ruling(v, r.Status, target), StartTime: v.now, Commands: given,
	}
	r.Status.Run = runID(v, r.Status)
	for n := range v.Clusters {
		c := &v.Clusters[n]
		r.set(n, placed(v, &r.Status, atTheStart(v, &r, n), c))
	}
	r.Status.Stages = stageStatuses(v, nil)
	return r
}

// atTheStart is a cluster of a run that begins, by what was recorded of it.
func atTheStart(v *view, r *run, n int) rollouts.Cluster {
	c, was := &v.Clusters[n], r.clusters[n]
	isUnchanged := r.known[n] && was.State == rollouts.Unchanged
	if !r.known[n] || isUnchanged {
		was = rollouts.Cluster{Shows: r.Status.Base.Commit, Outdated: c.IsNew && isOutdated(c)}
	}
	next := rollouts.Cluster{Stage: v.stageOf(c), Shows: was.Shows, State: rollouts.Pending, Outdated: was.Outdated}
	if !isReleased(&was) || isUnheard(&was) {
		next.Evidence = was.Evidence // it says nothing of what came to the cluster after it, whatever the run is for
	}
	switch isGone := was.State == rollouts.Leaving && !c.Has; { // it lost the unit, and does not get it again
	case isGone:
		next.Shows = ""
	case c.Misses && !was.Outdated:
		next.Shows = shownInstead(r.Status, c)
	}
	if was.State != rollouts.Healthy {
		hasFailed := isReleased(&was) && (was.State == rollouts.Failed || was.State == rollouts.Failing) && !isMistake(&was)
		next.WasUnhealthy = was.WasUnhealthy
		next.FailedBefore = !was.WasUnhealthy && (was.FailedBefore || hasFailed)
	}
	isPassedOver := isUnchanged || was.State == rollouts.Skipped
	if (next.Shows == "" || isPassedOver) && v.hasNothing(&r.Status, c) { // nothing came to it, so that it has nothing to say
		next.Shows = r.Status.Target.Commit
		return entered(v, next, rollouts.Unchanged)
	}
	return next
}

// shownInstead is what a cluster shows to which what it was to show did not come: the base if it has that, and otherwise nothing that is
// known, so that what is there stays until its turn.
func shownInstead(s rollouts.Status, c *Cluster) string {
	if c.IsBase {
		return s.Base.Commit
	}
	return ""
}

// ruling is what is recorded of by which commit commands about a run count that follows what is recorded: a newer version that a
// run goes to instead brings neither signers nor rules of its own.
func ruling(v *view, before rollouts.Status, target rollouts.Version) string {
	if by := cmp.Or(before.RuledBy(), v.PublishedCommit); !before.Base.IsKnown() && by != target.Commit {
		return by
	}
	return ""
}

// runID identifies a run by 32 hex digits.
func runID(v *view, s rollouts.Status) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s %s %t\n%s %s %t\n%d\n", v.Unit, s.Base.Commit, s.Base.Digest, s.Base.Absent,
		s.Target.Commit, s.Target.Digest, s.Target.Absent, s.StartTime.Unix()))
	return hex.EncodeToString(sum[:16])
}

// stageStatuses are those of the stages in force, by what is recorded of them.
func stageStatuses(v *view, before []rollouts.StageStatus) []rollouts.StageStatus {
	all := make([]rollouts.StageStatus, len(v.stages))
	for n, s := range v.stages {
		all[n] = rollouts.StageStatus{Name: s.Name, Phase: rollouts.Waiting}
		if i := slices.IndexFunc(before, func(b rollouts.StageStatus) bool { return b.Name == s.Name }); i >= 0 {
			all[n] = before[i]
		}
	}
	return all
}
