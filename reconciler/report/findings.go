package report

import (
	"fmt"
	"io"

	"github.com/waybill-dev/waybill/reconciler/plan"
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
			_, err := fmt.Fprintf(w, "%s, %s, %s placed; %s\n",
				words.Count(len(p.Clusters), "cluster"), words.Count(p.Stats.Templates, "template"), words.Count(p.Stats.Placed, "manifest"), others)
			return err
		},
		forms: map[Format]func() ([]byte, error){
			JUnit: func() ([]byte, error) { return junit.Encode(folder, ds) },
			SARIF: func() ([]byte, error) { return sarif.Encode(version, folder, ds) },
		},
	}
}
