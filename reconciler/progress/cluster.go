package progress

import (
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/words"
)

// Cluster is which version of a unit a cluster shows, and why no newer one.
type Cluster struct {
	Name string
	rollouts.Cluster

	// Waits says why it does not show the target; empty where it does.
	Waits string
}

// Clusters are those of which something is recorded, by their stages and names.
func Clusters(r *rollouts.Rollout) []Cluster {
	rank := map[string]int{}
	for n := range r.Status.Stages {
		rank[r.Status.Stages[n].Name] = n + 1
	}
	all := make([]Cluster, 0, len(r.Clusters))
	for _, name := range slices.Sorted(maps.Keys(r.Clusters)) {
		c := r.Clusters[name]
		all = append(all, Cluster{Name: name, Cluster: c, Waits: waits(r, &c)})
	}
	last := len(rank) + 1 // those that the unit leaves
	of := func(c *Cluster) int {
		if n := rank[c.Stage]; n > 0 {
			return n
		}
		return last
	}
	slices.SortStableFunc(all, func(a, b Cluster) int { return of(&a) - of(&b) })
	return all
}

// waits says why a cluster does not show the target.
func waits(r *rollouts.Rollout, c *rollouts.Cluster) string {
	switch c.State {
	case rollouts.Unchanged, rollouts.Released, rollouts.Healthy, rollouts.Failing:
		return ""
	case rollouts.Failed:
		if c.Released.IsZero() {
			return "it cannot get it: " + c.Message
		}
		return ""
	case rollouts.Late:
		return "it does not answer; it gets it when it does"
	case rollouts.Suspended:
		return "it takes nothing now; it gets it when it does"
	case rollouts.Skipped:
		return "it was skipped"
	case rollouts.Leaving:
		return "the new version does not want it: it loses what goes out when every stage is over"
	case rollouts.Pending:
	}
	if isHeldBack(c) {
		return "every cluster goes back, and the guard holds it"
	}
	return pending(r, c.Stage)
}

// isHeldBack reports a cluster that the guard keeps from going back.
func isHeldBack(c *rollouts.Cluster) bool { return c.Reason == rollouts.ClusterHeld }

// heldBack are the clusters that the guard keeps from going back.
func heldBack(r *rollouts.Rollout) (names []string) {
	for name, c := range r.Clusters {
		if isHeldBack(&c) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// pending says why the turn of a cluster of a stage has not come.
func pending(r *rollouts.Rollout, stage string) string {
	n := current(r)
	switch r.Status.Phase {
	case rollouts.Returning:
		return "every cluster goes back"
	case rollouts.Finishing, rollouts.Done:
		return "its turn has not come"
	case rollouts.Stopped:
		if n >= 0 && r.Status.Stages[n].Name != stage {
			return stage + " waits for " + r.Status.Stages[n].Name + ", which stopped: " + stopped(r)
		}
		return stage + " stopped: " + stopped(r)
	case rollouts.Waiting, rollouts.Updating, rollouts.Soaking, rollouts.Approving:
	}
	if n < 0 {
		return "its turn has not come"
	}
	at := r.Status.Stages[n].Name
	if at != stage {
		return stage + " waits for " + at + ", which is " + strings.ToLower(string(r.Status.Phase))
	}
	if r.Status.Phase == rollouts.Waiting {
		return r.Status.Message
	}
	return "its turn in " + stage + " has not come"
}

// stopped says why a run stopped, as briefly as a line about each cluster needs it.
func stopped(r *rollouts.Rollout) string {
	switch r.Status.Reason {
	case rollouts.TooManyFailed:
		var names []string
		for name, c := range r.Clusters {
			if c.State == rollouts.Failed && !c.WasUnhealthy && !c.Forgiven && !c.Joined {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return words.List(names) + " failed"
	case rollouts.NoneHealthy:
		return "no cluster was healthy in time"
	case rollouts.KeptBack:
		return "it went back, and this version is not tried again"
	default:
		return r.Status.Message
	}
}
