package place

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// group is one affinity group, held against every cluster.
type group struct {
	name  string
	tiers []tier // the affinity itself, then its overflows
	of    []int  // by cluster: the first tier that matches, or unmatched
	size  int    // clusters that some tier matches
}

// tier is an affinity, or one of those that take what it has no room for.
type tier struct {
	name    string
	matcher fleet.Matcher
}

// unmatched marks a cluster that no tier of a group matches.
const unmatched = -1

// newGroups compiles the affinity groups of p. A placement without groups is one
// group without a name.
func newGroups(p *karmada.Placement, clusters []*fleet.Cluster) []group {
	if len(p.ClusterAffinities) == 0 {
		return []group{newGroup("", []tier{{matcher: fleet.Compile(p.ClusterAffinity)}}, clusters)}
	}
	groups := make([]group, 0, len(p.ClusterAffinities))
	for i := range p.ClusterAffinities {
		term := &p.ClusterAffinities[i]
		tiers := []tier{{term.AffinityName, fleet.Compile(&term.ClusterAffinity)}}
		for j := range term.OverflowAffinities {
			o := &term.OverflowAffinities[j]
			tiers = append(tiers, tier{o.AffinityName, fleet.Compile(&o.ClusterAffinity)})
		}
		groups = append(groups, newGroup(term.AffinityName, tiers, clusters))
	}
	return groups
}

func newGroup(name string, tiers []tier, clusters []*fleet.Cluster) group {
	g := group{name: name, tiers: tiers, of: make([]int, len(clusters))}
	for i, c := range clusters {
		t := slices.IndexFunc(tiers, func(t tier) bool { return t.matcher.Matches(c) })
		if g.of[i] = t; t != unmatched {
			g.size++
		}
	}
	return g
}

// filter is what keeps a cluster out whatever the template is.
type filter struct {
	taints  []*corev1.Taint // by cluster: the first that is not tolerated, or nil
	missing []string        // by cluster: the property a spread constraint misses, or ""
}

func newFilter(tolerations []corev1.Toleration, s spread, clusters []*fleet.Cluster) filter {
	f := filter{taints: make([]*corev1.Taint, len(clusters)), missing: make([]string, len(clusters))}
	for i, c := range clusters {
		f.taints[i] = untolerated(c.Taints, tolerations)
		for _, p := range s.required {
			if p.of(c) == "" {
				f.missing[i] = p.name
				break
			}
		}
	}
	return f
}

// untolerated returns the first taint that keeps templates out, or nil.
func untolerated(taints []corev1.Taint, tolerations []corev1.Toleration) *corev1.Taint {
	for i := range taints {
		t := &taints[i]
		if t.Effect != corev1.TaintEffectNoSchedule && t.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		if !slices.ContainsFunc(tolerations, func(l corev1.Toleration) bool { return fleet.Tolerates(l, t) }) {
			return t
		}
	}
	return nil
}

// verdict is the first filter that a cluster does not pass.
type verdict int

const (
	fits verdict = iota
	isDeleting
	lacksAPI
	isTainted
	isUnmatched
	lacksProperty
	isEvicting
	isElsewhere
)

// judge holds cluster i against every filter, in Karmada's order (section A.9).
// Clusters that have the template already pass those for kinds and taints.
func (s *Scheduler) judge(i int, g *group, q *query) verdict {
	c, stays := s.clusters[i], q.before(i) != absent
	switch {
	case deleting(c):
		return isDeleting
	case !stays && !c.Serves(q.APIVersion, q.Kind) && (q.AlsoServed == nil || !q.AlsoServed(c.Name)):
		return lacksAPI
	case !stays && s.filter.taints[i] != nil:
		return isTainted
	case g.of[i] == unmatched || g.of[i] > 0 && !q.workload:
		return isUnmatched
	case s.filter.missing[i] != "":
		return lacksProperty
	case slices.Contains(q.Evicting, c.Name):
		return isEvicting
	case q.Only != nil && !q.Only(c.Name):
		return isElsewhere
	}
	return fits
}

func deleting(c *fleet.Cluster) bool { return c.Source.DeletionTimestamp != nil }

// candidate is a cluster that passed the filters, on its way to replicas.
type candidate struct {
	cluster *fleet.Cluster
	index   int   // in the fleet: stands for the name in comparisons
	tier    int   // of the affinity group
	score   int64 // 100 where the template is already, else 0
	prev    int64 // replicas there before
	free    int64 // replicas there is still room for; 0 if not measured
	weight  int64 // in the division; 0 where it has no part
	seats   int64 // replicas given
	chosen  bool  // by the spread constraints
}

// locality is the score of a cluster that has the template already (section A.9).
const locality = 100

// available is the replicas that could be there: room and what is there already.
func (c *candidate) available() int64 { return c.free + c.prev }

// candidates returns the clusters that pass every filter, by name.
func (s *Scheduler) candidates(g *group, q *query) []candidate {
	all := make([]candidate, 0, g.size)
	for i, c := range s.clusters {
		if s.judge(i, g, q) != fits {
			continue
		}
		n := candidate{cluster: c, index: i, tier: g.of[i]}
		if before := q.before(i); before != absent {
			n.score, n.prev = locality, int64(before)
		}
		if q.measure {
			n.free = free(c, q)
		}
		all = append(all, n)
	}
	return all
}

// free is how many replicas c has room for (section A.9). What is no workload
// needs no room.
func free(c *fleet.Cluster, q *query) int64 {
	if !q.workload || q.Replicas == 0 {
		return math.MaxInt32
	}
	if slices.Contains(q.Full, c.Name) {
		return 0
	}
	room := c.Room(q.demand)
	if room == math.MaxInt32 {
		room = q.Replicas
	}
	return int64(room)
}

// ordered returns the candidates in score order, which everything after goes by;
// where capacity plays no part the order does not matter and is left by name.
func ordered(all []candidate, q *query) []*candidate {
	order := make([]*candidate, len(all))
	for i := range all {
		order[i] = &all[i]
	}
	if q.measure {
		slices.SortFunc(order, func(a, b *candidate) int {
			return cmp.Or(
				cmp.Compare(a.tier, b.tier),
				cmp.Compare(b.score, a.score),
				cmp.Compare(b.available(), a.available()),
				cmp.Compare(a.index, b.index),
			)
		})
	}
	return order
}

// fitError says that no cluster passed the filters, and how many failed which.
type fitError struct{ message string }

func (e fitError) Error() string { return e.message }

// fitError judges every cluster once more, for the reasons.
func (s *Scheduler) fitError(g *group, q *query) fitError {
	counts := make(map[string]int)
	for i := range s.clusters {
		if reason := s.karmadaReason(i, s.judge(i, g, q)); reason != "" {
			counts[reason]++
		}
	}
	reasons := make([]string, 0, len(counts))
	for reason, n := range counts {
		reasons = append(reasons, fmt.Sprintf("%d %s", n, reason))
	}
	message := fmt.Sprintf("0/%d clusters are available", len(s.clusters))
	if len(reasons) > 0 {
		slices.Sort(reasons)
		message += ": " + strings.Join(reasons, ", ")
	}
	return fitError{message + "."}
}

// karmadaReason words a verdict as Karmada's filters do.
func (s *Scheduler) karmadaReason(i int, v verdict) string {
	switch v {
	case lacksAPI:
		return "cluster(s) did not have the API resource"
	case isTainted:
		return fmt.Sprintf("cluster(s) had untolerated taint {%s}", s.filter.taints[i].ToString())
	case isUnmatched:
		return "cluster(s) did not match the placement cluster affinity constraint"
	case lacksProperty:
		return fmt.Sprintf("cluster(s) did not have %s property", s.filter.missing[i])
	case isEvicting:
		return "cluster(s) is in the process of eviction"
	case isElsewhere:
		return "cluster(s) did not have the release"
	default: // Karmada passes over clusters that are being deleted without a word
		return ""
	}
}
