package report

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters/credential"
	"github.com/waybill-dev/waybill/reconciler/report/cell"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// fleetStatus is what status prints.
type fleetStatus struct {
	Clusters []clusterStatus `json:"clusters"`
}

// clusterStatus is what status prints of a cluster: the five facts, and what they come to.
type clusterStatus struct {
	Cluster   string                  `json:"cluster"`
	Mode      karmada.ClusterSyncMode `json:"syncMode,omitempty"`
	Status    string                  `json:"status"`
	Message   string                  `json:"message,omitempty"`
	Seen      string                  `json:"seen,omitempty"`      // source commit that was published last
	Rendered  string                  `json:"rendered,omitempty"`  // source commit that the branch was made from
	Published string                  `json:"published,omitempty"` // head of the branch
	Applied   string                  `json:"applied,omitempty"`   // commit of the branch
	Source    string                  `json:"appliedSource,omitempty"`
	Objects   *status.Counts          `json:"objects,omitempty"`
	Told      *time.Time              `json:"told,omitempty"` // when the last two facts were
	// Flipped counts by kind what is not healthy by the rules of this version, and was by those before.
	Flipped map[string]int `json:"healthyByFormerRules,omitempty"`
	Expires *time.Time     `json:"credentialExpires,omitempty"`
	// Refused are endpoints of services of other clusters that are not taken: some of them, and More are not listed.
	Refused []status.Refusal `json:"endpointsRefused,omitempty"`
	More    int              `json:"endpointsRefusedMore,omitempty"`
	Unwell  []objectStatus   `json:"unwell,omitempty"`
}

// objectStatus is an object about which something is to be done.
type objectStatus struct {
	Object    object.Ref             `json:"object"`
	Applied   status.Phase           `json:"applied"`
	Commit    string                 `json:"commit,omitempty"`
	Health    karmada.ResourceHealth `json:"health,omitempty"`
	Reason    string                 `json:"reason,omitempty"`
	Message   string                 `json:"message,omitempty"`
	By        string                 `json:"by,omitempty"` // the rule that says that it is not healthy
	Corrected int                    `json:"corrected,omitempty"`
	Flaps     int                    `json:"flaps,omitempty"`
	Since     time.Time              `json:"since"`
}

// Fleet is what status prints: a line a cluster, and, if it was looked at closely, what of it
// is not well.
func Fleet(f *reports.Fleet, now time.Time) Report {
	list := fleetStatus{Clusters: make([]clusterStatus, 0, len(f.Clusters))}
	for i := range f.Clusters {
		list.Clusters = append(list.Clusters, clusterStatusOf(&f.Clusters[i], f.Seen.Commit))
	}
	return Report{
		value: list,
		text:  func(w io.Writer) error { return list.print(w, now, nil) },
		wide: func(w io.Writer) error {
			return list.print(w, now, func(c *clusterStatus) []string {
				return []string{cell.Dash(string(c.Mode)), cell.Dash(cell.Commit(c.Source)), c.credential(now), cell.Dash(c.Message)}
			})
		},
	}
}

func clusterStatusOf(m *reports.Cluster, seen string) clusterStatus {
	c := clusterStatus{
		Cluster: m.Cluster, Mode: m.Mode, Status: m.State, Message: m.Message, Seen: seen, Rendered: m.Rendered, Published: idText(m.Head),
	}
	w := m.Report
	if w == nil {
		return c
	}
	told := w.At.UTC()
	c.Applied, c.Source, c.Told, c.Flipped = idText(w.Commit), w.Source, &told, w.Flipped
	c.Refused, c.More = w.Refused, w.More
	if c.Status != status.Unknown {
		c.Objects = &w.Counts
	}
	if !w.Expires.IsZero() {
		c.Expires = &w.Expires
	}
	for r, o := range w.Objects {
		if !o.Well() {
			c.Unwell = append(c.Unwell, objectStatusOf(r, o))
		}
	}
	slices.SortFunc(c.Unwell, func(a, b objectStatus) int { return a.Object.Compare(b.Object) })
	return c
}

func objectStatusOf(r object.Ref, o *status.Object) objectStatus {
	x := objectStatus{
		Object: r, Applied: o.Applied.Phase, Commit: idText(o.Applied.Commit), Health: o.Health.State, Reason: o.Health.Why(),
		Message: o.Applied.Message, By: o.Health.By, Corrected: o.Applied.Corrected, Flaps: o.Flaps, Since: o.Applied.Since,
	}
	if o.Applied.Phase == status.PhaseApplied && o.Health.State != karmada.ResourceHealthy {
		x.Since = o.Health.Since
	}
	if x.Message == "" {
		x.Message = cmp.Or(o.Health.PodWords(), o.Health.Message)
	}
	if x.Message == "" && x.Corrected > 0 {
		x.Message = "somebody changes it, and it was put right " + strconv.Itoa(x.Corrected) + " times"
	}
	return x
}

func idText(id files.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// print prints the tables. More adds columns; nil for none.
func (f *fleetStatus) print(w io.Writer, now time.Time, more func(*clusterStatus) []string) error {
	head := []string{"CLUSTER", "STATUS", "PUBLISHED", "APPLIED", "OBJECTS", "FAILED", "UNHEALTHY", "DRIFTING", "TOLD"}
	if more != nil {
		head = append(head, "MODE", "SOURCE", "CREDENTIAL", "MESSAGE")
	}
	var rows, objects [][]string
	for i := range f.Clusters {
		c := &f.Clusters[i]
		row := append([]string{c.Cluster, c.Status, cell.Dash(cell.Commit(c.Published)), cell.Dash(cell.Commit(c.Applied))}, c.numbers()...)
		row = append(row, cell.Age(c.Told, now))
		if more != nil {
			row = append(row, more(c)...)
		}
		rows = append(rows, row)
		for _, o := range c.Unwell {
			why := string(o.Health)
			if o.Reason != "" {
				why += "/" + o.Reason
			}
			objects = append(objects, []string{
				c.Cluster, o.Object.String(), string(o.Applied), cell.Dash(why), cell.Age(&o.Since, now), cell.Dash(o.By), cell.Dash(o.Message),
			})
		}
	}
	if err := columns(w, head, rows); err != nil {
		return err
	}
	p := printer{w: w}
	for i := range f.Clusters {
		c := &f.Clusters[i]
		if c.Message != "" && more == nil {
			p.line("%s: %s", c.Cluster, c.Message)
		}
		if len(c.Flipped) > 0 {
			p.line("%s: healthy by the rules of the version before, and not by those of this one: %s", c.Cluster, countedByKind(c.Flipped))
		}
		c.printRefused(&p)
		if c.isCredentialEnding(now) {
			p.line("%s: its credential is valid until %s; replace it", c.Cluster, c.Expires.UTC().Format(time.RFC3339))
		}
	}
	if p.err != nil || len(objects) == 0 {
		return p.err
	}
	p.line("")
	return columns(w, []string{"CLUSTER", "OBJECT", "APPLIED", "HEALTH", "SINCE", "BY", "MESSAGE"}, objects)
}

// printRefused says which endpoints of other clusters are not taken, and why.
func (c *clusterStatus) printRefused(p *printer) {
	for _, r := range c.Refused {
		p.line("%s: endpoints of %s from %s are not taken: %s", c.Cluster, cmp.Or(r.Service, "all services"), r.From, r.Message)
	}
	if c.More > 0 {
		p.line("%s: %s of endpoints more", c.Cluster, words.Count(c.More, "refusal"))
	}
}

// countedByKind lists how many there are of each kind.
func countedByKind(kinds map[string]int) string {
	all := make([]string, 0, len(kinds))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, strconv.Itoa(kinds[kind])+" "+kind)
	}
	return strings.Join(all, ", ")
}

// numbers are the columns that count objects.
func (c *clusterStatus) numbers() []string {
	n := c.Objects
	if n == nil {
		return []string{"-", "-", "-", "-"}
	}
	return []string{strconv.Itoa(n.Objects), strconv.Itoa(n.Failed + n.Pending + n.Leaving), strconv.Itoa(n.Unhealthy + n.Unknown), strconv.Itoa(n.Drifting)}
}

// credential is how long that of a cluster is valid.
func (c *clusterStatus) credential(now time.Time) string {
	switch {
	case c.Expires == nil:
		return "-"
	case c.Expires.Before(now):
		return "expired"
	}
	return duration.HumanDuration(c.Expires.Sub(now))
}

// isCredentialEnding reports that it has ended, or ends within a week.
func (c *clusterStatus) isCredentialEnding(now time.Time) bool {
	return c.Expires != nil && credential.Lifetime{Until: *c.Expires}.IsEnding(now)
}
