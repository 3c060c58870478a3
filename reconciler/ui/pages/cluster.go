package pages

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/reconciler/ui/pages/list"
	"github.com/waybill-dev/waybill/render/object"
)

// mostUnwell is how many objects are listed that are not well.
const mostUnwell = 200

// Cluster is the page of a cluster.
type Cluster struct {
	Row        ClusterRow
	Facts      []Fact
	Taints     []Taint
	Conditions []Condition
	Expires    Moment
	// Held is why its removals wait, Loses what would go, and Next the command that lets it; empty where nothing waits.
	Held, Next string
	Loses      []string
	Objects    []ObjectRow
	More       int // objects that are not listed
	Error      string
	Branch     string
	Commits    []Commit
	Templates  int
	Matrix     string
}

// Fact is something that is known, by its name.
type Fact struct{ Name, Value string }

// Taint keeps templates out.
type Taint struct{ Key, Effect, Since string }

// Condition was observed.
type Condition struct {
	Type, Message string
	Mark          Mark
	Since         Moment
}

// Commit is a commit of a cluster's branch.
type Commit struct {
	Change Link
	When   Moment
}

// ObjectRow is an object about which something is to be done.
type ObjectRow struct {
	Object  string
	URL     string // of its template; empty if none is known
	Mark    Mark
	Message string
	Since   Moment
}

// Branch is what is known of a cluster's branch.
type Branch struct {
	Commits []facts.Change
	Objects map[object.Ref]*status.Object // all that are told of
	Error   string                        // why they cannot be read
}

// OfCluster shows a cluster.
func OfCluster(f *facts.Facts, m *reports.Cluster, b Branch, now time.Time) Cluster {
	p := Cluster{
		Row: clusterRow(m, now), Facts: factsOf(m), Branch: f.Fleet.Addresses.Of(m.Cluster).String(), Error: b.Error,
		Matrix: list.With("/matrix", url.Values{}, "in", m.Cluster),
	}
	for _, t := range m.Registered.Spec.Taints {
		taint := Taint{Key: strings.TrimSuffix(t.Key+"="+t.Value, "="), Effect: string(t.Effect)}
		if t.TimeAdded != nil {
			taint.Since = t.TimeAdded.UTC().Format(time.RFC3339)
		}
		p.Taints = append(p.Taints, taint)
	}
	if m.Observed != nil {
		for _, c := range m.Observed.Conditions {
			mark := map[string]Mark{"True": {"True", "✓", "good"}, "False": {"False", "✕", "bad"}}[string(c.Status)]
			if mark.Word == "" {
				mark = Mark{string(c.Status), "?", "warn"}
			}
			p.Conditions = append(p.Conditions, Condition{
				Type: c.Type, Message: c.Message, Mark: mark, Since: MomentOf(c.LastTransitionTime.Time, now),
			})
		}
	}
	if m.Report != nil && !m.Report.Expires.IsZero() {
		p.Expires = Moment{At: m.Report.Expires.UTC().Format(time.RFC3339), Ago: m.Report.Expires.UTC().Format(time.DateOnly)}
	}
	known := map[object.Ref]bool{}
	for _, t := range f.Templates() {
		known[t.Ref] = true
		if isOf(t, m) {
			p.Templates++
		}
	}
	p.objects(b.Objects, known, now)
	if x, ok := problems.HoldOf(f, m); ok {
		p.Held, p.Loses, p.Next = x.Message, x.Loses, x.Next
	}
	for _, c := range b.Commits {
		step := Commit{Change: Link{Text: short(c.Commit.String()) + " " + c.Subject}, When: MomentOf(c.When, now)}
		if c.Source != "" {
			step.Change.URL = list.With(ChangeURL(c.Source), url.Values{}, "cluster", m.Cluster)
		}
		p.Commits = append(p.Commits, step)
	}
	return p
}

// objects lists those about which something is to be done.
func (p *Cluster) objects(all map[object.Ref]*status.Object, templates map[object.Ref]bool, now time.Time) {
	for _, r := range slices.SortedFunc(maps.Keys(all), object.Ref.Compare) {
		o := all[r]
		if o.Well() {
			continue
		}
		if len(p.Objects) == mostUnwell {
			p.More++
			continue
		}
		row := ObjectRow{Object: r.String(), Mark: healthMark(facts.Target{}, o), Message: whyUnwell(o), Since: since(o, now)}
		if templates[r] {
			row.URL = TemplateURL(r)
		}
		p.Objects = append(p.Objects, row)
	}
}

// factsOf are what people, and whoever observes, say of a cluster. Nothing by which it is reached is
// among them but its address.
func factsOf(m *reports.Cluster) []Fact {
	s := &m.Registered.Spec
	all := []Fact{
		{"Sync mode", string(s.SyncMode)},
		{"Provider", s.Provider},
		{"Region", s.Region},
		{"Zones", strings.Join(zones(s.Zone, s.Zones), ", ")},
		{"API endpoint", withoutUser(s.APIEndpoint)},
		{"Labels", strings.Join(labels(m), ", ")},
	}
	if o := m.Observed; o != nil {
		all = append(all, Fact{"Kubernetes", o.KubernetesVersion})
		if o.NodeSummary != nil {
			all = append(all, Fact{"Nodes", strconv.Itoa(int(o.NodeSummary.ReadyNum)) + " of " + strconv.Itoa(int(o.NodeSummary.TotalNum)) + " ready"})
		}
		if o.ResourceSummary != nil {
			all = append(all, Fact{"Allocatable", resources(o.ResourceSummary.Allocatable)}, Fact{"Allocated", resources(o.ResourceSummary.Allocated)})
		}
		all = append(all, Fact{"Remedies in force", strings.Join(m.Registered.Status.RemedyActions, ", ")})
	}
	return slices.DeleteFunc(all, func(f Fact) bool { return f.Value == "" })
}

// withoutUser is an address without credentials, which should not be in it.
func withoutUser(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	u.User = nil
	return u.String()
}

func zones(one string, all []string) []string {
	if len(all) == 0 && one != "" {
		return []string{one}
	}
	return all
}

func resources(list corev1.ResourceList) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		all = append(all, string(name)+" "+cmp.Or(q.String(), "0"))
	}
	return strings.Join(all, ", ")
}
