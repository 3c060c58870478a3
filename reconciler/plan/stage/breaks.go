package stage

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// Breaks says which choices of a record do not follow from the record before it, whatever was known of clusters when it was
// made: what it says was changed by somebody else, or not decided by this package. In has the record before, the clusters, and the time of
// the plan; without one no times are compared.
func Breaks(in Input, r *rollouts.Rollout) (all []string) {
	v := look(in)
	b := breaks{view: &v, is: r, was: &rollouts.Rollout{}}
	if in.Before != nil {
		b.was = in.Before
	}
	b.isSame = in.Before != nil && b.was.Status.Run == r.Status.Run
	all = b.run()
	for _, name := range slices.Sorted(maps.Keys(r.Clusters)) {
		if why := b.cluster(name); why != "" {
			all = append(all, name+" "+why)
		}
	}
	return all
}

// breaks holds a record against the one before it.
type breaks struct {
	*view

	is, was *rollouts.Rollout
	isSame  bool // both are about one run
}

// run says what of the run itself does not follow.
func (b *breaks) run() (all []string) {
	s := b.is.Status
	switch isNew := !b.isSame && s.Run != "" && isOpen(s.Phase); {
	case isNew && s.Run != runID(b.view, s):
		all = append(all, "the run "+s.Run+" is not the one from its base to its target at its time")
	case isNew && !b.Now.IsZero() && !s.StartTime.Equal(&b.now):
		all = append(all, "the run began at another time than its plan")
	case b.isSame && isOpen(s.Phase) && isOpen(b.was.Status.Phase) && s.Target != b.was.Status.Target:
		all = append(all, "the target of the run is another one than before")
	case b.isSame && s.Rules != b.was.Status.Rules && isOpen(s.Phase):
		all = append(all, "the commit whose rules and signers count is another one than before")
	}
	return all
}

// cluster says what of a cluster does not follow; empty for nothing.
func (b *breaks) cluster(name string) string {
	s, e := b.is.Status, b.is.Clusters[name]
	was := b.was.Clusters[name]
	stays := isReleased(&was) && b.isSame
	switch isOut := isReleased(&e) && e.State != rollouts.Skipped; {
	case isOut && e.State != rollouts.Leaving && e.Shows != s.Target.Commit:
		return fmt.Sprintf("was released, and shows %.12s instead of the target, %.12s", e.Shows, s.Target.Commit)
	case isOut && !b.Now.IsZero() && (!stays || !e.Released.Equal(&was.Released)) && !e.Released.Equal(&b.now):
		return "was released at another time than its plan"
	case isOut && !stays:
		return b.order(name, &e)
	case isReleased(&e) || e.State == rollouts.Unchanged || !isOpen(s.Phase):
		return ""
	}
	shows := b.shown(name)
	if isReleased(&was) && b.isSame || b.isSame && !isOpen(b.was.Status.Phase) || e.Shows == shows || b.isMissed(&was, &e) {
		return "" // it was withdrawn, or nothing changed
	}
	if e.Shows == "" {
		return fmt.Sprintf("shows no version, and was not released since it showed %.12s", shows)
	}
	return fmt.Sprintf("shows %.12s, and was not released since it showed %.12s", e.Shows, shows)
}

// shown is the commit that a cluster shows still which was not released since, by what was recorded of it, if anything was.
func (b *breaks) shown(name string) string {
	was, known := b.was.Clusters[name]
	base, last := b.is.Status.Base, b.was.Status.Target
	isSince := was.Shows == last.Commit && base.Is(last) // another commit published the same version since
	if !known || isSince || isReleased(&was) && b.isSame || was.State == rollouts.Unchanged && !b.isSame {
		return base.Commit
	}
	return was.Shows
}

// isMissed reports a cluster in a run that begins to which what it was to show by the run before did not come, or one that is skipped
// before something came to it in place of what it had when it joined.
func (b *breaks) isMissed(was, e *rollouts.Cluster) bool {
	isJoined := was.Outdated || was.State == ""
	if isJoined && e.State == rollouts.Skipped && e.Shows == "" {
		return true
	}
	isStill := e.Shows == "" || e.Shows == b.is.Status.Base.Commit
	isUnknown := was.State == ""
	return isStill && !b.isSame &&
		(isUnknown || isReleased(was) || was.State == rollouts.Leaving || isBack(&b.was.Status))
}

// order says why it is not the turn of a cluster that was released by the last plan; empty if it is.
func (b *breaks) order(name string, e *rollouts.Cluster) string {
	var c Cluster
	if i := slices.IndexFunc(b.Clusters, func(c Cluster) bool { return c.Name == name }); i >= 0 {
		c = b.Clusters[i]
	}
	isFree := c.Takes || c.IsTarget && !c.IsBase || e.Joined || !b.is.Status.Base.IsKnown()
	if isFree || !isOpen(b.is.Status.Phase) {
		return ""
	}
	for _, st := range b.is.Status.Stages {
		if st.Name == e.Stage {
			break
		}
		if st.Phase != rollouts.Done {
			return "was released before the stage " + st.Name + " was over"
		}
	}
	return ""
}
