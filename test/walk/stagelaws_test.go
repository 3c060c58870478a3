package walk

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/files"
)

// broken is a law that is broken, and how.
type broken struct{ kind, text string }

// judgement is what there is to judge of a unit after a publication.
type judgement struct {
	w             *walker
	was, is       rollouts.Rollout
	base, target  unitMeaning
	before, after held
	files         map[string]map[string]files.ID // that were published before, by cluster and object
	heldBack      map[string]bool                // clusters that the guard holds
	// kept are clusters in which an object of the unit stays as it is for another reason than that its turn has not come: all of the
	// unit does.
	kept       map[string]bool
	refs       map[string]bool
	isUnsoaked bool
	isWhole    bool // all of the push arrived
}

// judged are the units after a publication, in the order of the records. IsWhole says that all of its push arrived.
func (w *walker) judged(l *looked, res *reconciler.Result, after held, isWhole bool) []judgement {
	was, fleet := map[string]rollouts.Rollout{}, l.fleet
	for _, r := range l.records {
		was[r.Unit.String()] = r
	}
	heldBack := map[string]bool{}
	for _, c := range res.Plan.Clusters {
		heldBack[c.Name] = c.Held != nil
	}
	var all []judgement
	for i := range w.stages.records {
		r := &w.stages.records[i]
		if !isWhole { // what is recorded is of the plan before
			r = planned(res, r)
		}
		refs := w.stages.refs(r, fleet)
		all = append(all, judgement{
			kept: kept(res, refs), w: w, was: was[r.Unit.String()], is: *r, before: l.held, after: after, files: l.files, heldBack: heldBack, isUnsoaked: isUnsoaked(res, r.Unit), isWhole: isWhole,
			base: w.stages.unit(r.Status.Base.Commit, policy(r), fleet), target: w.stages.unit(r.Status.Target.Commit, policy(r), fleet),
			refs: refs,
		})
	}
	return all
}

// kept are the clusters in which one of objects stays as it is for another reason than that its turn has not come, as where carrying it out
// would leave it nowhere, or something of its unit is the last copy: "if it keeps one object of a staged unit it keeps the unit".
func kept(res *reconciler.Result, refs map[string]bool) map[string]bool {
	all := map[string]bool{}
	for r, left := range res.Plan.Left {
		for cluster, l := range left.All() {
			if !l.Reason.IsStaged() && refs[r.Kind+"/"+r.Namespace+"/"+r.Name] {
				all[res.Plan.Clusters[cluster].Name] = true
			}
		}
	}
	return all
}

// planned is what a plan records of a unit, of whose push half arrived, and its record did not.
func planned(res *reconciler.Result, recorded *rollouts.Rollout) *rollouts.Rollout {
	for i := range res.Plan.Rollouts {
		if is := res.Plan.Rollouts[i].After; is != nil && is.Unit == recorded.Unit {
			return is
		}
	}
	return recorded
}

// laws returns those that are broken. Where things break on the way only those are asked that hold whatever happens.
func (j *judgement) laws() []broken {
	gained := j.gained()
	all := slices.Concat(j.stopped(gained), j.inTurn(gained), j.width(gained))
	if j.w.world.isCalm {
		all = slices.Concat(all, j.stagesOver(), j.oneVersion(), j.back())
	}
	return all
}

// has reports whether a cluster has of the unit what a version means, but for replicas.
func (j *judgement) has(in held, cluster string, means *unitMeaning) bool {
	return j.differs(in, cluster, j.divided(cluster, means)) == ""
}

// differs names an object of the unit of which a cluster has something else than a version means.
func (j *judgement) differs(in held, cluster string, means *unitMeaning) string {
	for _, ref := range slices.Sorted(maps.Keys(j.refs)) {
		if j.goesLast(in, cluster, ref, means) || j.isLeftOver(in, cluster, ref, means) {
			continue
		}
		want, wanted := means.cells[cluster][ref]
		is, there := in[cluster][ref]
		want.replicas, is.replicas = 0, 0
		if wanted != there || want != is {
			return fmt.Sprintf("%s is %t %v and should be %t %v", ref, there, is, wanted, want)
		}
	}
	return ""
}

// goesLast reports an object that a cluster has still, as it was before, while the run is open, and that a version sends to other clusters
// instead: "a cluster that the policy leaves loses the unit last", after every stage. Otherwise the object would be nowhere until their turn.
func (j *judgement) goesLast(in held, cluster, ref string, means *unitMeaning) bool {
	switch j.is.Status.Phase {
	case rollouts.Finishing, rollouts.Done, rollouts.Returning:
		return false
	default:
	}
	_, isWanted := means.cells[cluster][ref]
	was, had := j.before[cluster][ref]
	is, has := in[cluster][ref]
	return !isWanted && had && has && was == is && len(held(means.cells).has(ref)) > 0
}

// isLeftOver reports an object that a cluster has as it had it before, that nobody claims in a version, and that the target has: the
// guard kept it in the cluster when its policy went, and it comes to the unit with the target.
func (j *judgement) isLeftOver(in held, cluster, ref string, means *unitMeaning) bool {
	was, had := j.before[cluster][ref]
	is, has := in[cluster][ref]
	return had && has && was == is && !means.refs[ref] && j.target.refs[ref]
}

// divided is what a version means, without what is divided of which a cluster has nothing, and had nothing, or has none of this version, if
// it joined since that was divided, or has it since before it left the fleet and came back: replicas stay with the clusters that have them,
// and went to these when it left.
func (j *judgement) divided(cluster string, means *unitMeaning) *unitMeaning {
	is := *means
	is.cells = maps.Clone(means.cells)
	is.cells[cluster] = maps.Clone(means.cells[cluster])
	for ref, want := range means.cells[cluster] {
		_, had := j.before[cluster][ref]
		got, has := j.after[cluster][ref]
		want.replicas, got.replicas = 0, 0
		isLater := !means.shared[ref][cluster]
		if means.asked[ref] > 0 && (isLater && got != want || !has && !had) {
			delete(is.cells[cluster], ref)
		}
	}
	return &is
}

// restored is what the base means, without what is divided of which a cluster had nothing when the run began, nor has now, or that joined
// since: replicas stay with the clusters that have them.
func (j *judgement) restored(cluster string) *unitMeaning {
	is := j.divided(cluster, &j.base)
	for ref, c := range j.base.cells[cluster] {
		isLater := j.base.asked[ref] > 0 && !j.base.shared[ref][cluster]
		if _, had := j.w.stages.began[j.is.Status.Run][cluster][ref]; had && !isLater {
			is.cells[cluster][ref] = c
		}
	}
	return is
}

// isSameRun reports that the publication was a step of a run that was open.
func (j *judgement) isSameRun() bool { return j.was.Status.Run == j.is.Status.Run }

// gained lists the clusters of a run that came to the target by the publication.
func (j *judgement) gained() (names []string) {
	if j.is.Status.Phase == rollouts.Done {
		return nil
	}
	for _, cluster := range slices.Sorted(maps.Keys(j.is.Clusters)) {
		if !j.has(j.before, cluster, &j.target) && j.has(j.after, cluster, &j.target) {
			names = append(names, cluster)
		}
	}
	return names
}

// stopped is I5: in a run that is stopped no cluster gets the target.
func (j *judgement) stopped(gained []string) (all []broken) {
	if j.is.Status.Phase != rollouts.Stopped || j.isUnsoaked {
		return nil
	}
	for _, cluster := range gained {
		if !j.has(j.after, cluster, &j.base) { // what both versions mean is not the target's alone
			all = append(all, broken{"stopped", cluster + " gets the target of a run that is stopped"})
		}
	}
	return all
}

// isBypassed reports that everything may be released.
func (j *judgement) isBypassed() bool { return j.w.stages.commanded[j.is.Status.Run+" bypass "] }

// order is the place of a stage in the run.
func (j *judgement) order(stage string) int {
	return slices.IndexFunc(j.is.Status.Stages, func(s rollouts.StageStatus) bool { return s.Name == stage })
}

// inTurn is I1: whoever gets the target does after all stages before are over, by evidence or by a command.
func (j *judgement) inTurn(gained []string) (all []broken) {
	if p := j.is.Status.Phase; p == rollouts.Returning || j.isBypassed() || j.isUnsoaked {
		return nil
	}
	for _, cluster := range gained {
		e := j.is.Clusters[cluster]
		isLast := e.State == rollouts.Leaving && j.is.Status.Phase == rollouts.Finishing
		if e.Joined || e.State == rollouts.Skipped || isLast {
			continue
		}
		if e.Released.IsZero() {
			if !j.has(j.after, cluster, &j.base) && !j.becomes(cluster, e.Shows) && !j.isGiven(cluster, e.Shows) {
				all = append(all, broken{"in turn", fmt.Sprintf("%s gets the target and is %s: %s", cluster, e.State, j.differs(j.after, cluster, &j.base))})
			}
			continue
		}
		turn := j.turn(cluster)
		for _, other := range slices.Sorted(maps.Keys(j.is.Clusters)) {
			o := j.is.Clusters[other]
			if o.State == rollouts.Leaving || o.Joined || max(j.turn(other), j.order(o.Stage)) >= turn || j.wasOver(o.Stage) {
				continue
			}
			if why := j.unfinished(other, o); why != "" {
				all = append(all, broken{"in turn", fmt.Sprintf("%s of %s gets the target, and %s of %s %s", cluster, e.Stage, other, o.Stage, why)})
			}
		}
	}
	return all
}

// turn is the place of a cluster's stage in the run: of the stage in which it was released, if that is a stage still.
func (j *judgement) turn(cluster string) int {
	if t := j.w.stages.tracks[j.is.Status.Run+" "+cluster]; t != nil && j.order(t.stage) >= 0 {
		return j.order(t.stage)
	}
	return j.order(j.is.Clusters[cluster].Stage)
}

// becomes reports that all that changed in a cluster is as the version of a commit has it, as where it was released to lose
// something that the guard held until now.
func (j *judgement) becomes(cluster, commit string) bool {
	means := j.w.stages.commits[commit].unit(policy(&j.is), j.w.stages.commits[j.w.stages.head])
	for ref := range j.refs {
		was, had := j.before[cluster][ref]
		is, has := j.after[cluster][ref]
		want, wanted := means.cells[cluster][ref]
		want.replicas, was.replicas, is.replicas = 0, 0, 0
		if (had != has || was != is) && (has != wanted || is != want) {
			return false
		}
	}
	return true
}

// wasOver reports a stage that was over before the publication, or that somebody had skipped.
func (j *judgement) wasOver(stage string) bool {
	if n := j.order(stage); n >= 0 && j.is.Status.Stages[n].Skipped {
		return true
	}
	return j.isSameRun() && slices.ContainsFunc(j.was.Status.Stages, func(s rollouts.StageStatus) bool {
		return s.Name == stage && s.Phase == rollouts.Done
	})
}

// begun is what is known of a cluster that is released now: if it has the target already, what it said before speaks for it.
func (j *judgement) begun(cluster, stage string) *track {
	t := &track{after: j.w.stages.publications, stage: stage}
	if j.has(j.before, cluster, &j.target) {
		t.after = 0
		t.hear(j.w.stages.heard[cluster], j.files[cluster], j.refs, j.w.now)
	}
	return t
}

// unfinished says why a cluster is not over, as far as the walk knows; empty if it is, or may be.
func (j *judgement) unfinished(cluster string, e rollouts.Cluster) string {
	key := j.is.Status.Run + " " + cluster
	switch e.State {
	case rollouts.Healthy:
		t := j.w.stages.tracks[key]
		if t == nil {
			t = j.begun(cluster, e.Stage)
		}
		if !t.isHealthy {
			return "never was healthy with what it has"
		}
	case rollouts.Unchanged:
		if j.w.world.isCalm && !j.has(j.after, cluster, &j.target) && !j.heldBack[cluster] {
			return "does not have it: " + j.differs(j.after, cluster, &j.target)
		}
	case rollouts.Late:
		if h := j.w.stages.heard[cluster]; h != nil && !h.isSilent && j.isSameRun() && j.was.Clusters[cluster].State != rollouts.Late {
			return "is not silent"
		}
	case rollouts.Skipped:
		if !j.w.stages.commanded[j.is.Status.Run+" skip "+cluster] {
			return "was not skipped"
		}
	case rollouts.Failed, rollouts.Suspended: // limits on failures are judged at the end of stages
	case rollouts.Pending, rollouts.Released, rollouts.Failing, rollouts.Leaving:
		return "is " + string(e.State)
	}
	return ""
}

// width is I3: while as many clusters of a stage as may be are released and neither healthy nor failed, none is added.
func (j *judgement) width(gained []string) (all []broken) {
	if j.isBypassed() || j.isUnsoaked || j.is.Status.Phase == rollouts.Finishing || j.is.Status.Phase == rollouts.Returning {
		return nil
	}
	for i := range j.is.Strategy.Stages {
		s := &j.is.Strategy.Stages[i]
		out, fresh, members := []string{}, 0, 0
		for _, cluster := range slices.Sorted(maps.Keys(j.is.Clusters)) {
			e := j.is.Clusters[cluster]
			if e.Stage != s.Name || e.State == rollouts.Leaving {
				continue
			}
			members++
			isGiven := slices.Contains(gained, cluster) && !j.wasReleased(cluster)
			isFresh := (isGiven || j.isHeldBackNow(cluster)) && !e.Joined && !e.Released.IsZero()
			if isFresh {
				fresh++
			}
			if isFresh || !e.Joined && j.isOut(cluster, e) {
				out = append(out, cluster)
			}
		}
		if most := amount(s.MaxConcurrency.String(), members); fresh > 0 && len(out) > max(1, most) {
			all = append(all, broken{"width", fmt.Sprintf("%v of %s are out at once, and %d may be", out, s.Name, max(1, most))})
		}
	}
	return all
}

// wasReleased reports a cluster that this run released before the publication: what it was to get came when the guard let it.
func (j *judgement) wasReleased(cluster string) bool {
	e := j.was.Clusters[cluster]
	return j.isSameRun() && !e.Released.IsZero()
}

// isHeldBackNow reports a cluster that the publication releases, and for which the guard holds what it is to get. One that has the target
// already gets nothing, whatever else of it the guard holds.
func (j *judgement) isHeldBackNow(cluster string) bool {
	was, is := j.was.Clusters[cluster].Released, j.is.Clusters[cluster].Released
	return j.heldBack[cluster] && !is.Equal(&was) && !j.has(j.before, cluster, &j.target)
}

// amount is a number, or so many percent, rounded down.
func amount(text string, of int) int {
	percent, isPercent := strings.CutSuffix(text, "%")
	n, _ := strconv.Atoi(percent)
	if isPercent {
		return n * of / 100
	}
	return n
}

// isOut reports a cluster that was released, and neither failed nor is, as far as the walk knows, healthy.
func (j *judgement) isOut(cluster string, e rollouts.Cluster) bool {
	if e.Released.IsZero() || e.State == rollouts.Failed || e.State == rollouts.Late || e.State == rollouts.Skipped || e.State == rollouts.Suspended {
		return false
	}
	t := j.w.stages.tracks[j.is.Status.Run+" "+cluster]
	if t == nil && !j.isWhole { // nobody followed it in a run that is not recorded
		return e.State != rollouts.Healthy
	}
	return t == nil || t.since.IsZero()
}

// stagesOver is I2 and the tasks: a stage ends when its clusters were healthy for its time, by what they say of what is
// published, and when somebody approved; fewer failed than may.
func (j *judgement) stagesOver() (all []broken) {
	if !j.isSameRun() || j.isBypassed() || j.is.Status.Phase == rollouts.Returning || j.is.Status.Phase == rollouts.Done {
		return nil
	}
	for i := range j.is.Status.Stages {
		st := &j.is.Status.Stages[i]
		before := slices.IndexFunc(j.was.Status.Stages, func(s rollouts.StageStatus) bool { return s.Name == st.Name })
		if st.Phase != rollouts.Done || st.Skipped || st.StartTime.IsZero() || before < 0 || j.was.Status.Stages[before].Phase == rollouts.Done {
			continue
		}
		n := slices.IndexFunc(j.is.Strategy.Stages, func(s rollouts.Stage) bool { return s.Name == st.Name })
		if n < 0 {
			continue
		}
		for _, task := range j.is.Strategy.Stages[n].AfterStageTasks {
			all = append(all, j.taskOver(st, task)...)
		}
		all = append(all, j.failures(&j.is.Strategy.Stages[n])...)
	}
	return all
}

// taskOver judges a task of a stage that is over. Of a cluster that came into the stage when its time was over all that is asked is that it
// is healthy, as of one that joined.
func (j *judgement) taskOver(st *rollouts.StageStatus, task rollouts.StageTask) (all []broken) {
	stage := st.Name
	if task.Type == rollouts.ApprovalTask {
		if !j.w.stages.commanded[j.is.Status.Run+" approve "+stage] {
			all = append(all, broken{"approval", "nobody approved " + stage})
		}
		return all
	}
	for _, cluster := range slices.Sorted(maps.Keys(j.is.Clusters)) {
		e := j.is.Clusters[cluster]
		t, h := j.w.stages.tracks[j.is.Status.Run+" "+cluster], j.w.stages.heard[cluster]
		isLater := slices.ContainsFunc(st.After, func(a rollouts.Task) bool {
			return a.Type == rollouts.WaitTask && !a.DoneTime.IsZero() && a.DoneTime.Before(&e.Released)
		})
		if e.Stage != stage || e.State != rollouts.Healthy || e.Joined || isLater {
			continue
		}
		switch {
		case t == nil || t.since.IsZero() || t.longest < task.WaitTime.Duration:
			all = append(all, broken{"soak", fmt.Sprintf("%s is over, and %s was not healthy for %s", stage, cluster, task.WaitTime.Duration)})
		case h == nil || h.isSilent:
			all = append(all, broken{"soak", fmt.Sprintf("%s is over, and %s is silent", stage, cluster)})
		}
	}
	return all
}

// failures judges how many clusters of a stage that is over failed.
func (j *judgement) failures(s *rollouts.Stage) []broken {
	var failed []string
	members := 0
	for _, cluster := range slices.Sorted(maps.Keys(j.is.Clusters)) {
		e := j.is.Clusters[cluster]
		if e.Stage != s.Name || e.State == rollouts.Leaving {
			continue
		}
		members++
		if e.State == rollouts.Failed && !e.Joined && !e.Forgiven && !e.WasUnhealthy {
			failed = append(failed, cluster)
		}
	}
	if len(failed) > amount(s.MaxFailures.String(), members) {
		return []broken{{"failures", fmt.Sprintf("%s is over, and %v failed", s.Name, failed)}}
	}
	return nil
}

// oneVersion is I11: what a cluster has of the unit is what one commit means, the one that is recorded for it.
func (j *judgement) oneVersion() (all []broken) {
	fleet := j.w.stages.commits[j.w.stages.head]
	for cluster := range j.target.cells {
		commit := j.is.Status.Target.Commit
		e, known := j.is.Clusters[cluster]
		if known {
			commit = e.Shows
		} else if j.is.Status.Phase != rollouts.Done {
			continue
		}
		wasSkipped := e.State == rollouts.Skipped && j.isSameRun() && j.was.Clusters[cluster].State == rollouts.Skipped
		if wasSkipped && !j.stays(cluster) && !j.isGiven(cluster, e.Shows) {
			all = append(all, broken{"one version", cluster + " was skipped, and changes"})
		}
		if j.heldBack[cluster] || j.kept[cluster] && j.stays(cluster) || e.State == rollouts.Skipped || j.w.stages.commits[commit] == nil {
			continue
		}
		if j.is.Status.Phase == rollouts.Finishing && e.State == rollouts.Leaving {
			commit = j.is.Status.Target.Commit
		}
		means := j.w.stages.unit(commit, policy(&j.is), fleet)
		// the guard held it, say, and now it stays, or loses the unit last; nobody waits for one that does not answer
		isMissed := (j.is.Status.Phase == rollouts.Stopped || e.State == rollouts.Leaving) && !e.Released.IsZero()
		mayStay := isMissed && j.stays(cluster) || !known && j.was.Clusters[cluster].State == rollouts.Leaving && j.atMostLoses(cluster)
		if differs := j.differs(j.after, cluster, j.divided(cluster, &means)); differs != "" && !mayStay {
			all = append(all, broken{"one version", fmt.Sprintf("%s shows %.7s, and %s", cluster, commit, differs)})
		}
	}
	return all
}

// isGiven reports a cluster that has what a commit gives it in the fleet of today, as where it takes the share of one that left.
func (j *judgement) isGiven(cluster, commit string) bool {
	if j.w.stages.commits[commit] == nil {
		return false
	}
	means := j.w.stages.unit(commit, policy(&j.is), j.w.stages.commits[j.w.stages.head])
	return j.differs(j.after, cluster, j.divided(cluster, &means)) == ""
}

// stays reports a cluster of which nothing of the unit changed but for replicas.
func (j *judgement) stays(cluster string) bool {
	for ref := range j.refs {
		was, had := j.before[cluster][ref]
		is, has := j.after[cluster][ref]
		was.replicas, is.replicas = 0, 0
		if had != has || was != is {
			return false
		}
	}
	return true
}

// atMostLoses reports a cluster to which nothing of the unit came, and in which nothing of it changed but for replicas and what is gone.
func (j *judgement) atMostLoses(cluster string) bool {
	for ref, is := range j.after[cluster] {
		was, had := j.before[cluster][ref]
		was.replicas, is.replicas = 0, 0
		if j.refs[ref] && (!had || was != is) {
			return false
		}
	}
	return true
}

// back is I6: a run whose base the source says again goes back in every cluster in the same plan, and so does one that
// somebody has go back.
func (j *judgement) back() (all []broken) {
	s := j.w.stages
	fleet := s.commits[s.head]
	isOpen := j.was.Status.Phase != rollouts.Done && j.was.Status.Phase != "" && j.was.Status.Base.IsKnown() // what is not known does not come again
	head := fleet.unit(policy(&j.is), fleet)
	from, to := s.commits[j.was.Status.Base.Commit].unit(policy(&j.is), fleet), s.commits[j.was.Status.Target.Commit].unit(policy(&j.is), fleet)
	isReverted := isOpen && head.text == from.text && head.text != to.text
	if !isReverted && j.is.Status.Phase != rollouts.Returning {
		return nil
	}
	for cluster := range j.base.cells {
		if differs := j.differs(j.after, cluster, j.restored(cluster)); differs != "" && !j.heldBack[cluster] {
			all = append(all, broken{"back", fmt.Sprintf("%s does not go back: %s", cluster, differs)})
		}
	}
	return all
}
