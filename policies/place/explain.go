package place

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies/fleet"
)

// Report is a decision with everything that led to it.
type Report struct {
	Decision Decision `json:"decision"`
	// Tried is what each affinity group gave, in the order of trying. The rest of
	// the report is about the last of them if it succeeded, else about the first.
	Tried    []Decision      `json:"tried"`
	Clusters []ClusterReport `json:"clusters"`         // the whole fleet, by name
	Groups   []GroupReport   `json:"groups,omitempty"` // regions, or what else was grouped by, by name; often none
	// Divisions is how the replicas were shared out, seat by seat. There are several
	// where an affinity overflows.
	Divisions []Division `json:"divisions,omitempty"`
}

// ClusterReport is what became of one cluster.
type ClusterReport struct {
	Name     string `json:"name"`
	Rejected string `json:"rejected,omitempty"` // why it is no candidate, for people; empty if it is one
	Overflow string `json:"overflow,omitempty"` // affinityName of the overflow that matched it, if one did
	Rank     int    `json:"rank,omitempty"`     // in score order, from 1; 0 if it is no candidate
	Score    int64  `json:"score,omitempty"`    // 100 where the template is already, else 0
	// Available is how many replicas it could have: room, and what it has. For what
	// is no workload it is not bounded, which is math.MaxInt32.
	Available int64  `json:"available,omitempty"`
	Group     string `json:"group,omitempty"`  // the region, or what else was grouped by
	Chosen    bool   `json:"chosen,omitempty"` // by the spread constraints
	Weight    int64  `json:"weight,omitempty"` // in the division, if there was one and it had a part
	Seats     int64  `json:"seats,omitempty"`  // replicas given
}

// GroupReport is what became of one region, or what else was grouped by.
type GroupReport struct {
	Name     string `json:"name"`
	Clusters int    `json:"clusters"` // candidates in it
	Score    int64  `json:"score,omitempty"`
	Chosen   bool   `json:"chosen,omitempty"`
}

// Explain decides as Schedule does and tells all it considered, at some more
// expense. The decision is the same.
func (s *Scheduler) Explain(r Request) Report {
	q := s.newQuery(r)
	q.measure, q.record = true, true
	var decisive attempt
	report := Report{Decision: s.Schedule(r)}
	for i, n := range s.order(&r) {
		q.divisions = nil
		a := s.try(&s.groups[n], q)
		d := a.decision()
		report.Tried = append(report.Tried, d)
		if i == 0 || d.Reason == Success {
			decisive, report.Divisions = a, q.divisions
		}
		if d.Reason == Success {
			break
		}
	}
	report.Clusters, report.Groups = s.clusterReports(decisive), groupReports(decisive)
	return report
}

func (s *Scheduler) clusterReports(a attempt) []ClusterReport {
	reports := make([]ClusterReport, len(s.clusters))
	for i, c := range s.clusters {
		reports[i] = ClusterReport{Name: c.Name, Rejected: s.explain(i, a)}
	}
	for rank, c := range a.order {
		r := &reports[c.index]
		r.Rank, r.Score, r.Available = rank+1, c.score, c.available()
		r.Chosen, r.Weight, r.Seats = c.chosen, c.weight, c.seats
		if c.tier > 0 {
			r.Overflow = a.group.tiers[c.tier].name
		}
	}
	for _, b := range a.buckets {
		for _, c := range b.members {
			reports[c.index].Group = b.name
		}
	}
	return reports
}

func groupReports(a attempt) []GroupReport {
	var reports []GroupReport
	for _, b := range a.buckets {
		reports = append(reports, GroupReport{b.name, len(b.members), b.score, b.chosen})
	}
	return reports
}

// explain says, for people, why cluster i is no candidate.
func (s *Scheduler) explain(i int, a attempt) string {
	c, q := s.clusters[i], a.query
	switch s.judge(i, a.group, q) {
	case isDeleting:
		return "the cluster is being deleted"
	case lacksAPI:
		return fmt.Sprintf("%s %s is not among status.apiEnablements", q.APIVersion, q.Kind)
	case isTainted:
		return fmt.Sprintf("taint %q is not tolerated", s.filter.taints[i].ToString())
	case isUnmatched:
		return mismatch(c, a.group, a.group.of[i])
	case lacksProperty:
		return s.filter.missing[i] + " is empty, and a spread constraint needs it"
	case isEvicting:
		return "the template is being evicted from it"
	case isElsewhere:
		return "the release that it is part of does not have it there"
	default:
		return ""
	}
}

// mismatch tells the cluster that nothing matches from the one that only an
// overflow matches, which is for replicas.
func mismatch(c *fleet.Cluster, g *group, of int) string {
	if of > 0 {
		return fmt.Sprintf("only overflow affinity %q matches, and there are no replicas to overflow", g.tiers[of].name)
	}
	return g.tiers[0].matcher.Why(c)
}
