package report

import (
	"fmt"
	"io"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/diag/junit"
	"github.com/waybill-dev/waybill/render/diag/sarif"
)

// Findings is what validate prints: what is wrong with a plan of the source in a folder of
// its repository. Version is that of the running Waybill.
func Findings(p *plan.Plan, folder, version string) Report {
	ds := p.Diags
	if ds == nil {
		ds = []diag.Diagnostic{}
	}
	return Report{
		value: ds,
		text: func(w io.Writer) error {
			Diagnostics(w, ds)
			_, err := fmt.Fprintf(w, "%d clusters, %d templates, %d manifests placed; %d documents were no manifests\n",
				len(p.Clusters), p.Stats.Templates, p.Stats.Placed, p.Stats.NotManifests)
			return err
		},
		forms: map[Format]func() ([]byte, error){
			JUnit: func() ([]byte, error) { return junit.Encode(folder, ds) },
			SARIF: func() ([]byte, error) { return sarif.Encode(version, folder, ds) },
		},
	}
}
