package report

import (
	"fmt"
	"io"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/report/cell"
	"github.com/waybill-dev/waybill/render/object"
)

// Foldered is an object that no policy places, because it stands in the folders of clusters.
type Foldered struct {
	Object   object.Ref `json:"object"`
	Outcome  string     `json:"outcome"` // "bound"
	Clusters []InFolder `json:"clusters"`
}

// InFolder is where a cluster has it from.
type InFolder struct {
	Cluster string `json:"cluster"`
	Where   string `json:"where"`             // file and line
	Release string `json:"release,omitempty"` // that renders it
}

// Folders is what explain prints of an object in the folders of clusters, of which there is one at
// least.
func Folders(all []plan.Bound) Report {
	found := Foldered{Object: all[0].Object.Ref(), Outcome: "bound"}
	for _, b := range all {
		f := InFolder{Cluster: b.Cluster, Where: b.Object.Origin().String()}
		if b.Of != (object.Ref{}) {
			f.Release = b.Of.String()
		}
		found.Clusters = append(found.Clusters, f)
	}
	return Report{value: found, text: func(w io.Writer) error { return foldered(w, &found) }}
}

func foldered(w io.Writer, f *Foldered) error {
	fmt.Fprintf(w, "%s\npolicy     none: it goes to a cluster because it stands in its folder, or is rendered by what does\n\n", f.Object)
	var rows [][]string
	for _, c := range f.Clusters {
		rows = append(rows, []string{c.Cluster, c.Where, cell.Dash(c.Release)})
	}
	return columns(w, []string{"CLUSTER", "WHERE", "RENDERED BY"}, rows)
}
