package pages

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
	"github.com/waybill-dev/waybill/sources/words"
)

// clustersAtOnce is how many clusters are shown on one page.
const clustersAtOnce = 100

// fleetPath is the page of all clusters.
const fleetPath = "/fleet"

// Fleet is the page of all clusters.
type Fleet struct {
	Published Published
	Counts    []Count
	Text      string
	Region    string
	Standing  string
	Regions   []string
	Grouping  Grouping
	Sort      string
	Heads     []list.Head
	Rows      []ClusterRow
	Pager     list.Pager
	Total     int
}

// Published is what was published last.
type Published struct {
	Source string // commit
	Change Link
	When   Moment
}

// Count is how many clusters stand alike.
type Count struct {
	Mark Mark
	N    int
	URL  string
	On   bool // only these are shown
}

// ClusterRow is a cluster of the fleet.
type ClusterRow struct {
	Name, URL string
	Region    string
	Labels    []string
	Mode      string
	Mark      Mark
	Message   string
	Ready     Mark // the word is empty where nothing is observed
	Suspended string
	Published string
	Applied   string
	Behind    bool
	Counts    *status.Counts // nil where nobody says
	NotWell   int            // not applied
	Unhealthy int
	Unknown   int // of which nobody knows whether they are healthy
	Told      Moment
	// Group is what the group is called that begins with this row; empty where none does.
	Group string
}

// OfFleet shows the clusters that are asked for: those about which something is to be done first.
func OfFleet(f *facts.Facts, q url.Values, now time.Time) Fleet {
	p := Fleet{Text: q.Get("q"), Region: q.Get("region"), Standing: q.Get("status"), Total: len(f.Fleet.Clusters), Published: published(f, now)}
	regions, counts := map[string]bool{}, map[string]int{}
	var chosen []*reports.Cluster
	for i := range f.Fleet.Clusters {
		m := &f.Fleet.Clusters[i]
		region := m.Registered.Spec.Region
		regions[region] = true
		if p.Region != "" && region != p.Region || !Matches(p.Text, m.Cluster, region, labelText(m), m.State, m.Message) {
			continue
		}
		counts[m.State]++
		if p.Standing == "" || m.State == p.Standing {
			chosen = append(chosen, m)
		}
	}
	delete(regions, "")
	p.Regions = slices.Sorted(maps.Keys(regions))
	p.Counts = countsOf(counts, q)
	slices.SortStableFunc(chosen, func(a, b *reports.Cluster) int { return cmp.Compare(urgency(a), urgency(b)) })
	p.Sort, p.Heads = q.Get(list.SortParam), list.Sort(chosen, clusterColumns(), fleetPath, q)
	p.Grouping = grouping(f, q)
	inGroup := p.Grouping.inGroups(chosen)
	var from, to int
	p.Pager, from, to = list.Parts{What: "clusters", Path: fleetPath, Param: list.PageParam, Size: clustersAtOnce}.Page(q, len(chosen))
	for i, m := range chosen[from:to] {
		row := clusterRow(m, now)
		if g := p.Grouping.of(m); inGroup != nil && (i == 0 || p.Grouping.of(chosen[from+i-1]) != g) {
			row.Group = p.Grouping.name(g) + ": " + words.Count(inGroup[g], "cluster")
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// clusterColumns are those of the list of clusters.
func clusterColumns() []list.Column[*reports.Cluster] {
	type m = *reports.Cluster
	counted := func(of func(*status.Counts) int) func(m) int {
		return func(c m) int {
			if c.Report == nil || c.State == status.Unknown {
				return -1
			}
			return of(&c.Report.Counts)
		}
	}
	return []list.Column[m]{
		list.ByText("Cluster", "name", func(c m) string { return c.Cluster }),
		list.ByRank("Status", "status", urgency),
		list.ByText("API server", "ready", func(c m) string { return readyMark(c).Word }),
		list.Fixed[m]("Published"),
		list.ByRank("Applied", "behind", func(c m) int {
			if c.Report != nil && c.Report.Commit == c.Head {
				return 1
			}
			return 0
		}),
		list.ByNumber("Objects", "objects", counted(func(c *status.Counts) int { return c.Objects })),
		list.ByNumber("Failing", "failing", counted(func(c *status.Counts) int { return c.Failed + c.Pending })),
		list.ByNumber("Unhealthy", "unhealthy", counted(func(c *status.Counts) int { return c.Unhealthy })),
		list.ByNumber("Unknown", "unknown", counted(func(c *status.Counts) int { return c.Unknown })),
		list.ByNumber("Drifting", "drifting", counted(func(c *status.Counts) int { return c.Drifting })),
		list.By("Last word", "told", func(a, b m) int {
			at := func(c m) time.Time {
				if c.Report == nil {
					return time.Time{}
				}
				return c.Report.At
			}
			return at(a).Compare(at(b))
		}),
	}
}

func published(f *facts.Facts, now time.Time) Published {
	p := Published{Source: f.Fleet.Seen.Commit, When: MomentOf(f.Fleet.Seen.When, now)}
	if p.Source != "" {
		p.Change = Link{short(p.Source), ChangeURL(f.Fleet.Seen.Commit)}
	}
	return p
}

// standings are all of them, those with which something is wrong first.
var standings = []string{
	status.Failing, status.Errored, status.Unreachable, status.NoCredential, status.Held, status.Unhealthy, status.Unknown,
	status.Behind, status.Suspended, status.Drifting, status.Healthy, status.Untold, status.Empty,
}

// urgency orders clusters.
func urgency(m *reports.Cluster) int {
	if i := slices.Index(standings, m.State); i >= 0 {
		return i
	}
	return 0
}

func countsOf(counts map[string]int, q url.Values) []Count {
	var all []Count
	for _, s := range standings {
		if n := counts[s]; n > 0 {
			on := q.Get("status") == s
			to := s
			if on {
				to = ""
			}
			all = append(all, Count{Mark: standingMark(s), N: n, URL: list.With(fleetPath, q, "status", to, list.PageParam, ""), On: on})
		}
	}
	return all
}

// standingMark shows how a cluster stands.
func standingMark(standing string) Mark {
	switch standing {
	case status.Healthy:
		return Mark{standing, "✓", "good"}
	case status.Failing, status.Errored, status.Unreachable, status.NoCredential, status.Unhealthy:
		return Mark{standing, "✕", "bad"}
	case status.Held, status.Suspended:
		return Mark{standing, "‖", "warn"}
	case status.Behind:
		return Mark{standing, "↓", "warn"}
	case status.Drifting:
		return Mark{standing, "≈", "warn"}
	case status.Unknown:
		return Mark{standing, "?", "warn"}
	}
	return Mark{standing, "–", "muted"}
}

func clusterRow(m *reports.Cluster, now time.Time) ClusterRow {
	row := ClusterRow{
		Name: m.Cluster, URL: ClusterURL(m.Cluster), Region: m.Registered.Spec.Region, Labels: labels(m),
		Mode: string(m.Mode), Mark: standingMark(m.State),
		Message: m.Message, Ready: readyMark(m), Suspended: m.Registered.Annotations[suspend.Suspended], Told: Moment{Ago: "never"},
	}
	if !m.Head.IsZero() {
		row.Published = short(m.Head.String())
	}
	w := m.Report
	if w == nil {
		return row
	}
	row.Told = MomentOf(w.At, now)
	if !w.Commit.IsZero() {
		row.Applied, row.Behind = short(w.Commit.String()), w.Commit != m.Head
	}
	if m.State != status.Unknown {
		row.Counts = &w.Counts
		row.NotWell, row.Unhealthy = w.Counts.Failed+w.Counts.Pending, w.Counts.Unhealthy
		row.Unknown = w.Counts.Unknown
	}
	return row
}

func labels(m *reports.Cluster) []string {
	all := make([]string, 0, len(m.Registered.Labels))
	for _, key := range slices.Sorted(maps.Keys(m.Registered.Labels)) {
		all = append(all, strings.TrimSuffix(key+"="+m.Registered.Labels[key], "="))
	}
	return all
}

func labelText(m *reports.Cluster) string { return strings.Join(labels(m), "\x00") }

// readyMark says whether the API server of a cluster is ready, as it was observed last.
func readyMark(m *reports.Cluster) Mark {
	if m.Observed == nil {
		return Mark{}
	}
	c := meta.FindStatusCondition(m.Observed.Conditions, karmada.ConditionReady)
	if c == nil {
		return Mark{}
	}
	switch c.Status {
	case metav1.ConditionTrue:
		return Mark{"Ready", "✓", "good"}
	case metav1.ConditionFalse:
		return Mark{"Not ready", "✕", "bad"}
	default:
		return Mark{"Not known", "?", "warn"}
	}
}
