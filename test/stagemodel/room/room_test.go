package room

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	model "github.com/waybill-dev/waybill/test/stagemodel"
)

// room is package stage with what is about it: the record, the branches of clusters, and what is known of them.
type room struct {
	clock     time.Time
	clusters  time.Time // the clock of clusters, which nobody puts back
	step      int
	strategy  model.Strategy
	bound     bool
	shut      bool
	source    string                   // the commit at the head of the source
	versions  map[string]model.Version // of commits
	last      string                   // the commit that was published last; empty where that is not known
	fleet     [model.Clusters]cluster
	published [model.Clusters]model.Cluster
	commands  []rollouts.Command
	record    *rollouts.Rollout
	seen      model.Observation // after the last plan whose record was written
}

// cluster is what is so of a cluster, whatever is published.
type cluster struct {
	in, silent bool
	stage      int
	says       model.Version
	health     model.Health
	since      time.Time
	heard      int // step in which it said something last
	changed    int // step in which its branch changed last
}

func newRoom(s model.Setup) *room {
	start := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	r := &room{clock: start, clusters: start, strategy: s.Strategy, bound: true, versions: map[string]model.Version{}}
	r.commit(s.Version)
	shares := model.Shares(s.Version, s.In)
	for i := range r.fleet {
		r.fleet[i] = cluster{in: s.In[i], stage: s.Stage[i], says: s.Version, health: model.Healthy, since: r.clock}
		if s.In[i] {
			r.published[i] = model.Cluster{Objects: [2]model.Version{s.Version, s.Version}, Replicas: shares[i]}
		}
	}
	r.last = r.source
	r.plan(false)
	return r
}

// commit puts a version at the head of the source.
func (r *room) commit(v model.Version) {
	r.source = fmt.Sprintf("commit%d", len(r.versions))
	r.versions[r.source] = v
}

// Step implements System.
func (r *room) Step(e model.Event) model.Observation {
	r.step++
	r.clock, r.clusters = r.clock.Add(e.After), r.clusters.Add(max(e.After, 0))
	r.happen(&e)
	for i := range r.published {
		r.published[i].Commits = 0
	}
	if e.Kind != model.Unreadable { // no plan is made of what cannot be read
		r.plan(e.Half)
	}
	o := r.seen
	for i := range o.Clusters {
		state := o.Clusters[i].State
		o.Clusters[i] = r.published[i]
		o.Clusters[i].State = state
	}
	return o
}

// happen takes in what an event says of the world.
func (r *room) happen(e *model.Event) {
	c := &r.fleet[e.Cluster]
	switch e.Kind {
	case model.Commit:
		r.commit(e.Version)
	case model.Other:
		r.commit(r.versions[r.source])
	case model.Reports:
		if c.says != e.Version || c.health != e.Health || c.heard <= c.changed {
			c.since = r.clusters
		}
		c.says, c.health, c.heard = e.Version, e.Health, r.step
	case model.Silent, model.Speaks:
		c.silent = e.Kind == model.Silent
	case model.Leaves:
		c.in = false
	case model.Joins:
		c.in, c.silent, c.stage = true, false, e.Stage
	case model.Relabelled:
		c.stage = e.Stage
	case model.Closes, model.Opens:
		r.shut = e.Kind == model.Closes
	case model.Lost:
		r.record, r.last = nil, ""
	case model.Edited:
		r.strategy = e.Strategy
	case model.Unbound, model.Bound:
		if r.bound = e.Kind == model.Bound; e.Version != model.None {
			r.commit(e.Version)
		}
	default:
		r.command(e)
	}
}

var verbs = map[model.Kind]rollouts.Verb{
	model.Approve: rollouts.Approve, model.Stop: rollouts.Stop, model.Resume: rollouts.Resume,
	model.Skip: rollouts.Skip, model.Return: rollouts.Return, model.Bypass: rollouts.Bypass,
}

// command gives one, which stays where it was given.
func (r *room) command(e *model.Event) {
	verb, ok := verbs[e.Kind]
	if !ok || e.Run == "" {
		return
	}
	c := rollouts.Command{Verb: verb, Run: e.Run, By: "anna", Via: "cli", Ref: fmt.Sprintf("orders/%d", r.step), At: metav1.NewTime(r.clock)}
	switch e.Kind {
	case model.Approve:
		c.Stage = stageName(e.Stage)
	case model.Skip:
		c.Cluster = clusterName(e.Cluster)
	default:
	}
	r.commands = append(r.commands, c)
}

func clusterName(c int) string { return fmt.Sprintf("c%d", c) }

func stageName(s int) string {
	if s == model.Stages {
		return rollouts.Unmatched
	}
	return fmt.Sprintf("s%d", s)
}

// strategyOf is a strategy as it is recorded. What no stage selects has the bounds of the others.
func strategyOf(of *model.Strategy) *rollouts.Strategy {
	s := &rollouts.Strategy{Name: "careful"}
	if of.Return {
		s.OnFailure = rollouts.ReturnOnFailure
	}
	if of.Wait {
		s.Newer = rollouts.WaitForNewer
	}
	for n := range model.Stages + 1 {
		from := model.Stage{Width: 1}
		if n < model.Stages {
			from = of.Stages[n]
		}
		st := rollouts.Stage{
			Name: stageName(n), MaxConcurrency: intstr.FromInt(from.Width), MaxFailures: intstr.FromInt(from.MaxFailures),
			ProgressDeadline: metav1.Duration{Duration: of.Deadline}, Settle: metav1.Duration{Duration: of.Settle},
		}
		if from.Percent {
			st.MaxConcurrency = intstr.FromString(fmt.Sprintf("%d%%", from.Width))
		}
		if from.Before {
			st.BeforeStageTasks = []rollouts.StageTask{{Type: rollouts.ApprovalTask}}
		}
		if from.Soak > 0 {
			st.AfterStageTasks = []rollouts.StageTask{{Type: rollouts.WaitTask, WaitTime: metav1.Duration{Duration: from.Soak}}}
		}
		if from.After {
			st.AfterStageTasks = append(st.AfterStageTasks, rollouts.StageTask{Type: rollouts.ApprovalTask})
		}
		s.Stages = append(s.Stages, st)
	}
	return s
}

// version is the unit as a commit has it.
func (r *room) version(commit string) rollouts.Version {
	if commit == "" {
		return rollouts.Version{}
	}
	return rollouts.Version{Commit: commit, Digest: fmt.Sprintf("v%d", r.versions[commit])}
}

// input is what package stage is asked, as package staged asks it.
func (r *room) input() stage.Input {
	in := stage.Input{
		Unit: rollouts.Unit{Namespace: "team", Name: "web"}, Now: r.clock, Source: r.version(r.source), Windows: map[string]stage.Window{},
		Commands: r.commands, Before: r.record,
	}
	if r.bound {
		in.Strategy = strategyOf(&r.strategy)
	}
	if r.record == nil || !in.Source.Is(r.record.Status.Target) {
		in.Published = r.version(r.last)
	}
	for n := range model.Stages + 1 {
		in.Windows[stageName(n)] = stage.Window{IsClosed: r.shut}
	}
	base, target := stage.Versions(in)
	for i := range r.fleet {
		if !r.fleet[i].in {
			continue
		}
		has := r.published[i].Objects
		in.Clusters = append(in.Clusters, stage.Cluster{
			Name: clusterName(i), Stage: stageName(r.fleet[i].stage), Has: has[0] != model.None,
			IsTarget: r.isAt(i, target), IsBase: r.isAt(i, base), Evidence: r.evidence(i),
		})
	}
	return in
}

// isAt reports that a cluster has what a version gives it, apart from replicas.
func (r *room) isAt(c int, v rollouts.Version) bool {
	is := r.versions[v.Commit]
	return v.IsKnown() && r.published[c].Objects == [2]model.Version{is, is}
}

// evidence is what a cluster says of what is published there.
func (r *room) evidence(i int) stage.Evidence {
	c := &r.fleet[i]
	e := stage.Evidence{Health: stage.Progressing, IsPresent: c.says == r.published[i].Objects[0], Since: c.since, Ref: fmt.Sprintf("status/c%d@%d", i, c.heard)}
	switch {
	case c.silent:
		e.Health, e.IsPresent, e.Since = stage.Silent, true, time.Time{}
	case c.health == model.Healthy:
		e.Health = stage.Healthy
	case c.health == model.Failing:
		e.Health = stage.Failed
	}
	return e
}

// plan decides once, and carries it out: all of it, or half of the push, of which the record is not.
func (r *room) plan(isHalf bool) {
	out := stage.Decide(r.input())
	var changed []int
	wanted := r.published
	for _, s := range out.Shown {
		var i int
		if _, err := fmt.Sscanf(s.Cluster, "c%d", &i); err != nil {
			panic(err)
		}
		if wanted[i] = r.shown(i, &s, &out); wanted[i] != r.published[i] {
			changed = append(changed, i)
		}
	}
	slices.Sort(changed)
	if isHalf {
		changed = changed[:len(changed)/2]
	}
	for _, i := range changed {
		if wanted[i].Objects != r.published[i].Objects {
			r.fleet[i].changed = r.step
		}
		r.published[i] = wanted[i]
		r.published[i].Commits = 1
	}
	if !isHalf {
		r.record, r.last, r.seen = out.After, r.source, r.observed(&out)
	}
}

// shown is what a cluster gets, as package staged lays it out.
func (r *room) shown(i int, s *stage.Shown, out *stage.Output) model.Cluster {
	var in [model.Clusters]bool
	for c := range in {
		in[c] = r.fleet[c].in
	}
	has, v := r.published[i], r.versions[s.Commit]
	is := model.Cluster{Objects: [2]model.Version{v, v}, Replicas: model.Shares(v, in)[i]}
	if isOver := out.Phase == rollouts.Done || out.Phase == rollouts.Finishing; !isOver && out.Base.IsKnown() {
		is.Replicas = max(is.Replicas, model.Shares(r.versions[out.Base.Commit], in)[i])
	}
	switch {
	case s.Choice == stage.Target:
		return is
	case s.Choice == stage.Kept:
		return has
	case s.Commit == r.source || has.Objects[0] == model.None || has.Replicas != is.Replicas:
		return is
	case out.Phase == rollouts.Returning, out.Phase == rollouts.Stopped && out.After.Status.Reason == rollouts.KeptBack:
		return is
	}
	return has
}

var phases = map[rollouts.Phase]model.Phase{
	rollouts.Waiting: model.Waiting, rollouts.Updating: model.Updating, rollouts.Soaking: model.Soaking, rollouts.Approving: model.Approving,
	rollouts.Stopped: model.Stopped, rollouts.Returning: model.Returning, rollouts.Finishing: model.Finishing, rollouts.Done: model.Done,
}

var states = map[rollouts.State]model.State{
	rollouts.Unchanged: model.Released, rollouts.Released: model.Released, rollouts.Failing: model.Released,
	rollouts.Healthy: model.Well, rollouts.Failed: model.Failed, rollouts.Late: model.Late,
}

// observed is what was decided, without what is published.
func (r *room) observed(out *stage.Output) model.Observation {
	o := model.Observation{Phase: phases[out.Phase], Base: r.versions[out.Base.Commit], Target: r.versions[out.Target.Commit]}
	if out.After == nil {
		return o
	}
	o.Run = out.After.Status.Run
	for _, st := range out.After.Status.Stages {
		for n := range o.Stages {
			if stageName(n) == st.Name {
				o.Stages[n] = phases[st.Phase]
			}
		}
	}
	for i := range o.Clusters {
		o.Clusters[i].State = states[out.After.Clusters[clusterName(i)].State]
	}
	return o
}
