package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/shortfall"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/diag/junit"
	"github.com/waybill-dev/waybill/render/diag/sarif"
	"github.com/waybill-dev/waybill/sources/words"
)

// Findings is what validate prints: what is wrong with a plan of the source in a folder of
// its repository. Version is that of the running Waybill.
func Findings(p *plan.Plan, folder, version string, look Look) Report {
	ds := p.Diags
	if ds == nil {
		ds = []diag.Diagnostic{}
	}
	return Report{
		value: ds,
		text: func(w io.Writer) error {
			Diagnostics(w, ds, look)
			if look.Quiet {
				return nil
			}
			others := words.Count(p.Stats.NotManifests, "document") + " were no manifests"
			if p.Stats.NotManifests == 1 {
				others = "1 document was no manifest"
			}
			_, err := fmt.Fprintf(w, "%s, %s, %s placed; %s\n%s%s",
				words.Count(len(p.Clusters), "cluster"), words.Count(p.Stats.Templates, "template"), words.Count(p.Stats.Placed, "manifest"), others, nowhere(p), shortfalls(p))
			return err
		},
		forms: map[Format]func() ([]byte, error){
			JUnit: func() ([]byte, error) { return junit.Encode(folder, ds) },
			SARIF: func() ([]byte, error) { return sarif.Encode(version, folder, ds) },
		},
	}
}

// shortfalls is a line for the clusters that get nothing, or less than their folders promise, for one
// reason.
func shortfalls(p *plan.Plan) string {
	var order []string
	names := map[string][]string{}
	for _, s := range shortfall.Of(p) {
		says := fmt.Sprintf("%s, because %s", words.Count(s.Objects, "object"), reasons(s.Why))
		if names[says] == nil {
			order = append(order, says)
		}
		names[says] = append(names[says], s.Name)
	}
	var b strings.Builder
	for _, says := range order {
		fmt.Fprintf(&b, "%s: %s\n", words.List(names[says]), says)
	}
	return b.String()
}

// reasons joins the first few reasons.
func reasons(why []string) string {
	const most = 3
	if n := len(why); n > most {
		return fmt.Sprintf("%s; and %d more", strings.Join(why[:most], "; "), n-most)
	}
	return strings.Join(why, "; ")
}

// nowhere says what goes to no cluster, though nothing is wrong with it; empty for nothing.
func nowhere(p *plan.Plan) string {
	if len(p.Clusters) == 0 {
		return "no cluster is registered; waybill cluster add NAME writes one\n"
	}
	n := 0
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if d.Outcome == schedule.Unclaimed && len(d.Targets) == 0 && d.Ref().Kind != "Namespace" {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "1 template goes nowhere, because no policy selects it; waybill get templates lists it\n"
	}
	return fmt.Sprintf("%d templates go nowhere, because no policy selects them; waybill get templates lists them\n", n)
}
