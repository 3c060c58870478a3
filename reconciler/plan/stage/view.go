package stage

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// The defaults of a stage that nobody wrote.
const (
	DefaultProgressDeadline = 30 * time.Minute
	DefaultSettle           = time.Minute
)

// view is an input, looked at in the ways in which it is asked. Nothing changes it.
type view struct {
	Input

	// now is the time of the plan; where the clock went back it is the latest time that was recorded.
	now metav1.Time
	// strategy is the one in force. Stages are its own and, if clusters are in none of them, one for these.
	strategy rollouts.Strategy
	stages   []rollouts.Stage
	// members are the clusters of a stage, as indices of Clusters, without those that the unit leaves.
	members map[string][]int
	was     recorded // what was recorded last
}

func look(in Input) view {
	v := view{Input: in, members: map[string][]int{}, was: recordedOf(in.Before, in.Clusters)}
	v.now = in.time(&v.was)
	if s := InForce(in.Strategy, in.Before); s != nil {
		v.strategy = *s
	}
	v.stages = v.strategy.Stages
	for n := range in.Clusters {
		c := &in.Clusters[n]
		if name := v.stageOf(c); !c.Leaves {
			v.members[name] = append(v.members[name], n)
		}
	}
	if len(v.members[rollouts.Unmatched]) > 0 && !v.isStage(rollouts.Unmatched) {
		v.stages = append(slices.Clip(v.stages), rollouts.Stage{
			Name: rollouts.Unmatched, MaxConcurrency: intstr.FromInt32(1),
			ProgressDeadline: metav1.Duration{Duration: DefaultProgressDeadline}, Settle: metav1.Duration{Duration: DefaultSettle},
		})
	}
	return v
}

// time is that of the plan, which is never before one that was recorded.
func (in *Input) time(was *recorded) metav1.Time {
	now := in.Now.UTC().Truncate(time.Second)
	if in.Before != nil {
		if last := latest(in.Before, was); last.After(now) {
			now = last
		}
	}
	return metav1.NewTime(now)
}

// latest is the latest time that a record has of what happened.
func latest(r *rollouts.Rollout, was *recorded) time.Time {
	last := r.Status.StartTime.Time
	add := func(t metav1.Time) {
		if t.After(last) {
			last = t.Time
		}
	}
	for _, s := range r.Status.Stages {
		add(s.StartTime)
		add(s.EndTime)
		for _, t := range s.After {
			add(t.Since)
			add(t.DoneTime)
		}
	}
	for _, list := range [][]rollouts.Cluster{was.clusters, was.gone} {
		for n := range list {
			add(list[n].Released)
			add(list[n].Since)
			add(list[n].Rests)
		}
	}
	return last.UTC()
}

// stageOf is the stage in which a cluster counts.
func (v *view) stageOf(c *Cluster) string {
	if c.Stage != "" && v.isStage(c.Stage) {
		return c.Stage
	}
	return rollouts.Unmatched
}

func (v *view) isStage(name string) bool {
	return slices.ContainsFunc(v.strategy.Stages, func(s rollouts.Stage) bool { return s.Name == name })
}

// stage returns a stage by its name.
func (v *view) stage(name string) *rollouts.Stage {
	n := slices.IndexFunc(v.stages, func(s rollouts.Stage) bool { return s.Name == name })
	if n < 0 {
		return &rollouts.Stage{} // that of clusters that the unit leaves
	}
	return &v.stages[n]
}

// amount is a number of clusters of a stage: as it is, or in percent of them, rounded down.
func (v *view) amount(of intstr.IntOrString, stage string) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(&of, len(v.members[stage]), false)
	if err != nil {
		return 0
	}
	return n
}

// width is how many clusters of a stage may be released and not be healthy.
func (v *view) width(s *rollouts.Stage) int { return max(1, v.amount(s.MaxConcurrency, s.Name)) }

// after is a time so long after now.
func (v *view) after(d metav1.Duration) metav1.Time { return metav1.NewTime(v.now.Add(d.Duration)) }

// isOver reports that a time has come.
func (v *view) isOver(t metav1.Time) bool { return !t.After(v.now.Time) }

// isReadable reports that an older version can be written from its commit. What an earlier Waybill made of the
// commit of the target cannot be, unless the source says the base again.
func (v *view) isReadable(commit string, s *rollouts.Status) bool {
	isPresent := commit == v.Source.Commit && s.Base.Is(v.Source)
	return commit != "" && (isPresent || commit != s.Target.Commit) && !slices.Contains(v.Unreadable, commit)
}

// differs reports whether carrying out the target would change a cluster.
func (v *view) differs() bool {
	return slices.ContainsFunc(v.Clusters, func(c Cluster) bool { return !c.IsTarget && !c.Lacks || c.LosesLast })
}

// names are those of clusters, by their indices.
func (v *view) names(clusters []int) []string {
	names := make([]string, len(clusters))
	for i, n := range clusters {
		names[i] = v.Clusters[n].Name
	}
	return names
}

// takesAll reports a target that takes all of the unit away.
func (v *view) takesAll(s *rollouts.Status) bool { return v.LeavesAll || s.Target.Absent }

// hasNothing reports a cluster that has nothing of a unit of which the target takes all away: there is nothing to take there.
func (v *view) hasNothing(s *rollouts.Status, c *Cluster) bool {
	return v.takesAll(s) && c.IsTarget && !c.IsBase && !c.Has && !c.Leaves
}
