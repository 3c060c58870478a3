package report

import (
	"fmt"
	"io"
)

// stagedReport prints which version each cluster shows of a template that goes out in stages, and why no newer one.
func stagedReport(w io.Writer, s *Staged) {
	fmt.Fprintf(w, "\ngoes out in stages with %s by %s: %s%s\n", s.Unit, s.Strategy, s.Phase, prefixed(": ", s.Message))
	for _, c := range s.Clusters {
		text := "shows what was published before"
		if c.Shows != "" {
			text = "shows " + abbreviate(c.Shows)
		}
		if c.Waits != "" {
			text += "; " + c.Waits
		} else {
			text += prefixed("; ", c.State) + prefixed(" in ", c.Stage)
		}
		fmt.Fprintf(w, "  %s: %s\n", c.Cluster, text)
	}
}
