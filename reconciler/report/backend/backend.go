// Package backend writes what explain prints of the Services that an Ingress, or a route of the Gateway API, sends traffic to.
package backend

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
)

// About is what an object with backends is made of, and what there is of these in clusters.
type About struct {
	MadeOf   string    `json:"madeOf,omitempty"`   // a MultiClusterIngress
	Clusters []Cluster `json:"clusters,omitempty"` // in the order of names
}

// Cluster is what there is of backends in a cluster.
type Cluster struct {
	Name string `json:"cluster"`
	// Services are the names of Services there, by namespaces and names as they are written.
	Services map[string]string `json:"services,omitempty"`
	Lacks    bool              `json:"lacks,omitempty"` // something is not there
}

// Of returns what a decision says of backends; nil for nothing.
func Of(d *schedule.Decision) *About {
	if d.Backends == nil {
		return nil
	}
	a := &About{}
	if o := d.Template.MadeOf; o != nil {
		a.MadeOf = policies.Name(o)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Backends)) {
		found := d.Backends[name]
		c := Cluster{Name: name, Services: map[string]string{}, Lacks: found.Lacks}
		for of, is := range found.Names.All() {
			c.Services[of.Namespace+"/"+of.Name] = is
		}
		a.Clusters = append(a.Clusters, c)
	}
	return a
}

// Write writes it; nothing for nil.
func Write(w io.Writer, a *About) {
	if a == nil {
		return
	}
	if a.MadeOf != "" {
		fmt.Fprintf(w, "\nmade of %s\n", a.MadeOf)
	}
	if len(a.Clusters) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CLUSTER\tSERVICES THAT TRAFFIC IS SENT TO")
	for _, c := range a.Clusters {
		fmt.Fprintf(t, "%s\t%s\n", c.Name, c.text())
	}
	_ = t.Flush() // as the other lines: who prints sees errors of w
}

// text says it in a line.
func (c *Cluster) text() string {
	var all []string
	for _, of := range slices.Sorted(maps.Keys(c.Services)) {
		text := of
		if _, name, _ := strings.Cut(of, "/"); name != c.Services[of] {
			text += " as " + c.Services[of]
		}
		all = append(all, text)
	}
	if c.Lacks {
		all = append(all, "something is not there")
	}
	if len(all) == 0 {
		return "-"
	}
	return strings.Join(all, ", ")
}
