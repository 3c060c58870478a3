// Package summary says of a plan that is made what leaves clusters by it: because they failed, because it was so decided, and
// because no node was found there.
package summary

import (
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/words"
)

// LeavingPaths returns the paths of what left a cluster because that, or what is there, failed.
func LeavingPaths(p *plan.Plan, cluster string) map[string]bool {
	var paths map[string]bool
	for r, clusters := range p.Leaving {
		if !slices.Contains(clusters, cluster) || schedule.Find(p.Decisions, r).Targeted(cluster) {
			continue
		}
		if i, ok := p.Expanded.Policies.Position(cluster); ok {
			if paths == nil {
				paths = map[string]bool{}
			}
			paths[tree.Path(p.Expanded.Policies.Virtual.At(i).Ref(r))] = true
		}
	}
	return paths
}

// ByFailover says which templates begin to leave clusters by the plan, and of which the old copies go
// now, a sentence each.
func ByFailover(p *plan.Plan) (said []string) {
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if d.Moves != nil {
			for _, t := range d.Moves.Begun {
				to := ""
				if names := d.Gaining(); len(names) > 0 {
					to = " for " + words.List(names)
				}
				said = append(said, fmt.Sprintf("%s leaves %s%s: %s", d.Ref(), t.FromCluster, to, t.Message))
			}
		}
		said = append(said, hasLeft(p, d)...)
	}
	return said
}

// hasLeft says from which clusters the old copy of a template that moved by itself goes now, and where it stays
// although the move is over.
func hasLeft(p *plan.Plan, d *plan.Decision) (said []string) {
	if d.Policy == nil {
		return nil
	}
	for _, cluster := range p.Leaving[d.Ref()] {
		if d.Targeted(cluster) || d.Moves.IsLeaving(cluster) {
			continue
		}
		switch l := p.LeftAt(d.Ref(), cluster); {
		case !l.Kept:
			said = append(said, fmt.Sprintf("%s has left %s", d.Ref(), cluster))
		case d.Moves.Leaves(cluster):
			said = append(said, fmt.Sprintf("%s is elsewhere, and stays on the branch of %s: %s", d.Ref(), cluster, l.Reason.Message()))
		}
	}
	return said
}

// ByDecision says which objects begin to leave clusters for others and stay there for now, and which have left, a
// sentence each.
func ByDecision(p *plan.Plan) (said []string) {
	for _, m := range p.Moves {
		switch isKept := p.LeftAt(m.Object, m.From).Kept; {
		case !m.Began && m.Stays != "":
			said = append(said, fmt.Sprintf("%s goes from %s to %s: %s", m.Object, m.From, words.List(m.To), m.How()))
		case m.Began && m.Stays == "" && !isKept:
			said = append(said, fmt.Sprintf("%s has left %s", m.Object, m.From))
		}
	}
	return said
}

// ByDescheduler says which replicas leave clusters by the plan because they find no node there, a
// sentence for each cluster.
func ByDescheduler(p *plan.Plan) (said []string) {
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if d.Shift == nil {
			continue
		}
		for _, f := range d.Shift.From {
			var to []string
			for _, c := range f.Destination {
				to = append(to, fmt.Sprintf("%s (%d)", c.Name, c.Replicas))
			}
			said = append(said, fmt.Sprintf("%s has %d of %s leave %s for %s: no node was found there since %s",
				d.Ref(), f.Replicas, words.Count(int(f.Of), "replica"), f.From, words.List(to), f.Since.UTC().Format(time.RFC3339)))
		}
	}
	return said
}
