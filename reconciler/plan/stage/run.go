package stage

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
)

// run is a record on its way from what it was to what it becomes. Its clusters are those that there are now, by their indices: a step
// looks at all of them, and looks none up by its name.
type run struct {
	Unit     rollouts.Unit
	Strategy rollouts.Strategy
	Status   rollouts.Status
	Stays    []object.Ref

	clusters []rollouts.Cluster // the zero value of one of which nothing is recorded
	known    []bool             // whether anything is
}

// recorded is what was recorded of clusters, by their indices in the view.
type recorded struct {
	clusters []rollouts.Cluster
	known    []bool
	gone     []rollouts.Cluster // those that are not in the view
}

// recordedOf is what a record, which may be nil, says of clusters.
func recordedOf(before *rollouts.Rollout, clusters []Cluster) recorded {
	r := recorded{clusters: make([]rollouts.Cluster, len(clusters)), known: make([]bool, len(clusters))}
	if before == nil || len(before.Clusters) == 0 {
		return r
	}
	left := len(before.Clusters)
	for n := range clusters {
		if r.clusters[n], r.known[n] = before.Clusters[clusters[n].Name]; r.known[n] {
			left--
		}
	}
	if left > 0 {
		r.gone = gone(before, clusters)
	}
	return r
}

// gone are the clusters of a record that are not among those that there are now.
func gone(before *rollouts.Rollout, clusters []Cluster) (all []rollouts.Cluster) {
	is := make(map[string]bool, len(clusters))
	for n := range clusters {
		is[clusters[n].Name] = true
	}
	for name, e := range before.Clusters {
		if !is[name] {
			all = append(all, e)
		}
	}
	return all
}

// runOf is a record that says of clusters what was recorded of them. It shares nothing with what was recorded that later steps change.
func runOf(v *view, r *rollouts.Rollout) run {
	is := run{Unit: r.Unit, Strategy: r.Strategy, Status: r.Status, Stays: r.Stays}
	is.clusters = append(make([]rollouts.Cluster, 0, len(v.Clusters)), v.was.clusters...)
	is.known = append(make([]bool, 0, len(v.Clusters)), v.was.known...)
	return is
}

// recordOf is what is recorded of a run: of its clusters what was recorded before, if that is the same.
func recordOf(v *view, r *run) *rollouts.Rollout {
	is := &rollouts.Rollout{Unit: r.Unit, Strategy: r.Strategy, Status: r.Status, Stays: r.Stays}
	n, isSame := 0, v.Before != nil
	for i := range r.clusters {
		if isSame = isSame && r.known[i] == v.was.known[i] && r.clusters[i] == v.was.clusters[i]; r.known[i] {
			n++
		}
	}
	switch {
	case isSame && n == len(v.Before.Clusters):
		is.Clusters = v.Before.Clusters
		return is
	case n == 0 && r.Status.Phase == rollouts.Done:
		return is
	}
	is.Clusters = make(map[string]rollouts.Cluster, n)
	for i := range r.clusters {
		if r.known[i] {
			is.Clusters[v.Clusters[i].Name] = r.clusters[i]
		}
	}
	return is
}

// set records something of a cluster.
func (r *run) set(n int, e rollouts.Cluster) { r.clusters[n], r.known[n] = e, true }

// of is what is recorded of a cluster; nil for nothing.
func (r *run) of(n int) *rollouts.Cluster {
	if !r.known[n] {
		return nil
	}
	return &r.clusters[n]
}

// drop has nothing recorded of a cluster.
func (r *run) drop(n int) { r.clusters[n], r.known[n] = rollouts.Cluster{}, false }

// isAnyKnown reports that something is recorded of a cluster.
func (r *run) isAnyKnown() bool { return slices.Contains(r.known, true) }
