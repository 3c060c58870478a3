package place

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// Spread says what spread constraints on zone, provider or a label do.
type Spread int

// The ways to read spread constraints.
const (
	// SpreadKarmada does as Karmada does: beside a cluster constraint they only
	// demand that the field be there, alone they fail (section A.10).
	SpreadKarmada Spread = iota
	// SpreadStrict groups by them as Karmada groups by region.
	SpreadStrict
)

// Request is a template that wants a place.
type Request struct {
	APIVersion string
	Kind       string
	Replicas   int32
	// Most is how many replicas the template may have where it is scaled in each cluster by itself; 0 if it is not. A
	// division by static weights then gives each cluster one replica before any has two (Grow), even if that is more than
	// Replicas, and leaves out the clusters for which Most has none.
	Most int32
	// Requirements is what one replica needs; nil when it asks for nothing. With
	// requirements, or with replicas, the template is a workload.
	Requirements *karmada.ReplicaRequirements
	// Components counts pod templates. With more than one, the template is no
	// workload and goes whole to every chosen cluster (section A.12).
	Components int
	// Previous is where the template is now, in any order.
	Previous []karmada.TargetCluster
	// Group is the affinity group that the template is in now; empty if there is none.
	Group string
	// Evicting names clusters that the template is being moved away from.
	Evicting []string
	// Full names clusters that get no more replicas than they have, whatever room they seem to
	// have: some of them find no node there.
	Full []string
	// Onward tries the affinity groups from Group on, and those before it last, as where work
	// fails over; otherwise they are tried from the first.
	Onward bool
	// Fresh divides anew instead of keeping what is running where it runs.
	Fresh bool
	// AlsoServed reports whether the cluster gets the template's kind together
	// with the template; nil when none does.
	AlsoServed func(cluster string) bool
	// Only reports the clusters that may have the template at all, because it is part
	// of a release that is placed; nil for all.
	Only func(cluster string) bool
}

// Reason is the reason of Karmada's Scheduled condition.
type Reason string

// The reasons. After NoClusterFit the template leaves all clusters; after
// Unschedulable and SchedulerError it stays where it was (section A.11).
const (
	Success        Reason = "Success"
	NoClusterFit   Reason = "NoClusterFit"   // no cluster passes the filters
	Unschedulable  Reason = "Unschedulable"  // not enough capacity
	SchedulerError Reason = "SchedulerError" // a spread constraint cannot be met
)

// Decision is where a template goes.
type Decision struct {
	// Targets is where the template is from now on, by cluster name; on a failure
	// that keeps it, where it was. Only workloads have replicas, and never 0.
	Targets []karmada.TargetCluster `json:"targets,omitempty"`
	// Group is the affinityName that was used, of a placement with several.
	Group   string `json:"group,omitempty"`
	Reason  Reason `json:"reason"`
	Message string `json:"message"` // Karmada's own wording
	// Seatless names, in their order, the clusters that were chosen and get nothing, because Request.Most has no
	// replica for them.
	Seatless []string `json:"seatless,omitempty"`
}

// Scheduler places the templates of one policy on one fleet. It is immutable and
// safe for concurrent use.
type Scheduler struct {
	clusters []*fleet.Cluster
	filter   filter
	groups   []group // at least one, in the order of trying
	spread   spread
	strategy strategy
	weights  []int64 // by cluster, 0 where no static weight matches; only with static
}

// Compile prepares the placement of a policy for a fleet: all that does not
// depend on a template is computed here, once. Values that Karmada's webhooks
// would fill in are filled in; those they would refuse are errors.
func Compile(p *karmada.Placement, f fleet.Fleet, mode Spread) (*Scheduler, error) {
	if p == nil {
		p = &karmada.Placement{}
	}
	s := &Scheduler{clusters: f.Clusters()}
	s.groups = newGroups(p, s.clusters)
	var err error
	if s.strategy, err = newStrategy(p.ReplicaScheduling); err != nil {
		return nil, err
	}
	if s.strategy == static {
		s.weights = newWeights(p.ReplicaScheduling.WeightPreference, s.clusters)
	}
	if s.spread, err = newSpread(p, s.clusters, s.strategy, mode); err != nil {
		return nil, err
	}
	s.filter = newFilter(p.ClusterTolerations, s.spread, s.clusters)
	return s, nil
}

// Schedule decides where the template of r goes. It starts from the first
// affinity group every time (see Decisions in the package comment). If none will do, the
// error of the group that the template is in decides, with which Karmada would have
// started: what runs there stays while it has too little room, though the first group
// has no cluster at all. Karmada would take it away if it were to be divided afresh.
func (s *Scheduler) Schedule(r Request) Decision {
	q := s.newQuery(r)
	var failed Decision
	for i, n := range s.order(&r) {
		d := s.try(&s.groups[n], q).decision()
		if d.Reason == Success {
			return d
		}
		if i == 0 || r.Group != "" && d.Group == r.Group {
			failed = d
		}
	}
	failed.Group = r.Group // it stays in use
	return failed
}

// order is the order in which the affinity groups are tried.
func (s *Scheduler) order(r *Request) []int {
	first := 0
	if r.Onward {
		first = max(0, slices.IndexFunc(s.groups, func(g group) bool { return g.name == r.Group }))
	}
	order := make([]int, len(s.groups))
	for i := range order {
		order[i] = (first + i) % len(s.groups)
	}
	return order
}

// Settled reports whether Karmada would leave the previous result of r alone,
// given that the placement is still the one that made it: a divided workload
// whose replicas add up and whose clusters all still exist is not scheduled again,
// whatever became of labels, taints and capacity (section A.11).
func (s *Scheduler) Settled(r Request) bool {
	if r.Fresh || !r.workload() || r.Replicas == 0 || s.strategy == duplicated || len(r.Previous) == 0 || grows(s.strategy, &r) {
		return false
	}
	var total int64
	find := s.finder()
	for _, t := range r.Previous {
		i, ok := find(t.Name)
		if !ok || deleting(s.clusters[i]) || r.Only != nil && !r.Only(t.Name) {
			return false
		}
		total += int64(t.Replicas)
	}
	return total == int64(r.Replicas)
}

// index finds a cluster by name.
func (s *Scheduler) index(name string) (int, bool) {
	return slices.BinarySearchFunc(s.clusters, name, func(c *fleet.Cluster, name string) int {
		return strings.Compare(c.Name, name)
	})
}

// finder returns index for names that mostly come in the order of the fleet, as those of
// a decision do: then it looks at one cluster only.
func (s *Scheduler) finder() func(name string) (int, bool) {
	next := 0
	return func(name string) (int, bool) {
		i, ok := next, next < len(s.clusters) && s.clusters[next].Name == name
		if !ok {
			i, ok = s.index(name)
		}
		next = i + 1
		return i, ok
	}
}

// workload reports whether replicas are placed (section A.12).
func (r *Request) workload() bool {
	return r.Components <= 1 && (r.Replicas > 0 || r.Requirements != nil)
}

// query is a request, prepared for the fleet.
type query struct {
	Request
	workload bool
	demand   fleet.Demand
	was      []int32 // by cluster: replicas before, or absent; nil when there is no before
	measure  bool    // look at capacity even where no decision needs it
	grows    bool    // each cluster gets one replica before any has two

	record    bool // note how replicas are shared out
	divisions []Division
}

// absent marks a cluster that the template was not in.
const absent = -1

func (s *Scheduler) newQuery(r Request) *query {
	q := &query{
		Request:  r,
		workload: r.workload(),
		demand:   fleet.NewDemand(r.Requirements),
		measure:  s.strategy.byCapacity() || s.spread.how.ordered(),
		grows:    grows(s.strategy, &r),
	}
	if len(r.Previous) == 0 {
		return q
	}
	q.was = make([]int32, len(s.clusters))
	for i := range q.was {
		q.was[i] = absent
	}
	find := s.finder()
	for _, t := range r.Previous {
		if i, ok := find(t.Name); ok && q.was[i] == absent {
			q.was[i] = max(t.Replicas, 0)
		}
	}
	return q
}

// before returns how many replicas cluster i had, or absent.
func (q *query) before(i int) int32 {
	if q.was == nil {
		return absent
	}
	return q.was[i]
}

// attempt is one affinity group tried for one request, with all that was
// considered on the way.
type attempt struct {
	query      *query
	group      *group
	candidates []candidate  // by cluster name
	order      []*candidate // in score order, if measured; else by name
	buckets    []*bucket    // what was grouped, by name; nil where nothing was
	chosen     []*candidate
	err        error
}

func (s *Scheduler) try(g *group, q *query) attempt {
	a := attempt{query: q, group: g, candidates: s.candidates(g, q)}
	if len(a.candidates) == 0 {
		a.err = s.fitError(g, q)
		return a
	}
	a.order = ordered(a.candidates, q)
	if a.chosen, a.buckets, a.err = s.choose(a.order, q); a.err != nil {
		a.err = fmt.Errorf("failed to select clusters: %w", a.err)
		return a
	}
	if a.err = s.assign(a.chosen, q); a.err != nil {
		a.err = fmt.Errorf("failed to assign replicas: %w", a.err)
	}
	return a
}

func (a attempt) decision() Decision {
	d := Decision{Group: a.group.name, Reason: Success, Message: "Binding has been scheduled successfully."}
	if a.err == nil {
		d.Targets, d.Seatless = a.targets(), a.seatless()
		return d
	}
	d.Reason, d.Message = SchedulerError, a.err.Error()
	if _, ok := errors.AsType[fitError](a.err); ok {
		d.Reason = NoClusterFit
		return d
	}
	if _, ok := errors.AsType[shortError](a.err); ok {
		d.Reason = Unschedulable
	}
	d.Targets = slices.SortedFunc(slices.Values(a.query.Previous), func(x, y karmada.TargetCluster) int {
		return strings.Compare(x.Name, y.Name)
	})
	return d
}

// targets lists the clusters that get the template. A workload does not go where
// it has no replica.
func (a attempt) targets() []karmada.TargetCluster {
	targets := make([]karmada.TargetCluster, 0, len(a.chosen))
	for i := range a.candidates {
		c := &a.candidates[i]
		switch {
		case !c.chosen:
		case !a.query.workload:
			targets = append(targets, karmada.TargetCluster{Name: c.cluster.Name})
		case c.seats > 0:
			targets = append(targets, karmada.TargetCluster{Name: c.cluster.Name, Replicas: int32(min(c.seats, math.MaxInt32))})
		}
	}
	return targets
}
