package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/reconciler/plan"
)

// Autoscaling is how a FederatedHPA scales a template, or what is made of one.
type Autoscaling struct {
	By    string `json:"by"`
	Where string `json:"where"` // file and line
	// Min and Max are its bounds in force.
	Min int32 `json:"min"`
	Max int32 `json:"max"`
	// Clusters are what each has of that, of what is made of it; otherwise Object is what decides the replicas.
	Clusters []Share `json:"clusters,omitempty"`
	Object   string  `json:"object,omitempty"`
}

// Share is what a cluster has of a FederatedHPA: Weight of All.
type Share struct {
	Cluster string `json:"cluster"`
	Weight  int64  `json:"weight"`
	All     int64  `json:"all"`
	Min     int32  `json:"min"`
	Max     int32  `json:"max"`
}

func autoscaling(d *plan.Decision) *Autoscaling {
	if d.Scaler == nil {
		return nil
	}
	a := &Autoscaling{
		By: policies.Name(d.Scaler.Object), Where: d.Scaler.Object.Origin().String(), Min: d.Scaler.Bounds.Min, Max: d.Scaler.Bounds.Max,
	}
	if d.Shares == nil {
		a.Object = d.Scaler.Ref().String()
	}
	for _, name := range slices.Sorted(maps.Keys(d.Shares)) {
		s := d.Shares[name]
		a.Clusters = append(a.Clusters, Share{name, s.Weight, s.All, s.Min, s.Max})
	}
	return a
}

func autoscalingReport(w io.Writer, e *Explained) error {
	a := e.Autoscaling
	if a.Object != "" {
		_, err := fmt.Fprintf(w, "scaled by  %s, made from %s  (%s): %d to %d in all\n", a.Object, a.By, a.Where, a.Min, a.Max)
		return err
	}
	fmt.Fprintf(w, "made from  %s  (%s): %d to %d in all\n\n", a.By, a.Where, a.Min, a.Max)
	rows := make([][]string, 0, len(a.Clusters))
	for _, s := range a.Clusters {
		rows = append(rows, []string{s.Cluster, fmt.Sprintf("%d/%d", s.Weight, s.All), strconv.Itoa(int(s.Min)), strconv.Itoa(int(s.Max))})
	}
	return columns(w, []string{"CLUSTER", "WEIGHT", "MIN", "MAX"}, rows)
}
