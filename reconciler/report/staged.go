package report

import (
	"fmt"
	"io"

	"github.com/waybill-dev/waybill/reconciler/report/cell"
	"github.com/waybill-dev/waybill/render"
)

// stagedReport prints which version each cluster shows of a template that goes out in stages, and why no newer one.
func stagedReport(w io.Writer, s *Staged) {
	how := "in stages with " + s.Unit + " by " + s.Strategy
	if s.Strategy == render.NoStrategy {
		how = "at once with " + s.Unit + ", without a strategy"
	}
	fmt.Fprintf(w, "\ngoes out %s: %s%s\n", how, s.Phase, prefixed(": ", s.Message))
	for _, c := range s.Clusters {
		text := "shows what was published before"
		if c.Shows != "" {
			text = "shows " + cell.Commit(c.Shows)
		}
		if c.Waits != "" {
			text += "; " + c.Waits
		} else {
			text += prefixed("; ", c.State) + prefixed(" in ", c.Stage)
		}
		fmt.Fprintf(w, "  %s: %s\n", c.Cluster, text)
	}
}
