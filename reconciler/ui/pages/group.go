package pages

import (
	"cmp"
	"maps"
	"net/url"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
)

// The groups that a fleet can be shown in.
const (
	groupParam = "group"
	noGroup    = "-" // asks for none, where there is one unless somebody says otherwise
	ofParam    = "of"
	mostGroups = 60
	byRegion   = "region"
)

// Grouping is by which label clusters are grouped, and by which they can be.
type Grouping struct {
	By      string // empty for none
	Choices []string
	Nothing string // what an address says for none; empty where saying nothing is that
}

// grouping is the one that an address asks for.
func grouping(f *facts.Facts, q url.Values) Grouping {
	g := Grouping{By: q.Get(groupParam), Choices: choicesOf(f)}
	if !slices.Contains(g.Choices, g.By) {
		g.By = ""
	}
	return g
}

// choicesOf are the labels by which clusters fall into more than one group, and not into too many; regions first.
func choicesOf(f *facts.Facts) []string {
	values := map[string]map[string]bool{}
	note := func(key, value string) {
		if values[key] == nil {
			values[key] = map[string]bool{}
		}
		values[key][value] = true
	}
	for i := range f.Fleet.Clusters {
		c := f.Fleet.Clusters[i].Registered
		if c.Spec.Region != "" {
			note(byRegion, c.Spec.Region)
		}
		for key, value := range c.Labels {
			note(key, value)
		}
	}
	var all []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if n := len(values[key]); n > 1 && n <= mostGroups {
			all = append(all, key)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(rankOfLabel(a), rankOfLabel(b)) })
	return all
}

// rankOfLabel orders labels: a region is what people think in, and then what most fleets call their stages.
func rankOfLabel(key string) int {
	if i := slices.Index([]string{byRegion, "env", "environment", "stage", "tier"}, key); i >= 0 {
		return i
	}
	return 5
}

// of is the group of a cluster; empty for one that has none.
func (g Grouping) of(m *reports.Cluster) string {
	if value, ok := m.Registered.Labels[g.By]; ok {
		return value
	}
	if g.By == byRegion {
		return m.Registered.Spec.Region
	}
	return ""
}

// name is what a group is called.
func (g Grouping) name(value string) string {
	if value == "" {
		return "without " + g.By
	}
	return g.By + "=" + value
}

// inGroups sorts clusters by their groups, and leaves their order within each. It returns how many are in each.
func (g Grouping) inGroups(all []*reports.Cluster) map[string]int {
	if g.By == "" {
		return nil
	}
	count := map[string]int{}
	for _, m := range all {
		count[g.of(m)]++
	}
	slices.SortStableFunc(all, func(a, b *reports.Cluster) int { return cmp.Compare(g.of(a), g.of(b)) })
	return count
}
