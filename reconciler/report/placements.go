package report

import (
	"strconv"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/report/cell"
)

// placement is a row of what render prints.
type placement struct {
	Object   string   `json:"object"`
	Policy   string   `json:"policy,omitempty"`
	Clusters []string `json:"clusters"`
	Replicas []int32  `json:"replicas,omitempty"` // in the order of clusters
	Reason   string   `json:"reason,omitempty"`
}

// Placements is what render prints: where everything goes.
func Placements(p *plan.Plan) Report {
	items := []placement{}
	var rows [][]string
	for _, d := range p.Decisions {
		item := placement{Object: d.Template.Ref().String(), Clusters: []string{}, Reason: d.Message}
		if d.Policy != nil {
			item.Policy = d.Policy.String()
		}
		for _, t := range d.Targets {
			item.Clusters = append(item.Clusters, t.Name)
			if t.Replicas > 0 {
				item.Replicas = append(item.Replicas, t.Replicas)
			}
		}
		where := cell.Targets(d.Targets)
		if len(item.Replicas) != len(item.Clusters) {
			item.Replicas, where = nil, item.Clusters
		}
		items = append(items, item)
		rows = append(rows, []string{item.Object, cell.Dash(item.Policy), strconv.Itoa(len(item.Clusters)), cell.Short(where, 4)})
	}
	return table(items, []string{"OBJECT", "POLICY", "CLUSTERS", "WHERE"}, rows)
}
