// Package service writes what explain prints of how clusters exchange a Service.
package service

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/waybill-dev/waybill/reconciler/plan/services"
)

// Write writes how clusters exchange a Service: by what, and which clusters export and import it, with the conditions of the
// Multi-Cluster Services API.
func Write(w io.Writer, all []services.About) {
	for i := range all {
		a := &all[i]
		fmt.Fprintf(w, "\nexchanged by %s  (%s)%s\n", a.By, a.Where, how(a))
		if a.Wrong {
			fmt.Fprintln(w, "it has a mistake, so that it stays as it was published")
			continue
		}
		if len(a.Clusters) == 0 {
			fmt.Fprintln(w, "no cluster exports it")
			continue
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "CLUSTER\tEXPORTS\tIMPORTS\tVALID\tCONFLICT")
		for _, c := range a.Clusters {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", c.Name, does[c.Exports], does[c.Imports], condition(c.Valid), condition(c.Conflict))
		}
		_ = t.Flush() // as the other lines: who prints sees errors of w
		for _, c := range a.Clusters {
			if c.Conflict != nil && c.Conflict.Message != "" {
				fmt.Fprintf(w, "%s: %s\n", c.Name, c.Conflict.Message)
			}
		}
	}
}

// how says under which name, and with which ports.
func how(a *services.About) (text string) {
	if a.Derived != "" {
		text += ", called " + a.Derived + " where it is imported"
	}
	if len(a.Ports) > 0 {
		text += ", port " + strings.Join(a.Ports, ", ")
	}
	return text
}

// does is how it is said whether a cluster does something.
var does = map[bool]string{true: "yes", false: "-"}

func condition(c *services.Condition) string {
	if c == nil {
		return "-"
	}
	return string(c.Status) + " " + c.Reason
}
