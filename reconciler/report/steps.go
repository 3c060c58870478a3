package report

import (
	"fmt"
	"io"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/progress"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// step is how far a unit is that goes out in stages, after a publication.
type step struct {
	Unit     string `json:"unit"`
	Strategy string `json:"strategy"`
	Run      string `json:"run"`
	Phase    string `json:"phase"`
	Stage    string `json:"stage,omitempty"`
	Clusters string `json:"clusters,omitempty"`
	Message  string `json:"message,omitempty"`
}

// steps are the units whose run is open.
func steps(all []stage.Output) (open []step) {
	for n := range all {
		if all[n].After == nil {
			continue
		}
		if p := progress.Of(all[n].After); p.IsOpen() {
			open = append(open, step{p.Unit.String(), p.Strategy, p.Run, string(p.Phase), p.Stage, p.Clusters(), p.Message})
		}
	}
	return open
}

// again is when a plan may be another one although nothing changed; empty for never.
func again(b plan.Basis) string {
	if b.RecheckAt.IsZero() {
		return ""
	}
	return b.RecheckAt.UTC().Format(time.RFC3339)
}

// writeSteps says of open runs that a step was made, and when the next one may be.
func (p *published) writeSteps(w io.Writer) {
	if len(p.Rollouts) == 0 {
		return
	}
	fmt.Fprintln(w, "\nthis was a step; more follow:")
	for _, s := range p.Rollouts {
		fmt.Fprintf(w, "  %s %s: %s%s%s\n", s.Unit, rollouts.By(s.Strategy), s.Phase, prefixed(" in ", s.Stage), prefixed(": ", s.Clusters))
		if s.Message != "" {
			fmt.Fprintf(w, "    %s\n", s.Message)
		}
	}
	when := "publish again when clusters have told how they are"
	if p.Again != "" {
		when += ", or at " + p.Again
	}
	fmt.Fprintf(w, "%s; the controller does it by itself\n", when)
}
